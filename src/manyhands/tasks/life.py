"""The life of a run: attempts, retries, its end and what follows from it, and the removal of its thread.

What an attempt does is in `performing.py`; when a run begins, the timer or a person decides.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import anyio
from sqlalchemy import Connection

from manyhands.clock import Clock
from manyhands.durable.types import Activation
from manyhands.errors import ManyhandsError, NotFoundError
from manyhands.events import EventBus
from manyhands.store.engine import Store
from manyhands.tasks import store as rows
from manyhands.tasks.neighbours import Durable, Neighbours
from manyhands.tasks.performing import Outcome, Performer
from manyhands.tasks.rules import add_costs, gives_up, has_something_to_report, may_retry, retry_delay
from manyhands.tasks.types import OPEN, RunState, Task, TaskRun
from manyhands.tasks.views import run_json

log = logging.getLogger(__name__)

KIND = "task"
DELETE_AT_ONCE = 50
STOP_S = 10.0


class RunLife:
    """Leads runs from `due` to their end. `stopped` hears of tasks that gave up."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        durable: Durable,
        neighbours: Neighbours,
        *,
        stopped: Callable[[Task], Awaitable[Any]],
        look_again: Callable[[], None],
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._durable = durable
        self._near = neighbours
        self._performer = Performer(store, bus, clock, neighbours, self._show_pause)
        self._stopped = stopped
        self._look_again = look_again
        durable.register(KIND, self._work)

    async def begin(self, run_id: str) -> None:
        """Hand a run to the durable engine; if that cannot take it, the timer comes back to it."""
        try:
            if not await self._durable.start(KIND, run_id):
                await self._end_if_lost(run_id)
        except ManyhandsError as error:
            log.warning("the run %s could not begin: %s", run_id, error)

    async def _end_if_lost(self, run_id: str) -> None:
        """A run whose work has ended, and that knows nothing of it: a database was put back behind it."""
        work = await self._durable.find(run_id)
        found = await self._store.read(lambda conn: _find_open(conn, run_id))
        if found is not None and work is not None and work.state != "running":
            await self._finish(*found, Outcome("failed", error="What became of it is not known."))

    async def cancel(self, run: TaskRun) -> TaskRun:
        """Stop it; what has ended stays as it is."""
        task = await self._store.read(lambda conn: rows.select_task(conn, run.task_id))
        if run.state not in OPEN or task is None:
            return run
        if run.state != "waiting":
            await self._durable.cancel([run.id])
            await self._durable.stopped(run.id)
            await self._performer.stop(run)
        return await self._finish(task, run, Outcome("cancelled"))

    async def _work(self, activation: Activation) -> None:
        """The durable work of a run; when another hub has cancelled it, what it started here ends, too."""
        try:
            await self._attempts(activation)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True), anyio.move_on_after(STOP_S):
                run = await self._store.read(lambda conn: rows.select_run(conn, activation.id))
                if run is not None and run.state not in OPEN:
                    await self._performer.stop(run)
            raise

    async def _attempts(self, activation: Activation) -> None:
        """Until one succeeds or no more are left."""
        again = True
        while found := await self._store.read(lambda conn: _find_open(conn, activation.id)):
            task, run = found
            fresh = run.attempt == 0 or run.retry_at is not None
            if run.retry_at is not None:
                await self._clock.sleep((run.retry_at - self._clock.now()).total_seconds())
            if fresh:
                run = await self._begin_attempt(task, run)
            outcome = await self._performer.perform(task, run, again=again and not fresh)
            again = False
            spent = add_costs(run.cost, outcome.cost)
            if outcome.state == "failed" and may_retry(task, run.attempt, spent):
                await self._put_off(task, run, outcome)
                continue
            await self._finish(task, run, outcome)
            return

    async def _begin_attempt(self, task: Task, run: TaskRun) -> TaskRun:
        values: dict[str, Any] = {
            "state": "running",
            "attempt": max(run.attempt, 1),
            "retry_at": None,
            "started_at": run.started_at or self._clock.now(),
        }
        run = await self._change_run(run, values)
        self._announce("task.run_started", task, run)
        return run

    async def _show_pause(self, task: Task, run: TaskRun, paused: bool) -> None:
        """Whether it waits for a person, as its history tells it."""
        states: tuple[RunState, RunState] = ("running", "paused") if paused else ("paused", "running")
        moved = await self._store.write(lambda conn: rows.move_run(conn, run.id, *states))
        if moved is None:
            return
        if paused:
            self._announce("task.run_paused", task, moved)
        else:
            self._announce("task.run_resumed", task, moved)

    async def _put_off(self, task: Task, run: TaskRun, outcome: Outcome) -> None:
        retry_at = self._clock.now() + retry_delay(task, run.attempt)
        values = {
            "attempt": run.attempt + 1,
            "retry_at": retry_at,
            "run_id": None,
            "workflow_run_id": None,
            "error": outcome.error,
            "cost": add_costs(run.cost, outcome.cost),
            "note": f"Attempt {run.attempt} failed; the next one comes at {retry_at:%H:%M:%S} UTC.",
        }
        self._announce("task.run_retrying", task, await self._change_run(run, values))

    async def _finish(self, task: Task, run: TaskRun, outcome: Outcome) -> TaskRun:
        now = self._clock.now()

        def work(conn: Connection) -> tuple[TaskRun, Task | None, str | None]:
            known = rows.select_run(conn, run.id)
            if known is None or known.state not in OPEN:
                return known or run, None, None
            ended = replace(
                known,
                state=outcome.state,
                ended_at=now,
                retry_at=None,
                cost=add_costs(known.cost, outcome.cost),
                text=outcome.text,
                error=outcome.error,
                note=_note(task, known, outcome),
                denied=outcome.denied,
            )
            ended = replace(ended, delete_at=_delete_at(task, ended, now))
            rows.update_run(conn, run.id, _ended_values(ended))
            return ended, _count_failure(conn, task.id, outcome, now), rows.take_waiting(conn, task.id)

        ended, stopped, following = await self._store.write(work)
        self._announce("task.run_finished", task, ended)
        if ended.delete_at is not None:
            self._look_again()
        if stopped is not None:
            await self._tell_stopped(stopped, ended)
        if following is not None:
            await self.begin(following)
        return ended

    async def _tell_stopped(self, task: Task, run: TaskRun) -> None:
        await self._stopped(task)
        try:
            await self._near.tell(
                task.channel_id,
                f"The task “{task.name}” ({task.id}) failed {task.failures} times in a row and is switched "
                f"off. The last time: {run.error or 'no reason was given'} "
                "Switch it on again when that is mended.",
            )
        except ManyhandsError as error:
            log.warning("nobody could be told that the task %s was switched off: %s", task.id, error)

    async def _change_run(self, run: TaskRun, values: dict[str, Any]) -> TaskRun:
        await self._store.write(lambda conn: rows.update_run(conn, run.id, values))
        return replace(run, **values)

    def _announce(self, event: str, task: Task, run: TaskRun) -> None:
        self._bus.publish(event, run_json(run) | {"task_name": task.name}, channel_id=task.channel_id)

    def announce_fired(self, task: Task, run: TaskRun) -> None:
        """Tell of a time at which nothing began."""
        if run.state == "missed":
            self._announce("task.run_missed", task, run)
        elif run.state == "skipped":
            self._announce("task.run_skipped", task, run)

    # --- cleaning

    async def remove_threads(self, now: datetime) -> None:
        """Remove the threads whose time is over."""
        for run in await self._store.read(lambda conn: rows.select_deletable(conn, now, DELETE_AT_ONCE)):
            values: dict[str, Any] = {"delete_at": None, "thread_id": None}
            for thread_id in await self._performer.threads_of(run):
                values |= await self._delete_thread(run, thread_id)
            await self._store.write(lambda conn: rows.update_run(conn, run.id, values))  # noqa: B023 - now

    async def _delete_thread(self, run: TaskRun, thread_id: str) -> dict[str, Any]:
        """What is to be known of a thread that stays."""
        stays = {"thread_id": run.thread_id}
        try:
            if (await self._near.threads.delete(thread_id)).kept:
                return stays | {"note": "Its thread was kept: its worktree holds work that would be lost."}
        except NotFoundError:
            pass
        except ManyhandsError as error:
            log.warning("the thread of %s could not be removed: %s", run.id, error)
            return stays | {"note": f"Its thread could not be removed: {error}"}
        return {}


def _find_open(conn: Connection, run_id: str) -> tuple[Task, TaskRun] | None:
    run = rows.select_run(conn, run_id)
    task = None if run is None else rows.select_task(conn, run.task_id)
    return (task, run) if task and run and run.state in OPEN else None


def _note(task: Task, run: TaskRun, outcome: Outcome) -> str | None:
    if outcome.denied:
        return f"It was not allowed to use {', '.join(outcome.denied)}: add them to the task's allow."
    if outcome.state != "completed":
        return None
    if task.budget is not None and outcome.cost is None:
        return "What its model costs is not known, so its budget limited nothing."
    return f"It took {run.attempt} attempts." if run.attempt > 1 else None


def _ended_values(run: TaskRun) -> dict[str, Any]:
    names = ("state", "ended_at", "retry_at", "cost", "text", "error", "note", "delete_at")
    return {name: getattr(run, name) for name in names} | {"denied": list(run.denied)}


def _delete_at(task: Task, run: TaskRun, now: datetime) -> datetime | None:
    has_threads = run.thread_id is not None or run.workflow_run_id is not None
    if not task.auto_delete_sec or not has_threads or task.conversation == "same":
        return None
    if task.keep_reports and has_something_to_report(run):
        return None
    return now + timedelta(seconds=task.auto_delete_sec)


def _count_failure(conn: Connection, task_id: str, outcome: Outcome, now: datetime) -> Task | None:
    """Count what failed in a row; the task when this switches it off."""
    task = rows.select_task(conn, task_id)
    if task is None or outcome.state == "cancelled":
        return None
    failures = task.failures + 1 if outcome.state == "failed" else 0
    values: dict[str, Any] = {"failures": failures}
    stops = task.enabled and outcome.state == "failed" and gives_up(task, failures)
    if stops:
        reason = f"It failed {failures} times in a row: {outcome.error}"
        values |= {"enabled": False, "due_at": None, "next_run_at": None, "stopped_because": reason}
    if failures != task.failures or stops:
        rows.update_task(conn, task_id, values | {"updated_at": now})
    return replace(task, **values) if stops else None
