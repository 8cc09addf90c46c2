"""Events in the database: numbers that never repeat, replay, forgetting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import pytest

from manyhands.events import Event
from manyhands.store.engine import Store
from manyhands.store.event_log import StoredEventLog, forget_events

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def event(seq: int, days_old: int = 0) -> Event:
    return Event(
        seq, "mcp.status", "ch_1", {"number": seq, "text": "ü\u202e"}, NOW - timedelta(days=days_old)
    )


async def test_numbers_are_reserved_once_whoever_asks(store: Store) -> None:
    first, second = StoredEventLog(store), StoredEventLog(store)
    assert [await first.reserve(100), await second.reserve(50), await first.reserve(1)] == [0, 100, 150]


async def test_several_that_reserve_the_first_numbers_at_the_same_time_share_none(store: Store) -> None:
    reserved: list[int] = []

    async def reserve() -> None:
        reserved.append(await StoredEventLog(store).reserve(100))

    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(reserve)
    assert sorted(reserved) == [0, 100, 200, 300, 400, 500]


async def test_numbers_begin_after_the_newest_event_even_if_the_counter_is_behind(store: Store) -> None:
    log = StoredEventLog(store)
    log.append(event(5000))
    await log.flush()
    assert await log.reserve(10) == 5000


async def test_kept_events_come_back_as_they_were_in_order_and_paged(store: Store) -> None:
    log = StoredEventLog(store)
    for seq in range(1, 8):
        log.append(event(seq))
    await log.flush()
    page = await log.since(2, 3)
    assert page == [event(3), event(4), event(5)]
    assert [one.seq for one in await log.since(5, 100)] == [6, 7]


async def test_forgetting_removes_the_old_and_remembers_up_to_where(store: Store) -> None:
    log = StoredEventLog(store)
    for seq, age in ((1, 30), (2, 20), (3, 1)):
        log.append(event(seq, age))
    await log.flush()
    assert await log.floor() == 0
    assert await store.write(lambda conn: forget_events(conn, NOW - timedelta(days=14))) == 2
    assert await log.floor() == 2
    assert [one.seq for one in await log.since(0, 10)] == [3]
    assert await store.write(lambda conn: forget_events(conn, NOW - timedelta(days=14))) == 0
    assert await log.floor() == 2
