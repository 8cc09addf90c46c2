"""A server service with real servers behind it: a shelf of tools in a file, a process that offers them."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio

from manyhands.approvals.types import Answer, ApprovalState, Question
from manyhands.chat.types import Channel
from manyhands.clock import SystemClock
from manyhands.events import Event, EventBus
from manyhands.home import Home
from manyhands.secrets import SecretStore
from manyhands.secrets.system_keyring import SystemKeyring
from manyhands.servers.service import ServerService
from manyhands.servers.sign_in import SignIn
from manyhands.servers.types import ServerConfig
from manyhands.settings import Settings
from manyhands.store.engine import Store, open_store
from manyhands.store.event_log import StoredEventLog
from manyhands.tools.catalogue import ToolCatalogue
from manyhands.tools.types import CallContext, Listing, Tool, ToolResult

SERVER = Path(__file__).parent / "fixtures" / "shelf_server.py"
BOUND = 30.0
OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


def tool(name: str, description: str = "Does it.", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": OBJECT, **more}


@dataclass
class Shelf:
    """The file that says what a server offers."""

    path: Path

    def put(self, *tools: dict[str, Any], **more: Any) -> Shelf:
        self.path.write_text(json.dumps({"tools": tools, **more}))
        return self

    def config(self, name: str, **fields: Any) -> ServerConfig:
        return ServerConfig(name, command=sys.executable, args=(str(SERVER), str(self.path)), **fields)

    def entry(self, **fields: Any) -> dict[str, Any]:
        return {"command": sys.executable, "args": [str(SERVER), str(self.path)], **fields}


def shelf(directory: Path, name: str, *tools: dict[str, Any], **more: Any) -> Shelf:
    return Shelf(directory / f"{name}.shelf.json").put(*tools, **more)


class NoKeyring(SystemKeyring):
    """A machine without a keyring."""

    def __init__(self) -> None:
        super().__init__("test")

    def available(self) -> bool:
        return False

    def get(self, name: str) -> str | None:
        return None


@dataclass
class FixedSettings:
    """Settings that a test sets by hand."""

    current: Settings = field(default_factory=Settings)


class Running:
    """A call while it runs, by the owner."""

    call_id = "call_1"
    context = CallContext(direct=True)

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...

    async def ask(self, question: Question) -> Answer:
        raise AssertionError(question)

    @contextmanager
    def pause(self) -> Iterator[None]:
        yield


class Inbox:
    """Whoever is asked: keeps questions until a test answers them."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Question, anyio.Event, list[Answer]]] = []
        self.asked: list[Question] = []
        self.taken_back: list[Question] = []
        self._more = anyio.Event()

    async def ask(self, question: Question) -> Answer:
        entry: tuple[Question, anyio.Event, list[Answer]] = (question, anyio.Event(), [])
        self.waiting.append(entry)
        self.asked.append(question)
        self._more.set()
        try:
            await entry[1].wait()
        except anyio.get_cancelled_exc_class():
            self.waiting.remove(entry)
            self.taken_back.append(question)
            raise
        return entry[2][0]

    async def question(self) -> Question:
        with anyio.fail_after(BOUND):
            while not self.waiting:
                self._more = anyio.Event()
                await self._more.wait()
        return self.waiting[0][0]

    async def answer(self, *, approve: bool) -> Question:
        question = await self.question()
        _, answered, box = self.waiting.pop(0)
        box.append(Answer(ApprovalState.APPROVED if approve else ApprovalState.REJECTED))
        answered.set()
        return question


class FakeChannels:
    """Channels in memory."""

    def __init__(self, *channels: Channel) -> None:
        self.channels = {channel.id: channel for channel in channels}
        self._observers: list[Any] = []
        self._trust_observers: list[Any] = []

    def observe(self, observer: Any) -> None:
        self._observers.append(observer)

    def observe_trust(self, observer: Any) -> None:
        self._trust_observers.append(observer)

    async def with_directories(self) -> Sequence[Channel]:
        return [channel for channel in self.channels.values() if channel.dir_path]

    async def trust(self, channel_id: str, trusted: bool) -> Channel:
        channel = replace(self.channels[channel_id], trusted=trusted)
        for observer in self._trust_observers:
            observer(channel.dir_path, trusted)
        return self.put(channel)

    async def mark_trusted(self, directory: str) -> None:
        for channel in await self.with_directories():
            if channel.dir_path == directory and not channel.trusted:
                self.put(replace(channel, trusted=True))

    def put(self, channel: Channel) -> Channel:
        old = self.channels.get(channel.id)
        self.channels[channel.id] = channel
        for observer in self._observers:
            observer(old, channel)
        return channel

    def remove(self, channel_id: str) -> None:
        old = self.channels.pop(channel_id)
        for observer in self._observers:
            observer(old, None)


def channel(directory: Path | None, *, trusted: bool = False, id: str = "ch_1") -> Channel:
    path = None if directory is None else str(directory)
    now = datetime(2026, 11, 15, tzinfo=UTC)
    return Channel(id, "x", path, "local", None, None, None, True, trusted, now)


@dataclass
class Bench:
    """A running service and everything around it."""

    service: ServerService
    bus: EventBus
    secrets: SecretStore
    settings: FixedSettings
    inbox: Inbox
    channels: FakeChannels
    store: Store
    events: list[Event]
    catalogue: ToolCatalogue
    directory: Path
    _told: list[anyio.Event] = field(default_factory=lambda: [anyio.Event()])

    def note(self, event: Event) -> None:
        self.events.append(event)
        self._told[0].set()
        self._told[0] = anyio.Event()

    async def until(self, wanted: Callable[[], Any]) -> Any:
        """Wait for events until `wanted()`, which may be a coroutine, is true, and give what it gave."""
        with anyio.fail_after(BOUND):
            while True:
                told = self._told[0]
                found = wanted()
                if inspect.isawaitable(found):
                    found = await found
                if found:
                    return found
                with anyio.move_on_after(0.1):
                    await told.wait()

    async def status(self, server_id: int, status: str) -> None:
        """Wait until the server has this status."""
        await self.until(lambda: self.service._live.state(server_id).status == status)

    def of_type(self, type: str) -> list[dict[str, Any]]:
        return [event.data for event in self.events if event.type == type]

    async def tool(self, name: str, channel: Channel | None = None) -> Tool | None:
        """What a name leads to, if that can be called."""
        listing = await self.listing(name, channel)
        return None if listing is None else self.service.tool(listing, channel)

    async def listing(self, name: str, channel: Channel | None = None) -> Listing | None:
        """What a name leads to, which is never what a catalogue remembers of earlier."""
        listing = await self.service.listing(name, channel)
        found = await self.catalogue.find(name, channel)
        assert listing == (found.listing if found else None)
        return listing

    async def call(self, name: str, channel: Channel | None = None, **arguments: Any) -> ToolResult:
        found = await self.tool(name, channel)
        assert found is not None, name
        with anyio.fail_after(BOUND):
            return await found.call(arguments, Running())

    async def names(self, channel: Channel | None = None) -> list[str]:
        """The full names of the tools that are offered."""
        listings = await self.service.listings(channel)
        for listing in listings:
            await self.listing(listing.definition.full_name, channel)
        return [listing.definition.full_name for listing in listings if listing.offered]


@asynccontextmanager
async def bench(
    directory: Path,
    *channels: Channel,
    settings: Settings | None = None,
    connect: bool = True,
    watch: bool = False,
) -> AsyncIterator[Bench]:
    """A service on its own database below `directory`; started again, it finds what it left."""
    home = Home(directory / "home")
    home.create()
    secrets = SecretStore(home, keyring=NoKeyring(), env={"FROM_OUTSIDE": "outside-value"})
    inbox, fixed, clock = Inbox(), FixedSettings(settings or Settings()), SystemClock()
    known_channels = FakeChannels(*channels)
    async with open_store(f"sqlite:///{home.database_file}") as store:
        bus = EventBus(StoredEventLog(store))
        await bus.start()
        async with SignIn(secrets, clock) as sign_in, anyio.create_task_group() as tasks:
            service = ServerService(
                store,
                bus,
                clock,
                fixed,
                secrets,
                tasks,
                sign_in=sign_in,
                asking=inbox.ask,
                channels=known_channels,
            )
            made = Bench(
                service,
                bus,
                secrets,
                fixed,
                inbox,
                known_channels,
                store,
                [],
                ToolCatalogue({}, service),
                directory,
            )
            bus.observe(made.note)
            await service.start(connect=connect)
            if watch:
                tasks.start_soon(service.watch_projects)
            try:
                yield made
            finally:
                with anyio.CancelScope(shield=True):
                    await service.stop()
                tasks.cancel_scope.cancel()
