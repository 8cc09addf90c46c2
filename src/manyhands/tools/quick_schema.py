"""The everyday part of JSON Schema as plain functions. Pure.

A check answers yes only when the value certainly fits; no means "let someone look who knows all of it".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]

_ANNOTATIONS = "$comment $id $schema default deprecated description examples format readOnly title writeOnly"
_SAYS_NOTHING = frozenset(_ANNOTATIONS.split())
_TYPES: Mapping[str, Check] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
MAX_DEPTH = 8


def quick_check(schema: object, depth: int = 0) -> Check | None:
    """A check for this schema, or nothing when it holds words that are not everyday ones."""
    if schema is True or schema == {}:
        return lambda value: True
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return None
    checks: list[Check] = []
    for word, said in schema.items():
        if word in _SAYS_NOTHING or (word in _WITH_OBJECT):
            continue
        build = _WORDS.get(word)
        check = build(said, depth) if build else None
        if check is None:
            return None
        checks.append(check)
    if any(word in schema for word in _WITH_OBJECT):
        check = _object(schema, depth)
        if check is None:
            return None
        checks.append(check)
    return checks[0] if len(checks) == 1 else lambda value: all(check(value) for check in checks)


def _type(said: Any, depth: int) -> Check | None:
    names = said if isinstance(said, list) else [said]
    if not names or not all(isinstance(name, str) and name in _TYPES for name in names):
        return None
    if len(names) == 1:
        return _TYPES[names[0]]
    checks = [_TYPES[name] for name in names]
    return lambda value: any(check(value) for check in checks)


def _enum(said: Any, depth: int) -> Check | None:
    """Texts only: in Python 1 equals True, in JSON it does not."""
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        return None
    allowed = frozenset(said)
    return lambda value: isinstance(value, str) and value in allowed


def _any_of(said: Any, depth: int) -> Check | None:
    if not isinstance(said, list):
        return None
    checks = [quick_check(one, depth + 1) for one in said]
    if any(check is None for check in checks):
        return None
    return lambda value: any(check(value) for check in checks if check)


def _items(said: Any, depth: int) -> Check | None:
    check = quick_check(said, depth + 1)
    if check is None:
        return None
    return lambda value: not isinstance(value, list) or all(check(item) for item in value)


def _bound(kind: type, holds: Callable[[Any, Any], bool]) -> Callable[[Any, int], Check | None]:
    def build(said: Any, depth: int) -> Check | None:
        if isinstance(said, bool) or not isinstance(said, int | float):
            return None
        return lambda value: not isinstance(value, kind) or isinstance(value, bool) or holds(value, said)

    return build


_NUMBER: Any = (int, float)
_WORDS: Mapping[str, Callable[[Any, int], Check | None]] = {
    "type": _type,
    "enum": _enum,
    "anyOf": _any_of,
    "items": _items,
    "minimum": _bound(_NUMBER, lambda value, said: value >= said),
    "maximum": _bound(_NUMBER, lambda value, said: value <= said),
    "minLength": _bound(str, lambda value, said: len(value) >= said),
    "maxLength": _bound(str, lambda value, said: len(value) <= said),
    "minItems": _bound(list, lambda value, said: len(value) >= said),
    "maxItems": _bound(list, lambda value, said: len(value) <= said),
}
_WITH_OBJECT = ("properties", "required", "additionalProperties")


def _object(schema: Mapping[str, Any], depth: int) -> Check | None:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    others = schema.get("additionalProperties", True)
    if not isinstance(properties, Mapping) or not isinstance(required, list) or not isinstance(others, bool):
        return None
    if not all(isinstance(name, str) for name in required):
        return None
    checks: dict[str, Check] = {}
    for name, said in properties.items():
        check = quick_check(said, depth + 1)
        if check is None:
            return None
        checks[name] = check
    return _object_check(checks, tuple(required), others)


def _object_check(checks: Mapping[str, Check], required: tuple[str, ...], others: bool) -> Check:
    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        for name, item in value.items():
            known = checks.get(name)
            if not (others if known is None else known(item)):
                return False
        return all(name in value for name in required)

    return check
