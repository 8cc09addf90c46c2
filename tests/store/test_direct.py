"""Prepared statements write exactly what ordinary ones read; on both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from manyhands.errors import UnavailableError
from manyhands.store.direct import Insert, Update
from manyhands.store.engine import Store
from manyhands.store.tables import events
from manyhands.testing.clock import START

pytestmark = pytest.mark.anyio

INSERT = Insert(events, ("seq", "type", "channel_id", "data", "at"))
UPDATE = Update(events, ("data", "channel_id"), key="seq")
ROW: dict[str, Any] = {
    "seq": 2**40,
    "type": "x",
    "channel_id": None,
    "data": {"text": "grüße", "n": [1, None, True]},
    "at": START + timedelta(microseconds=123456),
}


def rows(conn: Connection) -> list[dict[str, Any]]:
    return [dict(row._mapping) for row in conn.execute(select(events).order_by(events.c.seq))]


async def test_a_row_is_read_back_as_it_was_written(store: Store) -> None:
    await store.write(lambda conn: INSERT.run(conn, ROW))
    assert await store.read(rows) == [ROW]


async def test_an_update_says_how_many_rows_there_were(store: Store) -> None:
    await store.write(lambda conn: INSERT.run(conn, ROW))
    changed = {"data": {"a": 1}, "channel_id": "ch"}
    assert await store.write(lambda conn: UPDATE.run(conn, ROW["seq"], changed)) == 1
    assert await store.write(lambda conn: UPDATE.run(conn, 5, changed)) == 0
    assert await store.read(rows) == [ROW | changed]


async def test_it_is_part_of_the_transaction(store: Store) -> None:
    def work(conn: Connection) -> None:
        INSERT.run(conn, ROW)
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        await store.write(work)
    assert await store.read(rows) == []


async def test_a_failure_is_the_same_error_as_everywhere(store: Store) -> None:
    await store.write(lambda conn: INSERT.run(conn, ROW))
    with pytest.raises(IntegrityError):
        await store.write(lambda conn: INSERT.run(conn, ROW))
    broken = Insert(events, ("seq",))
    with pytest.raises((IntegrityError, UnavailableError)):
        await store.write(lambda conn: broken.run(conn, {"seq": 5}))


async def test_a_flush_waits_for_all_that_was_posted(store: Store) -> None:
    for number in range(1000):
        row = ROW | {"seq": number}
        store.post(lambda conn, row=row: INSERT.run(conn, row))  # type: ignore[misc]
    await store.flush()
    assert len(await store.read(rows)) == 1000
