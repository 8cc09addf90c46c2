"""The tools with which agents see and write to each other."""

from __future__ import annotations

import pytest

from manyhands.chat.types import Channel
from manyhands.hub import Hub
from tests.mcp_server.conftest import Connect, said

pytestmark = pytest.mark.anyio


async def test_agents_see_each_other_and_themselves(connect: Connect, hub: Hub, channel: Channel) -> None:
    await hub.agents.register(channel.id, "builder")
    await hub.agents.register(channel.id, "tester", "A. Tester")
    async with connect(agent_id="builder") as client:
        updated = await client.call_tool(
            "update_agent_status", {"name": "Zoe", "work_summary": "builds it", "status": "working"}
        )
        assert updated.structured_content["agent"]["name"] == "Zoe"
        nothing = await client.call_tool("update_agent_status", {})
        assert nothing.is_error
        found = (await client.call_tool("list_agents", {})).structured_content["agents"]
    assert [(one["id"], one["name"], one["me"]) for one in found] == [
        ("tester", "A. Tester", False),
        ("builder", "Zoe", True),
    ]


@pytest.mark.requirement("L34")
async def test_a_message_to_nobody_is_an_error_that_says_who_is_there(
    connect: Connect, hub: Hub, channel: Channel
) -> None:
    await hub.agents.register(channel.id, "builder")
    await hub.agents.register(channel.id, "tester")
    async with connect(agent_id="builder") as client:
        sent = await client.call_tool("send_agent_message", {"to_agent_id": "tester", "content": "ready"})
        assert sent.structured_content["to_agent_id"] == "tester"
        lost = await client.call_tool("send_agent_message", {"to_agent_id": "nobody", "content": "ready"})
    assert lost.is_error
    assert "tester" in said(lost)
    history = (await hub.agents.history(channel.id, "tester")).items
    assert [(one.from_agent, one.content) for one in history] == [("builder", "ready")]


async def test_a_client_that_shows_nothing_pushed_gets_its_mail_with_the_list(
    connect: Connect, hub: Hub, channel: Channel
) -> None:
    await hub.agents.register(channel.id, "builder")
    await hub.agents.register(channel.id, "tester")
    sent = [await hub.agents.send(channel.id, "tester", "builder", f"case {n} fails") for n in range(3)]
    hub.agents.ack(
        channel.id, "builder", sent[0].id
    )  # the bridge has it; whether the model saw it is not known
    async with connect(agent_id="builder") as client:
        first = await client.call_tool("list_agents", {})
        again = await client.call_tool("list_agents", {})
    found = first.structured_content
    assert [(one["id"], one["from_agent"], one["content"]) for one in found["messages"]] == [
        (message.id, "tester", message.content) for message in sent
    ]
    assert found["messages_left"] == 0
    assert "case 2 fails" in said(first)
    assert again.structured_content["messages"] == []
    assert "case" not in said(again)
    history = (await hub.agents.history(channel.id, "tester")).items
    assert {message.state for message in history} == {"read"}
