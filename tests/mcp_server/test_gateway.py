"""The servers' tools through our own endpoint: same policy, same inbox, same log."""

from __future__ import annotations

import anyio
import pytest
from mcp_types import ServerNotification, ToolListChangedNotification

from manyhands.approvals.types import ApprovalState
from manyhands.chat.types import Channel
from manyhands.hub import Hub
from tests.api.conftest import HAND
from tests.mcp_server.conftest import MODES, Connect, Mode, names, said

pytestmark = pytest.mark.anyio

ECHO = "mcp__hand__echo"


async def test_only_a_token_for_it_is_offered_the_servers_tools(connect: Connect, hub: Hub) -> None:
    await hub.add_server(**HAND, trust="full")
    async with connect() as client:
        assert ECHO not in await names(client)
        assert (await client.call_tool(ECHO, {"text": "hi"})).is_error
    async with connect(flags=frozenset({"gateway"})) as client:
        offered = await names(client)
    assert ECHO in offered
    assert "read_file" not in offered, "native tools are for the hub's own loop"


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_is_logged_and_tells_its_progress(
    connect: Connect, hub: Hub, channel: Channel, mode: Mode
) -> None:
    await hub.add_server(**HAND, trust="full")
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with connect(mode, flags=frozenset({"gateway"})) as client:
        result = await client.call_tool("mcp__hand__count", {"to": 3}, progress_callback=hear)
    assert not result.is_error, said(result)
    assert told
    record = (await hub.tools.calls()).items[0]
    assert (record.tool, record.server, record.channel_id) == ("count", "hand", channel.id)


@pytest.mark.requirement("L26")
async def test_what_needs_a_person_waits_in_the_inbox_and_no_agent_can_answer(
    connect: Connect, hub: Hub
) -> None:
    await hub.add_server(**HAND)
    results = []
    async with connect(flags=frozenset({"gateway"})) as client:

        async def call() -> None:
            results.append(await client.call_tool(ECHO, {"text": "hello"}))

        async with hub.bus.subscribe() as events, anyio.create_task_group() as group:
            group.start_soon(call)
            async for event in events:
                if event.type == "approval.requested":
                    break
            asked = (await hub.approvals.list(ApprovalState.PENDING)).items[0]
            await hub.approvals.answer(asked.id, approve=True)
    assert said(results[0]) == "hello"


async def test_an_older_client_hears_when_the_list_changes(connect: Connect, hub: Hub) -> None:
    heard = anyio.Event()

    async def hear(message: ServerNotification | Exception) -> None:
        if isinstance(message, ToolListChangedNotification):
            heard.set()

    async with connect("legacy", flags=frozenset({"gateway"}), message_handler=hear) as client:
        assert ECHO not in await names(client)
        await hub.add_server(**HAND, trust="full")
        with anyio.fail_after(60):
            while not heard.is_set():  # what is told before its stream is open is lost
                hub.bus.publish(
                    "mcp.tools_changed", {"server_id": 1, "added": [], "removed": [], "changed": []}
                )
                with anyio.move_on_after(0.2):
                    await heard.wait()
        assert ECHO in await names(client)


async def test_a_newer_client_hears_when_the_list_changes(connect: Connect, hub: Hub) -> None:
    async with (
        connect("2026-07-28", flags=frozenset({"gateway"})) as client,
        client.listen(tools_list_changed=True) as changes,
    ):
        await hub.add_server(**HAND, trust="full")
        with anyio.fail_after(60):
            async for _ in changes:
                break
        assert ECHO in await names(client)
