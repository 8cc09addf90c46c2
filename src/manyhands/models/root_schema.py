"""The outermost level of a tool's schema as one plain object. Pure.

Providers refuse alternatives there (`anyOf` and its kin), which tools use mostly to say which arguments go
together. Their arguments are put side by side, and what they said becomes a sentence for the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_ALTERNATIVES = ("anyOf", "oneOf")
_REFUSED = ("not", "if", "then", "else", "enum", "const")


def plain_object(schema: Mapping[str, Any], notes: list[str]) -> tuple[dict[str, Any], str]:
    """The schema with `type: object` and `properties`, and a sentence about what it can no longer say."""
    plain = {key: value for key, value in schema.items() if key not in (*_ALTERNATIVES, *_REFUSED)}
    plain |= {"type": "object", "properties": _mapping(schema.get("properties"))}
    refused = [key for key in _REFUSED if key in schema]
    if refused:
        notes.append(f"not sent, as it is not taken at the top level: {', '.join(refused)}")
    remarks = [_merge_alternatives(plain, _branches(schema, key), key, notes) for key in _ALTERNATIVES]
    if any(key in schema for key in _ALTERNATIVES):
        notes.append("alternatives at the top level were put side by side")
    return plain, " ".join(filter(None, remarks))


def _merge_alternatives(
    plain: dict[str, Any], branches: Sequence[Mapping[str, Any]], key: str, notes: list[str]
) -> str:
    flat = [plain_object(branch, notes)[0] for branch in branches]
    if not flat:
        return ""
    sets = [_names(branch.get("required")) for branch in flat]
    shared = [name for name in sets[0] if all(name in names for names in sets)]
    for branch in flat:
        _take_in(plain, branch, shared)
    choices = [", ".join(name for name in names if name not in shared) for names in sets]
    if not all(choices):
        return ""
    how = "exactly one" if key == "oneOf" else "at least one"
    return f"Give {how} of these: {'; or '.join(choices)}."


def _take_in(plain: dict[str, Any], branch: Mapping[str, Any], required: Sequence[str]) -> None:
    properties = plain["properties"] = dict(plain["properties"])
    for name, wanted in _mapping(branch.get("properties")).items():
        properties[name] = _either(properties[name], wanted) if name in properties else wanted
    if required:
        plain["required"] = list(dict.fromkeys([*_names(plain.get("required")), *required]))


def _either(one: Any, other: Any) -> Any:
    if one == other or not isinstance(one, Mapping) or not other:
        return one
    known = one["anyOf"] if set(one) == {"anyOf"} else [one]
    return one if other in known else {"anyOf": [*known, other]}


def _branches(schema: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = schema.get(key)
    return [branch for branch in found if isinstance(branch, Mapping)] if isinstance(found, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
