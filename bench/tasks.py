"""Schedules: how late tasks start when many are due at once, and what those cost that are not due.

A run counts as started when its row says so: its thread exists a moment later, and its model is asked then.
The model answers at once, so that what is measured is the hub.
"""

from __future__ import annotations

import math
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import psutil
from sqlalchemy import Connection

from bench.report import Report, progress
from bench.startup import daemon
from manyhands.durable.types import Activation
from manyhands.hub import Hub
from manyhands.ids import new_id
from manyhands.tasks import store as rows
from manyhands.tasks.types import Task, TaskRun
from manyhands.testing.scripted import ScriptedModel

MANY = 1000
STORED = 10_000
AHEAD_S = 15.0
SETTLE_S = 15.0
WATCHED_S = 30.0
PATIENCE_S = 300.0


def run(report: Report) -> None:
    progress(f"{MANY:,} tasks due in the same second")
    together = anyio.run(lateness, 0.0)
    report.add(
        "tasks", f"{MANY:,} due in the same second: start, p99", share(together, 0.99), "s late", limit=15
    )
    progress(f"{MANY:,} tasks due within a minute")
    spread = anyio.run(lateness, 60.0)
    report.add("tasks", f"{MANY:,} spread over a minute: start, p99", share(spread, 0.99), "s late", limit=2)
    progress(f"an idle daemon with {STORED:,} tasks")
    empty, _ = idle(0)
    stored, memory = idle(STORED)
    against = f"the same without tasks {empty:.2f} %"
    report.add(
        "tasks",
        f"{STORED:,} stored tasks, processor above the idle engine",
        stored - empty,
        "%",
        limit=1,
        against=against,
    )
    report.add("tasks", f"daemon idle with {STORED:,} tasks, resident", memory, "MB", limit=220)


async def lateness(over_s: float) -> list[float]:
    """Seconds between the time that each task was due and its start."""
    model = ScriptedModel(["done"], repeat=True)
    with tempfile.TemporaryDirectory() as home:
        async with Hub(home, model=model) as hub:
            channel = await hub.channels.create("bench")
            first = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=AHEAD_S)
            due = [first + timedelta(seconds=over_s * number / MANY) for number in range(MANY)]
            await hub.store.write(lambda conn: insert(conn, channel.id, due))
            hub.tasks._timer.look_again()
            runs = await ended(hub, MANY)
    return [(run.started_at - run.due_at).total_seconds() for run in runs if run.started_at is not None]


def insert(conn: Connection, channel_id: str, due: Sequence[datetime]) -> None:
    now = datetime.now(UTC)
    plain = Task("", channel_id, "bench", "once", None, "UTC", "prompt", now, now, now, prompt="look")
    for moment in due:
        task = replace(
            plain, id=new_id("task"), schedule=moment.isoformat(), due_at=moment, next_run_at=moment
        )
        rows.insert_task(conn, task)


async def ended(hub: Hub, count: int) -> list[TaskRun]:
    """The runs, once all of them have ended."""
    found: list[TaskRun] = []
    with anyio.fail_after(PATIENCE_S):
        while len(found) < count:
            await anyio.sleep(1)
            page = await hub.tasks.list(limit=count)
            found = [view.last_run for view in page.items if view.last_run and view.last_run.ended_at]
    return found


def share(seconds: Sequence[float], of: float) -> float:
    """The time within which this share of them began."""
    return sorted(seconds)[math.ceil(of * len(seconds)) - 1]


def idle(tasks: int) -> tuple[float, float]:
    """Percent of a core and megabytes of a daemon whose engine runs and that has nothing to do."""
    with tempfile.TemporaryDirectory() as home:
        anyio.run(prepare, home, tasks)
        with daemon(home) as running:
            time.sleep(SETTLE_S)
            return _watch(running)


async def prepare(home: str, tasks: int) -> None:
    async def nothing(activation: Activation) -> None:
        """The engine has worked here once, so that it starts with the daemon."""

    async with Hub(Path(home), resume=False) as hub:
        channel = await hub.channels.create("bench")
        far = datetime.now(UTC) + timedelta(days=1)
        await hub.store.write(
            lambda conn: insert(
                conn, channel.id, [far + timedelta(seconds=number) for number in range(tasks)]
            )
        )
        hub.durable.register("nothing", nothing)
        await hub.durable.start("nothing", "nothing")
        await hub.durable.wait("nothing")


def _watch(running: subprocess.Popen[str]) -> tuple[float, float]:
    process = psutil.Process(running.pid)
    before = process.cpu_times()
    time.sleep(WATCHED_S)
    after = process.cpu_times()
    spent = after.user + after.system - before.user - before.system
    return spent / WATCHED_S * 100, process.memory_info().rss / 1e6
