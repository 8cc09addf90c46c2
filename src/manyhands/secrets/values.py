"""Values that are looked for in texts, however they are spelled there."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Collection, Iterable
from typing import Any
from urllib.parse import quote, quote_plus

# Shorter values would blank out ordinary words.
SHORTEST = 6
# Values that configurations are full of and that nobody keeps secret.
_COMMON = frozenset(
    {"application/json", "default", "development", "disabled", "enabled", "localhost", "127.0.0.1"}
    | {"production", "staging", "verbose", "warning"}
)
_MOST = 2000
# Of one owner, such as a sign-in whose tokens are renewed: those of long ago are worth nothing.
_MOST_OF_ONE = 8
# A private key is often printed line by line.
_SHORTEST_LINE = 16
# From here on looking for one value after the other is quicker than a pattern for all of them.
_LONG = 20_000
# How much of a beginning is compared at once; of longer values only few are there.
_BEGINNING = 64
_MUCH = 24
_ESCAPE = re.compile(r"%[0-9A-F]{2}")


class Values:
    """A set of values and its pattern. Safe to use from any thread."""

    def __init__(self, foreign: str = "") -> None:
        """`foreign`: no value may hold this, for it stands in what is left of a text."""
        self._foreign = foreign
        self._lock = threading.Lock()
        self._values: dict[str, str | None] = {}
        self._spellings: frozenset[str] = frozenset()
        self._beginnings: frozenset[str] = frozenset()
        self._endings: frozenset[str] = frozenset()
        self._long: list[str] = []
        self._lines = False
        self._pattern: re.Pattern[str] | None = None
        self._shortest = sys.maxsize
        self._stale = False

    @property
    def least(self) -> int:
        """A text that is shorter holds none of them."""
        return SHORTEST if self._stale else self._shortest

    def add(self, values: Iterable[str | None], of: str | None = None) -> None:
        """Remember them, but not what is short or common. `of`: whose newest few are kept."""
        with self._lock:
            for value in values:
                if value is not None and self._is_worth_it(value) and (of or value not in self._values):
                    self._values.pop(value, None)
                    self._values[value] = of
                    self._stale = True
            if of is not None:
                self._drop([value for value, owner in self._values.items() if owner == of][:-_MOST_OF_ONE])
            self._drop(list(self._values)[:-_MOST])

    def _is_worth_it(self, value: str) -> bool:
        worth = len(value.strip()) >= SHORTEST and value.lower() not in _COMMON
        return worth and not (self._foreign and self._foreign in value)

    def _drop(self, values: Iterable[str]) -> None:
        for value in values:
            del self._values[value]
            self._stale = True

    def replaced(self, text: str, by: str) -> str:
        """The text with something else in place of every value."""
        pattern = self._current()
        if pattern is None or len(text) < self._shortest:
            return text
        if len(text) > _LONG:
            pattern = _any_of([spelling for spelling in self._spellings if spelling in text])
        if pattern is None:
            return text
        # Lines are counted in what is left, so a value of several lines leaves its line breaks.
        return pattern.sub(lambda found: by + "\n" * found[0].count("\n") if self._lines else by, text)

    def replaced_number(self, number: float, by: str) -> Any:
        """The same for a number, which may be a value."""
        return by if str(number) in self._values else number

    def open_end(self, text: str) -> int:
        """How many characters at the end of a text may be the beginning of a value."""
        if self._current() is None:
            return 0
        for length in range(min(_BEGINNING, len(text)), 0, -1):
            if text[-length:] in self._beginnings:
                return max(length, self._long_end(text))
        return self._long_end(text)

    def cut_end(self, text: str) -> int:
        """The same if it is most of a value: as good as all of it, where a text was cut."""
        length = self.open_end(text)
        begun = text[len(text) - length :]
        return length if any(_is_most(begun, one) and one.startswith(begun) for one in self._spellings) else 0

    def cut_start(self, text: str) -> int:
        """How many characters at the start of a text are most of a value, of which the beginning was cut."""
        if self._current() is None:
            return 0
        for length in range(min(_BEGINNING, len(text)), SHORTEST - 1, -1):
            ended = text[:length]
            if ended in self._endings:
                most = any(_is_most(ended, one) and one.endswith(ended) for one in self._spellings)
                return length if most else 0
        return 0

    def _long_end(self, text: str) -> int:
        """The same for values that are longer than what is compared at once."""
        return max((_begun(text, spelling) for spelling in self._long), default=0)

    def _current(self) -> re.Pattern[str] | None:
        if self._stale:
            with self._lock:
                self._compile()
        return self._pattern

    def _compile(self) -> None:
        self._spellings = frozenset(spelling for value in self._values for spelling in _spellings(value))
        self._beginnings = frozenset(
            spelling[:length]
            for spelling in self._spellings
            for length in range(1, min(len(spelling), _BEGINNING + 1))
        )
        self._endings = frozenset(
            spelling[-length:]
            for spelling in self._spellings
            for length in range(SHORTEST, min(len(spelling), _BEGINNING + 1))
        )
        self._lines = any("\n" in spelling for spelling in self._spellings)
        self._long = [spelling for spelling in self._spellings if len(spelling) > _BEGINNING]
        self._pattern = _any_of(self._spellings)
        self._shortest = min(map(len, self._spellings), default=sys.maxsize)
        self._stale = False


def _is_most(part: str, spelling: str) -> bool:
    return len(part) >= SHORTEST and (2 * len(part) >= len(spelling) or len(part) >= _MUCH)


def _begun(text: str, spelling: str) -> int:
    """How many characters at the end of a text are the beginning of this long one."""
    start = text.find(spelling[:_BEGINNING], max(0, len(text) - len(spelling)))
    while start >= 0 and not spelling.startswith(text[start:]):
        start = text.find(spelling[:_BEGINNING], start + 1)
    return len(text) - start if start >= 0 else 0


def _spellings(value: str) -> Iterable[str]:
    """How a value may appear: as it is, trimmed, in JSON, in a Python repr, in a URL, one line of many."""
    forms = {value, value.strip()}
    forms |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
    forms.add(json.dumps(value)[1:-1].replace("/", "\\/"))
    escaped = {quote(value, safe=safe, errors="replace") for safe in ("", "/", "!*'()")}
    escaped.add(quote_plus(value, errors="replace"))
    forms |= escaped | {_ESCAPE.sub(lambda match: match[0].lower(), form) for form in escaped}
    if "\n" in value:
        lines = (line.strip() for line in value.splitlines())
        forms |= {line for line in lines if len(line) >= _SHORTEST_LINE and not line.startswith("-----")}
    return (form for form in forms if len(form) >= SHORTEST)


def _any_of(texts: Collection[str]) -> re.Pattern[str] | None:
    return re.compile(_alternation(texts)) if texts else None


def _alternation(texts: Iterable[str], depth: int = 2) -> str:
    """A pattern for any of these texts, the longest first, branching on their first characters for speed."""
    if not depth:
        return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
    branches: dict[str, list[str]] = {}
    for text in texts:
        branches.setdefault(text[0], []).append(text[1:])
    return "|".join(
        f"{re.escape(first)}(?:{_alternation(rest, depth - 1)})" for first, rest in branches.items()
    )
