"""What was said in a channel, as documents that are searched like files: one for each day. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import groupby

from manyhands.chat.types import Channel, Message
from manyhands.memory.store import NewFile

CONVERSATION = "conversation"
_ROLES = ("user", "assistant")


def documents_of(channel: Channel, messages: Sequence[Message]) -> list[tuple[NewFile, str]]:
    """The documents of a channel, from its messages in the order in which they were said."""
    said = [message for message in messages if message.role in _ROLES and message.content.strip()]
    days = groupby(said, key=lambda message: message.at.date().isoformat())
    return [_document(channel, day, list(group)) for day, group in days]


def _document(channel: Channel, day: str, messages: Sequence[Message]) -> tuple[NewFile, str]:
    lines = [
        f"# {channel.name}, {day}",
        *(f"{_speaker(message)}: {message.content.strip()}" for message in messages),
    ]
    text = "\n\n".join(lines).replace("\0", "\ufffd")
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    shown = f"conversations/{channel.name}/{day}.md"
    modified = messages[-1].at.timestamp()
    path = f"{CONVERSATION}:{channel.id}:{day}"
    return NewFile(
        path, shown, CONVERSATION, digest, len(text.encode("utf-8", "replace")), digest, modified
    ), text


def _speaker(message: Message) -> str:
    """Who said it, as one word or a few before a colon."""
    name = "Manyhands" if message.role == "assistant" and message.author_id == "owner" else message.author_id
    return " ".join(name.replace(":", " ").split()) or message.role
