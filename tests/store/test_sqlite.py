"""SQLite as a server database: a full disk, a killed writer, a file that is none."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from sqlalchemy import Column, Connection, MetaData, Table, create_engine, func, insert, select

from manyhands.errors import UnavailableError
from manyhands.store import sqlite
from manyhands.store.columns import Json
from manyhands.store.engine import Store, open_store
from manyhands.store.jobs import Posted
from manyhands.store.quick_commits import QuickCommits
from manyhands.store.tables import meta

pytestmark = pytest.mark.anyio


def nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


WRITER = """
import sys, anyio
from sqlalchemy import insert
from manyhands.store.engine import open_store
from manyhands.store.tables import meta

async def main() -> None:
    async with open_store(sys.argv[1]) as store, anyio.create_task_group() as group:
        async def write_on(first: int) -> None:
            for number in range(first, 1_000_000, 8):
                await store.write(lambda conn: conn.execute(insert(meta).values(key=str(number), value="x")))
                print(number, flush=True)
        for first in range(8):
            group.start_soon(write_on, first)

anyio.run(main)
"""


def put(conn: Connection, key: str, size: int = 1) -> None:
    conn.execute(insert(meta).values(key=key, value="x" * size))


def count(conn: Connection) -> int:
    return conn.execute(select(func.count()).select_from(meta)).scalar_one()


async def limit_pages(store: Store, spare: int) -> None:
    """Let the file grow by so many pages and no further, as a full disk would."""

    def work(conn: Connection) -> None:
        pages = conn.exec_driver_sql("PRAGMA page_count").scalar_one()
        conn.exec_driver_sql(f"PRAGMA max_page_count={pages + spare}")

    await store.write(work)


async def test_a_full_disk_is_said_so_and_loses_nothing(sqlite_url: str) -> None:
    async with open_store(sqlite_url) as store:
        await store.write(lambda conn: put(conn, "before", 10_000))
        await limit_pages(store, 2)
        with pytest.raises(UnavailableError, match=r"full.*Free some disk space"):
            await store.write(lambda conn: put(conn, "too much", 1_000_000))
        await store.write(lambda conn: put(conn, "small"))
        await limit_pages(store, 1000)
        await store.write(lambda conn: put(conn, "after", 1_000_000))
    async with open_store(sqlite_url) as store:
        keys = await store.read(lambda conn: set(conn.execute(select(meta.c.key)).scalars()))
    assert keys == {"before", "small", "after"}


async def test_a_write_that_finds_the_disk_full_takes_nobody_with_it(sqlite_url: str) -> None:
    async with open_store(sqlite_url) as store:
        await limit_pages(store, 20)
        refused: list[str] = []

        async def write(key: str, size: int) -> None:
            try:
                await store.write(lambda conn: put(conn, key, size))
            except UnavailableError:
                refused.append(key)

        async with anyio.create_task_group() as group:
            for number in range(30):
                group.start_soon(write, f"key-{number}", 1_000_000 if number == 7 else 10)
        assert refused == ["key-7"]
        assert await store.read(count) == 29


def test_every_acknowledged_write_survives_a_kill(sqlite_url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, sqlite_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        acknowledged = {process.stdout.readline().strip() for _ in range(400)}
        process.send_signal(signal.SIGKILL)
        acknowledged |= {line.strip() for line in process.stdout.readlines() if line.endswith("\n")}
    with closing(sqlite3.connect(tmp_path / "manyhands.db")) as database:
        kept = {key for (key,) in database.execute("SELECT key FROM meta")}
    assert acknowledged <= kept


async def test_writers_use_wal_and_foreign_keys_and_the_file_is_private(
    sqlite_url: str, tmp_path: Path
) -> None:
    def pragmas(conn: Connection) -> list[object]:
        return [conn.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "foreign_keys")]

    async with open_store(sqlite_url) as store:
        assert await store.write(pragmas) == ["wal", 1]
        assert (tmp_path / "manyhands.db").stat().st_mode & 0o077 == 0


async def test_rows_that_share_a_commit_take_along_what_was_posted_before_them(sqlite_url: str) -> None:
    async with open_store(sqlite_url) as store:
        for number in range(3):
            store.post(lambda conn, number=number: put(conn, f"posted-{number}"))  # type: ignore[misc]
        await store.write_soon(lambda conn: put(conn, "waited for"))
        assert await store.read(count) == 4


async def test_whoever_waits_for_a_row_does_not_wait_for_what_was_posted(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manyhands.store.sqlite.POST_DELAY_S", 3600)
    async with open_store(sqlite_url) as store:
        store.post(lambda conn: put(conn, "posted"))
        await store.write_now(lambda conn: put(conn, "waited for"))
        assert await store.read(count) == 1
        await store.flush()
        assert await store.read(count) == 2


async def test_posted_work_that_fails_takes_no_row_with_it(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(sqlite_url) as store:
        await store.write_now(lambda conn: put(conn, "taken"))
        store.post(lambda conn: put(conn, "taken"))
        store.post(lambda conn: put(conn, "posted"))
        await store.write_soon(lambda conn: put(conn, "waited for"))
        assert await store.read(count) == 3
    assert "a posted write failed" in caplog.text


async def test_rows_that_wait_to_share_a_commit_are_written_when_the_store_closes(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manyhands.store.sqlite.SOON_S", 3600)
    async with anyio.create_task_group() as group, open_store(sqlite_url) as store:
        group.start_soon(store.write_soon, lambda conn: put(conn, "late"))
        await anyio.wait_all_tasks_blocked()
    async with open_store(sqlite_url) as store:
        assert await store.read(count) == 1


async def test_what_is_committed_quickly_comes_into_the_file_as_well(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manyhands.store.sqlite.CHECKPOINT_EVERY", 5)
    async with open_store(sqlite_url) as store:
        for number in range(5):
            await store.write_now(lambda conn, number=number: put(conn, f"key-{number}"))  # type: ignore[misc]
        for _ in range(2):  # the second waits for what follows the first
            await store.flush()
        shutil.copy(tmp_path / "manyhands.db", tmp_path / "file-alone.db")
        with closing(sqlite3.connect(tmp_path / "file-alone.db")) as database:
            assert database.execute("SELECT count(*) FROM meta").fetchone() == (5,)


@pytest.mark.parametrize("way", ["write", "write_now", "write_row", "write_soon"])
async def test_another_program_that_writes_for_a_moment_is_waited_for(
    sqlite_url: str, tmp_path: Path, way: str
) -> None:
    async with open_store(sqlite_url) as store, anyio.create_task_group() as group:
        other = sqlite3.connect(tmp_path / "manyhands.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO meta VALUES ('theirs', '1')")
        started = anyio.Event()

        async def write() -> None:
            started.set()
            await getattr(store, way)(lambda conn: put(conn, "ours"))

        group.start_soon(write)
        await started.wait()
        other.execute("COMMIT")
        other.close()
    async with open_store(sqlite_url) as store:
        assert await store.read(count) == 2


async def test_a_file_that_is_no_database_is_named_in_the_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is not a database" * 100)
    with pytest.raises(UnavailableError, match=r"broken\.db cannot be used"):
        async with open_store(f"sqlite:///{broken}"):
            pass
    assert broken.read_bytes().startswith(b"this is not")


async def test_a_database_that_cannot_be_made_ready_is_named_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_MS", 0)
    with closing(sqlite3.connect(tmp_path / "read.db", isolation_level=None)) as reader:
        reader.execute("CREATE TABLE t (a)")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM t").fetchall()  # while it reads, the journal cannot be another one
        with pytest.raises(UnavailableError, match=r"read\.db cannot be used: database is locked"):
            async with open_store(f"sqlite:///{tmp_path}/read.db"):
                pass


def test_a_quick_commit_that_cannot_even_connect_is_left_to_the_writer(tmp_path: Path) -> None:
    quick = QuickCommits(create_engine(f"sqlite:///{tmp_path}/missing/no.db"), Posted())
    assert not quick.commit([])
    quick.close()


async def test_a_path_with_odd_characters_is_just_a_path(tmp_path: Path) -> None:
    odd = tmp_path / "what? 100% #1"
    async with open_store(f"sqlite:///{odd}/data base.db") as store:
        await store.write(lambda conn: put(conn, "a"))
        assert await store.read(count) == 1
    assert (odd / "data base.db").exists()


@pytest.mark.parametrize(
    "value",
    [
        {"text": "grüße \u2028 \0", "number": 10**30, "float": 1e-7, "list": [1, None, True, ["x"]]},
        {"half": "\ud800"},
        nested(400),
    ],
    ids=["plain", "half-a-pair", "deep"],
)
async def test_json_comes_back_as_it_was(sqlite_url: str, value: object) -> None:
    table = Table("documents", MetaData(), Column("body", Json))
    async with open_store(sqlite_url) as store:
        await store.write(table.create)
        await store.write(lambda conn: conn.execute(table.insert(), {"body": value}))
        assert await store.read(lambda conn: conn.execute(select(table.c.body)).scalar()) == value
