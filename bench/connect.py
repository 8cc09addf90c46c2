"""Fifty stdio servers side by side against one by one, and what one that hangs costs the others."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from functools import partial

from sqlalchemy import Connection, update

from bench.report import Report, progress
from manyhands import Hub
from manyhands.events import Event
from manyhands.store.tables import servers

SERVERS = 50


def run(report: Report) -> None:
    progress(f"{SERVERS} servers, one by one")
    one_by_one = asyncio.run(_connect(parallel=1))
    progress(f"{SERVERS} servers, side by side")
    side_by_side = asyncio.run(_connect(parallel=8))
    report.add(
        "connect",
        f"{SERVERS} stdio servers side by side",
        side_by_side / one_by_one,
        "x",
        limit=0.7,
        against=f"one by one {one_by_one:.1f} s, side by side {side_by_side:.1f} s",
    )
    progress("the same with one that never answers")
    with_hung = asyncio.run(_connect(parallel=8, hung=True))
    report.add(
        "connect",
        "the same with one that hangs",
        with_hung / side_by_side,
        "x",
        limit=1.2,
        against=f"{with_hung:.1f} s until the other {SERVERS} are connected",
    )


async def _connect(*, parallel: int, hung: bool = False) -> float:
    """Seconds from the start of a hub that knows the servers until all of them are connected."""
    with tempfile.TemporaryDirectory() as home:
        async with Hub(home) as hub:
            await hub.settings.patch({"connect_parallel": parallel})
            if hung:
                await _remember(hub, "a-hung-one", "sleep", ["1000"])
            for number in range(SERVERS):
                await _remember(hub, f"s{number}", sys.executable, ["-m", "bench.peer", "stdio"])
        async with Hub(home) as hub:
            start = time.perf_counter()
            async with hub.bus.subscribe() as events:
                hub.servers.connect_enabled()
                await _all_connected(events)
            return time.perf_counter() - start


async def _remember(hub: Hub, name: str, command: str, args: list[str]) -> None:
    """Save a server without connecting it."""
    config = {"name": name, "command": command, "args": args, "connect_timeout": 120_000, "enabled": False}
    outcome = await hub.servers.save(config, wait=False)
    await hub.store.write(partial(_switch_on, outcome.view.server.id))


def _switch_on(server_id: int, conn: Connection) -> None:
    conn.execute(update(servers).where(servers.c.id == server_id).values(enabled=True))


async def _all_connected(events: AsyncIterator[Event]) -> None:
    left = SERVERS
    async for event in events:
        if event.type == "mcp.status" and event.data["status"] == "connected":
            left -= 1
            if left == 0:
                return
