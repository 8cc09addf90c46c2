"""`AgentServer` inside another program, on a transport of the SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.memory import create_client_server_memory_streams

from manyhands import AgentServer
from manyhands.chat.types import Channel
from manyhands.errors import InvalidError
from manyhands.hub import Hub
from tests.api.conftest import Served

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def as_transport(streams: Any) -> AsyncIterator[Any]:
    yield streams


async def test_it_serves_a_client_and_takes_its_agent_off_the_registry(
    hub: Hub, served: Served, channel: Channel, tmp_path: Path
) -> None:
    server = AgentServer(
        channel.id, served.url, "ann", agent_id="builder", token=served.token, home=tmp_path / "other"
    )
    async with (
        create_client_server_memory_streams() as (ours, theirs),
        anyio.create_task_group() as group,
        hub.bus.subscribe() as events,
    ):
        group.start_soon(server.run, as_transport(theirs))
        async with Client(as_transport(ours), mode="legacy") as client:
            async for event in events:
                if event.type == "agent.registered":
                    break
            sent = await client.call_tool("send_message", {"content": "hello"})
            assert not sent.is_error
            assert "list_agents" in [tool.name for tool in (await client.list_tools()).tools]
        await ours[1].aclose()
    assert (await hub.runs.messages(channel.id)).items[0].author_id == "ann"
    assert await hub.agents.list(channel.id) == []
    assert (await hub.access.list()).items == [], "its token is given back"
    await server.unregister_agent()


def test_it_needs_a_channel() -> None:
    with pytest.raises(InvalidError, match="channel_id or dir"):
        AgentServer()
