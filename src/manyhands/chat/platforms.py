"""Platforms: where people talk. `local` is the hub itself; other services follow behind the same Protocol.

An adapter carries words in and out. Whether a message starts a run is decided by `starting.py`, for all of
them alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from manyhands.chat.types import Channel, Mention, Message
from manyhands.errors import InvalidError
from manyhands.paging import Page

LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person answered to a question that waits, in their platform's own words."""

    approval_id: str
    approve: bool
    reason: str | None = None


class PlatformAdapter(Protocol):
    """One platform. Ids are the platform's own; for `local` they are the hub's."""

    name: str
    every_message_counts: bool
    """Whether a person need not mention the hub to be answered."""

    async def create(self, name: str) -> str:
        """A new place to talk, with the hub in it; its id."""
        ...

    async def join(self, place_id: str) -> None:
        """Listen in a place that is there already."""
        ...

    async def post(self, place_id: str, text: str, mentions: Sequence[Mention] = ()) -> str:
        """Say something; the id of the message."""
        ...

    async def edit(self, place_id: str, message_id: str, text: str) -> None: ...

    async def thread(self, place_id: str, name: str) -> str:
        """A conversation below a place; its id."""
        ...

    async def delete(self, place_id: str) -> None:
        """Take a thread away."""
        ...

    async def search(self, query: str) -> Sequence[Channel]: ...

    def mention(self, mention: Mention) -> str:
        """How a mention is written there."""
        ...

    def reply(self, text: str, approval_id: str) -> Reply | None:
        """What a person's message says to a question that waits; nothing when it is about something else."""
        ...


class LocalChannels(Protocol):
    """What `local` needs of channels."""

    async def create(self, name: str, platform: str = LOCAL) -> Channel: ...

    async def get(self, channel_id: str) -> Channel: ...

    async def create_thread(
        self, parent_id: str, name: str, *, system_prompt: str | None = None
    ) -> Channel: ...

    async def delete(self, channel_id: str) -> None: ...

    async def list(self, query: str | None = None, platform: str | None = None) -> Page[Channel]: ...


class LocalMessages(Protocol):
    """What `local` needs of messages."""

    async def tell(self, channel_id: str, text: str, mentions: Sequence[Mention]) -> Message: ...

    async def edit(self, message_id: str, content: str) -> Message: ...


_YES = frozenset({"y", "yes", "ok", "approve", "approved", "allow", "👍"})
_NO = frozenset({"n", "no", "reject", "rejected", "deny", "stop", "👎"})


class LocalPlatform:
    """The hub's own channels: everything is stored and shown here, so posting is storing."""

    name = LOCAL
    every_message_counts = True

    def __init__(self, channels: LocalChannels, messages: LocalMessages) -> None:
        self._channels = channels
        self._messages = messages

    async def create(self, name: str) -> str:
        return (await self._channels.create(name, LOCAL)).id

    async def join(self, place_id: str) -> None:
        await self._channels.get(place_id)

    async def post(self, place_id: str, text: str, mentions: Sequence[Mention] = ()) -> str:
        return (await self._messages.tell(place_id, text, mentions)).id

    async def edit(self, place_id: str, message_id: str, text: str) -> None:
        await self._messages.edit(message_id, text)

    async def thread(self, place_id: str, name: str) -> str:
        return (await self._channels.create_thread(place_id, name)).id

    async def delete(self, place_id: str) -> None:
        if (await self._channels.get(place_id)).parent_id is None:
            raise InvalidError(f"{place_id} is a channel, not a thread.", hint="Delete the channel itself.")
        await self._channels.delete(place_id)

    async def search(self, query: str) -> Sequence[Channel]:
        return (await self._channels.list(query, LOCAL)).items

    def mention(self, mention: Mention) -> str:
        return f"@{mention.name}"

    def reply(self, text: str, approval_id: str) -> Reply | None:
        return read_reply(text, approval_id)


def read_reply(text: str, approval_id: str) -> Reply | None:
    """`yes` or `no`, with a reason after it or none; the question's id may come before."""
    words = text.split(maxsplit=1)
    if (
        len(words) == 2
        and len(words[0]) >= 4
        and approval_id.removeprefix("apr_").startswith(words[0].lower())
    ):
        words = words[1].split(maxsplit=1)
    if not words:
        return None
    word, reason = words[0].strip(".,!:").casefold(), words[1].strip() if len(words) == 2 else None
    if word in _YES:
        return Reply(approval_id, True, reason)
    return Reply(approval_id, False, reason) if word in _NO else None
