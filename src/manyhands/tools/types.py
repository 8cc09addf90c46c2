"""What a tool is. Callers never know whether it is native or comes from a server."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from manyhands.approvals.types import Answer, Question

NATIVE = "native"
"""The server name under which native tools are logged and matched by rules."""


class Effect(StrEnum):
    """What a policy says of a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class CallStatus(StrEnum):
    """How far a call got."""

    PENDING = "pending"
    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    DENIED = "denied"


@dataclass(frozen=True, slots=True)
class Annotations:
    """What a tool says of itself. From a server they are a stranger's hints: they may make us stricter, never looser."""

    title: str | None = None
    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True

    @property
    def concurrency_safe(self) -> bool:
        return self.read_only


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as it is shown: `name` is the original one, `full_name` the one that a model sees."""

    full_name: str
    name: str
    description: str
    input_schema: Mapping[str, Any]
    server: str = NATIVE
    server_id: int | None = None
    output_schema: Mapping[str, Any] | None = None
    annotations: Annotations = field(default_factory=Annotations)
    definition_hash: str = ""
    project: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back, all of it: content blocks as MCP writes them, structured content, the error flag."""

    content: Sequence[Mapping[str, Any]]
    structured: Any = None
    is_error: bool = False
    code: str | None = None
    """Why it failed, for machines: `timeout`, `cancelled`, `denied`, `interrupted`, `unavailable`, …"""

    @property
    def text(self) -> str:
        """The text a model reads; structured content stands in when there is no text."""
        parts = [_text_of(block) for block in self.content]
        text = "\n".join(part for part in parts if part)
        if not text and self.structured is not None:
            return json.dumps(self.structured, ensure_ascii=False)
        return text


def text_result(text: str, *, is_error: bool = False, code: str | None = None, structured: Any = None) -> ToolResult:
    """A result that is one piece of text."""
    return ToolResult([{"type": "text", "text": text}], structured=structured, is_error=is_error, code=code)


def _text_of(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "image" | "audio":
            return f"[{block['type']} {block.get('mimeType', '')}]"
        case "resource_link":
            return f"[resource {block.get('uri', '')}]"
        case "resource":
            resource = block.get("resource") or {}
            return str(resource.get("text") or f"[resource {resource.get('uri', '')}]")
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class CallContext:
    """On whose behalf a tool is called. `direct`: the owner calls it by hand, which is its own approval."""

    channel_id: str | None = None
    directory: str | None = None
    run_id: str | None = None
    iteration: int | None = None
    author_id: str = "owner"
    attended: bool = True
    direct: bool = False
    allow: Sequence[str] = ()


class Invocation(Protocol):
    """One call while it runs: what a tool may do besides answering. The tool service implements it."""

    call_id: str
    context: CallContext

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far it is; extends the timeout up to the hard cap."""
        ...

    async def ask(self, question: Question) -> Answer:
        """Ask the person; the timeout stands still meanwhile. An unattended call is answered with a refusal at once."""
        ...

    def pause(self) -> AbstractContextManager[None]:
        """The timeout stands still while this is open (a person is being asked some other way)."""
        ...


class Tool(Protocol):
    """Anything that can be called."""

    @property
    def definition(self) -> ToolDefinition: ...

    @property
    def timeout_ms(self) -> int: ...

    async def call(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        """Do it. Raise `ToolFault` for a failure that the model should read."""
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """A tool with the answer to "why is it (not) there?". `tool` is absent when it cannot be called now."""

    definition: ToolDefinition
    offered: bool
    reason: str
    enabled: bool = True
    policy: Effect | None = None
    changed: bool = False
    """Its definition is not the one that was approved; `diff` shows how."""
    diff: str | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One line of the call log."""

    id: str
    tool: str
    server: str
    server_id: int | None
    channel_id: str | None
    run_id: str | None
    iteration: int | None
    arguments: Mapping[str, Any]
    status: CallStatus
    at: datetime
    result: str | None = None
    content: Sequence[Mapping[str, Any]] | None = None
    structured_content: Any = None
    is_error: bool = False
    code: str | None = None
    error: str | None = None
    duration_ms: int | None = None
    size: int | None = None
    result_file: str | None = None


Asking = Callable[[Question], Awaitable[Answer]]
"""How a room that is not part of a call asks the person (the approval service's `ask`)."""
