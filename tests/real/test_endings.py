"""However a hub or a server is left, in whatever order and moment, no process of the servers stays."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from manyhands import Hub
from tests.real.servers import from_npm
from tests.real.watching import Watched, text, watched_hub
from tests.servers.rig import BOUND

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("L03")]

NAMES = ("one", "two", "three")


def children() -> set[psutil.Process]:
    """The servers with all that they started; not the guardian, which ends with the hub."""
    found = set()
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "server-everything" in " ".join(child.cmdline()):
                found.add(child)
    return found


async def until_gone(processes: set[psutil.Process]) -> None:
    with anyio.fail_after(BOUND):
        while any(process.is_running() for process in processes):  # noqa: ASYNC110 - others end by themselves
            await anyio.sleep(0.02)


async def test_servers_end_in_the_order_they_began_and_from_another_task(tmp_path: Path) -> None:
    async with watched_hub(tmp_path / "home") as hub:
        for name in NAMES:
            await hub.add(name, **from_npm("everything"))
        for number, name in enumerate(NAMES):
            there = children()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(hub.hub.disconnect, name)
            gone = there - children()
            assert gone
            await until_gone(gone)
            for other in NAMES[number + 1 :]:
                text(await hub.call(other, "echo", message="still here"))


async def begin_three(hub: Hub) -> None:
    """Three servers, none of them connected yet."""
    for name in NAMES:
        await hub.add_server(name, wait=False, **from_npm("everything"))


async def until_begun(hub: Watched) -> set[psutil.Process]:
    """Until a process runs for each of them; Node takes longer than that to answer."""
    with anyio.fail_after(BOUND):
        while len(there := children()) < len(NAMES):  # noqa: ASYNC110 - nobody tells of a start
            await anyio.sleep(0.005)
    assert not hub.told("mcp.status", status="connected")
    return there


async def test_a_server_is_disconnected_in_the_middle_of_its_handshake(tmp_path: Path) -> None:
    async with watched_hub(tmp_path / "home") as hub:
        await begin_three(hub.hub)
        there = await until_begun(hub)
        async with anyio.create_task_group() as tasks:
            for name in NAMES:
                tasks.start_soon(hub.hub.disconnect, name)
        await until_gone(there | children())
        assert {view.status for view in await hub.hub.servers.list()} == {"disconnected"}
        assert (await hub.hub.connect("two")).ok


async def test_a_hub_is_left_in_the_middle_of_handshakes(tmp_path: Path) -> None:
    async with watched_hub(tmp_path / "home") as hub:
        await begin_three(hub.hub)
        there = await until_begun(hub)
    await until_gone(there | children())


@pytest.mark.parametrize("way", ["scope", "task"])
async def test_whoever_holds_the_hub_is_cancelled_in_the_middle_of_handshakes(
    tmp_path: Path, way: str
) -> None:
    begun: asyncio.Future[set[psutil.Process]] = asyncio.get_running_loop().create_future()
    scope = anyio.CancelScope()

    async def hold() -> None:
        with scope:
            async with watched_hub(tmp_path / "home") as hub:
                await begin_three(hub.hub)
                begun.set_result(await until_begun(hub))
                await anyio.sleep_forever()

    holder: asyncio.Task[Any] = asyncio.create_task(hold())
    there = await begun
    scope.cancel() if way == "scope" else holder.cancel()
    with anyio.fail_after(BOUND):
        await asyncio.wait([holder])
    assert holder.cancelled() is (way == "task")
    await until_gone(there | children())


async def test_a_call_that_is_under_way_does_not_hold_up_the_end(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks, watched_hub(tmp_path / "home") as hub:
        await hub.add("slow", **from_npm("everything"))
        tasks.start_soon(lambda: hub.call("slow", "trigger-long-running-operation", duration=600))
        await hub.event("tool.started", server="slow")
        there = children()
        with anyio.fail_after(BOUND):
            await hub.hub.disconnect("slow")
        ended = await hub.event("tool.finished", server="slow")
        assert ended["status"] == "error"
        await until_gone(there)
