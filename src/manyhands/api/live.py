"""Events as they happen: over a WebSocket, and as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Header, Query, WebSocket
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketState

from manyhands.api.access import HubOf, crowds_of
from manyhands.api.pacing import Pacing
from manyhands.errors import InvalidError, ManyhandsError
from manyhands.events import Event, EventBus
from manyhands.hub import Hub

router = APIRouter(tags=["live"])

HEARTBEAT_S = 15.0
SETTLED_S = 2.0
_LONGEST_ID = 40
_CLOSING, _TRY_LATER = 1012, 1013

Since = Annotated[int | None, Query(ge=0, description="Replay what came after this `seq` first.")]


@router.websocket("/ws")
async def events_socket(socket: WebSocket, hub: HubOf, since: Since = None) -> None:
    """Each event as one text message: its envelope. `{"pause_ms": …}` sent to it joins words of that time."""
    try:
        with crowds_of(socket).live.enter() as scope:
            async with hub.bus.subscribe(since) as events:
                await socket.accept()  # after subscribing: from here on nothing is missed
                await _until_hung_up(socket, events, hub)
    except ManyhandsError as error:
        if socket.application_state is WebSocketState.CONNECTING:
            await socket.accept()  # a refusal before that has no reason that a browser could read
        await socket.close(_TRY_LATER, error.message)
        return
    if scope.cancelled_caught:
        await socket.close(_CLOSING, "the hub is shutting down")


async def _until_hung_up(socket: WebSocket, events: AsyncIterator[Event], hub: Hub) -> None:
    pacing = Pacing(lambda event: socket.send_text(_text(event)))
    async with anyio.create_task_group() as group:

        async def listen() -> None:
            while (said := await socket.receive())["type"] != "websocket.disconnect":
                pacing.hear(said.get("text") or "")
            group.cancel_scope.cancel()

        group.start_soon(listen)
        group.start_soon(pacing.run)
        group.start_soon(_expect_questions, hub)
        async for event in events:
            await pacing.tell(event)


async def _expect_questions(hub: Hub) -> None:
    """Who listens may soon ask, and what a model needs takes seconds to import: after what was opened."""
    await anyio.sleep(SETTLED_S)
    await hub.models.warm()


@router.get("/events", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}})
async def events_stream(
    hub: HubOf,
    since: Since = None,
    last_event_id: Annotated[str | None, Header(description="Sent by a browser that reconnects.")] = None,
) -> Response:
    """The same events as `text/event-stream`: `id` is the seq, `event` the type, `data` the envelope."""
    return EventStream(hub.bus, resume_at(last_event_id, since), meanwhile=lambda: _expect_questions(hub))


def resume_at(last_event_id: str | None, since: int | None) -> int | None:
    if last_event_id is None or not last_event_id.strip():
        return since
    if not last_event_id.strip().isdecimal() or len(last_event_id) > _LONGEST_ID:
        shown = last_event_id[:_LONGEST_ID]
        raise InvalidError(f"Last-Event-ID {shown!r} is no id of ours.", hint="Send the id as it came.")
    return int(last_event_id)


Wanted = Callable[[Event], bool]


class EventStream(Response):
    """Server-sent events until the client hangs up or the hub shuts down."""

    media_type = "text/event-stream"

    def __init__(
        self,
        bus: EventBus,
        since: int | None,
        wanted: Wanted = lambda event: True,
        last: Wanted | None = None,
        meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        """`wanted`: which events; `last`: the one after which it ends, if there is one."""
        super().__init__()
        self._meanwhile = meanwhile
        self._wanted = wanted
        self._last = last or (lambda event: False)
        del self.headers["content-length"]
        self._bus = bus
        self._since = since
        self._telling = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with crowds_of(HTTPConnection(scope)).live.enter():
            # Whoever sees that it has begun may act at once: what comes of that must not be missed.
            async with self._bus.subscribe(self._since) as events:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                await self._tell(send, b": hello\n\n")
                async with anyio.create_task_group() as group:
                    group.start_soon(_cancel_when_gone, receive, group.cancel_scope)
                    group.start_soon(self._beat, send)
                    if self._meanwhile is not None:
                        group.start_soon(self._meanwhile)
                    await self._follow(send, events)
                    group.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _follow(self, send: Send, events: AsyncIterator[Event]) -> None:
        async for event in events:
            if self._wanted(event):
                await self._tell(send, _frame(event))
            if self._last(event):
                return

    async def _beat(self, send: Send) -> None:
        """A comment now and then, so that a dead connection is noticed."""
        while True:
            await anyio.sleep(HEARTBEAT_S)
            await self._tell(send, b": still here\n\n")

    async def _tell(self, send: Send, chunk: bytes) -> None:
        async with self._telling:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _frame(event: Event) -> bytes:
    return f"id: {event.seq}\nevent: {event.type}\ndata: {_text(event)}\n\n".encode()


def _text(event: Event) -> str:
    envelope: dict[str, Any] = event.envelope()
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
