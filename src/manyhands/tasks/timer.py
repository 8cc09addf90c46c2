"""The one timer of all tasks: it sleeps until the next time that anything is due, and fires what is.

Next times are rows, so a restart loses none; whoever moves a row on has fired it, so that of several hubs on
one database only one does. What fires is handed to the durable engine and never waited for here.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from sqlalchemy import Connection

from manyhands.clock import Clock
from manyhands.errors import ManyhandsError
from manyhands.store.engine import Store
from manyhands.tasks import store as rows
from manyhands.tasks.rules import fire
from manyhands.tasks.schedules import read_schedule
from manyhands.tasks.types import Task, TaskRun

log = logging.getLogger(__name__)

AT_ONCE = 500
LONGEST_SLEEP_S = 30.0
"""Other hubs on the same database and changes of the machine's clock are noticed at the latest after this."""
AFTER_TROUBLE_S = 5.0
LEFT_AFTER = timedelta(seconds=60)


class Timer:
    """Fires tasks. `begin` starts a run, `told` hears of all that firing led to, `clean` removes threads."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        begin: Callable[[str], Coroutine[Any, Any, None]],
        told: Callable[[Task, TaskRun], None],
        clean: Callable[[datetime], Awaitable[None]],
        warm: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._begin = begin
        self._told = told
        self._clean = clean
        self._warm = warm
        self._changed = False
        self._asleep = anyio.CancelScope()

    def look_again(self) -> None:
        """Something may be due earlier than was known."""
        self._changed = True
        self._asleep.cancel()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        async with anyio.create_task_group() as group:
            task_status.started()
            group.start_soon(self._go_on, group)
            while True:
                self._changed = False
                try:
                    pause = await self._round(group)
                except Exception:  # border: a database that is away for a moment must not end the timer
                    log.exception("tasks could not be fired; it is tried again")
                    pause = AFTER_TROUBLE_S
                await self._sleep(pause)

    async def _go_on(self, group: TaskGroup) -> None:
        """What goes on according to its row should do so; to begin it once more does no harm."""
        for run_id in await self._store.read(rows.select_going):
            group.start_soon(self._begin, run_id)

    async def _round(self, group: TaskGroup) -> float:
        """Fire what is due; the answer is how long there is nothing to do."""
        now = self._clock.now()
        while fired := await self._fire(now):
            for task, run in fired:
                self._told(task, run)
                if run.state == "due":
                    group.start_soon(self._begin, run.id)
        await self._clean(now)
        for run_id in await self._store.read(lambda conn: rows.select_left(conn, now - LEFT_AFTER)):
            group.start_soon(self._begin, run_id)
        following = await self._store.read(rows.next_moment)
        if following is None:
            return LONGEST_SLEEP_S
        ahead = (following - self._clock.now()).total_seconds()
        if ahead <= LONGEST_SLEEP_S * 2:
            self._warm()  # whoever is due soon does not wait for the engine to start
        return min(max(ahead, 0.0), LONGEST_SLEEP_S)

    async def _fire(self, now: datetime) -> Sequence[tuple[Task, TaskRun]]:
        return await self._store.write(lambda conn: fire_due(conn, now))

    async def _sleep(self, seconds: float) -> None:
        with anyio.CancelScope() as self._asleep:
            if not self._changed:
                await self._clock.sleep(seconds)


def fire_due(conn: Connection, now: datetime) -> list[tuple[Task, TaskRun]]:
    """Move tasks on whose time has come, and write down what that leads to, all or nothing."""
    due = rows.select_due(conn, now, AT_ONCE)
    counts = rows.count_open(conn, [task.id for task in due]) if due else {}
    fired: list[tuple[Task, TaskRun]] = []
    for task in due:
        try:
            schedule = read_schedule(task.type, task.schedule, task.timezone)
        except ManyhandsError as error:  # a zone that is gone from the machine
            rows.update_task(
                conn, task.id, {"enabled": False, "next_run_at": None, "stopped_because": str(error)}
            )
            continue
        firing = fire(task, schedule, now, *counts.get(task.id, (0, 0)))
        if rows.move_on(conn, task, firing.due_at, firing.next_run_at, firing.next_run_at is not None):
            fired += [(task, run) for run in firing.runs if rows.insert_run(conn, run)]
    return fired
