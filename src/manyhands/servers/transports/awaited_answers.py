"""The answers that an HTTP client waits for, and how it stops waiting for one that nobody wants any more.

A server of the older revisions that obeys a cancellation sends no answer and may keep the response open for
good. Every cancelled call would then hold a connection and a task for as long as the session lives.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import anyio
import httpx2

from manyhands.servers.transports.types import CANCELLED

RequestId = int | str
T = TypeVar("T")


class AwaitedAnswer:
    """The answer to one request, from the moment it is sent until it has come or is given up."""

    def __init__(self, request_id: RequestId | None, forget: Callable[[], None]) -> None:
        self.request_id = request_id
        self.given_up = False
        self.forget = forget
        self._scope: anyio.CancelScope | None = None

    def give_up(self) -> None:
        self.given_up = True
        if self._scope is not None:
            self._scope.cancel()

    async def wait_for(self, start: Callable[[], Awaitable[T]]) -> T | None:
        """What comes of it; nothing once the answer was given up."""
        if not self.given_up:
            with anyio.CancelScope() as self._scope:
                return await start()
        return None


class AwaitedAnswers:
    """Those of one client, by the ids of their requests."""

    def __init__(self) -> None:
        self._answers: dict[RequestId, AwaitedAnswer] = {}

    def begin(self, request_id: RequestId | None) -> AwaitedAnswer:
        def forget() -> None:
            if request_id is not None and self._answers.get(request_id) is answer:
                del self._answers[request_id]

        answer = AwaitedAnswer(request_id, forget)
        if request_id is not None:
            self._answers[request_id] = answer
        return answer

    def give_up(self, request_id: RequestId) -> None:
        if answer := self._answers.get(request_id):
            answer.give_up()


class AwaitedEvents(httpx2.AsyncByteStream):
    """An answer that comes as events. Given up, it ends with an error, so that nobody tries to resume it."""

    def __init__(self, inner: httpx2.AsyncByteStream, answer: AwaitedAnswer) -> None:
        self._inner = inner
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = aiter(self._inner)
        while (piece := await self._answer.wait_for(lambda: anext(pieces, None))) is not None:
            yield piece
        if self._answer.given_up:
            error = {"code": CANCELLED, "message": "The request was cancelled."}
            last = {"jsonrpc": "2.0", "id": self._answer.request_id, "error": error}
            yield f"\n\ndata: {json.dumps(last)}\n\n".encode()

    async def aclose(self) -> None:
        self._answer.forget()
        await self._inner.aclose()
