"""Channels over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, items
from manyhands.chat.service import channel_json
from manyhands.chat.types import Channel

router = APIRouter(prefix="/channels", tags=["channels"])


def shape(channel: Channel) -> schemas.Channel:
    return schemas.Channel(**channel_json(channel))


@router.get("")
async def list_channels(
    hub: HubOf,
    query: Annotated[str | None, Query(description="Part of a name, a directory or an id.")] = None,
    platform: str | None = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[schemas.Channel]:
    """Channels, newest first."""
    page = await hub.channels.list(query, platform, limit, cursor)
    return items(page.items, page.next_cursor, shape)


@router.post("", status_code=201, responses={200: {"description": "It was there already."}})
async def find_or_create_channel(hub: HubOf, body: schemas.NewChannel, response: Response) -> schemas.Channel:
    """The channel of a directory, or of a name; made when there is none."""
    if body.fresh and body.dir_path is None:
        return shape(await hub.channels.create(body.name or "", body.platform))
    channel, created = await hub.channels.find_or_create(
        dir_path=body.dir_path, platform=body.platform, name=body.name
    )
    if not created:
        response.status_code = 200
    return shape(channel)


@router.get("/{channel_id}")
async def get_channel(hub: HubOf, channel_id: str) -> schemas.Channel:
    """One channel."""
    return shape(await hub.channels.get(channel_id))


@router.patch("/{channel_id}")
async def change_channel(hub: HubOf, channel_id: str, body: schemas.ChannelChange) -> schemas.Channel:
    """Change some fields; trusting a directory lets the servers of its .mcp.json start.

    `runner`: a command that works on the channel's prompts in place of the built-in loop; null takes it away.
    """
    values = body.model_dump(exclude_unset=True)
    trusted = values.pop("trusted", None)
    if "runner" in values:
        values.pop("runner")
        await hub.set_runner(channel_id, body.runner)
    channel = await hub.channels.patch(channel_id, values) if values else await hub.channels.get(channel_id)
    if trusted is not None:
        channel = await hub.channels.trust(channel_id, trusted)
    return shape(channel)


@router.delete("/{channel_id}", status_code=204)
async def delete_channel(hub: HubOf, channel_id: str) -> None:
    """Remove a channel and its threads; files stay."""
    await hub.threads.delete_channel(channel_id)
