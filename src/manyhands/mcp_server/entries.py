"""What a tool of ours is: its name, its schemas, who is offered it, and the function behind it.

Also the small words that schemas are written in. It knows no domain and nothing of the wire.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from manyhands.access.scope import Scope
from manyhands.access.types import Principal
from manyhands.hub import Hub

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and what exists for it."""

    hub: Hub
    principal: Principal
    scope: Scope


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: a text for a model, and the same as data that fit its output schema."""

    text: str
    structured: Json


def everyone(principal: Principal) -> bool:
    return True


def agents_only(principal: Principal) -> bool:
    """Those that were started under an agent's id."""
    return principal.agent_id is not None


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One tool."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    call: Callable[[Caller, Json], Awaitable[Answer]]
    annotations: Mapping[str, bool]
    when: Callable[[Principal], bool] = everyone


READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
ADDS = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False}
CHANGES = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
DESTROYS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False}


# --- schemas


def takes(required: str = "", /, **properties: Json) -> Json:
    """The schema of a tool's arguments; what it does not name is refused."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def gives(optional: str = "", /, **properties: Json) -> Json:
    """The schema of a tool's answer; all of it is always there but for what is optional."""
    required = [name for name in properties if name not in optional.split()]
    return {"type": "object", "properties": properties, "required": required}


def text(description: str, **more: Any) -> Json:
    return {"type": "string", "description": description, **more}


def name_of(description: str) -> Json:
    """A text that people read as a name."""
    return text(description, minLength=1, maxLength=200)


def choice(description: str, *words: str, **more: Any) -> Json:
    return {"type": "string", "enum": list(words), "description": description, **more}


def place(description: str) -> Json:
    """Where something is kept: with the hub, or with the project."""
    return choice(description, "global", "project", default="global")


def switch(description: str, *, default: bool) -> Json:
    return {"type": "boolean", "default": default, "description": description}


def yes_or_no(description: str) -> Json:
    return {"type": "boolean", "description": description}


def number(description: str) -> Json:
    return {"type": "integer", "description": description}


def maybe(schema: Json) -> Json:
    """The same, or nothing."""
    return {**schema, "type": [schema["type"], "null"]}


def many(of: Json, description: str) -> Json:
    return {"type": "array", "items": of, "description": description}
