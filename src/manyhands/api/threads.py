"""Threads over HTTP: further conversations of a channel, in the same directory."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from manyhands.api import schemas
from manyhands.api.access import HubOf
from manyhands.api.channels import shape

router = APIRouter(prefix="/threads", tags=["channels"])


class NewThread(schemas.Body):
    """The channel that it belongs to, and what it is called."""

    channel_id: str
    name: str = Field(min_length=1, max_length=200)


@router.post("", status_code=201)
async def create_thread(hub: HubOf, body: NewThread) -> schemas.Channel:
    """A conversation of its own below a channel: the same directory, model and trust, nothing said yet."""
    return shape(await hub.channels.create_thread(body.channel_id, body.name))
