"""What every transport has in common: what it can tell about itself, and the error codes it answers with.

A transport is entered by `mcp.Client` and yields its two streams; whoever owns the connection keeps the
handle and asks it for diagnostics. When to reconnect and what a person is told is not decided here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from manyhands.servers.types import Repair

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

DEFAULT_MAX_FRAME = 64 * 1024 * 1024

# JSON-RPC error codes of our own, in the range that the protocol leaves to implementations (-32000..-32019;
# the SDK uses -32000 for a closed connection and -32001 for a timeout).
TRANSPORT_FAILED = -32010
"""One HTTP request failed on the way (refused, reset, timed out); the connection may be fine."""
FRAME_TOO_LARGE = -32011
"""The answer was over the size limit and was thrown away."""
BAD_ANSWER = -32012
"""The answer was not what the protocol says an answer is."""
UNAUTHORIZED = -32013
"""HTTP 401 or 403: somebody has to sign in."""
STALE_SESSION = -32014
"""The server no longer knows our session: connect anew."""
CANCELLED = -32015
"""We cancelled the request; nobody waits for this answer."""


@dataclass(frozen=True, slots=True)
class TransportDiagnostics:
    """What is known of a connection's lower half. `target`: the command line or the URL, without secrets.

    `refused`: the HTTP status with which the server last asked for a sign-in.
    """

    target: str
    elapsed: float
    pid: int | None = None
    exit_code: int | None = None
    stderr_tail: str = ""
    garbage: int = 0
    garbage_tail: str = ""
    problem: str | None = None
    refused: int | None = None
    repairs: Sequence[Repair] = ()


@dataclass(frozen=True, slots=True)
class Unauthorized:
    """A server refused us. `challenge` is its `WWW-Authenticate` header."""

    status: int
    challenge: str | None


class TransportHandle(Protocol):
    """An async context manager for `mcp.Client` that can be asked how it is.

    `closed` is set when nothing more can come from the server, whether or not somebody waits for it.
    `on_stream` is told when the server's own messages begin to reach us (True) or can no longer do so (False)
    apart from answers; only streamable HTTP of the older revisions has such a stream, and what is sent while
    it is not open is lost.
    """

    closed: asyncio.Event
    on_stream: Callable[[bool], None] | None

    async def __aenter__(self) -> TransportStreams: ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None: ...

    def diagnostics(self) -> TransportDiagnostics: ...
