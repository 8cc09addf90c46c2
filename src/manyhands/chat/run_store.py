"""The SQL of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, Table, func, insert, or_, select, update

from manyhands.chat.types import Run, RunOptions, RunStatus
from manyhands.store.tables import channels, executors, runs

CapOf = Literal["run", "channel"]

_FIELDS = tuple(field.name for field in fields(Run))
_CAPPED: Mapping[CapOf, Table] = {"run": runs, "channel": channels}
_OPEN = (RunStatus.RUNNING.value, RunStatus.WAITING.value, RunStatus.QUEUED.value)


def insert_run(conn: Connection, run: Run) -> None:
    row = {name: getattr(run, name) for name in _FIELDS}
    conn.execute(insert(runs), row | {"options": asdict(run.options), "usage": dict(run.usage)})


def select_run(conn: Connection, run_id: str) -> Run | None:
    row = conn.execute(select(runs).where(runs.c.id == run_id)).first()
    return None if row is None else _to_run(row)


def select_runs(
    conn: Connection, channel_id: str | None, status: str | None, limit: int, before: str | None
) -> Sequence[Run]:
    """Newest first."""
    query = select(runs)
    if channel_id:
        query = query.where(runs.c.channel_id == channel_id)
    if status:
        query = query.where(runs.c.status == status)
    if before:
        query = query.where(runs.c.id < before)
    return [_to_run(row) for row in conn.execute(query.order_by(runs.c.id.desc()).limit(limit))]


def select_named(conn: Connection, run_ids: Sequence[str]) -> Sequence[Run]:
    """Runs by their ids."""
    return [_to_run(row) for row in conn.execute(select(runs).where(runs.c.id.in_(run_ids)))]


def select_open(conn: Connection, holder: str | None = None) -> Sequence[Run]:
    """Runs of this home that have not ended, oldest first: those that a restart must go on with."""
    query = select(runs).where(runs.c.status.in_(_OPEN))
    if holder is not None:
        query = query.where(or_(runs.c.holder.is_(None), runs.c.holder == holder))
    return [_to_run(row) for row in conn.execute(query.order_by(runs.c.id))]


def take_left(conn: Connection, holder: str, before: datetime, now: datetime) -> Sequence[str]:
    """Take old open runs of homes on which no hub is alive; the ids. Of several hubs one gets each."""
    lives = select(executors.c.id).where(executors.c.home == runs.c.holder, executors.c.until >= now)
    left = update(runs).where(
        runs.c.status.in_(_OPEN), runs.c.holder != holder, runs.c.created_at < before, ~lives.exists()
    )
    return list(conn.execute(left.values(holder=holder).returning(runs.c.id)).scalars())


def select_waiting(conn: Connection, channel_id: str) -> Sequence[str]:
    """Runs of a channel that wait for their turn."""
    query = select(runs.c.id).where(runs.c.channel_id == channel_id)
    return list(conn.execute(query.where(runs.c.status == RunStatus.QUEUED.value)).scalars())


def update_run(conn: Connection, run_id: str, values: Mapping[str, Any]) -> None:
    conn.execute(update(runs).where(runs.c.id == run_id).values(**values))


def end_run(conn: Connection, run_id: str, values: Mapping[str, Any]) -> Run | None:
    """Set its last values; the answer is all of it."""
    update_run(conn, run_id, values)
    return select_run(conn, run_id)


def cost_of_channel(conn: Connection, channel_id: str) -> float:
    return float(
        conn.execute(select(func.sum(runs.c.cost)).where(runs.c.channel_id == channel_id)).scalar() or 0
    )


def cost_raised(conn: Connection, of: CapOf, id: str) -> float:
    """By how many dollars a person has raised the cap of a run or a channel."""
    table = _CAPPED[of]
    return float(conn.execute(select(table.c.cost_raised).where(table.c.id == id)).scalar() or 0)


def raise_cost(conn: Connection, of: CapOf, id: str, raised: float) -> None:
    table = _CAPPED[of]
    conn.execute(update(table).where(table.c.id == id).values(cost_raised=raised))


def _to_run(row: Row[Any]) -> Run:
    values = {name: getattr(row, name) for name in _FIELDS}
    return Run(**values | {"status": RunStatus(row.status), "options": RunOptions(**row.options)})
