"""A hub with everything that it tells, in order, so that a test can wait for what it is waiting for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from manyhands import Hub
from manyhands.events import Event
from manyhands.tools.types import CallRecord
from tests.servers.rig import BOUND, Seen


@dataclass
class Watched:
    """A hub and its events."""

    hub: Hub
    events: Seen[Event]

    async def add(self, name: str, **config: Any) -> int:
        """Add a server that must connect; its id."""
        with anyio.fail_after(BOUND):
            outcome = await self.hub.add_server(name, **config)
        assert outcome.ok, outcome.error
        return outcome.view.server.id

    async def id_of(self, server: str) -> int:
        return (await self.hub.servers.by_name(server)).server.id

    async def call(
        self, server: str, tool: str, *, channel_id: str | None = None, **arguments: Any
    ) -> CallRecord:
        with anyio.fail_after(BOUND):
            return await self.hub.call_tool(f"mcp__{server}__{tool}", arguments, channel_id=channel_id)

    async def event(self, type: str, *, after: int = 0, **fields: Any) -> dict[str, Any]:
        """The data of the first such event with these fields, from event number `after` on."""
        found = await self.events.until(
            lambda event: event.type == type and fields.items() <= event.data.items(), after=after
        )
        return found.data

    def told(self, type: str, **fields: Any) -> list[dict[str, Any]]:
        """The data of every such event so far."""
        return [
            event.data
            for event in self.events.all
            if event.type == type and fields.items() <= event.data.items()
        ]


@asynccontextmanager
async def watched_hub(home: Path) -> AsyncIterator[Watched]:
    """A hub on this home; opened again, it finds what it left."""
    async with Hub(home) as hub:
        events: Seen[Event] = Seen()
        hub.bus.observe(events.add)
        yield Watched(hub, events)


def text(record: CallRecord) -> str:
    """The text of a call that succeeded."""
    assert record.status == "success", record.error
    return record.result or ""
