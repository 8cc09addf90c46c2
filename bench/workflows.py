"""Workflows: what a node costs above what it does, next to a bare step of the engine; what waiting costs.

The nodes do nothing, so that what is measured is the way of a node: decided, stored, begun, ended, told.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio

from bench.report import Report, progress
from bench.startup import daemon
from bench.tasks import SETTLE_S, _watch, prepare
from manyhands.durable.types import Activation
from manyhands.hub import Hub
from manyhands.ids import new_id
from manyhands.workflows.types import NodeStatus, Outcome

NODES = 500
STEPS = 200
STEP = "bench_steps"
WARM = 20
WAITING = 200
DONE = Outcome(NodeStatus.SUCCESS, "")


def run(report: Report) -> None:
    for name, database in (("SQLite", None), ("PostgreSQL", "postgresql")):
        progress(f"{NODES} nodes on {name}")
        with _database(database) as url:
            step, wide, chain = anyio.run(nodes, url)
        against = f"a bare step {step:.2f} ms"
        report.add(
            "workflows",
            f"{NODES} no-op nodes in parallel, {name}",
            wide,
            "ms a node",
            limit=2 * step,
            against=against,
        )
        report.add(
            "workflows",
            f"{NODES} no-op nodes in a chain, {name}",
            chain,
            "ms a node",
            limit=2 * step,
            against=against,
        )
    progress(f"an idle daemon with {WAITING} approvals that wait")
    empty, waiting = idle(0), idle(WAITING)
    report.add(
        "workflows",
        f"{WAITING} waiting approvals, processor above the idle engine",
        waiting - empty,
        "%",
        limit=1,
        against=f"the same without {empty:.2f} %",
    )


@contextmanager
def _database(kind: str | None) -> Iterator[str | None]:
    if kind is None:
        yield None
        return
    from tests.postgres import running_postgres

    with running_postgres() as server, server.database() as url:
        yield url


async def nodes(url: str | None) -> tuple[float, float, float]:
    """Milliseconds: of a bare step, of a node among many side by side, of a node in a chain."""
    with tempfile.TemporaryDirectory() as home:
        async with Hub(home, url) as hub:
            hub.workflows._driver._steps.do = _nothing  # type: ignore[method-assign, assignment]
            hub.durable.register(STEP, _steps)
            await timed(hub, "warm", WARM, chain=True)
            await bare_step(hub, WARM)
            before = await bare_step(hub)
            wide = await timed(hub, "wide", NODES, chain=False)
            chain = await timed(hub, "chain", NODES, chain=True)
            return min(before, await bare_step(hub)), wide, chain


async def _nothing(*given: Any) -> Outcome:
    return DONE


async def timed(hub: Hub, name: str, count: int, *, chain: bool) -> float:
    made: list[dict[str, Any]] = [
        {"id": f"n{number}", "type": "prompt", "prompt": "x"} for number in range(count)
    ]
    if chain:
        for before, node in pairwise(made):
            node["depends_on"] = [before["id"]]
    await hub.workflows.save("add", {"name": name, "nodes": made})
    began = time.perf_counter()
    run = await hub.workflows.wait((await hub.workflows.start(name)).id)
    assert run.status == "completed", run.error
    return (time.perf_counter() - began) * 1000 / count


async def bare_step(hub: Hub, count: int = STEPS) -> float:
    """A step of the engine that does nothing either."""
    work_id = new_id("steps")
    began = time.perf_counter()
    await hub.durable.start(STEP, work_id, count)
    await hub.durable.wait(work_id)
    return (time.perf_counter() - began) * 1000 / count


async def _steps(activation: Activation) -> None:
    async def nothing() -> None:
        return None

    for number in range(activation.payload):
        await activation.step(f"s{number}", nothing)


def idle(waiting: int) -> float:
    """Percent of a core of a daemon with so many runs that wait for a person."""
    with tempfile.TemporaryDirectory() as home:
        anyio.run(prepare, home, 0)
        anyio.run(_leave_waiting, home, waiting)
        with daemon(home) as running:
            time.sleep(SETTLE_S)
            return _watch(running)[0]


async def _leave_waiting(home: str, count: int) -> None:
    gate = {"name": "gate", "nodes": [{"id": "gate", "type": "approval", "message": "go on?"}]}
    async with Hub(Path(home), resume=False) as hub:
        await hub.workflows.save("add", gate)
        for _ in range(count):
            await hub.workflows.start("gate")
