"""Messages as they are written: checked, expanded, with their attachments kept and their mentions found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from manyhands.chat import message_store
from manyhands.chat.attachments import AttachmentStore
from manyhands.chat.expansion import Expanded, Offers, expand
from manyhands.chat.mentions import Named, find_mentions
from manyhands.chat.types import Channel, Mention, Message, Speaker
from manyhands.chat.views import message_json
from manyhands.clock import Clock
from manyhands.errors import InvalidError
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.models.types import Attachment
from manyhands.store.engine import Store

PROMPT_LIMIT = 1_000_000
HUB = Named("hub", "hub", "manyhands")


class Names(Protocol):
    """Who can be mentioned where."""

    async def names(self, channel: Channel) -> Sequence[Named]: ...

    async def tell(self, message: Message) -> None:
        """Let those know whom a message mentions; whoever cannot be told misses it."""
        ...


class OnlyHub:
    """Nobody but the hub."""

    async def names(self, channel: Channel) -> Sequence[Named]:
        return [HUB]

    async def tell(self, message: Message) -> None:
        """The hub has heard it."""


class Writer:
    """Makes messages, and stores those that belong to no run."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        attachments: AttachmentStore,
        offers: Offers,
        names: Names,
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._attachments = attachments
        self._offers = offers
        self.names = names

    async def write(
        self,
        channel: Channel,
        content: str,
        attachments: Sequence[Attachment] = (),
        author_id: str = "owner",
        speaker: Speaker = "person",
    ) -> Message:
        """A message that is not stored yet."""
        check_text(content)
        # In short form a person asks servers past the policy; an agent has tools for that.
        is_person = speaker == "person"
        meant = await expand(content, channel, self._offers) if is_person else Expanded(content)
        files = (*attachments, *meant.attachments)
        return Message(
            id=new_id("msg"),
            channel_id=channel.id,
            role="user",
            content=meant.text,
            at=self._clock.now(),
            author_id=author_id,
            attachments=[await self._attachments.keep(attachment) for attachment in files],
            speaker=speaker,
            mentions=tuple(find_mentions(meant.text, await self.names.names(channel))),
        )

    async def say(self, message: Message) -> Message:
        """Store it and tell everybody."""
        await self._store.write(lambda conn: message_store.insert_messages(conn, [message]))
        self._bus.publish("message.created", message_json(message), channel_id=message.channel_id)
        return message

    async def tell(self, channel_id: str, text: str, mentions: Sequence[Mention] = ()) -> Message:
        """Something that the hub itself says."""
        check_text(text)
        return await self.say(
            Message(
                id=new_id("msg"),
                channel_id=channel_id,
                role="assistant",
                content=text,
                at=self._clock.now(),
                author_id="hub",
                mentions=tuple(mentions),
            )
        )


def check_text(text: str) -> None:
    if not text.strip():
        raise InvalidError("The message is empty.", hint="Write something.")
    if len(text) > PROMPT_LIMIT:
        raise InvalidError(
            f"The message has {len(text):,} characters.",
            hint=f"Up to {PROMPT_LIMIT:,} are taken; attach a file.",
        )
