"""Values against a JSON Schema that a stranger wrote: nothing is fetched, and no schema can hold us up. Pure.

Both the schema and the value may come from the same stranger, so every check has a bound. What cannot be
checked within it is not checked: whoever wrote the schema is the judge then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from manyhands.regex_cost import Cost, search_cost

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

Keyword = Callable[["Validator", Any, Any, Mapping[str, Any]], "Iterator[ValidationError] | None"]

MOST_NODES = 5_000
MOST_STEPS = 5_000_000
MOST_PATTERN_CHARS = 5_000  # of all patterns together: compiling takes its time, too
_KEYWORD_STEPS = 100  # what a keyword costs in steps of a pattern
_ALL_NAMES = "^"


class SchemaFault(ValueError):
    """Why there is no checking against a schema."""


class _GivenUp(Exception):
    pass


class StrangeSchema:
    """A schema read once, and values checked against it."""

    def __init__(self, schema: Mapping[str, Any], *, formats: bool = False) -> None:
        from jsonschema import FormatChecker
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import Draft202012Validator, extend, validator_for
        from referencing import Registry
        from referencing.exceptions import Unresolvable

        kind = validator_for(schema, default=Draft202012Validator)
        self._left = 0
        try:
            tame = _Taming().schema(dict(schema))
            kind.check_schema(tame)
        except SchemaError as error:
            raise SchemaFault(error.message) from error
        except (Unresolvable, RecursionError) as error:
            raise SchemaFault("it is nested too deeply or refers to something else") from error
        counted = {name: self._counted(name, check) for name, check in kind.VALIDATORS.items()}
        # A registry of our own: the default one would fetch a `$ref` from anywhere on the network.
        bounded = extend(kind, {**counted, "pattern": self._pattern})  # type: ignore[no-untyped-call]
        self._validator = bounded(
            tame, registry=Registry(), format_checker=FormatChecker() if formats else None
        )

    def misfits(self, value: Any) -> Iterator[ValidationError]:
        """What does not fit, as far as that can be told."""
        from referencing.exceptions import Unresolvable

        self._left = MOST_STEPS
        try:
            yield from self._validator.iter_errors(value)
        except (_GivenUp, Unresolvable, RecursionError, ValueError, ArithmeticError):
            return  # the last two are addresses that are none, and numbers that are too large

    def _counted(self, name: str, check: Keyword) -> Keyword:
        def counted(
            validator: Validator, said: Any, value: Any, schema: Mapping[str, Any]
        ) -> Iterator[ValidationError]:
            self._left -= _KEYWORD_STEPS + len(schema) + _size(said)
            if name == "uniqueItems":  # compares each with each
                self._left -= _size(value) ** 2
            if self._left < 0:
                raise _GivenUp
            yield from check(validator, said, value, schema) or ()

        return counted

    def _pattern(
        self, validator: Validator, said: Any, value: Any, schema: Mapping[str, Any]
    ) -> Iterator[ValidationError]:
        import re

        from jsonschema.exceptions import ValidationError

        if not isinstance(value, str) or (cost := search_cost(said)) is None:
            return
        steps = cost.steps(len(value))
        if steps > self._left:
            return
        self._left -= steps + _KEYWORD_STEPS
        if not re.search(said, value):
            yield ValidationError(f"{value!r} does not match {said!r}")


def _size(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 0


class _Taming:
    """A copy of a schema without what would lead the validator elsewhere."""

    def __init__(self) -> None:
        self._nodes = 0
        self._pattern_chars = 0

    def schema(self, node: Any) -> Any:
        """`$schema` goes: below it the library would take a validator of its own."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise SchemaFault(f"it has more than {MOST_NODES} parts")
        if isinstance(node, list):
            return [self.schema(item) for item in node]
        if not isinstance(node, Mapping):
            return node
        copy = {key: self.schema(item) for key, item in node.items() if not _names_dialect(key, item)}
        if isinstance(pattern := copy.get("pattern"), str) and self._cost(pattern) is None:
            del copy["pattern"]
        if isinstance(names := copy.get("patternProperties"), dict):
            copy["patternProperties"] = self._affordable(names)
        return copy

    def _affordable(self, names: dict[str, Any]) -> dict[str, Any]:
        """Several keywords search names by these patterns; a slow one becomes "any name, any value"."""
        kept = {name: item for name, item in names.items() if self._is_linear(name)}
        return kept if len(kept) == len(names) else {**kept, _ALL_NAMES: True}

    def _is_linear(self, pattern: str) -> bool:
        cost = self._cost(pattern)
        return cost is not None and cost.degree <= 1

    def _cost(self, pattern: str) -> Cost | None:
        self._pattern_chars += len(pattern)
        return search_cost(pattern) if self._pattern_chars <= MOST_PATTERN_CHARS else None


def _names_dialect(key: str, said: Any) -> bool:
    return key == "$schema" and isinstance(said, str)
