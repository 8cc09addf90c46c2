"""How calls went: counted, ranked and put into steps of time, on both databases."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection

from manyhands.errors import InvalidError
from manyhands.ids import new_id
from manyhands.store.engine import Store
from manyhands.testing.clock import START
from manyhands.tools.call_log import end_call
from manyhands.tools.call_stats import CallStats, Measured, Span, make_span, select_stats
from manyhands.tools.types import CallRecord, CallStatus

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)


def call(at: datetime, ms: int | None, status: str = "success", server: str = "a") -> CallRecord:
    return CallRecord(
        id=new_id("call"),
        tool="t",
        server=server,
        server_id=None,
        channel_id=None,
        run_id=None,
        iteration=None,
        arguments={},
        at=at,
        status=CallStatus(status),
        duration_ms=ms,
    )


async def measured(store: Store, *calls: CallRecord, server: str | None = None) -> CallStats:
    def fill(conn: Connection) -> None:
        for one in calls:
            end_call(conn, one)

    await store.write(fill)
    span = Span(START, START + timedelta(days=1), 3600, server)
    return await store.read(lambda conn: select_stats(conn, span))


async def test_a_step_has_its_median_and_its_95th_percentile(store: Store) -> None:
    calls = [call(START + timedelta(seconds=number), number) for number in range(1, 101)]
    stats = await measured(store, *calls)
    assert stats.points == [(START, Measured(100, 0, 50, 95))]


async def test_calls_go_into_the_step_that_they_began_in(store: Store) -> None:
    last = START + HOUR - timedelta(milliseconds=1)
    stats = await measured(store, call(START, 1), call(last, 3), call(START + 2 * HOUR, 7))
    assert stats.points == [
        (START, Measured(2, 0, 1, 3)),
        (START + 2 * HOUR, Measured(1, 0, 7, 7)),
    ]


async def test_errors_and_timeouts_are_failures_and_what_was_denied_took_no_time(store: Store) -> None:
    stats = await measured(
        store,
        call(START, 10),
        call(START, 20, "error"),
        call(START, 30, "timeout"),
        call(START, 0, "denied"),
        call(START, None, "cancelled"),
        call(START, None, "pending"),
    )
    assert stats.servers == [("a", Measured(5, 2, 20, 30))]


async def test_servers_stand_beside_each_other_while_the_points_are_of_one(store: Store) -> None:
    mine = [call(START, 10), call(START, 12)]
    stats = await measured(store, *mine, call(START, 500, "error", "b"), server="b")
    assert stats.points == [(START, Measured(1, 1, 500, 500))]
    assert stats.servers == [("a", Measured(2, 0, 10, 12)), ("b", Measured(1, 1, 500, 500))]


async def test_calls_before_and_after_are_not_counted(store: Store) -> None:
    stats = await measured(store, call(START - HOUR, 1), call(START + timedelta(days=1), 1))
    assert (stats.points, stats.servers) == ([], [])


async def test_a_call_that_only_the_denied_know_has_no_times(store: Store) -> None:
    stats = await measured(store, call(START, 0, "denied"))
    assert stats.points == [(START, Measured(1, 0, None, None))]


@pytest.mark.parametrize(
    ("past", "step"),
    [
        (timedelta(hours=1), 300),
        (timedelta(days=1), 1800),
        (timedelta(days=30), 86_400),
        (timedelta(days=300), 604_800),
    ],
)
def test_the_step_fits_the_span(past: timedelta, step: int) -> None:
    span = make_span(START, START - past, None, None)
    assert span.bucket_s == step
    assert past.total_seconds() / step <= 50


def test_a_day_is_measured_when_nothing_is_said() -> None:
    assert make_span(START, None, None, None).since == START - timedelta(days=1)


def test_too_many_steps_are_refused() -> None:
    with pytest.raises(InvalidError, match="longer"):
        make_span(START, START - timedelta(days=300), 60, None)
