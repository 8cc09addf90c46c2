"""The streamable HTTP transport: the SDK's, over a client that keeps one request's failure to that request.

Used as `Client(HttpTransport(url, ...))`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import CONNECTION_CLOSED, PARSE_ERROR, ErrorData, JSONRPCError

from manyhands.servers.transports.frames import json_fault
from manyhands.servers.transports.pending import WatchedRead, WatchedWrite
from manyhands.servers.transports.remote import RemoteTransport
from manyhands.servers.transports.types import BAD_ANSWER, FRAME_TOO_LARGE, TRANSPORT_FAILED

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


_UNREADABLE = ("Failed to parse JSON response:", "Failed to parse SSE message:")


class _HttpRead(WatchedRead):
    """Errors that the SDK makes say here what they are."""

    def _noted(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCError):
            item.message.error = _ours(item.message.error)
        return super()._noted(item)


def _ours(error: ErrorData) -> ErrorData:
    """The SDK's code for a stream that broke is that of a closed connection; an answer that it cannot read is
    quoted, cut to pieces in which a secret would not be known any more.
    """
    if error.code == CONNECTION_CLOSED and error.message.startswith("SSE stream"):
        code = FRAME_TOO_LARGE if "byte limit" in error.message else TRANSPORT_FAILED
        return error.model_copy(update={"code": code})
    if error.code == PARSE_ERROR and error.message.startswith(_UNREADABLE):
        told = error.message
        fault = json_fault(told) if "Invalid JSON" in told else "it is not a JSON-RPC message"
        return ErrorData(code=BAD_ANSWER, message=f"The server's answer is malformed: {fault}.")
    return error


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
