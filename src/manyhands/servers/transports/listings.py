"""Mending the answers to list requests item by item: one malformed tool must not hide the others.

Runs on raw results, before the SDK validates them as a whole, and does what it takes for them to be parsed:
what a schema says inside, names that clash and the like are dealt with when the catalogue is made. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.types import methods
from pydantic import ValidationError

from manyhands.servers.types import Repair

LISTINGS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_KINDS = {
    "tools": ("tool", "name"),
    "prompts": ("prompt", "name"),
    "resources": ("resource", "uri"),
    "resourceTemplates": ("resource template", "uriTemplate"),
}
_LEFT_OUT = "left out"
_MODERN_DEFAULTS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
_ROUNDS = 4

Note = Callable[[str, str, str], None]


def mended_listing(
    method: str, result: dict[str, Any], *, modern: bool
) -> tuple[dict[str, Any], list[Repair]]:
    """The result with every item that can be used, and what had to be done for it."""
    repairs: list[Repair] = []
    key = LISTINGS[method]

    def note(item: str, problem: str, action: str) -> None:
        repairs.append(Repair(item[:200], problem, action))

    items = result.get(key)
    if not isinstance(items, list):
        note(method, f"the list is {_kind(items)}", "taken as empty")
        items = []
    mended = [_mended_item(key, item, modern, note) for item in items]
    result = {**result, key: [item for item in mended if item is not None]}
    return _until_it_parses(method, result, modern, note), list(dict.fromkeys(repairs))


def _mended_item(key: str, item: Any, modern: bool, note: Note) -> dict[str, Any] | None:
    kind, identity = _KINDS[key]
    if not isinstance(item, dict):
        note(kind, f"an entry is {_kind(item)}", _LEFT_OUT)
        return None
    if not isinstance(item.get(identity), str) or not item[identity]:
        note(f"{kind} {item.get('name') or 'without a name'}", f"it has no usable {identity}", _LEFT_OUT)
        return None
    # `null` for what is not there is common, and no fault that anybody has to know of.
    item = {field: value for field, value in item.items() if value is not None}
    if not isinstance(item.get("name"), str):
        item["name"] = item[identity]
    return _mended_tool(item, modern, note) if key == "tools" else item


def _mended_tool(tool: dict[str, Any], modern: bool, note: Note) -> dict[str, Any]:
    name = f"tool {tool['name']}"
    schema = tool.get("inputSchema")
    if problem := _not_an_object_schema(schema):
        keep = isinstance(schema, dict) and ("type" not in schema or _includes_object(schema["type"]))
        tool["inputSchema"] = {**schema, "type": "object"} if keep and schema else {"type": "object"}
        note(name, f"its input schema {problem}", "taken as an object")
    if "outputSchema" in tool and not modern and (problem := _not_an_object_schema(tool["outputSchema"])):
        del tool["outputSchema"]
        note(name, f"its output schema {problem}", "output schema left out")
    return tool


def _not_an_object_schema(schema: Any) -> str | None:
    if schema is None:
        return "is missing"
    if not isinstance(schema, dict):
        return f"is {_kind(schema)}"
    if "type" not in schema:
        return "has no type"
    return None if schema["type"] == "object" else f"has the type {str(schema['type'])[:60]}"


def _includes_object(kind: Any) -> bool:
    return isinstance(kind, list) and "object" in kind


def _until_it_parses(method: str, result: dict[str, Any], modern: bool, note: Note) -> dict[str, Any]:
    """Let the SDK's own models judge, and take out what they object to: first the field, then the item."""
    version = "2026-07-28" if modern else "2025-11-25"
    for attempt in range(_ROUNDS):
        try:
            methods.parse_server_result(method, version, result)
            break
        except ValidationError as error:
            wrong = {tuple(detail["loc"]) for detail in error.errors(include_url=False, include_input=False)}
        result = _without(result, LISTINGS[method], wrong, note, drop=attempt >= _ROUNDS - 2)
    return result


def _without(
    result: dict[str, Any], key: str, wrong: set[tuple[int | str, ...]], note: Note, *, drop: bool
) -> dict[str, Any]:
    result = dict(result)
    items = list(result[key])
    for loc in sorted(wrong, key=str):
        match loc[loc.index(key) + 1 :] if key in loc else ():
            case (int() as at, *inside) if items[at] is not None:
                items[at] = _without_field(items[at], key, inside, note, drop=drop)
            case (int(), *_):
                continue
            case _:
                _mend_field(result, loc)
    result[key] = [item for item in items if item is not None]
    return result


def _without_field(
    item: dict[str, Any], key: str, inside: list[int | str], note: Note, *, drop: bool
) -> dict[str, Any] | None:
    kind, identity = _KINDS[key]
    name = f"{kind} {item[identity]}"
    field = next((part for part in inside if isinstance(part, str) and part in item), identity)
    if drop or field in (identity, "name"):
        note(name, f"malformed {field}", _LEFT_OUT)
        return None
    if field == "inputSchema":
        return {**item, field: _mended_schema(item[field], inside, lambda part: note(name, *part))}
    note(name, f"malformed {field}", f"{field} left out")
    return {other: value for other, value in item.items() if other != field}


def _mended_schema(
    schema: dict[str, Any], inside: list[int | str], note: Callable[[tuple[str, str]], None]
) -> dict[str, Any]:
    """An input schema without the keyword, or the form of the one property, that was objected to."""
    match inside[1:]:
        case ("properties", str() as name, *_) if isinstance(schema.get("properties"), dict):
            note((f"malformed schema of {name}", "anything is accepted for it"))
            return {**schema, "properties": {**schema["properties"], name: {}}}
        case (str() as keyword, *_) if keyword in schema and keyword != "type":
            note((f"malformed {keyword} in its input schema", f"{keyword} left out"))
            return {other: value for other, value in schema.items() if other != keyword}
    note(("malformed input schema", "taken as an object"))
    return {"type": "object"}


def _mend_field(result: dict[str, Any], loc: tuple[int | str, ...]) -> None:
    """A field beside the list: paging and caching do without, the newest revision wants a value."""
    for field in loc:
        if isinstance(field, str):
            result.pop(field, None)
            if field in _MODERN_DEFAULTS:
                result[field] = _MODERN_DEFAULTS[field]


def _kind(value: Any) -> str:
    return "missing" if value is None else f"a {type(value).__name__}"
