"""The SQL of tasks and of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from manyhands.store.inserts import conflict_insert
from manyhands.store.tables import task_runs, tasks
from manyhands.tasks.types import GOING, OPEN, RunState, Task, TaskRun

_TASK = tuple(field.name for field in fields(Task))
_RUN = tuple(field.name for field in fields(TaskRun))


# --- tasks


def insert_task(conn: Connection, task: Task) -> None:
    conn.execute(insert(tasks), _task_row(task))


def select_task(conn: Connection, task_id: str) -> Task | None:
    row = conn.execute(select(tasks).where(tasks.c.id == task_id)).first()
    return None if row is None else _to_task(row)


def select_by_template(conn: Connection, channel_id: str, template_name: str) -> Task | None:
    query = select(tasks).where(tasks.c.channel_id == channel_id, tasks.c.template_name == template_name)
    row = conn.execute(query).first()
    return None if row is None else _to_task(row)


def select_tasks(
    conn: Connection, channel_ids: Sequence[str] | None, query: str | None, limit: int, before: str | None
) -> Sequence[Task]:
    """Newest first."""
    wanted = select(tasks)
    if channel_ids is not None:
        wanted = wanted.where(tasks.c.channel_id.in_(channel_ids))
    if query:
        like = f"%{query.lower()}%"
        wanted = wanted.where(or_(func.lower(tasks.c.name).like(like), func.lower(tasks.c.prompt).like(like)))
    if before:
        wanted = wanted.where(tasks.c.id < before)
    return [_to_task(row) for row in conn.execute(wanted.order_by(tasks.c.id.desc()).limit(limit))]


def update_task(conn: Connection, task_id: str, values: Mapping[str, Any]) -> None:
    conn.execute(update(tasks).where(tasks.c.id == task_id).values(**values))


def delete_task(conn: Connection, task_id: str) -> None:
    conn.execute(delete(task_runs).where(task_runs.c.task_id == task_id))
    conn.execute(delete(tasks).where(tasks.c.id == task_id))


# --- what is due


def next_moment(conn: Connection) -> datetime | None:
    """When there is something to do next: a task to fire or a thread to remove."""
    first = conn.execute(select(func.min(tasks.c.next_run_at))).scalar()
    second = conn.execute(select(func.min(task_runs.c.delete_at))).scalar()
    known = [moment for moment in (first, second) if moment is not None]
    return min(known, default=None)


def select_due(conn: Connection, now: datetime, limit: int) -> Sequence[Task]:
    query = select(tasks).where(tasks.c.next_run_at <= now).order_by(tasks.c.next_run_at).limit(limit)
    return [_to_task(row) for row in conn.execute(query)]


def move_on(
    conn: Connection, task: Task, due_at: datetime | None, next_run_at: datetime | None, enabled: bool
) -> bool:
    """Set its next time, unless another hub has fired this one already."""
    changed = conn.execute(
        update(tasks)
        .where(tasks.c.id == task.id, tasks.c.next_run_at == task.next_run_at)
        .values(due_at=due_at, next_run_at=next_run_at, enabled=enabled)
    )
    return changed.rowcount == 1


def count_open(conn: Connection, task_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How many runs of each go on, and how many wait."""
    query = (
        select(task_runs.c.task_id, task_runs.c.state, func.count())
        .where(task_runs.c.task_id.in_(task_ids), task_runs.c.state.in_(OPEN))
        .group_by(task_runs.c.task_id, task_runs.c.state)
    )
    found: dict[str, tuple[int, int]] = {}
    for task_id, state, count in conn.execute(query):
        going, waiting = found.get(task_id, (0, 0))
        found[task_id] = (going + count, waiting) if state in GOING else (going, waiting + count)
    return found


# --- runs


def insert_run(conn: Connection, run: TaskRun) -> bool:
    """Whether it was not there yet."""
    statement = conflict_insert(conn, task_runs).on_conflict_do_nothing().returning(task_runs.c.id)
    return conn.execute(statement, _run_row(run)).first() is not None


def select_run(conn: Connection, run_id: str) -> TaskRun | None:
    row = conn.execute(select(task_runs).where(task_runs.c.id == run_id)).first()
    return None if row is None else _to_run(row)


def select_runs(
    conn: Connection, task_id: str, state: str | None, limit: int, before: str | None
) -> Sequence[TaskRun]:
    """Newest first; `before` is a cursor of `cursor_of`."""
    query = select(task_runs).where(task_runs.c.task_id == task_id)
    if state:
        query = query.where(task_runs.c.state == state)
    if before:
        moment_text, _, run_id = before.partition("~")
        moment = datetime.fromisoformat(moment_text)
        earlier = (task_runs.c.created_at == moment) & (task_runs.c.id < run_id)
        query = query.where(or_(task_runs.c.created_at < moment, earlier))
    query = query.order_by(task_runs.c.created_at.desc(), task_runs.c.id.desc()).limit(limit)
    return [_to_run(row) for row in conn.execute(query)]


def cursor_of(run: TaskRun) -> str:
    return f"{run.created_at.isoformat()}~{run.id}"


def last_runs(conn: Connection, task_ids: Sequence[str]) -> dict[str, TaskRun]:
    """The newest run of each."""
    found = {}
    for task_id in task_ids:
        for run in select_runs(conn, task_id, None, 1, None):
            found[task_id] = run
    return found


def select_left(conn: Connection, before: datetime) -> Sequence[str]:
    """Runs that were to begin and that nobody began: a hub died in between."""
    query = select(task_runs.c.id).where(task_runs.c.state == "due", task_runs.c.created_at < before)
    return list(conn.execute(query).scalars())


def select_going(conn: Connection) -> Sequence[str]:
    """Runs that go on, somewhere."""
    return list(conn.execute(select(task_runs.c.id).where(task_runs.c.state.in_(GOING))).scalars())


def select_open_of(conn: Connection, task_id: str) -> Sequence[TaskRun]:
    query = select(task_runs).where(task_runs.c.task_id == task_id, task_runs.c.state.in_(OPEN))
    return [_to_run(row) for row in conn.execute(query.order_by(task_runs.c.due_at))]


def take_waiting(conn: Connection, task_id: str) -> str | None:
    """The next run that waits for its turn, which has come now if nothing else goes on."""
    open_runs = select_open_of(conn, task_id)
    if any(run.state in GOING for run in open_runs):
        return None
    for run in open_runs:
        changed = conn.execute(
            update(task_runs)
            .where(task_runs.c.id == run.id, task_runs.c.state == "waiting")
            .values(state="due", note=None)
        )
        if changed.rowcount == 1:
            return run.id
    return None


def update_run(conn: Connection, run_id: str, values: Mapping[str, Any]) -> None:
    conn.execute(update(task_runs).where(task_runs.c.id == run_id).values(**values))


def move_run(conn: Connection, run_id: str, before: RunState, after: RunState) -> TaskRun | None:
    """From one state to another; nothing when it has left that one already."""
    query = update(task_runs).where(task_runs.c.id == run_id, task_runs.c.state == before)
    return select_run(conn, run_id) if conn.execute(query.values(state=after)).rowcount == 1 else None


def select_deletable(conn: Connection, now: datetime, limit: int) -> Sequence[TaskRun]:
    query = select(task_runs).where(task_runs.c.delete_at <= now).limit(limit)
    return [_to_run(row) for row in conn.execute(query)]


def forget_runs(conn: Connection, before: datetime, limit: int) -> int:
    """Remove old rows of runs that have ended."""
    old = select(task_runs.c.id).where(task_runs.c.ended_at < before, task_runs.c.state.not_in(OPEN))
    ids = list(conn.execute(old.where(task_runs.c.delete_at.is_(None)).limit(limit)).scalars())
    if ids:
        conn.execute(delete(task_runs).where(task_runs.c.id.in_(ids)))
    return len(ids)


# --- rows


def _task_row(task: Task) -> dict[str, Any]:
    row = {name: getattr(task, name) for name in _TASK}
    return row | {"allow": list(task.allow), "workflow_inputs": dict(task.workflow_inputs)}


def _run_row(run: TaskRun) -> dict[str, Any]:
    return {name: getattr(run, name) for name in _RUN} | {"denied": list(run.denied)}


def _to_task(row: Row[Any]) -> Task:
    values = {name: getattr(row, name) for name in _TASK}
    return Task(**values | {"allow": tuple(row.allow), "workflow_inputs": row.workflow_inputs or {}})


def _to_run(row: Row[Any]) -> TaskRun:
    return TaskRun(**{name: getattr(row, name) for name in _RUN} | {"denied": tuple(row.denied)})
