"""A memory of its own, on each database, with a project of notes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from manyhands.chat.service import ChannelService
from manyhands.chat.types import Channel, Message
from manyhands.clock import SystemClock
from manyhands.events import Event, EventBus
from manyhands.home import Home
from manyhands.memory.service import MemoryScope, MemoryService, SearchAnswer
from manyhands.memory.types import Query
from manyhands.secrets import SecretStore
from manyhands.store.engine import Store, open_store
from manyhands.store.event_log import StoredEventLog
from manyhands.store.settings_store import SettingsService

NOTES = {
    "decisions.md": "# Queue\n\nWe looked at three.\n\nIn the end we took the simplest one.\n",
    "garden/plants.md": "# Garden\n\nTomatoes need water.\n\nThe physician advised against lifting pots.\n",
    "talk.txt": "Ana: I bought a sailing boat!\n\nBo: Congratulations!\n",
}


@dataclass
class Desk:
    """A memory with what it is made of."""

    store: Store
    bus: EventBus
    memory: MemoryService
    settings: SettingsService
    channels: ChannelService
    home: Home
    project: Path
    said: dict[str, list[Message]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    async def scope(self) -> MemoryScope:
        return await self.memory.scope(dir_path=str(self.project))

    async def search(self, question: str, **wanted: Any) -> SearchAnswer:
        return await self.memory.search(await self.scope(), Query(question, **wanted))

    async def paths(self, question: str, **wanted: Any) -> list[str]:
        """The files that have these words."""
        wanted = {"by_words": True, **wanted}
        return [hit.path for hit in (await self.search(question, **wanted)).hits]

    async def set(self, **values: Any) -> None:
        await self.settings.patch(values)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path


async def make_desk(store: Store, bus: EventBus, root: Path) -> Desk:
    home = Home(root / "home")
    project = root / "project"
    await anyio.to_thread.run_sync(home.create)
    await anyio.Path(project).mkdir()
    settings = SettingsService(store, bus)
    await settings.load()
    clock = SystemClock()
    channels = ChannelService(store, bus, clock)
    said: dict[str, list[Message]] = {}

    async def spoken(channel_id: str) -> Sequence[Message]:
        return said.get(channel_id, [])

    memory = MemoryService(store, bus, clock, settings, SecretStore(home), home, channels, spoken)
    desk = Desk(store, bus, memory, settings, channels, home, project.resolve(), said)
    bus.observe(desk.events.append)
    for name, text in NOTES.items():
        desk.write(name, text)
    return desk


@pytest.fixture
async def desk(store: Store, bus: EventBus, tmp_path: Path) -> Desk:
    """On each database."""
    return await make_desk(store, bus, tmp_path)


@pytest.fixture
async def sqlite_desk(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """On SQLite alone, for what has nothing to do with databases."""
    async with open_store(sqlite_url) as store:
        bus = EventBus(StoredEventLog(store))
        await bus.start()
        yield await make_desk(store, bus, tmp_path)


async def a_channel(desk: Desk) -> Channel:
    return (await desk.channels.find_or_create(dir_path=str(desk.project)))[0]
