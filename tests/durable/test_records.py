"""Beginnings and ends share commits, and DBOS finds them as if it had written them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest
from sqlalchemy import event

from manyhands.durable import records
from manyhands.durable.binding import Bound, bound
from manyhands.durable.engine import durable_url
from manyhands.durable.records import End
from manyhands.durable.types import Order
from manyhands.home import Home
from manyhands.ids import new_id

pytestmark = pytest.mark.anyio

SOON_S = 60


async def nobody(kind: str, work_id: str, payload: Any) -> Any:
    raise AssertionError("nothing is recovered here")


@asynccontextmanager
async def records_on(home: Path, url: str) -> AsyncIterator[tuple[Bound, dict[str, str]]]:
    """DBOS, and what has begun there with its tokens."""
    begun: dict[str, str] = {}

    def began(order: Order, owner: str) -> None:
        begun[order.id] = owner

    with anyio.fail_after(SOON_S):
        async with bound(durable_url(Home(home), url), new_id("exec"), nobody, began) as made:
            yield made, begun


async def test_what_comes_together_shares_a_commit(made_url: str, tmp_path: Path) -> None:
    ids = [new_id("a") for _ in range(50)]
    commits = 0

    def count(conn: object) -> None:
        nonlocal commits
        commits += 1

    async with records_on(tmp_path, made_url) as (made, begun):
        event.listen(made.records._engine, "commit", count)
        async with anyio.create_task_group() as group:
            for one in ids:
                group.start_soon(made.records.write, [Order("any", one, {"n": 1})])
        assert (sorted(begun), commits) == (sorted(ids), 1)
        async with anyio.create_task_group() as group:
            for one in ids:
                following = [Order("any", f"{one}/next")]
                group.start_soon(made.records.write, following, [End(one, begun[one], '{"value":5}')])
        assert (len(begun), commits) == (100, 2)
        found = await made.find([*begun])
    assert {found[one].value for one in ids} == {5}
    assert {found[f"{one}/next"].state for one in ids} == {"running"}


async def test_one_that_cannot_be_written_does_not_take_others_with_it(made_url: str, tmp_path: Path) -> None:
    good, bad = new_id("a"), f"{new_id('a')}\ud800"
    refused: list[Exception] = []

    async def write(work_id: str) -> None:
        try:
            await made.records.write([Order("any", work_id, "\ud800")])
        except Exception as error:  # noqa: BLE001 - what it is differs between the drivers
            refused.append(error)

    async with records_on(tmp_path, made_url) as (made, begun):
        async with anyio.create_task_group() as group:
            group.start_soon(write, bad)
            group.start_soon(write, good)
        assert [*begun] == [good]
        assert len(refused) == 1
        assert [*await made.find([good])] == [good]


async def test_an_end_that_is_not_ours_to_write_is_left_out(made_url: str, tmp_path: Path) -> None:
    taken, cancelled = new_id("a"), new_id("a")
    async with records_on(tmp_path, made_url) as (made, begun):
        assert await made.records.write([Order("any", taken), Order("any", cancelled)]) == {taken, cancelled}
        assert await made.records.write([Order("any", taken)]) == set()
        await made.cancel([cancelled])
        ends = [End(taken, "another token", "{}"), End(cancelled, begun[cancelled], "{}")]
        await made.records.write([], ends)
        found = await made.find([taken, cancelled])
    assert (found[taken].state, found[cancelled].state) == ("running", "cancelled")


async def test_a_connection_that_the_server_dropped_loses_nothing(
    made_postgresql_url: str, tmp_path: Path
) -> None:
    first, second = new_id("a"), new_id("a")
    async with records_on(tmp_path, made_postgresql_url) as (made, begun):
        await made.records.write([Order("any", first)])
        with psycopg.connect(made_postgresql_url, autocommit=True) as administrator:
            administrator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert await made.records.write([Order("any", second)]) == {second}
        assert [*begun] == [first, second]


async def test_a_beginning_whose_answer_was_lost_is_found_however_long_that_takes(
    made_postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = new_id("a")
    monkeypatch.setattr(records, "BEGIN_S", 0.0)
    async with records_on(tmp_path, made_postgresql_url) as (made, begun):
        dialect = made.records._engine.dialect
        commit, lost = dialect.do_commit, list[str]()

        def lose_the_answer(conn: Any) -> None:
            commit(conn)
            if not lost:
                lost.append("the answer")
                raise dialect.loaded_dbapi.OperationalError("The connection was lost.")

        with monkeypatch.context() as patch:
            patch.setattr(dialect, "do_commit", lose_the_answer)
            assert await made.records.write([Order("any", one)]) == {one}
        assert ([*begun], lost) == ([one], ["the answer"])
