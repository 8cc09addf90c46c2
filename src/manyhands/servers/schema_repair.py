"""One JSON Schema, keyword by keyword: what is not valid in 2020-12 is converted or dropped. Pure.

A walk of our own and not a validator: it must mend, not only complain, and ten thousand tools must not cost
seconds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from manyhands.errors import InvalidError
from manyhands.json_pointer import look_up

MAX_DEPTH = 64
TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_SCHEMA = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_SCHEMA_MAP = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
_SCHEMA_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_COUNT = ("Length", "Items", "Properties", "Contains")
_TEXT = ("title", "description", "format", "$comment", "contentEncoding", "contentMediaType", "$ref")
_FLAG = ("uniqueItems", "deprecated", "readOnly", "writeOnly")
_DATA = frozenset({"default", "const", "enum", "examples"})
_ELSEWHERE = frozenset(
    {"$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary", "$id"}
)


class HopelessSchema(InvalidError):
    """There is no schema to be had from this."""


def repair_schema(schema: Mapping[str, Any], path: str, notes: list[str]) -> dict[str, Any]:
    """A valid schema that says as much of the same as it can; `notes` gets a sentence for every change."""
    mended = _Walk(notes).schema(schema, path, 0)
    _drop_dead_references(mended, mended, path, notes)
    return mended


def _drop_dead_references(node: Any, root: Mapping[str, Any], path: str, notes: list[str]) -> None:
    if isinstance(node, list):
        for index, item in enumerate(node):
            _drop_dead_references(item, root, f"{path}[{index}]", notes)
    elif isinstance(node, dict):
        if isinstance(node.get("$ref"), str) and not _is_alive(node, root):
            notes.append(f"{path}.$ref is dropped: {node['$ref'][:80]!r} points nowhere within the schema")
            del node["$ref"]
        for key, item in node.items():
            if key not in _DATA:
                _drop_dead_references(item, root, f"{path}.{key}", notes)


def _is_alive(node: Any, root: Mapping[str, Any]) -> bool:
    for _ in range(MAX_DEPTH):
        if isinstance(node, bool) or (isinstance(node, Mapping) and not isinstance(node.get("$ref"), str)):
            return True
        if not isinstance(node, Mapping):
            return False
        node = look_up(root, node["$ref"])
    return False  # references in a circle


class _Walk:
    """One schema being mended."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes

    def schema(self, schema: Mapping[str, Any], path: str, depth: int) -> dict[str, Any]:
        if depth > MAX_DEPTH:
            raise HopelessSchema(f"it is nested more than {MAX_DEPTH} deep at {path[:120]}…")
        result: dict[str, Any] = {}
        for key, value in schema.items():
            kept, mended = self._keyword(schema, key, value, f"{path}.{key}", depth)
            if kept:
                result[key] = mended
        self._convert_old_forms(schema, result, path, depth)
        return result

    def _keyword(
        self, schema: Mapping[str, Any], key: str, value: Any, path: str, depth: int
    ) -> tuple[bool, Any]:
        """Whether the keyword stays, and with which value."""
        if key in _SCHEMA:
            return self._subschema(key, value, path, depth)
        if key in _SCHEMA_MAP:
            return self._schema_map(key, value, path, depth)
        if key in _SCHEMA_LIST:
            return self._schema_list(value, path, depth)
        if key in _ELSEWHERE:
            return (path.count(".") == 1 and key == "$id" and _is_plain_uri(value)) or self._drop(path), value
        check = _CHECKS.get(key)
        if check is None or check(value):
            return key != "$schema", value  # what leaves here is 2020-12, whatever it was
        return self._partly(schema, key, value, path)

    def _partly(self, schema: Mapping[str, Any], key: str, value: Any, path: str) -> tuple[bool, Any]:
        """A wrong value of which a part, or another form, is still right."""
        if key == "type" and isinstance(value, list) and (kinds := _known_types(value)):
            self._notes.append(f"{path} names {value!r}; kept are {kinds!r}")
            return True, kinds if len(kinds) > 1 else kinds[0]
        if key == "required" and isinstance(value, list):
            self._notes.append(f"{path} holds what is not a name, or a name twice")
            return True, list(dict.fromkeys(item for item in value if isinstance(item, str)))
        if key in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
            bound = schema.get("minimum" if key.endswith("Minimum") else "maximum")
            self._notes.append(f"{path} is a boolean, as in draft 4")
            return value and _is_number(bound), bound
        return self._drop(path), None

    def _subschema(self, key: str, value: Any, path: str, depth: int) -> tuple[bool, Any]:
        if isinstance(value, bool):
            return True, value
        if isinstance(value, Mapping):
            return True, self.schema(value, path, depth + 1)
        if key == "items" and isinstance(value, list):
            return False, None  # the old form of prefixItems; converted afterwards
        return self._drop(path), None

    def _schema_map(self, key: str, value: Any, path: str, depth: int) -> tuple[bool, Any]:
        if not isinstance(value, Mapping):
            return self._drop(path), None
        result: dict[str, Any] = {}
        for name, item in value.items():
            if key == "patternProperties" and not _is_pattern(name):
                self._drop(f"{path}.{name}", "it is no regular expression")
            elif key == "dependencies" and _is_names(item):
                result[name] = item
            else:
                result[name] = self._any_schema(item, f"{path}.{name}", depth)
        return True, result

    def _schema_list(self, value: Any, path: str, depth: int) -> tuple[bool, Any]:
        if not isinstance(value, list) or not value:
            return self._drop(path), None
        return True, [self._any_schema(item, f"{path}[{i}]", depth) for i, item in enumerate(value)]

    def _any_schema(self, value: Any, path: str, depth: int) -> Any:
        if isinstance(value, bool):
            return value
        if isinstance(value, Mapping):
            return self.schema(value, path, depth + 1)
        self._notes.append(f"{path} is no schema; anything is accepted there")
        return {}

    def _convert_old_forms(
        self, schema: Mapping[str, Any], result: dict[str, Any], path: str, depth: int
    ) -> None:
        items = schema.get("items")
        if isinstance(items, list):
            self._notes.append(f"{path}.items is a list, as in draft 7")
            if items and "prefixItems" not in result:
                result["prefixItems"] = self._schema_list(items, f"{path}.items", depth)[1]
        kind = result.get("type")
        if kind == "array" or (isinstance(kind, list) and "array" in kind):
            result.setdefault("items", {})  # providers refuse arrays that do not say so

    def _drop(self, path: str, why: str = "its value is not valid") -> bool:
        self._notes.append(f"{path[:200]} is dropped: {why}")
        return False


def _known_types(value: list[Any]) -> list[str]:
    return list(dict.fromkeys(item for item in value if isinstance(item, str) and item in TYPES))


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _known_types(value) == value
    return isinstance(value, str) and value in TYPES


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_names(value: Any) -> bool:
    return (
        isinstance(value, list) and all(isinstance(i, str) for i in value) and len(set(value)) == len(value)
    )


def _is_names_map(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_is_names(names) for names in value.values())


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_plain_uri(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[^#\s]+#?", value))


_LONGEST_PATTERN = 10_000


def _is_pattern(value: Any) -> bool:
    """One that only another dialect understands would make every validation of the arguments fail, and one
    without end would take its time to be read.
    """
    try:
        return isinstance(value, str) and len(value) <= _LONGEST_PATTERN and bool(re.compile(value))
    except (re.error, RecursionError, OverflowError):
        return False


_CHECKS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys((f"{end}{what}" for what in _COUNT for end in ("min", "max")), _is_count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(_TEXT, _is_text),
    **dict.fromkeys(_FLAG, lambda value: isinstance(value, bool)),
    "pattern": _is_pattern,
    "type": _is_type,
    "required": _is_names,
    "enum": lambda value: isinstance(value, list) and bool(value),
    "examples": lambda value: isinstance(value, list),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "dependentRequired": _is_names_map,
    "$schema": lambda _: True,
}
