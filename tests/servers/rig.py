"""Connections under test: real servers, what the hooks were told, a stand-in for whoever calls a tool."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from manyhands.approvals.types import Answer, ApprovalState, Question
from manyhands.servers.backoff import BackOff
from manyhands.servers.connection import Connection
from manyhands.servers.endpoints import (
    ClientFeatures,
    ConnectionHooks,
    ConnectionKey,
    Limits,
    LogMessage,
    Target,
)
from manyhands.servers.transports.child import Patience
from manyhands.servers.transports.http import HttpTransport
from manyhands.servers.transports.sse import SseTransport
from manyhands.servers.transports.stdio import StdioTransport
from manyhands.servers.transports.types import TransportHandle
from manyhands.servers.types import Catalogue, ConnectionState, ServerStatus
from manyhands.tools.types import CallContext, ToolResult

FIXTURES = Path(__file__).parent / "fixtures"
PLAIN = FIXTURES / "plain_server.py"
SDK = FIXTURES / "sdk_server.py"
BOUND = 30.0
QUICK = Limits(backoff=BackOff(first_s=0.01, longest_s=0.02, attempts=3))
T = TypeVar("T")


class Seen(Generic[T]):
    """What was told, in order; and waiting until something is told."""

    def __init__(self) -> None:
        self.all: list[T] = []
        self._more = anyio.Event()

    def add(self, item: T) -> None:
        self.all.append(item)
        self._more.set()
        self._more = anyio.Event()

    async def until(self, wanted: Callable[[T], bool], *, after: int = 0) -> T:
        """The first item from number `after` on that is wanted."""
        with anyio.fail_after(BOUND):
            while True:
                more = self._more
                for item in self.all[after:]:
                    if wanted(item):
                        return item
                await more.wait()


@dataclass
class Caller:
    """Whoever calls a tool: keeps the progress, answers questions with `answers` in turn."""

    answers: list[Answer] = field(default_factory=list)
    context: CallContext = field(default_factory=lambda: CallContext(channel_id="c1", run_id="r1"))
    call_id: str = "call-1"
    steps: Seen[tuple[float, float | None, str | None]] = field(default_factory=Seen)
    questions: Seen[Question] = field(default_factory=Seen)
    pauses: int = 0

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.steps.add((progress, total, message))

    async def ask(self, question: Question) -> Answer:
        self.questions.add(question)
        if not self.answers:
            await anyio.sleep_forever()
        return self.answers.pop(0)

    @contextmanager
    def pause(self) -> Iterator[None]:
        self.pauses += 1
        yield


def yes(response: Any = None) -> Answer:
    return Answer(ApprovalState.APPROVED, response=response)


def no() -> Answer:
    return Answer(ApprovalState.REJECTED)


def gone() -> Answer:
    return Answer(ApprovalState.EXPIRED)


@dataclass
class Rig:
    """One connection and what it told."""

    connection: Connection
    states: Seen[ConnectionState]
    catalogues: Seen[Catalogue]
    logs: Seen[LogMessage]
    updates: Seen[str]
    opened: list[TransportHandle]

    async def call(self, tool: str, caller: Caller | None = None, **arguments: Any) -> ToolResult:
        with anyio.fail_after(BOUND):
            return await self.connection.call_tool(tool, arguments, caller or Caller())

    async def up(self) -> None:
        await self.connection.connected(BOUND)

    async def status(self, status: ServerStatus, *, after: int = 0) -> ConnectionState:
        return await self.states.until(lambda state: state.status is status, after=after)


def stdio_target(*command: str, name: str = "plain", timeout: float = 20.0) -> Target:
    async def opened() -> TransportHandle:
        return StdioTransport(command[0], command[1:], patience=Patience(grace=1.0, term=0.5))

    return Target(name, opened, connect_timeout_s=timeout)


def plain(*flags: str, timeout: float = 20.0) -> Target:
    return stdio_target(sys.executable, str(PLAIN), *flags, timeout=timeout)


def make_rig(
    target: Target,
    *,
    root: str | None = None,
    features: ClientFeatures | None = None,
    limits: Limits = QUICK,
    known: Catalogue | None = None,
) -> Rig:
    states: Seen[ConnectionState] = Seen()
    catalogues: Seen[Catalogue] = Seen()
    logs: Seen[LogMessage] = Seen()
    updates: Seen[str] = Seen()
    opened: list[TransportHandle] = []

    async def open_and_keep() -> TransportHandle:
        handle = await target.open()
        opened.append(handle)
        return handle

    hooks = ConnectionHooks(
        on_state=lambda key, state: states.add(state),
        on_catalogue=lambda key, catalogue: catalogues.add(catalogue),
        on_log=lambda key, message: logs.add(message),
        on_resource_updated=lambda key, uri: updates.add(uri),
        known=lambda key: known,
    )
    kept = Target(target.name, open_and_keep, target.transport, target.connect_timeout_s)
    connection = Connection(ConnectionKey(1, root), kept, features, hooks, limits=limits)
    return Rig(connection, states, catalogues, logs, updates, opened)


@asynccontextmanager
async def running(
    target: Target,
    *,
    root: str | None = None,
    features: ClientFeatures | None = None,
    limits: Limits = QUICK,
    known: Catalogue | None = None,
) -> AsyncIterator[Rig]:
    """A connection with its owner task; stopped, and its end awaited, when the block is left."""
    rig = make_rig(target, root=root, features=features, limits=limits, known=known)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.connection.run)
        try:
            yield rig
        finally:
            rig.connection.stop()
            with anyio.fail_after(BOUND, shield=True):
                await rig.connection.stopped()


# --- servers made with the SDK


@dataclass
class WebServer:
    """A server that somebody else started: a process that serves HTTP on this machine."""

    process: Process
    port: int
    flags: tuple[str, ...]

    def target(self, token: str | None = None) -> Target:
        transport: Literal["http", "sse"] = "sse" if "sse" in self.flags else "http"
        url = f"http://127.0.0.1:{self.port}/{'mcp' if transport == 'http' else 'sse'}"
        headers = {"Authorization": f"Bearer {token}"} if token else {}

        async def opened() -> TransportHandle:
            return (HttpTransport if transport == "http" else SseTransport)(url, headers=headers)

        return Target("sdk", opened, transport, connect_timeout_s=20.0)

    async def end(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await self.process.aclose()

    async def start_again(self) -> None:
        """On the same port."""
        self.process = await anyio.open_process(
            [sys.executable, str(SDK), *self.flags, "--port", str(self.port)], stderr=None
        )
        await _port(self.process)


@asynccontextmanager
async def web_server(*flags: str) -> AsyncIterator[WebServer]:
    """A server process over HTTP or SSE, as the flags say."""
    process = await anyio.open_process([sys.executable, str(SDK), *flags], stderr=None)
    with anyio.CancelScope(shield=True):
        server = WebServer(process, await _port(process), flags)
    try:
        yield server
    finally:
        with anyio.CancelScope(shield=True):
            await server.end()


async def _port(process: Process) -> int:
    assert process.stdout is not None
    with anyio.fail_after(BOUND):
        line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 100)
    return int(line.split()[1])


def sdk(*flags: str) -> Target:
    return stdio_target(sys.executable, str(SDK), *flags, name="sdk", timeout=20.0)
