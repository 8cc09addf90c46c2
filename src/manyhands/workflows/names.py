"""What templates are given and what goes wrong with them: names, texts, faults. It knows no engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from manyhands.errors import InvalidError

NAMES = frozenset({"inputs", "nodes", "run", "item", "index", "iteration", "previous"})
LARGEST = 1_000_000
"""Characters that a rendered text may have, and items that its loops may walk."""
COMMENT = ("{##", "##}")
"""Not Jinja's own `{#`, which stands in every other script: `${#name}`."""
MARKS = ("{{", "{%", COMMENT[0])


class TemplateFault(InvalidError):
    """A template that cannot be rendered; `line` is that of the template."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class Text(str):
    """A text that a step gave; `.json` reads it."""

    __slots__ = ()

    @property
    def json(self) -> Any:
        try:
            return json.loads(self)
        except ValueError as error:
            raise TemplateFault(f"The output is no JSON ({error}): {self[:80]!r}.") from None


class Names(Mapping[str, Any]):
    """Names for templates: one that is not there is an error that lists those that are."""

    def __init__(self, what: str, values: Mapping[str, Any]) -> None:
        self.what = what
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def known(self) -> str:
        return f" Known: {', '.join(sorted(self)[:20])}." if len(self) else ""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that a template uses, such as `("nodes", "build", "output")`."""

    parts: tuple[str, ...]
    line: int
