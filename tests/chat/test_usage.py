"""What was used is summed up by run, by channel and by server, the same on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, insert

from manyhands.chat import run_store
from manyhands.chat import store as channel_store
from manyhands.chat.days import make_calendar, offset_changes
from manyhands.chat.types import Channel, Run, RunOptions, RunStatus
from manyhands.chat.usage import select_usage, usage_of_days
from manyhands.errors import InvalidError
from manyhands.store.engine import Store
from manyhands.store.tables import tool_calls

pytestmark = pytest.mark.anyio

AT = datetime(2026, 1, 1, tzinfo=UTC)


def fill(conn: Connection) -> None:
    for name in ("dear", "cheap"):
        channel_store.insert_channel(
            conn, Channel(f"ch_{name}", name, None, "local", None, None, None, True, False, AT)
        )
    for number, channel, cost in ((1, "dear", 2.0), (2, "dear", 0.5), (3, "cheap", None)):
        usage = {"input": 500 * number, "output": 0, "cached": 0}
        run = Run(
            f"run_{number}",
            f"ch_{channel}",
            RunStatus.COMPLETED,
            RunOptions(),
            AT,
            usage=usage,
            cost=cost,
            model="m",
        )
        run_store.insert_run(conn, run)
    for number, server in enumerate(("time", "git", "git")):
        row: dict[str, Any] = {
            "id": f"call_{number}",
            "tool": "t",
            "server": server,
            "run_id": "run_1",
            "arguments": {},
        }
        row |= {"is_error": False, "status": "success", "at": AT, "size": 360, "duration_ms": 5}
        conn.execute(insert(tool_calls), row)


async def test_usage_is_summed_up_by_run_channel_and_server(store: Store) -> None:
    await store.write(fill)
    by_run = await store.read(lambda conn: select_usage(conn, "run"))
    by_channel = await store.read(lambda conn: select_usage(conn, "channel"))
    by_server = await store.read(lambda conn: select_usage(conn, "server"))
    assert [(row["run_id"], row["input"], row["cost"], row["calls"]) for row in by_run] == [
        ("run_3", 1500, None, 0),
        ("run_2", 1000, 0.5, 0),
        ("run_1", 500, 2.0, 3),
    ]
    assert [(row["name"], row["runs"], row["input"], row["output"], row["cost"]) for row in by_channel] == [
        ("dear", 2, 1500, 0, 2.5),
        ("cheap", 1, 1500, 0, None),
    ]
    assert [row | {"cost": round(row["cost"], 6)} for row in map(dict, by_server)] == [
        {"server": "git", "calls": 2, "errors": 0, "result_tokens": 200, "duration_ms": 10, "cost": 0.8},
        {"server": "time", "calls": 1, "errors": 0, "result_tokens": 100, "duration_ms": 5, "cost": 0.4},
    ]


async def test_results_cost_at_most_what_their_run_did_and_nothing_is_known_without_a_price(
    store: Store,
) -> None:
    def fill_more(conn: Connection) -> None:
        fill(conn)
        base = {"tool": "t", "arguments": {}, "is_error": False, "status": "success", "at": AT}
        for name, run in (("huge", "run_2"), ("free", "run_3"), ("alone", None)):
            conn.execute(
                insert(tool_calls), base | {"id": name, "server": name, "run_id": run, "size": 10**9}
            )

    await store.write(fill_more)
    rows = await store.read(lambda conn: select_usage(conn, "server"))
    costs = {row["server"]: row["cost"] for row in rows}
    assert (costs["huge"], costs["free"], costs["alone"]) == (0.5, None, None)


def spread(conn: Connection) -> None:
    """Runs and calls on both sides of a midnight in Berlin, in winter and in summer, by two models."""
    channel = Channel("ch_1", "one", None, "local", None, None, None, True, False, AT)
    channel_store.insert_channel(conn, channel)
    for number, (at, model) in enumerate(MOMENTS):
        usage = {"input": 10, "output": 1, "cached": 0}
        run = Run(f"run_{number}", "ch_1", RunStatus.COMPLETED, RunOptions(), at, usage=usage, model=model)
        run_store.insert_run(conn, run)
        row = {"id": f"call_{number}", "tool": "t", "server": "git", "arguments": {}, "is_error": False}
        conn.execute(insert(tool_calls), row | {"status": "timeout", "at": at, "size": 360})


MOMENTS = (
    (datetime(2026, 3, 28, 22, 59, tzinfo=UTC), "a"),  # 23:59 in Berlin
    (datetime(2026, 3, 28, 23, 1, tzinfo=UTC), "a"),  # 00:01 of the 29th
    (datetime(2026, 3, 29, 22, 1, tzinfo=UTC), "b"),  # 00:01 of the 30th: clocks have changed
    (datetime(2026, 3, 29, 22, 2, tzinfo=UTC), "a"),
)
NOW = datetime(2026, 4, 2, tzinfo=UTC)


async def test_days_are_those_of_the_zone_also_where_clocks_change(store: Store) -> None:
    await store.write(spread)
    berlin = make_calendar("Europe/Berlin", None, NOW)
    by_model = await store.read(lambda conn: usage_of_days(conn, berlin, "model"))
    assert [(row["day"], row["model"], row["runs"], row["input"]) for row in by_model] == [
        ("2026-03-28", "a", 1, 10),
        ("2026-03-29", "a", 1, 10),
        ("2026-03-30", "a", 1, 10),
        ("2026-03-30", "b", 1, 10),
    ]
    utc = make_calendar("UTC", None, NOW)
    by_channel = await store.read(lambda conn: usage_of_days(conn, utc, "channel"))
    assert [(row["day"], row["name"], row["runs"]) for row in by_channel] == [
        ("2026-03-28", "one", 2),
        ("2026-03-29", "one", 2),
    ]
    by_server = await store.read(lambda conn: usage_of_days(conn, berlin, "server"))
    assert [(row["day"], row["server"], row["calls"], row["errors"]) for row in by_server] == [
        ("2026-03-28", "git", 1, 1),
        ("2026-03-29", "git", 1, 1),
        ("2026-03-30", "git", 2, 2),
    ]


async def test_what_began_before_is_left_out(store: Store) -> None:
    await store.write(spread)
    since = datetime(2026, 3, 29, tzinfo=UTC)
    by_model = await store.read(lambda conn: select_usage(conn, "model", since))
    assert [(row["model"], row["runs"]) for row in by_model] == [("a", 1), ("b", 1)]
    by_server = await store.read(lambda conn: select_usage(conn, "server", since))
    assert [(row["server"], row["calls"]) for row in by_server] == [("git", 2)]
    calendar = make_calendar("UTC", since, NOW)
    by_day = await store.read(lambda conn: usage_of_days(conn, calendar, "channel"))
    assert [(row["day"], row["runs"]) for row in by_day] == [("2026-03-29", 2)]


def test_a_calendar_knows_when_clocks_change_and_refuses_zones_that_are_none() -> None:
    berlin = make_calendar("Europe/Berlin", None, NOW)
    assert berlin.since == datetime(2026, 3, 3, 23, tzinfo=UTC)
    assert list(offset_changes(berlin)) == [
        (berlin.since, timedelta(hours=1)),
        (datetime(2026, 3, 29, 1, tzinfo=UTC), timedelta(hours=2)),
    ]
    for zone in ("Nowhere/City", "../etc/passwd", ""):
        with pytest.raises(InvalidError, match="no time zone"):
            make_calendar(zone, None, NOW)
