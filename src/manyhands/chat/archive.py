"""A conversation as a file: Markdown for people, JSON for another hub. Pure; reads and writes nothing.

The JSON holds all that was said, with attachments in base64. What it leaves out: the directory, the trust and
the records of runs, which mean something on the machine where they were made only.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from manyhands.chat.types import AskedCall, Channel, Message, Speaker
from manyhands.chat.views import thinking_text
from manyhands.clock import rfc3339
from manyhands.errors import InvalidError
from manyhands.models.types import Attachment

FORMAT = "manyhands.conversation"
VERSION = 1
MOST_MESSAGES = 50_000


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ArchivedCall(_Part):
    """A call as the model asked for it."""

    id: str
    name: str
    arguments: str = "{}"
    call_id: str = ""


class ArchivedMessage(_Part):
    """One message of the file."""

    id: str
    role: Literal["user", "assistant", "tool", "system"]
    content: str = Field("", max_length=20_000_000)
    at: datetime
    author_id: str = "owner"
    speaker: Speaker = "person"
    tool_calls: list[ArchivedCall] = []
    tool_call_id: str | None = None
    is_error: bool = False
    attachments: list[dict[str, Any]] = []
    thinking: list[dict[str, Any]] = []
    usage: dict[str, int] | None = None
    model: str | None = None
    finish_reason: str | None = None
    covers: str | None = None


class ArchivedFile(_Part):
    """An attachment, under the hash that messages name."""

    name: str
    mime: str
    data: str


class ArchivedChannel(_Part):
    """What the conversation was called, and what held for it."""

    name: str = Field("Imported", min_length=1, max_length=200)
    system_prompt: str | None = Field(None, max_length=100_000)


class Archive(_Part):
    """The file."""

    format: Literal["manyhands.conversation"]
    version: Literal[1]
    channel: ArchivedChannel = ArchivedChannel(name="Imported")
    messages: list[ArchivedMessage] = Field(max_length=MOST_MESSAGES)
    attachments: dict[str, ArchivedFile] = {}


def to_json(channel: Channel, said: Sequence[Message], files: Mapping[str, Attachment]) -> dict[str, Any]:
    """The conversation as one JSON document; `files` by their hash."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "channel": {"name": channel.name, "system_prompt": channel.system_prompt},
        "messages": [_message(message) for message in said],
        "attachments": {
            digest: {"name": file.name, "mime": file.mime, "data": base64.b64encode(file.data).decode()}
            for digest, file in files.items()
        },
    }


def _message(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "role": message.role,
        "content": message.content,
        "at": rfc3339(message.at),
        "author_id": message.author_id,
        "speaker": message.speaker,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments, "call_id": call.call_id}
            for call in message.tool_calls
        ],
        "tool_call_id": message.tool_call_id,
        "is_error": message.is_error,
        "attachments": [dict(reference) for reference in message.attachments],
        "thinking": [dict(part) for part in message.thinking],
        "usage": None if message.usage is None else dict(message.usage),
        "model": message.model,
        "finish_reason": message.finish_reason,
        "covers": message.covers,
    }


def read_archive(document: object) -> Archive:
    """The file, checked; whatever is wrong with it is said with its place."""
    try:
        return Archive.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InvalidError(
            f"This is not an exported conversation: {place}: {first['msg']}.",
            hint="Take a file that `GET /api/channels/{id}/export?format=json` has given.",
        ) from None


def to_messages(archive: Archive, channel_id: str) -> list[Message]:
    """The messages of a file, for a channel; ids are still those of the file."""
    return [
        Message(
            **one.model_dump(exclude={"tool_calls", "at"}),
            at=one.at if one.at.tzinfo else one.at.replace(tzinfo=UTC),
            channel_id=channel_id,
            tool_calls=tuple(AskedCall(**call.model_dump()) for call in one.tool_calls),
        )
        for one in archive.messages
    ]


def to_files(archive: Archive) -> list[Attachment]:
    """The attachments of a file."""
    try:
        return [
            Attachment(file.name, file.mime, base64.b64decode(file.data, validate=True))
            for file in archive.attachments.values()
        ]
    except binascii.Error:
        raise InvalidError("An attachment in the file is not base64.", hint="Export it again.") from None


def to_markdown(channel: Channel, said: Sequence[Message]) -> str:
    """The conversation for reading: every message under who said it, calls and results folded."""
    parts = [f"# {channel.name}"]
    for message in said:
        parts += _written(message)
    return "\n\n".join(parts) + "\n"


def _written(message: Message) -> Iterable[str]:
    match message.role:
        case "user":
            yield f"## You · {rfc3339(message.at)}"
        case "assistant":
            if message.content:
                yield f"## {message.model or 'Assistant'} · {rfc3339(message.at)}"
        case "system":
            yield "> " + message.content.replace("\n", "\n> ")
            return
        case "tool":
            yield _folded("Failed" if message.is_error else "Result", message.content)
            return
    if thought := thinking_text(message):
        yield _folded("Thinking", thought)
    if message.content:
        yield message.content
    for reference in message.attachments:
        yield f"*Attached: {reference.get('name')} ({reference.get('mime')}, {reference.get('size')} bytes)*"
    for call in message.tool_calls:
        yield _folded(f"Call: {call.name}", call.arguments, "json")


def _folded(title: str, text: str, language: str = "text") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"<details><summary>{title}</summary>\n\n{fence}{language}\n{text}\n{fence}\n\n</details>"
