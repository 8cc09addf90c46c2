"""The streamable HTTP transport: the SDK's, over a client that keeps one request's failure to that request.

Used as `Client(HttpTransport(url, ...))`. It tells whoever owns the connection of refusals and of lost
sessions and does not act on them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import CONNECTION_CLOSED, JSONRPCError

from manyhands.servers.transports.http_client import HttpListener, IsolatingClient, shown_url
from manyhands.servers.transports.pending import PendingRequests, WatchedRead, WatchedWrite
from manyhands.servers.transports.types import (
    DEFAULT_MAX_FRAME,
    FRAME_TOO_LARGE,
    TRANSPORT_FAILED,
    TransportDiagnostics,
    Unauthorized,
)

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


class HttpTransport:
    """One session with one endpoint; not to be entered twice.

    `unauthorized` holds the last refusal, `stale` whether the server has dropped our session; the callbacks
    tell at once.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        auth: httpx2.Auth | None = None,
        max_frame: int = DEFAULT_MAX_FRAME,
        on_unauthorized: Callable[[Unauthorized], None] | None = None,
        on_stale_session: Callable[[], None] | None = None,
    ) -> None:
        self.unauthorized: Unauthorized | None = None
        self.stale = False
        self.closed = asyncio.Event()
        self.on_stream: Callable[[bool], None] | None = None
        self._url = url
        self._headers = headers or {}
        self._auth = auth
        self._max_frame = max_frame
        self._on_unauthorized = on_unauthorized
        self._on_stale_session = on_stale_session
        self._pending = PendingRequests()
        self._stack = AsyncExitStack()
        self._began = time.monotonic()

    async def __aenter__(self) -> TransportStreams:
        self._began = time.monotonic()
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(
                IsolatingClient(
                    self._url,
                    headers=self._headers,
                    auth=self._auth,
                    listener=HttpListener(self._refused, self._lost_session, self._stream_changed),
                    max_body=self._max_frame,
                )
            )
            read, write = await stack.enter_async_context(
                streamable_http_client(self._url, http_client=client, max_sse_event_size=self._max_frame)
            )
            self._stack = stack.pop_all()
        return _HttpRead(read, self._pending, self.closed.set), WatchedWrite(write, self._pending)

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        try:
            return await self._stack.__aexit__(exc_type, exc_value, traceback)
        finally:
            self.closed.set()

    def _refused(self, refusal: Unauthorized) -> None:
        self.unauthorized = refusal
        if self._on_unauthorized:
            self._on_unauthorized(refusal)

    def _stream_changed(self, is_open: bool) -> None:
        if self.on_stream:
            self.on_stream(is_open)

    def _lost_session(self) -> None:
        self.stale = True
        if self._on_stale_session:
            self._on_stale_session()

    def diagnostics(self) -> TransportDiagnostics:
        """What is known of the connection."""
        return TransportDiagnostics(
            target=shown_url(self._url),
            elapsed=time.monotonic() - self._began,
            problem=f"HTTP {self.unauthorized.status}" if self.unauthorized else None,
            refused=self.unauthorized.status if self.unauthorized else None,
            repairs=self._pending.repairs,
        )
