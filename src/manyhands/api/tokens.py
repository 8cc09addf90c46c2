"""Limited tokens for agents over HTTP; the owner's business."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from manyhands.access.types import Flag, Grant
from manyhands.agents.rules import check_agent_id
from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, items
from manyhands.errors import InvalidError, NotFoundError
from manyhands.hub import Hub

router = APIRouter(prefix="/tokens", tags=["agents"])

LONGEST_S = 366 * 86_400


class NewToken(schemas.Body):
    """For which channel, and for what."""

    channel_id: str | None = None
    dir_path: str | None = Field(None, description="Instead: the directory whose channel is found or made.")
    platform: str = Field("local", description="With `dir_path`.")
    agent_id: str | None = Field(None, description="The agent's entry in the registry.")
    author_id: str | None = Field(None, description="Recorded on everything that is made with it.")
    memory: bool = Field(False, description="Offer the tools of memory.")
    gateway: bool = Field(False, description="Offer the tools of the connected servers.")
    ttl_s: Annotated[int, Field(ge=1, le=LONGEST_S)] | None = Field(
        None, description="Seconds until it is over; without it, it holds until it is revoked."
    )


class TokenInfo(schemas.Answer):
    """What a limited token is good for."""

    id: str
    channel_id: str
    project: str | None = None
    agent_id: str | None = None
    author_id: str | None = None
    memory: bool
    gateway: bool
    created_at: datetime
    expires_at: datetime | None = None


class IssuedToken(TokenInfo):
    """A new token."""

    token: str = Field(description="Shown this once.")


@router.post("", status_code=201)
async def issue_token(hub: HubOf, body: NewToken) -> IssuedToken:
    """A token for an agent, limited to a channel and its project."""
    flags: set[Flag] = set()
    if body.memory:
        flags.add("memory")
    if body.gateway:
        flags.add("gateway")
    expires_at = None if body.ttl_s is None else hub.now() + timedelta(seconds=body.ttl_s)
    if body.agent_id is not None:
        check_agent_id(body.agent_id)  # one that could never be on the list
    grant = Grant(await _channel_id(hub, body), body.agent_id, body.author_id, frozenset(flags), expires_at)
    secret, token = await hub.access.issue_token(grant)
    return IssuedToken(token=secret, **token.wire())


@router.get("")
async def list_tokens(hub: HubOf, limit: Limit = PAGE, cursor: Cursor = None) -> schemas.Items[TokenInfo]:
    """The tokens that hold, newest first, without the tokens themselves."""
    page = await hub.access.list(limit, cursor)
    return items(page.items, page.next_cursor, lambda token: TokenInfo(**token.wire()))


@router.delete("/{token_id}", status_code=204)
async def revoke_token(hub: HubOf, token_id: str) -> None:
    """It is good for nothing from now on."""
    if not await hub.access.revoke(token_id):
        raise NotFoundError(f"There is no token {token_id!r}.", hint="GET /api/tokens lists them.")


async def _channel_id(hub: Hub, body: NewToken) -> str:
    if body.channel_id is not None:
        return body.channel_id
    if body.dir_path is None:
        raise InvalidError("A token needs a channel.", hint="Give channel_id or dir_path.")
    channel, _ = await hub.channels.find_or_create(dir_path=body.dir_path, platform=body.platform)
    return channel.id
