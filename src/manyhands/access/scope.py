"""What a caller may touch. Whatever is outside does not exist for it: the one place that decides this."""

from __future__ import annotations

from typing import Protocol

from manyhands.access.types import Principal
from manyhands.chat.types import Channel
from manyhands.errors import InvalidError, NotFoundError


class Channels(Protocol):
    """What is needed of the channel service."""

    async def get(self, channel_id: str) -> Channel: ...


class Families(Protocol):
    """Which channels belong together."""

    async def family(self, channel_id: str) -> frozenset[str]: ...

    async def same_family(self, one: str, other: str) -> bool: ...


class Scope:
    """The channel of a caller, and those of its project.

    The owner who names no channel sees everything, and has to name a channel where one is needed.
    """

    def __init__(self, principal: Principal, channels: Channels, families: Families) -> None:
        self.principal = principal
        self._channels = channels
        self._families = families

    async def own(self) -> Channel:
        """The caller's channel."""
        if self.principal.channel_id is None:
            raise InvalidError(
                "This needs a channel, and none was named.",
                hint="Send the header X-Manyhands-Channel with the channel's id.",
            )
        return await self._get(self.principal.channel_id)

    async def channel(self, channel_id: str | None = None) -> Channel:
        """The channel of that id if the caller may see it; without one its own."""
        if channel_id is None or channel_id == self.principal.channel_id:
            return await self.own()
        if self.principal.channel_id is not None and not await self._families.same_family(
            self.principal.channel_id, channel_id
        ):
            raise _unknown(channel_id)
        return await self._get(channel_id)

    async def visible(self) -> frozenset[str] | None:
        """The ids of all channels that it may see; nothing means every one."""
        if self.principal.channel_id is None:
            return None
        return await self._families.family(self.principal.channel_id)

    async def _get(self, channel_id: str) -> Channel:
        try:
            return await self._channels.get(channel_id)
        except NotFoundError:
            raise _unknown(channel_id) from None


def _unknown(channel_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no channel {channel_id!r} here.", hint="search_channels lists those of this project."
    )
