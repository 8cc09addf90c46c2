"""What a connection is given: which one it is, how its transport is made, whom it tells, what it may do.

Only plain data, so that whoever puts the hub together need not import the MCP SDK for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from manyhands.servers.backoff import BackOff
from manyhands.servers.transports.types import TransportHandle
from manyhands.servers.types import Catalogue, ChannelNotice, ConnectionState, Transport
from manyhands.tools.types import Asking

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

Sampler = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Asks a model: takes the parameters of `sampling/createMessage` and gives its result, both as wire JSON."""


@dataclass(frozen=True, slots=True)
class ConnectionKey:
    """One server seen from one directory. The one without a root serves everyone and fills the catalogue."""

    server_id: int
    root: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """How to reach a server. `open` makes a new transport and resolves secrets just before they are used."""

    name: str
    open: Callable[[], Awaitable[TransportHandle]]
    transport: Transport = "stdio"
    connect_timeout_s: float = 30.0
    is_saved: bool = True
    """Whether commands know it by its name; one that is only tried they do not."""
    has_authorization: bool = False
    """Whether its configuration says what a sign-in would."""

    @property
    def remote(self) -> bool:
        """Whether somebody else starts it."""
        return self.transport != "stdio"


@dataclass(frozen=True, slots=True)
class LogMessage:
    """A line that a server sent to its client's log."""

    level: str
    logger: str | None
    data: Any


def _nothing(*_: object) -> None:
    """Nobody is told, and nobody knows."""


@dataclass(frozen=True, slots=True)
class ConnectionHooks:
    """Whom a connection tells, and asks. Called in its own tasks: they must return at once."""

    on_state: Callable[[ConnectionKey, ConnectionState], None] = _nothing
    on_catalogue: Callable[[ConnectionKey, Catalogue], None] = _nothing
    on_log: Callable[[ConnectionKey, LogMessage], None] = _nothing
    on_resource_updated: Callable[[ConnectionKey, str], None] = _nothing
    on_notice: Callable[[ConnectionKey, ChannelNotice], None] = _nothing
    known: Callable[[ConnectionKey], Catalogue | None] = _nothing
    """What the server offered before, for lists that cannot be read when it is connected."""


@dataclass(frozen=True, slots=True)
class ClientFeatures:
    """What we do for a server that asks. `asking`: for questions of which nobody knows the call.

    Sampling is declared only when there is a `sampler`.
    """

    asking: Asking | None = None
    sampler: Sampler | None = None
    log_level: LogLevel = "info"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a connection, in seconds and counts."""

    backoff: BackOff = field(default_factory=BackOff)
    close_s: float = 15.0
    """Every way of closing is bounded below this; past it the owner is torn out."""
    debounce_s: float = 0.1
    probe_s: float = 15.0
    """Longer than it takes to give up connecting, so that a server out of reach is told from a busy one."""
    slot_s: float = 5.0
    """How long a connecting server keeps others waiting; one that takes longer hangs, or downloads."""
    root_s: float = 0.2
    """What a server that was told its root, which it confirms to nobody, gets before it is used."""
    pages: int = 1000
    items: int = 100_000
