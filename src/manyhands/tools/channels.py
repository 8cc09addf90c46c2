"""The channel of a call, remembered: a call must not cost a look into the database to know its directory."""

from __future__ import annotations

from typing import Protocol

from manyhands.chat.types import Channel
from manyhands.events import Event, EventBus


class ChannelSource(Protocol):
    """Where channels are looked up."""

    async def get(self, channel_id: str) -> Channel: ...


class ChannelMemory:
    """Channels by id, forgotten as soon as one of them changes."""

    def __init__(self, source: ChannelSource, bus: EventBus) -> None:
        self._source = source
        self._known: dict[str, Channel] = {}
        self._changes = 0
        bus.observe(self._note, "channel.")

    async def get(self, channel_id: str | None) -> Channel | None:
        if channel_id is None:
            return None
        known = self._known.get(channel_id)
        return known if known is not None else await self._look_up(channel_id)

    async def above(self, channel: Channel) -> tuple[str, ...]:
        """The channels that a thread is below, nearest first: what holds for them holds for it."""
        found: list[str] = []
        parent_id = channel.parent_id
        while parent_id is not None and parent_id not in found:
            found.append(parent_id)
            parent = await self.get(parent_id)
            parent_id = parent.parent_id if parent else None
        return tuple(found)

    async def _look_up(self, channel_id: str) -> Channel:
        changes = self._changes
        channel = await self._source.get(channel_id)
        if changes == self._changes:  # else it may be the channel as it was before
            self._known[channel_id] = channel
        return channel

    def _note(self, event: Event) -> None:
        self._changes += 1
        self._known.clear()
