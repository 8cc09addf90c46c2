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
from manyhands.chat.types import Channel
from manyhands.clock import rfc3339
from manyhands.errors import ManyhandsError
from manyhands.servers.types import Parallel, Trust

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
    """What a tool says of itself. From a server: a stranger's hints, which make us stricter, never looser.

    `destructive` is the protocol's reading (a tool that says nothing may be); `says_destructive` is what the
    tool itself declared, and it alone makes a trusted server's tool ask. `says_open_world` likewise.
    """

    title: str | None = None
    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True
    says_destructive: bool = False
    says_open_world: bool = False

    @classmethod
    def from_wire(cls, hints: Mapping[str, Any] | None) -> Annotations:
        """From the `annotations` of an MCP tool; what is not a boolean counts as not said."""
        said = {name: value for name, value in (hints or {}).items() if isinstance(value, bool)}
        title = (hints or {}).get("title")
        read_only = said.get("readOnlyHint", False)
        return cls(
            title=title if isinstance(title, str) else None,
            read_only=read_only,
            destructive=said.get("destructiveHint", not read_only),
            idempotent=said.get("idempotentHint", False),
            open_world=said.get("openWorldHint", True),
            says_destructive=said.get("destructiveHint", False),
            says_open_world=said.get("openWorldHint", False),
        )

    def wire(self) -> dict[str, Any]:
        """As MCP writes them."""
        title = {} if self.title is None else {"title": self.title}
        return title | {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }

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


def text_result(
    text: str, *, is_error: bool = False, code: str | None = None, structured: Any = None
) -> ToolResult:
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
    above: Sequence[str] = ()
    """Of a thread: the channels that it is below."""
    call_id: str | None = None
    """The id under which the call is logged, when the caller has written it down already."""
    granted_ms: int | None = None
    """How long it may take where a person said so: then the setting's cap does not hold."""


class Invocation(Protocol):
    """One call while it runs: what a tool may do besides answering. The tool service implements it."""

    call_id: str
    context: CallContext

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far it is; extends the timeout up to the hard cap."""
        ...

    async def ask(self, question: Question) -> Answer:
        """Ask the person; the timeout stands still meanwhile. An unattended call is refused at once."""
        ...

    def pause(self) -> AbstractContextManager[None]:
        """The timeout stands still while this is open (a person is being asked some other way)."""
        ...


class ToolChanged(Exception):
    """A tool is no longer what its definition says, so it was not called."""


class Tool(Protocol):
    """Anything that can be called."""

    @property
    def definition(self) -> ToolDefinition: ...

    @property
    def timeout_ms(self) -> int: ...

    async def call(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        """Do it. Raise `ToolFault` for a failure that the model should read.

        With `ToolChanged` nothing was done, and it is looked up anew.
        """
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
    status: str | None = None
    """The status of its server; none for a native tool."""
    repair: str | None = None
    """How its name or schema had to be mended, if it had to."""


@dataclass(frozen=True, slots=True)
class ToolMatch:
    """A tool that a search found, with how well it fits."""

    listing: Listing
    score: float


@dataclass(frozen=True, slots=True)
class ServerPolicy:
    """What a person decided about a server as a whole."""

    trust: Trust = "ask"
    parallel: Parallel = "all"


class ToolSource(Protocol):
    """Where tools that are not native come from. Nothing here but `meet` waits for a server."""

    def version(self) -> object:
        """Another one as soon as a listing, its tool or its server's policy may be another one."""
        ...

    async def listings(self, channel: Channel | None) -> Sequence[Listing]:
        """Every tool that is known for this channel, offered or not, in stable order."""
        ...

    async def listing(self, full_name: str, channel: Channel | None) -> Listing | None:
        """One of them, under any form of its name."""
        ...

    def tool(self, listing: Listing, channel: Channel | None) -> Tool | None:
        """The same one to be called; calling it may connect its server."""
        ...

    async def meet(self, full_name: str, channel: Channel | None) -> None:
        """Connect the server that a name points to if it is not, so that its tools are known; bounded.

        Whether that went well shows when the name is looked up again.
        """
        ...

    def server_policy(self, server_id: int) -> ServerPolicy: ...

    def obstacle(self, server_id: int) -> ManyhandsError | None:
        """Why its tools cannot be called before a person does something, if so."""
        ...

    async def accept_definition(self, server_id: int, tool: str) -> None:
        """A person allowed it as it is now: pin this definition."""
        ...


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Part of a result's text. Offsets count characters; no `next_offset` means that this was the end."""

    call_id: str
    offset: int
    text: str
    size: int
    next_offset: int | None


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

    def beginning(self) -> dict[str, Any]:
        """What is known when it begins."""
        return {
            "id": self.id,
            "tool": self.tool,
            "server": self.server,
            "server_id": self.server_id,
            "channel_id": self.channel_id,
            "run_id": self.run_id,
            "iteration": self.iteration,
            "arguments": self.arguments,
            "is_error": self.is_error,
            "status": self.status.value,
            "at": self.at,
        }

    def wire(self) -> dict[str, Any]:
        """As API answers and `tool.*` events write it."""
        return {
            "id": self.id,
            "tool": self.tool,
            "server": self.server,
            "server_id": self.server_id,
            "channel_id": self.channel_id,
            "run_id": self.run_id,
            "iteration": self.iteration,
            "arguments": self.arguments,
            "result": self.result,
            "content": self.content,
            "structuredContent": self.structured_content,
            "isError": self.is_error,
            "status": self.status.value,
            "code": self.code,
            "error": self.error,
            "duration_ms": self.duration_ms,
            "size": self.size,
            "result_file": self.result_file,
            "at": rfc3339(self.at),
        }


Asking = Callable[[Question], Awaitable[Answer]]
"""How a room that is not part of a call asks the person (the approval service's `ask`)."""
