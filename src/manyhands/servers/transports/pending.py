"""Which requests of a connection wait for an answer, so that a lost answer can be told to whom it belongs,
and what is done to a message before the SDK sees it: secrets are hidden, the answer to a list request mended.

Shared by all transports; `WatchedRead` and `WatchedWrite` put it between the SDK and streams of the SDK's.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params
from mcp.shared.message import SessionMessage
from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from manyhands.secrets import Redactor
from manyhands.servers.transports.listings import LISTINGS, mended_listing
from manyhands.servers.transports.stream_ends import ReadEnd, StreamEnd
from manyhands.servers.transports.types import BAD_ANSWER
from manyhands.servers.transports.unanswered import UnansweredRequests
from manyhands.servers.types import Repair

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, WriteStream

_PROTOCOL_KEY = "io.modelcontextprotocol/protocolVersion"
_MOST_PENDING = 10_000
_MOST_REPAIRS = 1_000
_NOTHING = "notifications/manyhands/nothing"
"""In place of a message that is not handed on: the SDK drops what it does not know, and says nothing."""


@dataclass(frozen=True, slots=True)
class _Listing:
    method: str
    modern: bool
    first_page: bool


class PendingRequests:
    """The requests under way on one connection, and what was mended in the listings it received.

    `redactor` takes secrets out: whatever a server says, it says nothing that we gave it to keep. `of` names
    the server in the log.
    """

    def __init__(self, redactor: Redactor | None = None, *, of: str = "A server") -> None:
        self._redactor = redactor or Redactor()
        self._unanswered = UnansweredRequests(of)
        self._waiting: dict[RequestId, _Listing | None] = {}
        self._repairs: dict[str, list[Repair]] = {}

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was mended in the last listing of each kind."""
        return tuple(repair for repairs in self._repairs.values() for repair in repairs)

    def sent(self, message: JSONRPCMessage) -> None:
        """Take note of a message on its way out."""
        if isinstance(message, JSONRPCRequest):
            self._waiting[message.id] = _listing(message) if message.method in LISTINGS else None
            if len(self._waiting) > _MOST_PENDING:
                del self._waiting[next(iter(self._waiting))]
        else:
            self._pop(cancelled_id(message))

    @contextmanager
    def sending(self, message: JSONRPCMessage) -> Iterator[None]:
        """Take note of a message while it is on its way out, however that ends."""
        self.sent(message)
        if not isinstance(message, JSONRPCResponse | JSONRPCError) or message.id is None:
            yield
            return
        self._unanswered.begin_answer(message.id)
        try:
            yield
        finally:
            self._unanswered.end_answer(message.id)

    def received(self, message: JSONRPCMessage) -> JSONRPCMessage:
        """Take note of a message. It comes back without secrets, and mended if it is a listing.

        A request beyond those that may wait for our answer comes back as nothing.
        """
        try:
            self._hide_in(message)
        except RecursionError:
            return self._too_deep(message)
        if isinstance(message, JSONRPCResponse):
            if listing := self._pop(message.id):
                message.result = self._mended(listing, message.result)
        elif isinstance(message, JSONRPCError):
            if message.id is None and len(self._waiting) == 1:
                # The server could not tell what it answers; there is only one thing that it can be.
                message.id = next(iter(self._waiting))
            if message.id is not None:
                self._pop(message.id)
        elif isinstance(message, JSONRPCRequest):
            if not self._unanswered.admit(message):
                return _nothing()
        elif (cancelled := cancelled_id(message)) is not None:
            self._unanswered.cancel(cancelled)
        return message

    def _hide_in(self, message: JSONRPCMessage) -> None:
        hide = self._redactor.hide_json
        if isinstance(message, JSONRPCResponse):
            message.result = hide(message.result)
        elif isinstance(message, JSONRPCError):
            message.error.message = self._redactor.hide_cut(message.error.message)
            message.error.data = hide(message.error.data)
        else:
            message.params = hide(message.params)

    def _too_deep(self, message: JSONRPCMessage) -> JSONRPCMessage:
        if not isinstance(message, JSONRPCResponse | JSONRPCError):
            return _nothing()
        self._pop(message.id)
        error = ErrorData(code=BAD_ANSWER, message="The server's answer is nested too deeply.")
        return JSONRPCError(jsonrpc="2.0", id=message.id, error=error)

    def failed(self, request_id: RequestId | None, code: int, text: str) -> list[JSONRPCError]:
        """Error answers for one request if it is under way, or for all when nobody knows which it was."""
        if request_id is None:
            lost = list(self._waiting)
        else:
            spellings = (request_id, coerce_request_id(request_id))
            lost = [known for known in spellings if known in self._waiting][:1]
        for known in lost:
            del self._waiting[known]
        error = ErrorData(code=code, message=text)
        return [JSONRPCError(jsonrpc="2.0", id=known, error=error) for known in lost]

    def _pop(self, request_id: RequestId | None) -> _Listing | None:
        if request_id is None:
            return None
        if request_id not in self._waiting:
            request_id = coerce_request_id(request_id)  # some servers send a number back as text
        return self._waiting.pop(request_id, None)

    def _mended(self, listing: _Listing, result: dict[str, object]) -> dict[str, object]:
        result, repairs = mended_listing(listing.method, result, modern=listing.modern)
        known = [] if listing.first_page else self._repairs.get(listing.method, [])
        self._repairs[listing.method] = (known + repairs)[:_MOST_REPAIRS]
        return result


def _listing(request: JSONRPCRequest) -> _Listing:
    params = request.params or {}
    modern = str((params.get("_meta") or {}).get(_PROTOCOL_KEY, "")) >= "2026"
    return _Listing(request.method, modern, first_page=params.get("cursor") is None)


def _nothing() -> JSONRPCMessage:
    return JSONRPCNotification(jsonrpc="2.0", method=_NOTHING)


def cancelled_id(message: JSONRPCMessage) -> RequestId | None:
    """Which request a message gives up, if that is what it does."""
    if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
        return cancelled_request_id_from_params(message.params)
    return None


class WatchedRead(ReadEnd):
    """A read stream of the SDK whose answers pass through the pending requests."""

    def __init__(
        self,
        inner: ReadStream[SessionMessage | Exception],
        pending: PendingRequests,
        on_end: Callable[[], None],
    ) -> None:
        self._inner = inner
        self._pending = pending
        self._on_end = on_end

    @property
    def last_context(self) -> contextvars.Context | None:
        """The sender's context, which the SDK looks for."""
        return getattr(self._inner, "last_context", None)

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return self._noted(await self._inner.__anext__())
        except StopAsyncIteration:
            self._on_end()
            raise

    def _noted(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, SessionMessage):
            item.message = self._pending.received(item.message)
        return item

    async def aclose(self) -> None:
        await self._inner.aclose()


class WatchedWrite(StreamEnd):
    """A write stream of the SDK that tells the pending requests what goes out."""

    def __init__(self, inner: WriteStream[SessionMessage], pending: PendingRequests) -> None:
        self._inner = inner
        self._pending = pending

    async def send(self, item: SessionMessage, /) -> None:
        with self._pending.sending(item.message):
            await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()
