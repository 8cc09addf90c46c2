"""What the two transports over HTTP share: the client, what it notices of the connection, its streams."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING

import httpx2

from manyhands.secrets import Redactor
from manyhands.servers.transports.http_client import HttpListener, IsolatingClient, shown_url
from manyhands.servers.transports.pending import PendingRequests
from manyhands.servers.transports.types import DEFAULT_MAX_FRAME, TransportDiagnostics, Unauthorized

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


class RemoteTransport(ABC):
    """One session with one endpoint; not to be entered twice.

    `unauthorized` holds the last refusal, `stale` whether the server has dropped our session; whoever owns
    the connection acts on them. `redactor` takes secrets out of whatever the server says.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        auth: httpx2.Auth | None = None,
        max_frame: int = DEFAULT_MAX_FRAME,
        redactor: Redactor | None = None,
    ) -> None:
        self.unauthorized: Unauthorized | None = None
        self.stale = False
        self.closed = asyncio.Event()
        self.on_stream: Callable[[bool], None] | None = None
        self._url = url
        self._headers = headers or {}
        self._auth = auth
        self._max_frame = max_frame
        self._redactor = redactor or Redactor()
        self._pending = PendingRequests(redactor, of=shown_url(url))
        self._garbage = 0
        self._problem: str | None = None
        self._began = time.monotonic()
        self._session: AbstractAsyncContextManager[TransportStreams] | None = None

    @abstractmethod
    def _connected(self) -> AbstractAsyncContextManager[TransportStreams]:
        """The session's two streams, for as long as it lasts."""

    async def __aenter__(self) -> TransportStreams:
        self._began = time.monotonic()
        self._session = self._connected()
        return await self._session.__aenter__()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        assert self._session is not None
        try:
            return await self._session.__aexit__(exc_type, exc_value, traceback)
        finally:
            self.closed.set()

    def _client(self) -> IsolatingClient:
        return IsolatingClient(
            self._url,
            headers=self._headers,
            auth=self._auth,
            listener=HttpListener(self._refused, self._lost_session, self._stream_changed),
            max_body=self._max_frame,
            hide=self._redactor.hide,
        )

    def _refused(self, refusal: Unauthorized) -> None:
        self.unauthorized = refusal

    def _lost_session(self) -> None:
        self.stale = True

    def _stream_changed(self, is_open: bool) -> None:
        if self.on_stream:
            self.on_stream(is_open)

    def diagnostics(self) -> TransportDiagnostics:
        """What is known of the connection."""
        refused = self.unauthorized.status if self.unauthorized else None
        return TransportDiagnostics(
            target=shown_url(self._url),
            elapsed=time.monotonic() - self._began,
            garbage=self._garbage,
            problem=self._problem or (f"HTTP {refused}" if refused else None),
            refused=refused,
            repairs=self._pending.repairs,
        )
