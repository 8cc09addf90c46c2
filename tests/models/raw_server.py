"""A model server on the loopback that sends exactly the bytes a test wants, and sees when a client goes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Request:
    """What was asked."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """What is sent: a head, the parts of a body one by one, and then the end or (`hang`) nothing more."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    parts: Sequence[bytes] = ()
    hang: bool = False
    cut: bool = False
    """Whether the connection ends in the middle of a chunk."""


Handler = Callable[[Request], Answer]


class RawServer:
    """The running server."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.port = 0
        self.requests: list[Request] = []
        self.gone = anyio.Event()
        """Set when a client leaves while an answer hangs."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    async def serve(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            try:
                while (request := await _read(stream)) is not None:
                    self.requests.append(request)
                    if not await self._answer(stream, self._handler(request)):
                        return
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                self.gone.set()

    async def _answer(self, stream: anyio.abc.SocketStream, answer: Answer) -> bool:
        head = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} x", *(f"{name}: {value}" for name, value in head.items())]
        await stream.send("\r\n".join([*lines, "", ""]).encode())
        for part in answer.parts:
            await stream.send(b"%x\r\n%s\r\n" % (len(part), part))
        if answer.cut:
            await stream.send(b"ff\r\nthis chunk never en")
            return False
        if answer.hang:
            await _until_gone(stream)
            self.gone.set()
            return False
        await stream.send(b"0\r\n\r\n")
        return True


@asynccontextmanager
async def raw_server(handler: Handler) -> AsyncIterator[RawServer]:
    """Serve on a free port until the context ends."""
    server = RawServer(handler)
    listener = await anyio.create_tcp_listener(local_host=HOST, local_port=0)
    server.port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()


def answering(*answers: Answer) -> Handler:
    """These answers one after the other; the last one for all that follow."""
    left = list(answers)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


def events(*data: Any) -> tuple[bytes, ...]:
    """Server-sent events; text goes out as it is, everything else as JSON."""
    texts = [item if isinstance(item, str) else json.dumps(item) for item in data]
    return tuple(f"data: {text}\n\n".encode() for text in texts)


def json_answer(body: Any, status: int = 200, **headers: str) -> Answer:
    return Answer(status, {"Content-Type": "application/json", **headers}, [json.dumps(body).encode()])


async def _read(stream: anyio.abc.SocketStream) -> Request | None:
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            data += await stream.receive()
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        while len(body) < int(headers.get("content-length", "0")):
            body += await stream.receive()
    except anyio.EndOfStream:
        return None
    method, path, _ = first.split(" ")
    return Request(method, path, headers, json.loads(body) if body else None)


async def _until_gone(stream: anyio.abc.SocketStream) -> None:
    try:
        while True:
            await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return
