"""Agents over HTTP: who is in a channel, messages between them, and the line on which they are pushed."""

from __future__ import annotations

import json
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query, WebSocket
from pydantic import Field, model_validator
from starlette.websockets import WebSocketDisconnect, WebSocketState

from manyhands.agents.mailbox import Deliveries
from manyhands.agents.types import OWNER, Receipt
from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, crowds_of, items, slice_page
from manyhands.api.problems import problem_of
from manyhands.errors import InvalidError, ManyhandsError
from manyhands.hub import Hub

router = APIRouter(tags=["agents"])

_ENDED, _CLOSING, _TRY_LATER = 1000, 1012, 1013
_DENIAL = "websocket.http.response"

ChannelId = Annotated[str | None, Query(description="Its channel; needed when several have such an agent.")]


class Agent(schemas.Answer):
    """An agent of a channel."""

    id: str
    channel_id: str
    name: str
    status: str
    work_summary: str
    registered_at: str
    last_seen: str
    listening: bool = Field(False, description="Messages reach it at once.")
    waiting: int = Field(0, description="How many messages it has not fetched.")
    me: bool = Field(False, description="Whether it is the one that `agent_id` names.")


class AgentMessage(schemas.Answer):
    """A message to an agent, and what became of it."""

    id: str
    channel_id: str
    from_agent: str
    to_agent_id: str
    content: str
    state: Receipt
    at: str
    delivered_at: str | None = None
    ended_at: str | None = Field(None, description="When it was read, or expired.")


class NewAgent(schemas.Body):
    """An agent that comes."""

    channel_id: str
    agent_id: str
    name: str | None = None
    work_summary: str | None = None
    status: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_id(cls, data: Any) -> Any:
        """`id` is what an agent shows it as."""
        if isinstance(data, dict) and "id" in data and "agent_id" not in data:
            return {("agent_id" if key == "id" else key): value for key, value in data.items()}
        return data


class AgentChanges(schemas.Body):
    """What an agent says of itself; what is not given stays."""

    name: str | None = None
    work_summary: str | None = None
    status: str | None = None


class NewAgentMessage(schemas.Body):
    """A message; without `from_agent` it is the person's."""

    content: str
    channel_id: str | None = None
    to_agent_id: str | None = Field(None, description="The agent of the address, if it is said again.")
    from_agent: str | None = None
    message_id: str | None = Field(None, description="An id of your own: sending again makes no second one.")


class ReadMessages(schemas.Body):
    """Which messages the agent has read; without ids all of them."""

    channel_id: str | None = None
    ids: list[str] | None = Field(None, max_length=1000)


@router.get("/agents")
async def list_agents(
    hub: HubOf,
    channel_id: Annotated[str | None, Query(description="Only those of this channel.")] = None,
    agent_id: Annotated[str | None, Query(description="Who asks; it is marked with `me`.")] = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[Agent]:
    """Who is there, by name."""
    await hub.channel(channel_id)
    page, after = slice_page(await hub.agents.list(channel_id, agent_id), limit, cursor)
    return items(page, after, lambda view: Agent(**view.wire()))


@router.post("/agents", status_code=201)
async def register_agent(hub: HubOf, body: NewAgent) -> Agent:
    """Put an agent on the registry.

    It stays there while it listens, and for a minute after it was last heard of.
    """
    await hub.agents.register(body.channel_id, body.agent_id, body.name)
    if body.work_summary is not None or body.status is not None:
        await hub.agents.update(
            body.channel_id, body.agent_id, work_summary=body.work_summary, status=body.status
        )
    return await _shown(hub, body.channel_id, body.agent_id)


@router.patch("/agents/{agent_id}")
async def update_agent(hub: HubOf, agent_id: str, body: AgentChanges, channel_id: ChannelId = None) -> Agent:
    """Change its name, its status or what it works on; its lease begins anew."""
    place = _channel(hub, channel_id, agent_id)
    await hub.agents.update(place, agent_id, **body.model_dump())
    return await _shown(hub, place, agent_id)


@router.delete("/agents/{agent_id}", status_code=204)
async def unregister_agent(hub: HubOf, agent_id: str, channel_id: ChannelId = None) -> None:
    """Take it off the registry."""
    await hub.agents.unregister(_channel(hub, channel_id, agent_id), agent_id)


@router.post("/agents/{agent_id}/message", status_code=201)
async def send_agent_message(
    hub: HubOf, agent_id: str, body: NewAgentMessage, channel_id: ChannelId = None
) -> AgentMessage:
    """Put a message into its mailbox; the answer is the receipt."""
    if body.to_agent_id not in (None, agent_id):
        raise InvalidError("The address and to_agent_id name two agents.", hint="Leave to_agent_id out.")
    place = _channel(hub, body.channel_id or channel_id, agent_id)
    sender = OWNER if body.from_agent is None else body.from_agent
    message = await hub.agents.send(place, sender, agent_id, body.content, body.message_id)
    return AgentMessage(**message.wire())


@router.get("/agents/{agent_id}/messages")
async def list_agent_messages(
    hub: HubOf, agent_id: str, channel_id: ChannelId = None, limit: Limit = PAGE, cursor: Cursor = None
) -> schemas.Items[AgentMessage]:
    """What it has sent and been sent, newest first. Looking marks nothing as read."""
    place = _channel(hub, channel_id, agent_id)
    page = await hub.agents.history(place, agent_id, limit, cursor)
    return items(page.items, page.next_cursor, lambda message: AgentMessage(**message.wire()))


@router.post("/agents/{agent_id}/read")
async def read_agent_messages(
    hub: HubOf, agent_id: str, body: ReadMessages, channel_id: ChannelId = None
) -> schemas.Items[AgentMessage]:
    """The agent reads what it has not read; the answer is that, oldest first."""
    place = _channel(hub, body.channel_id or channel_id, agent_id)
    read = await hub.agents.read(place, agent_id, body.ids)
    return items(read, None, lambda message: AgentMessage(**message.wire()))


@router.websocket("/ws/agent-channel")
async def agent_socket(socket: WebSocket, hub: HubOf, agent_id: str, channel_id: str) -> None:
    """Its messages, each confirmed by `{ack: id}`; the agent is registered while this is open."""
    try:
        with crowds_of(socket).agents.enter() as scope:
            async with hub.agents.deliveries(channel_id, agent_id) as messages:
                await socket.accept()
                await _deliver(socket, hub, channel_id, agent_id, messages)
    except ManyhandsError as error:
        await _refuse(socket, error)
        return
    if scope.cancelled_caught:
        await socket.close(_CLOSING, "the hub is shutting down")


async def _refuse(socket: WebSocket, error: ManyhandsError) -> None:
    """With an answer that says why where the server can, else by closing it."""
    if socket.application_state is WebSocketState.CONNECTING and _DENIAL in socket.scope["extensions"]:
        await socket.send_denial_response(problem_of(error))
    else:
        await socket.close(_TRY_LATER, _reason(error))


async def _deliver(socket: WebSocket, hub: Hub, channel_id: str, agent_id: str, messages: Deliveries) -> None:
    async with anyio.create_task_group() as group:

        async def listen() -> None:
            try:
                while True:
                    await _take(hub, channel_id, agent_id, await socket.receive_text())
            except WebSocketDisconnect:
                group.cancel_scope.cancel()

        group.start_soon(listen)
        try:
            async for message in messages:
                await socket.send_text(json.dumps(message.frame(), ensure_ascii=False))
            await socket.close(_ENDED, "the agent was taken off the registry")
        except WebSocketDisconnect:
            pass
        group.cancel_scope.cancel()


async def _take(hub: Hub, channel_id: str, agent_id: str, text: str) -> None:
    """What a receiver says: that it has a message, or that the agent has read it. The rest is passed over."""
    try:
        said: Any = json.loads(text)
    except ValueError:
        return
    if not isinstance(said, dict):
        return
    if isinstance(ack := said.get("ack"), str):
        hub.agents.ack(channel_id, agent_id, ack)
    if isinstance(read := said.get("read"), str):
        await hub.agents.read(channel_id, agent_id, [read])


def _channel(hub: Hub, channel_id: str | None, agent_id: str) -> str:
    return hub.agents.channel_of(agent_id) if channel_id is None else channel_id


async def _shown(hub: Hub, channel_id: str, agent_id: str) -> Agent:
    return Agent(**(await hub.agents.get(channel_id, agent_id)).wire())


def _reason(error: ManyhandsError) -> str:
    """As much as fits into a closing frame."""
    return str(error).encode()[:120].decode(errors="ignore")
