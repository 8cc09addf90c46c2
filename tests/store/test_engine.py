"""What the store promises on every database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import anyio.lowlevel
import pytest
from sqlalchemy import Connection, create_engine, func, insert, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from manyhands.errors import InvalidError, UnavailableError
from manyhands.store.engine import Store, open_store
from manyhands.store.tables import meta

pytestmark = pytest.mark.anyio


def put(conn: Connection, key: str, value: str = "value") -> str:
    conn.execute(insert(meta).values(key=key, value=value))
    return key


def put_numbered(number: int, conn: Connection) -> str:
    return put(conn, f"{number:04}", str(count(conn)))


def count(conn: Connection) -> int:
    return conn.execute(select(func.count()).select_from(meta)).scalar_one()


async def test_what_write_answered_can_be_read_and_is_there_after_a_restart(store_url: str) -> None:
    async with open_store(store_url) as store:
        assert await store.write(lambda conn: put(conn, "a")) == "a"
        assert await store.read(count) == 1
    async with open_store(store_url) as store:
        assert await store.read(count) == 1


async def test_a_failing_write_changes_nothing_and_its_error_reaches_the_caller(store: Store) -> None:
    def work(conn: Connection) -> None:
        put(conn, "half")
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        await store.write(work)
    assert await store.read(count) == 0


async def test_a_quick_read_sees_what_is_committed_and_changes_nothing(store: Store) -> None:
    for way in (store.write, store.write_now, store.write_row, store.write_soon):
        await way(lambda conn, way=way: put(conn, way.__name__))  # type: ignore[misc]
    assert await store.read_now(count) == 4
    with pytest.raises(Exception, match=r"read.?only"):
        await store.read_now(lambda conn: put(conn, "not here"))
    assert await store.read(count) == 4


@pytest.mark.parametrize("way", ["write", "write_now", "write_row", "write_soon"])
async def test_of_many_writes_at_once_only_the_bad_ones_fail(store: Store, way: str) -> None:
    """They may share a commit; a failure may not."""
    await store.write(lambda conn: put(conn, "taken"))
    failed: list[int] = []

    async def write(number: int) -> None:
        key = "taken" if number % 10 == 3 else f"key-{number}"
        try:
            assert await getattr(store, way)(lambda conn: put(conn, key)) == key
        except IntegrityError:
            failed.append(number)

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(write, number)
    assert sorted(failed) == list(range(3, 100, 10))
    assert await store.read(count) == 91


async def test_a_statement_that_the_database_refuses_fails_alone(store: Store) -> None:
    outcomes: dict[int, str] = {}

    async def write(number: int) -> None:
        def work(conn: Connection) -> None:
            put(conn, f"key-{number}")
            if number == 5:
                conn.exec_driver_sql("INSERT INTO no_such_table VALUES (1)")

        try:
            await store.write(work)
            outcomes[number] = "written"
        except (DBAPIError, UnavailableError) as error:
            outcomes[number] = str(error)

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(write, number)
    assert "no_such_table" in outcomes.pop(5)
    assert set(outcomes.values()) == {"written"}
    assert await store.read(count) == 9


async def test_posted_work_is_written_in_order_before_the_store_closes(store_url: str) -> None:
    async with open_store(store_url) as store:
        for number in range(500):
            store.post(partial(put_numbered, number))
    async with open_store(store_url) as store:
        rows = await store.read(lambda conn: conn.execute(select(meta).order_by(meta.c.key)).all())
    assert [int(row.value) for row in rows] == list(range(500))


async def test_a_posted_write_that_fails_is_logged_and_the_next_ones_are_written(
    store_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(store_url) as store:
        for key in ("one", "one", "two"):
            store.post(partial(put, key=key))
    async with open_store(store_url) as store:
        assert await store.read(count) == 2
    assert "a posted write failed" in caplog.text


async def test_posted_work_is_written_also_when_the_owner_is_cancelled(store_url: str) -> None:
    with anyio.CancelScope() as scope:
        async with open_store(store_url) as store:
            for number in range(50):
                store.post(partial(put, key=str(number)))
            scope.cancel()
            await anyio.sleep_forever()
    async with open_store(store_url) as store:
        assert await store.read(count) == 50


async def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises((DBAPIError, UnavailableError), match=r"read-only|readonly"):
        await store.read(lambda conn: put(conn, "sneaky"))
    assert await store.read(count) == 0


async def test_one_read_sees_one_state_however_often_it_looks(store_url: str) -> None:
    def look_twice(conn: Connection) -> tuple[int, int]:
        before = count(conn)
        with create_engine(store_url.replace("postgresql:", "postgresql+psycopg:")).begin() as other:
            put(other, "in between")
        other.engine.dispose()
        return before, count(conn)

    async with open_store(store_url) as store:
        assert await store.read(look_twice) == (0, 0)
        assert await store.read(count) == 1


async def test_a_closed_store_refuses_instead_of_waiting_for_ever(store_url: str) -> None:
    async with open_store(store_url) as store:
        pass
    with pytest.raises(UnavailableError, match="closed"):
        await store.write(count)
    with pytest.raises(UnavailableError, match="closed"):
        await store.read(count)


async def test_the_size_on_disk_is_told(store: Store) -> None:
    assert await store.size() > 4096


@pytest.mark.parametrize("url", ["mysql://host/name", "sqlite:///", "file.db"])
async def test_a_url_that_names_no_database_of_ours_says_what_to_write(url: str) -> None:
    with pytest.raises(InvalidError, match="sqlite:///"):
        async with open_store(url):
            pass


async def test_a_store_can_be_used_after_a_caller_was_cancelled_in_the_middle(store: Store) -> None:
    async def cancelled_in_the_middle(work: Callable[[], Awaitable[object]]) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await work()
            await anyio.lowlevel.checkpoint()
        assert scope.cancelled_caught

    for number in range(5):
        await cancelled_in_the_middle(partial(store.write, partial(put, key=f"key-{number}")))
        await cancelled_in_the_middle(lambda: store.read(count))
    await store.write(lambda conn: put(conn, "last"))
    assert await store.read(count) == 6


async def test_a_task_that_is_cancelled_in_the_middle_is_cancelled(store: Store) -> None:
    tasks = [asyncio.ensure_future(store.read(count)) for _ in range(5)]
    await anyio.lowlevel.checkpoint()
    for task in tasks:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
    assert await store.read(count) == 0
