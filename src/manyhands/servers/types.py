"""MCP servers that we connect to: their configuration, their state, what they offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

Transport = Literal["stdio", "http", "sse"]
Trust = Literal["ask", "trusted", "full"]
Parallel = Literal["all", "read_only", "none"]


class ServerStatus(StrEnum):
    """Where a connection stands."""

    DISCONNECTED = "disconnected"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    ERROR = "error"
    NEEDS_AUTH = "needs_auth"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How to reach a server, as a person wrote it: values may be references to secrets."""

    name: str
    transport: Transport = "stdio"
    command: str | None = None
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    enabled: bool = True
    trust: Trust = "ask"
    tool_timeout: int = 30_000
    connect_timeout: int = 30_000
    parallel: Parallel = "all"
    channel_push: str | None = None
    """The channel into which a person lets it push messages, and where it may answer for them."""

    @property
    def has_authorization(self) -> bool:
        """Whether it has a header that takes the place of a sign-in."""
        return any(name.lower() == "authorization" for name in self.headers)


@dataclass(frozen=True, slots=True)
class Server:
    """A configured server. `project` is the directory whose `.mcp.json` names it; a global one has none.

    `held`: a person disconnected it, so nothing connects it again but a person.
    `approved_hash`: the project config that a person has trusted; another one asks anew.
    """

    id: int
    config: ServerConfig
    safe_name: str
    project: str | None
    held: bool
    approved_hash: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class NameChange:
    """A server gets another name, or is gone and leaves its name to others.

    `prefix`: how the full names of its tools began; `shown`: its tools by those names.
    `shared`: a project's server has a global one's old name, too.
    """

    server_id: int
    before: str
    after: str | None
    prefix: str
    shown: Mapping[str, str] = field(default_factory=dict)
    project: str | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as its server defines it (wire JSON, mended), with a hash of all that a person relies on."""

    name: str
    definition: Mapping[str, Any]
    definition_hash: str


@dataclass(frozen=True, slots=True)
class Repair:
    """Something in a server's listing that had to be mended or left out so that the rest could be used."""

    item: str
    problem: str
    action: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything a server offers, fetched and replaced as a unit. Items are wire JSON."""

    tools: Sequence[ServerTool] = ()
    prompts: Sequence[Mapping[str, Any]] = ()
    resources: Sequence[Mapping[str, Any]] = ()
    resource_templates: Sequence[Mapping[str, Any]] = ()
    skills: Sequence[Mapping[str, Any]] = ()
    version: str | None = None
    protocol: str | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    instructions: str | None = None
    repairs: Sequence[Repair] = ()
    wants_roots: bool = False
    problem: str | None = None
    """Why part of it could not be fetched although the server is connected."""


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """What is known of a server's connection at this moment."""

    status: ServerStatus = ServerStatus.DISCONNECTED
    error: str | None = None
    pid: int | None = None
    exit_code: int | None = None
    stderr_tail: str = ""
    restarts: int = 0
    attempt: int = 0
    attempts_max: int = 0
    since: datetime | None = None
    connect_ms: int | None = None
    sign_in_url: str | None = None


@dataclass(frozen=True, slots=True)
class ToolPreference:
    """What a person decided about a tool; kept by name across reconnects."""

    enabled: bool = True
    policy: str | None = None
    pinned_hash: str | None = None
    pinned_definition: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Pushed:
    """A message that a server pushes into a conversation. `meta` says where it comes from."""

    content: str
    meta: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A server's answer to an approval that was relayed to it, by the short id that it was given."""

    request_id: str
    allow: bool


ChannelNotice = Pushed | Verdict
"""What a server says by itself in a channel."""
