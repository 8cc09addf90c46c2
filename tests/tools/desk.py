"""Everything that a call needs, put together for tests: a store, an inbox, tools in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.lowlevel import cancel_shielded_checkpoint

from manyhands.approvals.service import ApprovalService
from manyhands.chat.types import Channel
from manyhands.clock import SystemClock
from manyhands.errors import NotFoundError
from manyhands.events import Event, EventBus
from manyhands.home import Home
from manyhands.settings import Settings
from manyhands.store.engine import Store
from manyhands.testing.clock import START
from manyhands.testing.tools import MemoryTools
from manyhands.tools.service import ToolService
from manyhands.tools.types import CallContext, CallRecord


@dataclass
class ChangingSettings:
    """Settings that a test can change."""

    current: Settings = field(default_factory=Settings)

    def change(self, **values: Any) -> None:
        self.current = self.current.model_copy(update=values)


@dataclass
class MemoryChannels:
    """Channels in memory; `looked_up` counts how often one was asked for."""

    channels: dict[str, Channel] = field(default_factory=dict)
    looked_up: int = 0

    def add(self, channel_id: str, directory: Path | None = None) -> Channel:
        path = None if directory is None else str(directory)
        channel = Channel(channel_id, channel_id, path, "local", None, None, None, True, True, START)
        self.channels[channel_id] = channel
        return channel

    async def get(self, channel_id: str) -> Channel:
        self.looked_up += 1
        if channel_id not in self.channels:
            raise NotFoundError(f"There is no channel {channel_id!r}.")
        return self.channels[channel_id]


class Desk:
    """A tool service with all that it stands on, and the events that it published."""

    def __init__(self, store: Store, bus: EventBus, home: Path, **service: Any) -> None:
        self.store, self.bus, self.home = store, bus, Home(home)
        self.home.create()
        self.settings = ChangingSettings()
        self.source = MemoryTools()
        self.channels = MemoryChannels()
        self.approvals = ApprovalService(store, bus, SystemClock(), self.settings)
        self.tools = self.new_service(**service)
        self.events: list[Event] = []
        self._more = anyio.Event()
        bus.observe(self._note)

    def new_service(self, **more: Any) -> ToolService:
        """Another service on the same database, as after a restart."""
        parts = (self.store, self.bus, SystemClock(), self.settings, self.approvals)
        return ToolService(*parts, self.source, self.channels, self.home, **more)

    async def call(self, name: str, arguments: object = None, **context: Any) -> CallRecord:
        try:
            return await self.tools.call(name, arguments, CallContext(**context))
        finally:
            await cancel_shielded_checkpoint()  # what it tells is told by then

    def _note(self, event: Event) -> None:
        self.events.append(event)
        self._more.set()

    async def event(self, kind: str, count: int = 1) -> Event:
        """The event of this kind that comes as the so manieth; waits for it."""
        while len(found := self.of_kind(kind)) < count:
            self._more = anyio.Event()
            await self._more.wait()
        return found[count - 1]

    def of_kind(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.type == kind]

    async def answer_next(self, approve: bool = True, count: int = 1, **answer: Any) -> dict[str, Any]:
        """Answer the question that comes as the so manieth; what it said is returned."""
        asked = await self.event("approval.requested", count)
        await self.approvals.answer(asked.data["id"], approve, **answer)
        return asked.data
