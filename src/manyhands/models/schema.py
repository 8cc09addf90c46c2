"""Tools as a provider takes them: its names, its limits, its part of JSON Schema. Pure.

One tool that a provider refuses would make it refuse the whole request. Each is mended by itself, or left out
when that is not possible, and a report says what was done. Arguments are still checked against the tool's own
schema before it is called, so a rule that is not sent is not lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manyhands.models.inlining import inline
from manyhands.models.root_schema import plain_object
from manyhands.models.types import Provider, ToolRepair, ToolSpec

_GEMINI_KEYWORDS = frozenset(
    {
        "type",
        "format",
        "title",
        "description",
        "enum",
        "const",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
    }
    | {"minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "default"}
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider takes."""

    name: str
    names: re.Pattern[str] = re.compile(r"[A-Za-z0-9_-]{1,64}")
    arguments: re.Pattern[str] | None = None
    description: int | None = None
    keywords: frozenset[str] | None = None
    most: int | None = None


_ANY = Dialect("This provider")
_OPENAI = Dialect("OpenAI", description=1024, most=128)
_ANTHROPIC = Dialect("Anthropic", arguments=re.compile(r"[A-Za-z0-9_.-]{1,64}"))
_GEMINI = Dialect("Gemini", names=re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}"), keywords=_GEMINI_KEYWORDS)
_COMPATIBLE = Dialect("An OpenAI-compatible API", description=1024)
DIALECTS: Mapping[Provider, Dialect] = {
    "openai": _OPENAI,
    "anthropic": _ANTHROPIC,
    "google": _GEMINI,
    "openai-compatible": _COMPATIBLE,
}


class Refused(Exception):
    """This tool cannot be sent; the message says why."""


def fit_tools(
    tools: Sequence[ToolSpec], provider: Provider
) -> tuple[Sequence[ToolSpec], Sequence[ToolRepair]]:
    """The tools that can be sent, in their order, and what was done to which."""
    dialect = DIALECTS.get(provider, _ANY)
    fitted: dict[str, ToolSpec] = {}
    repairs = []
    for tool in tools:
        notes: list[str] = []
        try:
            _check(tool, dialect, fitted)
            fitted[tool.name] = _fit(tool, dialect, notes)
        except Refused as refusal:
            repairs.append(ToolRepair(tool.name, True, [*notes, str(refusal)]))
        else:
            if notes:
                repairs.append(ToolRepair(tool.name, False, notes))
    return list(fitted.values()), repairs


def _check(tool: ToolSpec, dialect: Dialect, fitted: Mapping[str, ToolSpec]) -> None:
    if not dialect.names.fullmatch(tool.name):
        raise Refused(f"{dialect.name} refuses the name {tool.name[:100]!r}")
    if tool.name in fitted:
        raise Refused("another tool has the same name")
    if dialect.most is not None and len(fitted) >= dialect.most:
        raise Refused(f"{dialect.name} takes at most {dialect.most} tools")


def _fit(tool: ToolSpec, dialect: Dialect, notes: list[str]) -> ToolSpec:
    schema = inline(tool.schema, notes)
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise Refused(f"its arguments are not an object but {kind!r}")
    schema, remark = plain_object(schema, notes)
    if dialect.arguments is not None:
        _drop_odd_arguments(schema, dialect, dialect.arguments, notes)
    if dialect.keywords is not None:
        schema = _limited(schema, dialect.keywords, unsent := set[str]())
        if unsent:
            notes.append(f"not sent, as {dialect.name} does not know it: {', '.join(sorted(unsent))}")
    description = " ".join(filter(None, (tool.description.strip(), remark)))
    if dialect.description is not None and len(description) > dialect.description:
        description, rest = _split(description, dialect.description)
        schema["description"] = "\n".join(filter(None, (rest, schema.get("description"))))
        notes.append("its description is long: the rest of it is sent with the arguments")
    return ToolSpec(tool.name, description, schema)


def _drop_odd_arguments(
    schema: dict[str, Any], dialect: Dialect, allowed: re.Pattern[str], notes: list[str]
) -> None:
    odd = [name for name in schema["properties"] if not allowed.fullmatch(name)]
    needed = sorted(set(odd) & set(schema.get("required", ())))
    if needed:
        raise Refused(f"{dialect.name} refuses its argument {needed[0][:100]!r}, and the tool needs it")
    for name in odd:
        del schema["properties"][name]
        notes.append(f"the optional argument {name[:100]!r} is not sent: {dialect.name} refuses the name")


def _limited(node: Any, allowed: frozenset[str], unsent: set[str]) -> Any:
    """A schema with these keywords only, and in the forms that Gemini takes."""
    if not isinstance(node, Mapping):
        return node
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key not in allowed:
            unsent.add(key)
        elif key == "properties":
            kept[key] = {name: _limited(item, allowed, unsent) for name, item in value.items()}
        elif key in ("anyOf", "oneOf", "prefixItems"):
            kept[key] = [_limited(item, allowed, unsent) for item in value]
        elif key in ("items", "additionalProperties"):
            kept[key] = _limited(value, allowed, unsent)
        else:
            kept[key] = value
    _tame_enum(kept, unsent)
    if "required" in kept:
        known = kept.get("properties", {})
        kept["required"] = [name for name in kept["required"] if name in known]
    return kept


def _tame_enum(node: dict[str, Any], unsent: set[str]) -> None:
    choices = node.get("enum")
    if choices is None:
        return
    plain = [choice for choice in choices if isinstance(choice, str | int | float) and choice != ""]
    if plain and not any(isinstance(choice, bool) for choice in plain):
        node["enum"] = plain
    else:
        del node["enum"]
        unsent.add("enum")


def _split(text: str, most: int) -> tuple[str, str]:
    """The text up to a good place to stop, and the rest."""
    cut = max(text.rfind("\n", 0, most), text.rfind(". ", 0, most) + 1, text.rfind(" ", 0, most))
    cut = cut if cut > most // 2 else most
    return text[:cut].rstrip(), text[cut:].lstrip()
