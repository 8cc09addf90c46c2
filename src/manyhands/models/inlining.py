"""A JSON Schema without references and without `allOf`: what they stand for takes their place. Pure.

Providers differ in what they follow, and none minds a schema that has neither. What would never end, or would
grow without bound, becomes a loose schema, and a note says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manyhands.json_pointer import look_up

MAX_DEPTH = 20
MAX_NODES = 3000
_GONE = frozenset(
    {
        "$schema",
        "$id",
        "$comment",
        "$defs",
        "definitions",
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$vocabulary",
    }
)
_SCHEMA = frozenset(
    {"additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"}
    | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}
)
_SCHEMA_MAP = frozenset({"properties", "patternProperties", "dependentSchemas"})
_SCHEMA_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})


def inline(schema: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """The same schema without `$ref` and `$defs`; `notes` gets a sentence for everything that was lost."""
    return _Inliner(schema, notes).schema(schema, "arguments", (), 0)


class _Inliner:
    """One schema being copied."""

    def __init__(self, root: Mapping[str, Any], notes: list[str]) -> None:
        self._root = root
        self._notes = notes
        self._nodes = 0

    def schema(self, node: Any, path: str, trail: tuple[str, ...], depth: int) -> dict[str, Any]:
        if not isinstance(node, Mapping):
            return {}
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            return self._loose(node, path, "it is too deep or too large")
        if isinstance(node.get("$ref"), str):
            return self._reference(node, path, trail, depth)
        copy = {
            key: self._keyword(key, value, f"{path}.{key}", trail, depth)
            for key, value in node.items()
            if key not in _GONE
        }
        return self._merged(copy, path)

    def _merged(self, node: dict[str, Any], path: str) -> dict[str, Any]:
        """The node with everything that its `allOf` demands as well."""
        branches = node.pop("allOf", ())
        for branch in branches if isinstance(branches, list) else ():
            for key, value in branch.items():
                if key == "properties" and isinstance(node.get(key), dict):
                    node[key] = value | node[key]
                elif key == "required" and isinstance(node.get(key), list):
                    node[key] = list(dict.fromkeys([*node[key], *value]))
                elif node.setdefault(key, value) != value and key not in ("title", "description"):
                    self._notes.append(f"{path}: one of two rules for {key!r} is not sent")
        return node

    def _keyword(self, key: str, value: Any, path: str, trail: tuple[str, ...], depth: int) -> Any:
        if key in _SCHEMA:
            return value if isinstance(value, bool) else self.schema(value, path, trail, depth + 1)
        if key in _SCHEMA_MAP and isinstance(value, Mapping):
            return {
                name: self.schema(item, f"{path}.{name}", trail, depth + 1)
                for name, item in value.items()
                if item is not False
            }
        if key in _SCHEMA_LIST and isinstance(value, list):
            return [self.schema(item, f"{path}[{i}]", trail, depth + 1) for i, item in enumerate(value)]
        return value

    def _reference(
        self, node: Mapping[str, Any], path: str, trail: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        reference = node["$ref"]
        beside = {key: value for key, value in node.items() if key != "$ref"}
        target = look_up(self._root, reference)
        if not isinstance(target, Mapping):
            if target is not True:
                self._notes.append(f"{path}: {reference[:80]!r} points nowhere; anything is accepted there")
            return self.schema(beside, path, trail, depth + 1)
        if reference in trail:
            return self._loose({**target, **beside}, path, "it contains itself")
        found = self.schema(target, path, (*trail, reference), depth + 1)
        return found | self.schema(beside, path, trail, depth + 1)

    def _loose(self, node: Mapping[str, Any], path: str, why: str) -> dict[str, Any]:
        self._notes.append(f"{path} is described loosely: {why}")
        kept = {key: node[key] for key in ("type", "description") if isinstance(node.get(key), str)}
        return kept | ({"items": {}} if kept.get("type") == "array" else {})
