"""The streamable HTTP transport: the SDK's, over a client that keeps one request's failure to that request.

Used as `Client(HttpTransport(url, ...))`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import CONNECTION_CLOSED, JSONRPCError

from manyhands.servers.transports.pending import WatchedRead, WatchedWrite
from manyhands.servers.transports.remote import RemoteTransport
from manyhands.servers.transports.types import FRAME_TOO_LARGE, TRANSPORT_FAILED

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


class _HttpRead(WatchedRead):
    """The SDK gives the code of a closed connection to a request whose own stream broke: tell them apart."""

    def _noted(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCError):
            error = item.message.error
            if error.code == CONNECTION_CLOSED and error.message.startswith("SSE stream"):
                error.code = FRAME_TOO_LARGE if "byte limit" in error.message else TRANSPORT_FAILED
        return super()._noted(item)


class HttpTransport(RemoteTransport):
    """A session over POSTs that are answered with JSON or events."""

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[TransportStreams]:
        async with (
            self._client() as client,
            streamable_http_client(self._url, http_client=client, max_sse_event_size=self._max_frame) as ends,
        ):
            read, write = ends
            yield _HttpRead(read, self._pending, self.closed.set), WatchedWrite(write, self._pending)
