"""Whoever asks while the hub begins or ends: waits until the app is there, and is told when it goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import anyio

from manyhands import __version__
from manyhands.errors import UnavailableError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TRY_LATER = 1013


class Waiting:
    """An ASGI app that is not there yet: whoever comes before it waits, and health says that it starts."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None
        self._there = anyio.Event()
        self._inside: set[anyio.CancelScope] = set()

    def serve(self, app: ASGIApp) -> None:
        """From now on, and to those who wait, this one answers."""
        self._app = app
        self._there.set()

    def send_home(self) -> None:
        """End what has not been answered; whoever asked is told that the hub ends, and whoever comes now."""
        self.serve(_leaving)
        for visit in list(self._inside):
            visit.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None and scope["type"] == "http" and scope["path"] == "/api/health":
            await _say_starting(send)
            return
        answer = _Answer(send)
        with anyio.CancelScope() as visit:
            self._inside.add(visit)
            try:
                await self._there.wait()
                assert self._app is not None
                await self._app(scope, receive, answer)
            finally:
                self._inside.discard(visit)
        if visit.cancelled_caught and not answer.begun:
            await _leaving(scope, receive, send)


class _Answer:
    """`send` that remembers whether anything was sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        self.begun = True
        await self._send(message)


def refusing(error: UnavailableError) -> ASGIApp:
    """An app that has nothing but this answer. Behind a gate, those whom it does not know get no details."""

    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        from manyhands.access.types import PRINCIPAL

        known = PRINCIPAL in scope
        await _refuse(error if known else UnavailableError("The hub does not start."), scope, receive, send)

    return refuse


async def _leaving(scope: Scope, receive: Receive, send: Send) -> None:
    error = UnavailableError("The hub is shutting down.", hint="Try again when it is up.")
    await _refuse(error, scope, receive, send)


async def _refuse(error: UnavailableError, scope: Scope, receive: Receive, send: Send) -> None:
    from manyhands.api.problems import for_path, problem_of

    if scope["type"] == "http":
        await for_path(scope["path"], problem_of(error))(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": _TRY_LATER})


async def _say_starting(send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    body = {"status": "starting", "name": "manyhands", "version": __version__}
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
