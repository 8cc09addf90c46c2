"""The SQL of what was used: tokens and dollars of runs, channels and models, calls and results of servers.

By the day as well, in a person's zone (`days.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, case, func, select

from manyhands.chat.context import CHARS_PER_TOKEN
from manyhands.chat.days import Calendar, day_of
from manyhands.store.tables import call_ended, channels, runs, tool_calls

By = Literal["run", "server", "channel", "model", "day"]
Split = Literal["model", "channel", "server"]
Rows = Sequence[Mapping[str, Any]]
Since = datetime | None

TOKENS = ("input", "output", "cached")
FAILED = ("error", "timeout")


def select_usage(conn: Connection, by: By, since: Since = None) -> Rows:
    """Each run (newest first), channel or model (dearest first) or server (most calls first).

    Days need a calendar: `usage_of_days`.
    """
    chosen: Mapping[str, Callable[[Connection, Since], Rows]] = {
        "run": usage_of_runs,
        "server": usage_of_servers,
        "channel": usage_of_channels,
        "model": usage_of_models,
    }
    return chosen[by](conn, since)


def usage_of_runs(conn: Connection, since: Since = None) -> Rows:
    counted: dict[str, int] = dict(
        conn.execute(
            select(tool_calls.c.run_id, func.count())
            .where(tool_calls.c.run_id.is_not(None), *_since(since, tool_calls.c.at))
            .group_by(tool_calls.c.run_id)
        ).all()
    )
    columns = (runs.c.id, runs.c.channel_id, runs.c.model, runs.c.status, runs.c.usage, runs.c.cost)
    query = select(*columns).where(*_since(since)).order_by(runs.c.id.desc())
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
        for row in conn.execute(query)
    ]


def usage_of_channels(conn: Connection, since: Since = None) -> Rows:
    names = _channel_names(conn)
    found = [
        {"channel_id": row["channel_id"], "name": names.get(row["channel_id"]), **_spent(row)}
        for row in _sums(conn, since, runs.c.channel_id)
    ]
    return sorted(found, key=lambda row: (*_dearest(row), row["channel_id"]))


def usage_of_models(conn: Connection, since: Since = None) -> Rows:
    found = [{"model": row["model"], **_spent(row)} for row in _sums(conn, since, runs.c.model)]
    return sorted(found, key=lambda row: (*_dearest(row), row["model"] or ""))


def usage_of_servers(conn: Connection, since: Since = None) -> Rows:
    """Tokens and dollars are what the results take of a model's context, about; read once, as they came."""
    found = [{"server": row["server"], **_worked(row)} for row in _calls(conn, since, tool_calls.c.server)]
    return sorted(found, key=lambda row: (-row["calls"], row["server"]))


def usage_of_days(conn: Connection, calendar: Calendar, split: Split) -> Rows:
    """Each day since the calendar begins, oldest first, one row for each model, channel or server."""
    dialect = conn.dialect.name
    if split == "server":
        day = day_of(tool_calls.c.at, calendar, dialect).label("day")
        rows = _calls(conn, calendar.since, day, tool_calls.c.server)
        found = [{"day": row["day"], "server": row["server"], **_worked(row)} for row in rows]
        return sorted(found, key=lambda row: (row["day"], row["server"]))
    day = day_of(runs.c.created_at, calendar, dialect).label("day")
    column = runs.c.model if split == "model" else runs.c.channel_id
    sums = _sums(conn, calendar.since, day, column)
    names = _channel_names(conn) if split == "channel" else {}
    found = [
        {
            "day": row["day"],
            column.name: row[column.name],
            **({"name": names.get(row["channel_id"])} if split == "channel" else {}),
            **_spent(row),
        }
        for row in sums
    ]
    return sorted(found, key=lambda row: (row["day"], row[column.name] or ""))


def _sums(conn: Connection, since: Since, *keys: ColumnElement[Any]) -> Rows:
    query = (
        select(
            *keys,
            func.count().label("runs"),
            *(func.sum(runs.c.usage[name].as_integer()).label(name) for name in TOKENS),
            func.sum(runs.c.cost).label("cost"),
        )
        .where(*_since(since))
        .group_by(*keys)
    )
    return [row._asdict() for row in conn.execute(query)]


def _calls(conn: Connection, since: Since, *keys: ColumnElement[Any]) -> Rows:
    failed = case((tool_calls.c.status.in_(FAILED), 1), else_=0)
    query = (
        select(
            *keys,
            func.count().label("calls"),
            func.sum(failed).label("errors"),
            func.sum(tool_calls.c.size).label("size"),
            func.sum(tool_calls.c.duration_ms).label("duration_ms"),
            func.sum(_cost_of_result()).label("cost"),
        )
        .select_from(tool_calls.outerjoin(runs, runs.c.id == tool_calls.c.run_id))
        .where(call_ended, *_since(since, tool_calls.c.at))
        .group_by(*keys)
    )
    return [row._asdict() for row in conn.execute(query)]


def _cost_of_result() -> ColumnElement[Any]:
    """A result's share of what its run cost: its part of the tokens in and out, at most all of it."""
    tokens = runs.c.usage["input"].as_integer() + runs.c.usage["output"].as_integer()
    share = func.coalesce(tool_calls.c.size, 0) / (CHARS_PER_TOKEN * tokens)
    return case((tokens > 0, runs.c.cost * case((share > 1, 1.0), else_=share)), else_=None)


def _since(since: Since, moment: ColumnElement[datetime] = runs.c.created_at) -> list[ColumnElement[bool]]:
    return [] if since is None else [moment >= since]


def _channel_names(conn: Connection) -> dict[str, str]:
    return dict(conn.execute(select(channels.c.id, channels.c.name)).all())


def _dearest(row: Mapping[str, Any]) -> tuple[float, int]:
    return -(row["cost"] or 0.0), -row["input"]


def _spent(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"runs": row["runs"], **_tokens(row), "cost": row["cost"]}


def _worked(row: Mapping[str, Any]) -> dict[str, int | float | None]:
    return {
        "calls": row["calls"],
        "errors": int(row["errors"] or 0),
        "result_tokens": int(int(row["size"] or 0) / CHARS_PER_TOKEN),
        "duration_ms": int(row["duration_ms"] or 0),
        "cost": row["cost"],
    }


def _tokens(values: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(values.get(name) or 0) for name in TOKENS}
