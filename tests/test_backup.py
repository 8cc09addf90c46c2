"""A backup brings everything back, on either database, or says why not and changes nothing."""

from __future__ import annotations

import errno
import io
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select

from manyhands import backup as module
from manyhands.backup import make_backup, restore_backup
from manyhands.errors import ConflictError, InvalidError, UnavailableError
from manyhands.home import Home
from manyhands.restoring import finish_restore
from manyhands.store import transfer
from manyhands.store.engine import open_store
from manyhands.store.tables import channels, events, metadata, servers, tool_calls
from manyhands.system import HomeLock
from manyhands.tools.begun_calls import begun_file

NOW = datetime(2026, 11, 15, 12, 30, 15, 123456, tzinfo=UTC)
SERVER: dict[str, Any] = {
    "name": "time",
    "safe_name": "time",
    "transport": "stdio",
    "command": "uvx",
    "args": ["mcp-server-time", "ü"],
    "env": {"KEY": "${keyring:KEY}"},
    "headers": {},
    "enabled": True,
    "trust": "ask",
    "tool_timeout": 30_000,
    "connect_timeout": 30_000,
    "parallel": "all",
    "held": False,
    "created_at": NOW,
    "updated_at": NOW,
}
CHANNEL: dict[str, Any] = {"platform": "local", "active": True, "trusted": False, "created_at": NOW}


def fill(conn: Connection) -> None:
    conn.execute(insert(servers), [SERVER | {"id": 3}, SERVER | {"id": 8, "name": "git", "safe_name": "git"}])
    conn.execute(insert(channels), [CHANNEL | {"id": "ch_1", "name": "one", "parent_id": None}])
    conn.execute(insert(channels), [CHANNEL | {"id": "ch_2", "name": "two", "parent_id": "ch_1"}])
    conn.execute(insert(events), [{"seq": 9, "type": "t", "data": {"a": [1, None, "\u202e"]}, "at": NOW}])
    call = {
        "tool": "t",
        "server": "s",
        "arguments": {"x": 1.5},
        "is_error": False,
        "status": "success",
        "at": NOW,
    }
    conn.execute(insert(tool_calls), [call | {"id": f"call_{number:04}"} for number in range(1200)])


def everything(conn: Connection) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for table in metadata.sorted_tables:
        rows = conn.execute(select(table).order_by(*table.primary_key.columns))
        found[table.name] = [dict(row._mapping) for row in rows]
    return found


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.token()
    home.config_file.write_text("port = 8300\n")
    home.secrets_file.write_text("encrypted")
    home.secrets_key_file.write_text("key")
    (home.results / "call_0001.json").write_text("large")
    (home.results / "call_0002.json.partial").write_text("half")
    (home.path / "workflows").mkdir()
    (home.path / "workflows" / "daily.yaml").write_text("name: daily")
    (home.memory / "people").mkdir(parents=True)
    (home.memory / "people" / "ada.md").write_text("likes tea")
    (home.path / "chat_history").write_text("hello\n")
    return home


@pytest.fixture
def other(tmp_path: Path) -> Home:
    """A home that has never been used."""
    return Home(tmp_path / "other")


def url_of(home: Home) -> str:
    return f"sqlite:///{home.database_file}"


@pytest.mark.anyio
@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
async def test_everything_comes_back_on_either_database(
    home: Home, other: Home, store_url: str, target: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Both ways and across: `store_url` is of each kind in turn."""
    async with open_store(store_url) as store:
        await store.write(fill)
        saved = await store.read(everything)
        report = make_backup(home, store_url, tmp_path / "saved.tar.gz")
    target_url = url_of(other) if target == "sqlite" else _another_postgres(request)
    restored = restore_backup(other, report.path, database_url=target_url)
    assert (restored.database, restored.entries) == (target, report.entries)
    async with open_store(target_url) as store:
        assert await store.read(everything) == saved
        await store.write(lambda conn: conn.execute(insert(servers), [SERVER | {"safe_name": "new"}]))
        assert max(row["id"] for row in (await store.read(everything))["servers"]) == 9


def _another_postgres(request: pytest.FixtureRequest) -> str:
    server = request.getfixturevalue("postgres")
    database = server.database()
    request.addfinalizer(lambda: database.__exit__(None, None, None))
    return str(database.__enter__())


@pytest.mark.anyio
async def test_files_come_back_and_keys_only_when_they_were_asked_for(home: Home, tmp_path: Path) -> None:
    async with open_store(url_of(home)):
        pass
    without = make_backup(home, url_of(home), tmp_path / "without.tar.gz")
    including = make_backup(home, url_of(home), tmp_path / "with.tar.gz", keys=True)
    assert (tmp_path / "with.tar.gz").stat().st_mode & 0o077 == 0
    first, second = Home(tmp_path / "first"), Home(tmp_path / "second")
    notes = restore_backup(first, without.path).notes
    assert restore_backup(second, including.path).notes == ()
    assert "without their key" in notes[0]
    assert first.config_file.read_text() == "port = 8300\n"
    assert (first.results / "call_0001.json").read_text() == "large"
    assert not (first.results / "call_0002.json.partial").exists()
    assert (first.path / "workflows" / "daily.yaml").exists()
    assert (first.memory / "people" / "ada.md").read_text() == "likes tea"
    assert (first.path / "chat_history").read_text() == "hello\n"
    assert not first.token_file.exists()
    assert second.token() == home.token()
    assert second.secrets_key_file.read_text() == "key"
    assert second.token_file.stat().st_mode & 0o077 == 0


WRITER = """
import sys, anyio
from sqlalchemy import insert
from manyhands.store import transfer
from manyhands.store.engine import open_store
from manyhands.store.tables import meta

async def main() -> None:
    async with open_store(sys.argv[1]) as store:
        for number in range(1_000_000):
            rows = [{"key": f"{number}-{half}", "value": "x" * 500} for half in "ab"]
            await store.write(lambda conn: conn.execute(insert(meta), rows))
            print(number, flush=True)

anyio.run(main)
"""


def test_a_backup_while_others_write_holds_whole_transactions(
    home: Home, other: Home, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", WRITER, url_of(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(50)]
        report = make_backup(home, url_of(home), tmp_path / "saved.tar.gz")
        writer.kill()
        writer.stdout.read()
    restore_backup(other, report.path)
    with closing(sqlite3.connect(other.database_file)) as database:
        keys = {key for (key,) in database.execute("SELECT key FROM meta")}
    numbers = {int(key.partition("-")[0]) for key in keys}
    assert numbers >= set(acknowledged)
    assert len(keys) == 2 * len(numbers)


@pytest.fixture
def saved(home: Home, tmp_path: Path) -> Path:
    with closing(sqlite3.connect(home.database_file)) as database:
        database.execute("CREATE TABLE t (x)")
    return make_backup(home, url_of(home), tmp_path / "saved.tar.gz").path


def test_a_home_that_is_in_use_is_refused_by_name(saved: Path, other: Home) -> None:
    with HomeLock(other.lock_file), pytest.raises(ConflictError, match="in use by process"):
        restore_backup(other, saved)
    assert not other.database_file.exists()


def test_what_is_there_is_refused_or_moved_aside(saved: Path, home: Home) -> None:
    home.database_file.write_bytes(b"the old one")
    with pytest.raises(ConflictError, match=r"is there already.*--replace"):
        restore_backup(home, saved)
    assert home.database_file.read_bytes() == b"the old one"
    report = restore_backup(home, saved, replace=True)
    assert report.replaced is not None
    assert (report.replaced / "manyhands.db").read_bytes() == b"the old one"
    assert (report.replaced / "results" / "call_0001.json").exists()
    assert home.database_file.read_bytes().startswith(b"SQLite")
    assert home.token_file.exists()


@pytest.mark.anyio
async def test_a_postgresql_database_with_data_is_refused(
    saved: Path, other: Home, postgres_url: str
) -> None:
    async with open_store(postgres_url) as store:
        await store.write(fill)
    with pytest.raises(ConflictError, match="not empty"):
        restore_backup(other, saved, database_url=postgres_url, replace=True)


def rewrite(archive: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    with tarfile.open(archive) as tar:
        content = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    change(content)
    with tarfile.open(archive, "w:gz") as tar:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update({"config.toml": b"port = 1\n"}), "config.toml is not what was saved"),
        (lambda content: content.pop("config.toml"), "config.toml is not what was saved"),
        (lambda content: content.update({"extra": b""}), "extra is not what was saved"),
        (lambda content: content.update({"../../evil": b""}), "no place in a home"),
        (lambda content: content.update({"/evil": b""}), "no place in a home"),
        (lambda content: content.pop("manifest.json"), "no manifest"),
        (lambda content: content.update({"manifest.json": b"{}"}), "no manifest"),
    ],
)
def test_an_archive_that_was_changed_is_refused_and_nothing_is_touched(
    saved: Path, other: Home, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    rewrite(saved, change)
    with pytest.raises(InvalidError, match=message):
        restore_backup(other, saved)
    shown = {path.name for path in other.path.iterdir() if not path.name.startswith(".")}
    assert shown == {"logs", "results", "run"}
    assert not list(other.path.glob(".restore-*"))
    assert not list(saved.parent.glob("**/evil"))


def test_a_file_that_is_cut_off_or_none_of_ours_is_refused(saved: Path, other: Home, tmp_path: Path) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: len(content) // 2])
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    for path in (saved, text):
        with pytest.raises(InvalidError, match="damaged or no backup"):
            restore_backup(other, path)


def test_bytes_that_were_flipped_are_called_damage(saved: Path, other: Home) -> None:
    content = saved.read_bytes()
    for tenth in range(1, 7):
        start = len(content) * tenth // 10
        flipped = bytes(byte ^ 0xFF for byte in content[start : start + 40])
        saved.write_bytes(content[:start] + flipped + content[start + 40 :])
        with pytest.raises(InvalidError, match="damaged or no backup"):
            restore_backup(other, saved)


def test_an_archive_without_a_database_is_refused(saved: Path, other: Home) -> None:
    def lose_it(content: dict[str, bytes]) -> None:
        manifest = json.loads(content["manifest.json"])
        del manifest["entries"]["manyhands.db"], content["manyhands.db"]
        content["manifest.json"] = json.dumps(manifest).encode()

    rewrite(saved, lose_it)
    with pytest.raises(InvalidError, match="it holds no database"):
        restore_backup(other, saved)


def test_a_full_disk_is_not_called_a_damaged_backup(
    saved: Path, other: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_extract", fail)
    with pytest.raises(UnavailableError, match=r"No space left.*Make space"):
        restore_backup(other, saved)


def test_whatever_is_refused_is_refused_before_anyone_has_to_leave(saved: Path, home: Home) -> None:
    def leave() -> AbstractContextManager[object]:
        raise AssertionError("nobody has to leave for this")

    with pytest.raises(ConflictError, match="--replace"):
        restore_backup(home, saved, alone=leave)
    saved.write_bytes(saved.read_bytes()[:-100])
    with pytest.raises(InvalidError, match="damaged"):
        restore_backup(home, saved, replace=True, alone=leave)


def test_a_backup_of_a_newer_version_is_refused(saved: Path, other: Home) -> None:
    def make_newer(content: dict[str, bytes]) -> None:
        manifest = json.loads(content["manifest.json"])
        content["manifest.json"] = json.dumps(manifest | {"schema": "9999", "version": "9.9"}).encode()

    rewrite(saved, make_newer)
    with pytest.raises(ConflictError, match=r"version 9\.9"):
        restore_backup(other, saved)


def test_a_restore_that_fails_half_way_puts_everything_back(
    saved: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {
        path: path.read_bytes() for path in home.path.rglob("*") if path.is_file() and path.name != "lock"
    }

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(transfer, "check_sqlite", fail)
    with pytest.raises(UnavailableError, match="No space left"):
        restore_backup(home, saved, replace=True)
    assert {path: path.read_bytes() for path in before} == before


KILLED = """
import os, signal, sys
from pathlib import Path
from manyhands import backup
from manyhands.home import Home
from manyhands.store import transfer

left = int(sys.argv[3])

def counted(work):
    def run(*arguments):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return work(*arguments)
    return run

transfer.check_sqlite = counted(transfer.check_sqlite)
Path.rename, Path.replace = counted(Path.rename), counted(Path.replace)
backup.restore_backup(Home(Path(sys.argv[1])), Path(sys.argv[2]), replace=True)
"""


def content_of(directory: Path, names: set[str]) -> dict[str, bytes]:
    """All files below those entries of a directory."""
    files = (path for name in names for path in [directory / name, *(directory / name).rglob("*")])
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files if path.is_file()}


def test_a_restore_that_is_killed_anywhere_has_done_nothing_or_is_finished_at_the_next_start(
    saved: Path, home: Home, tmp_path: Path
) -> None:
    names = {"manyhands.db", "config.toml", "secrets.enc", "chat_history", "results", "workflows", "memory"}
    fresh = Home(tmp_path / "fresh")
    restore_backup(fresh, saved)
    wanted = content_of(fresh.path, names)
    home.config_file.write_text("port = 8400\n")
    (home.results / "call_0009.json").write_text("since then")
    old = content_of(home.path, names)
    for number in range(100):
        place = Home(tmp_path / f"killed-{number}")
        shutil.copytree(home.path, place.path)
        command = [sys.executable, "-c", KILLED, str(place.path), str(saved), str(number)]
        ran = subprocess.run(command, capture_output=True, check=False)
        place.create()
        finish_restore(place)
        now, aside = content_of(place.path, names), list(place.path.glob("before-restore-*"))
        if number == 0:  # while it was checked
            assert (now, aside) == (old, [])
        else:
            assert now == wanted
            assert content_of(aside[0], names) == old
        if ran.returncode == 0:
            break
        assert ran.returncode == -signal.SIGKILL
    assert number == 1 + 2 * len(names)


def test_a_restore_that_cannot_be_finished_says_where_everything_is(saved: Path, home: Home) -> None:
    command = [sys.executable, "-c", KILLED, str(home.path), str(saved), "3"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    for staging in home.path.glob(".restore-*"):
        shutil.rmtree(staging)
    with pytest.raises(UnavailableError, match=r"interrupted.*before-restore-\d+.*restoring\.json"):
        finish_restore(home)


def test_a_database_elsewhere_is_moved_aside_where_it_is(saved: Path, home: Home, tmp_path: Path) -> None:
    database = tmp_path / "elsewhere" / "hub.db"
    database.parent.mkdir()
    database.write_bytes(b"the old one")
    report = restore_backup(home, saved, database_url=f"sqlite:///{database}", replace=True)
    assert report.replaced is not None
    assert report.replaced.parent == home.path
    (aside,) = database.parent.glob("before-restore-*")
    assert (aside / "hub.db").read_bytes() == b"the old one"
    assert database.read_bytes().startswith(b"SQLite")
    assert str(aside) in report.notes[0]


def test_two_backups_to_one_name_at_once_are_one_good_backup(
    home: Home, other: Home, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = tmp_path / "same.tar.gz", module._write_archive

    def write_while_another_does(*arguments: Any, **options: Any) -> int:
        monkeypatch.setattr(module, "_write_archive", write)
        entries = write(*arguments, **options)
        make_backup(home, url_of(home), path)
        return entries

    monkeypatch.setattr(module, "_write_archive", write_while_another_does)
    with pytest.raises(ConflictError, match="there already"):
        make_backup(home, url_of(home), path)
    assert restore_backup(other, path).entries
    assert not list(tmp_path.glob(".*"))


def test_a_backup_never_overwrites_and_leaves_no_half_file(saved: Path, home: Home, tmp_path: Path) -> None:
    with pytest.raises(ConflictError, match="there already"):
        make_backup(home, url_of(home), saved)
    with pytest.raises(UnavailableError, match="could not be copied"):
        make_backup(home, f"sqlite:///{tmp_path / 'no.db'}", tmp_path / "new.tar.gz")
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="could not be written"):
        make_backup(home, url_of(home), tmp_path / "file" / "new.tar.gz")
    assert not list(tmp_path.glob("*new*")) + list(tmp_path.glob(".*"))


def test_the_records_of_durable_work_come_along_and_replace_those_that_are_there(
    saved: Path, home: Home, other: Home, tmp_path: Path
) -> None:
    for place, words in ((home, "old"), (other, "newer")):
        place.path.mkdir(exist_ok=True)
        with closing(sqlite3.connect(place.durable_file)) as database:
            database.execute("CREATE TABLE work (words TEXT)")
            database.execute("INSERT INTO work VALUES (?)", [words])
            database.commit()
    archive = tmp_path / "with-work.tar.gz"
    make_backup(home, f"sqlite:///{home.database_file}", archive)
    notes = Path(begun_file(str(other.database_file)))
    notes.write_bytes(b"of calls of what is replaced")
    report = restore_backup(other, archive, replace=True)
    assert report.replaced is not None
    assert not notes.exists()
    assert (report.replaced / notes.name).exists()
    with closing(sqlite3.connect(other.durable_file)) as database:
        assert database.execute("SELECT words FROM work").fetchall() == [("old",)]
    restore_backup(other, saved, replace=True)
    assert not other.durable_file.exists()
