"""The SQL of what was used: tokens and dollars of runs and channels, calls and results of servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, func, select

from manyhands.chat.context import CHARS_PER_TOKEN
from manyhands.store.tables import channels, runs, tool_calls

By = Literal["run", "server", "channel"]
Rows = Sequence[Mapping[str, Any]]


def select_usage(conn: Connection, by: By) -> Rows:
    """Each run (newest first), each channel (dearest first) or each server (most calls first)."""
    chosen: Mapping[str, Callable[[Connection], Rows]] = {
        "run": usage_of_runs,
        "server": usage_of_servers,
        "channel": usage_of_channels,
    }
    return chosen[by](conn)


def usage_of_runs(conn: Connection) -> Rows:
    counted: dict[str, int] = dict(
        conn.execute(
            select(tool_calls.c.run_id, func.count())
            .where(tool_calls.c.run_id.is_not(None))
            .group_by(tool_calls.c.run_id)
        ).all()
    )
    columns = (runs.c.id, runs.c.channel_id, runs.c.model, runs.c.status, runs.c.usage, runs.c.cost)
    return [
        {
            "run_id": row.id,
            "channel_id": row.channel_id,
            "model": row.model,
            "status": row.status,
            **_tokens(row.usage),
            "cost": row.cost,
            "calls": counted.get(row.id, 0),
        }
        for row in conn.execute(select(*columns).order_by(runs.c.id.desc()))
    ]


def usage_of_channels(conn: Connection) -> Rows:
    names = dict(conn.execute(select(channels.c.id, channels.c.name)).all())
    query = select(
        runs.c.channel_id,
        func.count().label("runs"),
        *(func.sum(runs.c.usage[name].as_integer()).label(name) for name in ("input", "output", "cached")),
        func.sum(runs.c.cost).label("cost"),
    ).group_by(runs.c.channel_id)
    found = [
        {
            "channel_id": row.channel_id,
            "name": names.get(row.channel_id),
            "runs": row.runs,
            **_tokens(row._asdict()),
            "cost": row.cost,
        }
        for row in conn.execute(query)
    ]
    return sorted(found, key=lambda row: (-(row["cost"] or 0.0), -row["input"], row["channel_id"]))


def usage_of_servers(conn: Connection) -> Rows:
    """Tokens are what the results take in a model's context, about."""
    query = (
        select(
            tool_calls.c.server,
            func.count().label("calls"),
            func.sum(tool_calls.c.size).label("size"),
            func.sum(tool_calls.c.duration_ms).label("duration_ms"),
        )
        .group_by(tool_calls.c.server)
        .order_by(func.count().desc(), tool_calls.c.server)
    )
    return [
        {
            "server": row.server,
            "calls": row.calls,
            "result_tokens": int(int(row.size or 0) / CHARS_PER_TOKEN),
            "duration_ms": int(row.duration_ms or 0),
        }
        for row in conn.execute(query)
    ]


def _tokens(values: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(values.get(name) or 0) for name in ("input", "output", "cached")}
