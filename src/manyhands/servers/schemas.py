"""Tool definitions of strangers, made usable one by one: what is wrong is mended or left out and told. Pure.

A definition that leaves here has a name, an object schema that is valid JSON Schema (2020-12) and hints of
the right type. Schemas themselves are mended in `schema_repair`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from manyhands.json_pointer import look_up
from manyhands.servers.pins import definition_hash
from manyhands.servers.schema_repair import MAX_DEPTH, HopelessSchema, repair_schema
from manyhands.servers.types import Repair, ServerTool

MAX_NAME = 1024
MAX_NOTES = 5
MAX_REPAIRS = 200
MAX_DEFINITION_CHARS = 512 * 1024
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_COMBINING = ("$ref", "allOf", "anyOf", "oneOf")
_LEFT_OUT = "left out"


def repair_tools(raw: Sequence[Any]) -> tuple[list[ServerTool], list[Repair]]:
    """Every tool that can be used, in the server's order, and what had to be done to get there."""
    tools: dict[str, ServerTool] = {}
    repairs: list[Repair] = []
    for position, item in enumerate(raw):
        definition, found = repair_tool(item, position)
        repairs += found
        if definition is None:
            continue
        name = definition["name"]
        if name in tools:
            repairs.append(
                Repair(f"tool {name[:80]}", "the server lists this name twice", "the second is left out")
            )
            continue
        tools[name] = ServerTool(name, definition, definition_hash(definition))
    return list(tools.values()), _bounded(repairs + _case_notes(tools))


def repair_tool(raw: Any, position: int = 0) -> tuple[dict[str, Any] | None, list[Repair]]:
    """One definition, mended; nothing when there is no way to use it."""
    if not isinstance(raw, Mapping):
        return None, [Repair(f"tool number {position + 1}", f"it is {_kind(raw)}, not an object", _LEFT_OUT)]
    name = _clean(raw["name"]) if isinstance(raw.get("name"), str) else ""
    if not name:
        return None, [Repair(f"tool number {position + 1}", "it has no name", _LEFT_OUT)]
    item, notes = f"tool {name[:80]}", list[str]()
    try:
        definition = _mend({**_sized(clean_text(raw)), "name": name}, notes)
    except HopelessSchema as error:
        return None, [Repair(item, str(error), _LEFT_OUT)]
    except RecursionError:
        return None, [Repair(item, "its definition is nested too deeply", _LEFT_OUT)]
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"and {len(notes) - MAX_NOTES} more places"]
    return definition, [Repair(item, note, "repaired") for note in notes]


def clean_text(value: Any) -> Any:
    """The same JSON without NUL characters, lone surrogates and NaN, which not every database takes."""
    match value:
        case str():
            return _clean(value)
        case Mapping():
            return {_clean(str(key)): clean_text(item) for key, item in value.items()}
        case list() | tuple():
            return [clean_text(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def model_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """An input schema whose properties stand at the top: several providers refuse all tools when one has
    `$ref`, `anyOf`, `oneOf` or `allOf` there.

    The alternatives' properties are merged; the server still checks the arguments against its own schema.
    """
    if not any(key in schema for key in _COMBINING):
        return schema
    properties, required = dict(schema.get("properties", {})), set(schema.get("required", []))
    for key in _COMBINING:
        branches = [_follow(schema, branch) for branch in _branches(schema, key)]
        for branch in branches:
            properties = {**branch.get("properties", {}), **properties}
        if needed := [set(branch.get("required", [])) for branch in branches]:
            required |= set.union(*needed) if key in ("$ref", "allOf") else set.intersection(*needed)
    merged = {key: value for key, value in schema.items() if key not in _COMBINING}
    return {**merged, "properties": properties, "required": sorted(required & set(properties))}


def _branches(schema: Mapping[str, Any], key: str) -> Sequence[Any]:
    if key not in schema:
        return []
    return [{"$ref": schema["$ref"]}] if key == "$ref" else schema[key]


def _follow(root: Mapping[str, Any], branch: Any) -> Mapping[str, Any]:
    for _ in range(MAX_DEPTH):
        if not isinstance(branch, Mapping) or "$ref" not in branch:
            break
        branch = look_up(root, branch["$ref"])
    return branch if isinstance(branch, Mapping) else {}


def _sized(raw: dict[str, Any]) -> dict[str, Any]:
    if len(raw["name"]) > MAX_NAME:
        raise HopelessSchema(f"its name has {len(raw['name'])} characters (at most {MAX_NAME})")
    if (size := len(json.dumps(raw))) > MAX_DEFINITION_CHARS:
        raise HopelessSchema(f"its definition has {size} characters (at most {MAX_DEFINITION_CHARS})")
    return raw


def _mend(raw: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    definition = dict(raw)
    for key in ("title", "description"):
        if key in raw and not isinstance(raw[key], str):
            notes.append(f"its {key} is {_kind(raw[key])}, not text; it is dropped")
            del definition[key]
    definition["inputSchema"] = _input_schema(raw.get("inputSchema"), notes)
    _mend_output_schema(definition, notes)
    _mend_annotations(definition, notes)
    return definition


def _input_schema(schema: Any, notes: list[str]) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        notes.append(
            f"its inputSchema is {_kind(schema)}, not an object; it is taken as one without properties"
        )
        return {"type": "object", "properties": {}}
    mended = repair_schema(schema, "inputSchema", notes)
    kind = mended.get("type")
    if kind != "object":
        if isinstance(kind, str):
            raise HopelessSchema(
                f"its schema cannot be repaired: the type of inputSchema is {kind!r}, not object"
            )
        notes.append(f"inputSchema.type is {json.dumps(kind) if kind else 'missing'}; `object` is meant")
        mended["type"] = "object"
    mended.setdefault("properties", {})
    return mended


def _mend_output_schema(definition: dict[str, Any], notes: list[str]) -> None:
    """What cannot be used of it is dropped: the tool works without."""
    if (schema := definition.get("outputSchema")) is None:
        definition.pop("outputSchema", None)
        return
    try:
        if not isinstance(schema, Mapping):
            raise HopelessSchema(f"it is {_kind(schema)}")
        mended = repair_schema(schema, "outputSchema", notes)
        definition["outputSchema"] = mended
    except HopelessSchema as error:
        notes.append(f"its outputSchema is dropped: {error}")
        del definition["outputSchema"]


def _mend_annotations(definition: dict[str, Any], notes: list[str]) -> None:
    annotations = definition.get("annotations")
    if annotations is None:
        definition.pop("annotations", None)
        return
    if not isinstance(annotations, Mapping):
        notes.append(f"its annotations are {_kind(annotations)}, not an object; they are dropped")
        del definition["annotations"]
        return
    wrong = [key for key in _HINTS if key in annotations and not isinstance(annotations[key], bool)]
    if "title" in annotations and not isinstance(annotations["title"], str):
        wrong.append("title")
    notes.extend(f"its annotation {key} is {_kind(annotations[key])}; it is dropped" for key in wrong)
    definition["annotations"] = {key: value for key, value in annotations.items() if key not in wrong}


def _case_notes(tools: Mapping[str, ServerTool]) -> list[Repair]:
    spellings: dict[str, list[str]] = {}
    for name in tools:
        spellings.setdefault(name.lower(), []).append(name)
    return [
        Repair(
            f"tool {name}",
            f"it differs only in case from {_others(names, name)}",
            "both get a name with a hash",
        )
        for names in spellings.values()
        if len(names) > 1
        for name in names
    ]


def _bounded(repairs: list[Repair]) -> list[Repair]:
    if (more := len(repairs) - MAX_REPAIRS) <= 0:
        return repairs
    return [*repairs[:MAX_REPAIRS], Repair("other tools", f"{more} more problems", "not listed")]


def _others(names: Sequence[str], name: str) -> str:
    return ", ".join(other for other in names if other != name)


def _clean(text: str) -> str:
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _kind(value: Any) -> str:
    match value:
        case None:
            return "missing"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list() | tuple():
            return "a list"
        case _:
            return "an object"
