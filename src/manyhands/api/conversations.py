"""Whole conversations over HTTP: search, export, import, fork, send again, unread, attachments."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from manyhands.api import schemas
from manyhands.api.access import PAGE, ChannelOf, Cursor, HubOf, Limit, PrincipalOf, items
from manyhands.api.channels import shape
from manyhands.chat.conversation_store import Activity, Found
from manyhands.chat.conversations import Format
from manyhands.clock import rfc3339

router = APIRouter(tags=["conversations"])

AROUND = 90
# What a browser may show by itself; everything else is only ever saved.
_SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class ForkAt(schemas.Body):
    """The last message of the copy; without one all of it."""

    message_id: str | None = None
    name: str | None = Field(None, min_length=1, max_length=200)


class Resend(schemas.Body):
    """A message of a person, and what it should say instead."""

    message_id: str
    content: str = Field(max_length=1_000_000)


class Resent(schemas.Answer):
    """The run that works on it, and the thread that keeps the conversation as it was."""

    run_id: str
    kept_in: str


class ReadUpTo(schemas.Body):
    """The last message that was seen."""

    message_id: str


class ChannelActivity(schemas.Answer):
    """What goes on in a channel, as the person who asks sees it."""

    channel_id: str
    last_message_id: str | None
    last_at: str | None
    unread: int = Field(description="Answers that were not seen yet, 99 at most.")
    run_id: str | None = Field(description="The run that goes on.")
    run_status: str | None


class FoundMessage(schemas.Answer):
    """A message that holds what was looked for, cut around the first place."""

    message_id: str
    channel_id: str
    channel_name: str
    role: str
    snippet: str
    at: str


class Command(schemas.Answer):
    """A prompt of a server, as a person calls it."""

    command: str
    name: str
    title: str | None = None
    description: str | None = None
    arguments: list[schemas.Json] | None = None
    server: str
    server_id: int


class Mention(schemas.Answer):
    """A resource of a server, as a person names it."""

    mention: str
    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime: str | None = None
    server: str
    server_id: int


def _show_activity(one: Activity) -> ChannelActivity:
    return ChannelActivity(
        channel_id=one.channel_id,
        last_message_id=one.last_message_id,
        last_at=None if one.last_at is None else rfc3339(one.last_at),
        unread=one.unread,
        run_id=one.run_id,
        run_status=one.run_status,
    )


@router.get("/activity")
async def list_activity(hub: HubOf, principal: PrincipalOf) -> schemas.Items[ChannelActivity]:
    """Of every channel: when something was said last, what is unread, which run goes on."""
    return items(await hub.conversations.activity(principal.id), None, _show_activity)


@router.get("/search")
async def search_messages(
    hub: HubOf,
    q: Annotated[str, Query(min_length=1, max_length=500, description="Words that must all be there.")],
    channel_id: Annotated[str | None, Query()] = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[FoundMessage]:
    """Messages of people and models that hold all words, newest first."""
    page = await hub.conversations.search(q, channel_id, limit, cursor)
    first = q.split()[0] if q.split() else ""
    return items(page.items, page.next_cursor, lambda found: _show_found(found, first))


def _show_found(found: Found, word: str) -> FoundMessage:
    return FoundMessage(
        message_id=found.message_id,
        channel_id=found.channel_id,
        channel_name=found.channel_name,
        role=found.role,
        snippet=snippet(found.content, word),
        at=rfc3339(found.at),
    )


def snippet(text: str, word: str) -> str:
    """The text around the first place of a word, in one line."""
    place = max(0, text.lower().find(word.lower()))
    start, end = max(0, place - AROUND), place + len(word) + 2 * AROUND
    cut = " ".join(text[start:end].split())
    return f"{'… ' if start else ''}{cut}{' …' if end < len(text) else ''}"


@router.get(
    "/channels/{channel_id}/export",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {}, "application/json": {}}}},
)
async def export_conversation(
    hub: HubOf, channel_id: str, format: Annotated[Format, Query()] = "markdown"
) -> Response:
    """The conversation as a file: Markdown to read, JSON to import elsewhere."""
    channel = await hub.channels.get(channel_id)
    found = await hub.conversations.export(channel_id, format)
    suffix = "md" if format == "markdown" else "json"
    content = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, indent=1)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", channel.name).strip("-.") or "conversation"
    headers = {"Content-Disposition": f'attachment; filename="{name}.{suffix}"'}
    return Response(content, 200, headers, f"{'text/markdown' if suffix == 'md' else 'application/json'}")


@router.post("/channels/import", status_code=201)
async def import_conversation(hub: HubOf, body: dict[str, Any], principal: PrincipalOf) -> schemas.Channel:
    """A new channel with the conversation of an exported JSON file."""
    return shape(await hub.conversations.import_archive(body, principal.id))


@router.post("/channels/{channel_id}/fork", status_code=201)
async def fork_conversation(
    hub: HubOf, channel_id: str, body: ForkAt, principal: PrincipalOf
) -> schemas.Channel:
    """A thread that begins with a copy of the conversation, up to and with a message."""
    return shape(await hub.conversations.fork(channel_id, body.message_id, body.name, principal.id))


@router.post("/channels/{channel_id}/resend", status_code=202)
async def resend_message(hub: HubOf, channel_id: str, body: Resend, principal: PrincipalOf) -> Resent:
    """Say a message in other words; the conversation as it was stays in a thread."""
    run, kept = await hub.conversations.resend(channel_id, body.message_id, body.content, principal.id)
    return Resent(run_id=run.id, kept_in=kept.id)


@router.put("/channels/{channel_id}/read", status_code=204)
async def mark_read(hub: HubOf, channel_id: str, body: ReadUpTo, principal: PrincipalOf) -> None:
    """The person has seen everything up to this message."""
    await hub.conversations.mark_read(channel_id, body.message_id, principal.id)


@router.get(
    "/attachments/{digest}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
async def read_attachment(
    hub: HubOf, digest: str, mime: Annotated[str, Query()] = "application/octet-stream"
) -> Response:
    """The bytes of an attachment. Pictures are shown; anything else is saved, whatever it claims to be."""
    data = await hub.conversations.attachment(digest)
    shown = mime in _SHOWN
    headers = {
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, max-age=31536000, immutable",
        "Content-Disposition": "inline" if shown else "attachment",
    }
    return Response(data, 200, headers, mime if shown else "application/octet-stream")


@router.get("/commands")
async def list_commands(hub: HubOf, channel: ChannelOf) -> schemas.Items[Command]:
    """The prompts of all servers that a channel can see: what `/` offers."""
    return items(await hub.servers.commands(channel), None, lambda one: Command(**one))


@router.get("/mentions")
async def list_mentions(hub: HubOf, channel: ChannelOf) -> schemas.Items[Mention]:
    """The resources of all servers that a channel can see: what `@` offers."""
    found = [
        _mention(resource, view.server.config.name, view.server.id)
        for view in await hub.servers.list(channel)
        for resource in await hub.servers.resources(view.server.id)
    ]
    return items(found, None, lambda one: one)


def _mention(resource: Any, server: str, server_id: int) -> Mention:
    uri = str(resource.get("uri", ""))
    return Mention(
        mention=f"@{server}:{uri}",
        uri=uri,
        name=str(resource.get("name") or uri),
        title=resource.get("title"),
        description=resource.get("description"),
        mime=resource.get("mimeType"),
        server=server,
        server_id=server_id,
    )
