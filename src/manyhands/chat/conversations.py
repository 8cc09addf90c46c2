"""Whole conversations: forked, sent again, searched, exported, imported, and what of them is unread.

What happens inside one is the business of `runs.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol

from sqlalchemy import Connection

from manyhands.chat import archive, conversation_store, message_store, search_index
from manyhands.chat.attachments import AttachmentStore
from manyhands.chat.conversation_store import Activity, Found
from manyhands.chat.types import Channel, Message, Run, RunOptions
from manyhands.clock import Clock
from manyhands.errors import ConflictError, InvalidError, ManyhandsError, NotFoundError
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.models.types import Attachment
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.store.engine import Store

Format = Literal["markdown", "json"]
MOST_WORDS = 12
ARCHIVE_BYTES = 100_000_000


class Channels(Protocol):
    """What is needed of the channel service."""

    async def get(self, channel_id: str) -> Channel: ...

    async def create(self, name: str, platform: str = "local") -> Channel: ...

    async def create_thread(
        self, parent_id: str, name: str, *, system_prompt: str | None = None
    ) -> Channel: ...

    async def patch(self, channel_id: str, values: dict[str, Any]) -> Channel: ...


class Runs(Protocol):
    """What is needed of the run service."""

    def is_working(self, channel_id: str) -> bool: ...

    async def start(
        self,
        channel_id: str,
        prompt: str,
        options: RunOptions | None = None,
        attachments: Sequence[Attachment] = (),
        author_id: str = "owner",
    ) -> Run: ...


class ConversationService:
    """The use cases of whole conversations."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        channels: Channels,
        runs: Runs,
        attachments: AttachmentStore,
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._channels = channels
        self._runs = runs
        self._attachments = attachments

    # --- branches

    async def fork(
        self,
        channel_id: str,
        message_id: str | None = None,
        name: str | None = None,
        person_id: str = "owner",
    ) -> Channel:
        """A thread that begins with a copy of the conversation, up to and with one message."""
        source = await self._channels.get(channel_id)
        if message_id is not None:
            await self._message(channel_id, message_id)
        said = await self._said(channel_id, message_id)
        thread = await self._channels.create_thread(
            source.parent_id or source.id, name or f"{source.name} (fork)", system_prompt=source.system_prompt
        )
        if source.model != thread.model:
            thread = await self._channels.patch(thread.id, {"model": source.model})
        await self._insert(thread.id, said, person_id)
        return thread

    async def resend(
        self, channel_id: str, message_id: str, content: str, person_id: str = "owner"
    ) -> tuple[Run, Channel]:
        """Say a message in other words: it and what came of it make room, and stay in a thread of their own.

        The answer is the new run and that thread.
        """
        old = await self._message(channel_id, message_id)
        if old.role != "user":
            raise InvalidError("Only what a person said can be said again.", hint="Choose such a message.")
        if not content.strip():
            raise InvalidError("The message is empty.", hint="Write something.")
        if self._runs.is_working(channel_id):
            raise ConflictError("The channel is working.", hint="Stop its run first, or wait for its end.")
        source = await self._channels.get(channel_id)
        kept = await self.fork(channel_id, None, f"{source.name} (before an edit)", person_id)
        files = [await self._attachments.load(reference) for reference in old.attachments]
        await self._store.write(lambda conn: conversation_store.set_aside(conn, channel_id, message_id))
        told = {"channel_id": channel_id, "message_id": message_id, "kept_in": kept.id}
        self._bus.publish("channel.rewound", told, channel_id=channel_id)
        return await self._runs.start(channel_id, content, None, files, person_id), kept

    async def _message(self, channel_id: str, message_id: str) -> Message:
        message = await self._store.read(lambda conn: message_store.select_message(conn, message_id))
        if message is None or message.channel_id != channel_id or message.state != "sent":
            raise NotFoundError(
                f"There is no message {message_id!r} in this conversation.",
                hint="Read the conversation anew.",
            )
        return message

    async def _said(self, channel_id: str, up_to: str | None = None) -> list[Message]:
        def work(conn: Connection) -> list[Message]:
            ids = conversation_store.select_all(conn, channel_id, up_to)
            return [message_store.to_message(row) for row in conversation_store.select_messages(conn, ids)]

        return await self._store.read(work)

    async def _insert(self, channel_id: str, said: Sequence[Message], person_id: str) -> None:
        """Copies under new ids, in the same order; they belong to no run here, and are no news."""
        ids = {message.id: new_id("msg") for message in said}
        copies = [
            replace(
                message,
                id=ids[message.id],
                channel_id=channel_id,
                run_id=None,
                iteration=None,
                covers=ids.get(message.covers or ""),
            )
            for message in said
        ]
        await self._store.write(lambda conn: message_store.insert_messages(conn, copies))
        if copies:
            await self.mark_read(channel_id, copies[-1].id, person_id)

    # --- files

    async def export(self, channel_id: str, form: Format) -> str | dict[str, Any]:
        """The conversation as Markdown text, or as a JSON document that `import_archive` takes."""
        channel = await self._channels.get(channel_id)
        said = await self._said(channel_id)
        if form == "markdown":
            return archive.to_markdown(channel, said)
        return archive.to_json(channel, said, await self._files(said))

    async def _files(self, said: Sequence[Message]) -> Mapping[str, Attachment]:
        files: dict[str, Attachment] = {}
        room = ARCHIVE_BYTES
        for reference in (one for message in said for one in message.attachments):
            digest, size = str(reference.get("sha256")), int(reference.get("size") or 0)
            if digest in files or size > room:
                continue
            try:
                files[digest] = await self._attachments.load(reference)
                room -= size
            except ManyhandsError:  # what is gone cannot be exported; the message still names it
                continue
        return files

    async def import_archive(self, document: object, person_id: str = "owner") -> Channel:
        """A new channel with the conversation of a file."""
        found = archive.read_archive(document)
        files = archive.to_files(found)
        for file in files:
            await self._attachments.keep(file)
        channel = await self._channels.create(found.channel.name)
        if found.channel.system_prompt:
            channel = await self._channels.patch(channel.id, {"system_prompt": found.channel.system_prompt})
        await self._insert(channel.id, archive.to_messages(found, channel.id), person_id)
        return channel

    async def attachment(self, digest: str) -> bytes:
        """The bytes behind a message's reference."""
        return (await self._attachments.load({"sha256": digest})).data

    # --- finding

    async def make_search_quick(self) -> None:
        """Once for every database; the search works without it, too."""
        if not await self._store.read(search_index.has_index):
            await self._store.write(search_index.make_index)

    async def search(
        self, text: str, channel_id: str | None = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> Page[Found]:
        """Messages that hold all words of the text, newest first."""
        words = text.split()[:MOST_WORDS]
        if not words:
            return Page([], None)
        found = await self._store.read(
            lambda conn: conversation_store.search(conn, words, channel_id, limit + 1, cursor)
        )
        items, more = cut_page(found, limit)
        return Page(items, items[-1].message_id if more else None)

    # --- reading

    async def activity(self, person_id: str) -> Sequence[Activity]:
        """Per channel: when something was said last, how much of it is unread, which run goes on."""
        return await self._store.read(lambda conn: conversation_store.select_activity(conn, person_id))

    async def mark_read(self, channel_id: str, message_id: str, person_id: str) -> None:
        """The person has seen everything up to this message."""
        await self._channels.get(channel_id)
        now = self._clock.now()
        await self._store.write(
            lambda conn: conversation_store.mark_read(conn, person_id, channel_id, message_id, now)
        )
        told = {"channel_id": channel_id, "person_id": person_id, "message_id": message_id}
        self._bus.publish("channel.read", told, channel_id=channel_id)
