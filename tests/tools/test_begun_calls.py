"""Notes of calls that have begun: what a killed process leaves, the next one finds."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection

from manyhands import Hub
from manyhands.errors import UnavailableError
from manyhands.store.engine import Store
from manyhands.tools.begun_calls import PLACE, PLACES, BegunCalls, begun_file
from manyhands.tools.call_log import CallFilter, add_begun, end_call, interrupt_begun, select_call
from manyhands.tools.types import CallContext, CallRecord, CallStatus, Invocation, ToolResult, text_result
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

BOUND = 60.0
KILLED = 4

WRITER = """
import itertools, sys
import anyio
from manyhands import Hub
from manyhands.tools.types import CallContext

async def main(home, directory):
    async with Hub(home=home) as hub:
        context = CallContext(direct=True, directory=directory)
        for number in itertools.count():
            name = f"{sys.argv[3]}-{number}.txt"
            await hub.tools.call("write_file", {"path": name, "content": "x"}, context)

anyio.run(main, sys.argv[1], sys.argv[2])
"""

SUICIDE = """
import os, sys
import anyio
from manyhands import Hub
from manyhands.tools.types import CallContext

async def main(home, directory):
    async with Hub(home=home) as hub:
        hub.bus.observe(lambda event: os.kill(os.getpid(), 9), "tool.started")
        context = CallContext(direct=True, directory=directory)
        await hub.tools.call("write_file", {"path": "1.txt", "content": "x"}, context)

anyio.run(main, sys.argv[1], sys.argv[2])
"""


def record(number: int, **more: object) -> CallRecord:
    at = datetime(2026, 11, 16, 12, 0, 0, 123456, tzinfo=UTC)
    made = CallRecord(
        f"call_{number:03}", "echo", "peer", 1, "ch_1", None, 2, {"text": "ü"}, CallStatus.PENDING, at
    )
    return replace(made, **more)  # type: ignore[arg-type]


@pytest.fixture
def begun(tmp_path: Path) -> BegunCalls:
    made = BegunCalls(str(tmp_path / "db-begun"))
    assert made.open() == []
    return made


def notes(desk: Desk) -> list[CallRecord]:
    return BegunCalls(desk.store.file and begun_file(desk.store.file)).open()


def after_a_kill(tmp_path: Path) -> list[CallRecord]:
    """What the next process finds, while the first has closed nothing."""
    return BegunCalls(str(tmp_path / "db-begun")).open()


def test_what_was_noted_is_found_by_the_next_process_until_it_is_forgotten(
    begun: BegunCalls, tmp_path: Path
) -> None:
    first, second = record(1), record(2, server_id=None, channel_id=None, run_id="run_1", iteration=None)
    assert begun.note(first)
    assert begun.note(second)
    assert sorted(after_a_kill(tmp_path), key=lambda one: one.id) == [first, second]
    begun.forget(first.id)
    begun.forget(first.id)
    begun.forget("call_of_nobody")
    assert after_a_kill(tmp_path) == [second]
    begun.close()
    assert after_a_kill(tmp_path) == [second]
    assert (tmp_path / "db-begun").stat().st_mode & 0o077 == 0


def test_a_place_is_used_again(begun: BegunCalls, tmp_path: Path) -> None:
    for number in range(PLACES):
        assert begun.note(record(number))
    assert not begun.note(record(PLACES))
    begun.forget("call_005")
    assert begun.note(record(PLACES))
    assert len(after_a_kill(tmp_path)) == PLACES


def test_what_has_no_place_is_refused(begun: BegunCalls, tmp_path: Path) -> None:
    assert not begun.note(record(1, arguments={"text": "x" * PLACE}))
    assert not begun.note(record(2, arguments={"text": "\ud800"}))
    begun.close()
    assert not begun.note(record(3))
    begun.forget("call_003")
    assert after_a_kill(tmp_path) == []


def test_a_file_that_cannot_be_made_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    begun = BegunCalls(str(tmp_path / "no such directory" / "db-begun"))
    assert begun.open() == []
    assert not begun.note(record(1))
    assert "cannot be noted" in caplog.text


@pytest.mark.parametrize(
    "damage",
    [b"", b"half", b"\x07" * 5000, b"\xff" * PLACE * PLACES],
    ids=["empty", "short", "other-size", "unreadable"],
)
def test_a_damaged_file_is_used_again(
    tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "db-begun").write_bytes(damage)
    begun = BegunCalls(str(tmp_path / "db-begun"))
    assert begun.open() == []
    assert begun.note(record(1))
    assert after_a_kill(tmp_path) == [record(1)]
    assert ("cannot be read" in caplog.text) is damage.startswith(b"\xff")


@pytest.mark.parametrize("note", ["[]", "1", '{"id": ["x"]}', '{"id": "call_1"}', "[" * 3000, "{"])
def test_a_note_that_is_none_does_not_keep_others_from_being_read(
    begun: BegunCalls, tmp_path: Path, note: str
) -> None:
    assert begun.note(record(1))
    begun.close()
    file = tmp_path / "db-begun"
    content = file.read_bytes()
    assert content[:4] == bytes(4)
    file.write_bytes(len(note).to_bytes(4, "little") + note.encode() + content[4 + len(note) :])
    assert after_a_kill(tmp_path) == [record(1)]


def test_the_file_is_whole_and_private_whatever_it_was_before(tmp_path: Path) -> None:
    file = tmp_path / "db-begun"
    with file.open("wb") as hole:
        hole.truncate(PLACE * PLACES)
    file.chmod(0o644)
    begun = BegunCalls(str(file))
    assert begun.open() == []
    assert begun.open() == []
    assert file.stat().st_blocks * 512 >= PLACE * PLACES
    assert file.stat().st_mode & 0o077 == 0
    assert all(begun.note(record(number)) for number in range(PLACES))
    assert not begun.note(record(PLACES))


def test_an_id_is_noted_once(begun: BegunCalls) -> None:
    assert begun.note(record(1))
    assert not begun.note(record(1))


async def test_an_id_that_was_written_down_before_is_used_for_one_call(stored: Desk) -> None:
    first = await stored.call("mcp__memory__echo", {"text": "1"}, call_id="call_same")
    again = await stored.call("mcp__memory__echo", {"text": "2"}, call_id="call_same")
    assert (first.status, again.code) == (CallStatus.SUCCESS, "not_logged")
    assert "was not called" in str(again.result)
    assert (await stored.tools.get_call("call_same")).arguments == {"text": "1"}


async def test_whatever_happens_a_call_that_has_begun_has_an_end(stored: Desk) -> None:
    async def work(arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        return text_result("", structured={"number": 10**5000})  # which no text can be made of

    stored.source.add("work", work)
    ended = await stored.call("mcp__memory__work")
    assert (ended.status, ended.is_error) == (CallStatus.ERROR, True)
    assert notes(stored) == []
    assert (await stored.tools.get_call(ended.id)).status is CallStatus.ERROR


async def test_what_was_begun_is_interrupted_unless_it_has_ended(store: Store) -> None:
    unknown, pending, ended = record(1), record(2), record(3, status=CallStatus.SUCCESS, result="done")

    def work(conn: Connection) -> list[CallRecord | None]:
        add_begun(conn, [pending])
        end_call(conn, ended)
        begun = [unknown, pending, record(3)]
        assert interrupt_begun(conn, begun) == 2
        return [select_call(conn, one.id) for one in begun]

    found = await store.write(work)
    assert [one and (one.status, one.code) for one in found] == [
        (CallStatus.ERROR, "interrupted"),
        (CallStatus.ERROR, "interrupted"),
        (CallStatus.SUCCESS, None),
    ]
    assert found[0] is not None
    assert (found[0].arguments, found[0].at) == (unknown.arguments, unknown.at)


async def test_a_row_that_comes_after_the_end_changes_nothing(store: Store) -> None:
    ended = record(1, status=CallStatus.SUCCESS, result="done", is_error=False)

    def work(conn: Connection) -> CallRecord | None:
        end_call(conn, ended)
        add_begun(conn, [record(1)])
        return select_call(conn, ended.id)

    assert await store.write(work) == ended


async def test_a_call_is_in_the_log_as_soon_as_somebody_looks(stored: Desk) -> None:
    started = anyio.Event()

    async def work(arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        started.set()
        await anyio.sleep_forever()
        raise AssertionError("it never ends")

    stored.source.add("work", work)
    async with anyio.create_task_group() as group:
        group.start_soon(stored.call, "mcp__memory__work")
        await started.wait()
        [seen] = (await stored.tools.calls(CallFilter(status=CallStatus.PENDING))).items
        assert (seen.tool, seen.status) == ("work", CallStatus.PENDING)
        group.cancel_scope.cancel()


async def test_where_others_may_go_on_with_a_run_its_calls_have_their_rows_first(stored: Desk) -> None:
    """They have the database and not the notes."""
    seen: list[tuple[int, bool]] = []

    async def work(arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        noted = len(notes(stored))
        row = await stored.store.read(lambda conn: select_call(conn, invocation.call_id))
        seen.append((noted, row is not None))
        return text_result("done")

    stored.source.add("work", work)
    await stored.call("mcp__memory__work")
    assert seen == [(1, False) if stored.store.dialect == "sqlite" else (0, True)]


@pytest.mark.parametrize("text", ["short", "x" * 2 * PLACE])
async def test_a_call_leaves_no_note_behind(stored: Desk, text: str) -> None:
    ended = await stored.call("mcp__memory__echo", {"text": text})
    assert notes(stored) == []
    assert (await stored.tools.get_call(ended.id)).status is CallStatus.SUCCESS


async def test_a_call_whose_end_is_being_written_can_be_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.source.add("echo")
    desk.source.trust("memory", "full")
    monkeypatch.setattr("manyhands.store.sqlite.SOON_S", 3600)
    monkeypatch.setattr("manyhands.tools.call_book.FEW", -1)
    async with anyio.create_task_group() as group:
        group.start_soon(desk.call, "mcp__memory__echo", {"text": "hi"})
        await desk.event("tool.started")
        [begun] = (await desk.tools.calls()).items
        assert begun.status is CallStatus.PENDING
        desk.store._commit_soon()  # type: ignore[attr-defined]
    assert (await desk.tools.get_call(begun.id)).status is CallStatus.SUCCESS


async def test_the_log_can_be_read_while_the_database_cannot_be_written(
    stored: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = await stored.call("mcp__memory__echo", {"text": "hi"})

    async def full(work: object) -> None:
        raise UnavailableError("The database is full.")

    async def work(arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        with monkeypatch.context() as broken:
            broken.setattr(stored.store, "write", full)
            assert await stored.tools.get_call(done.id) == done
        return text_result("done")

    stored.source.add("work", work)
    assert (await stored.call("mcp__memory__work")).status is CallStatus.SUCCESS


async def test_a_call_that_goes_out_as_the_process_is_killed_is_on_record(tmp_path: Path) -> None:
    home, done = tmp_path / "home", tmp_path / "done"
    done.mkdir()
    process = await anyio.run_process(
        [sys.executable, "-c", SUICIDE, str(home), str(done)], check=False, stdout=None, stderr=None
    )
    assert process.returncode == -9
    async with Hub(home=home, autostart=False) as hub:
        [call] = [call async for call in all_calls(hub)]
    assert (call.tool, call.arguments["path"]) == ("write_file", "1.txt")
    assert (call.status, call.code) == (CallStatus.ERROR, "interrupted")


async def test_everything_that_was_done_is_on_record_whenever_the_process_is_killed(tmp_path: Path) -> None:
    done = tmp_path / "done"
    done.mkdir()
    for life in range(KILLED):
        command = [sys.executable, "-c", WRITER, str(tmp_path / "home"), str(done), str(life)]
        process = await anyio.open_process(command, stdout=None, stderr=None)
        with anyio.fail_after(BOUND):
            while len(list(done.glob(f"{life}-*"))) < 20:
                assert process.returncode is None
                await anyio.sleep(0.01)
        process.kill()
        await process.wait()
    async with Hub(home=tmp_path / "home", autostart=False) as hub:
        logged = [call async for call in all_calls(hub)]
        again = await hub.tools.call("list_directory", {}, CallContext(direct=True, directory=str(done)))
    assert again.status is CallStatus.SUCCESS
    paths = [call.arguments["path"] for call in logged]
    assert len(paths) == len(set(paths))
    assert {path.name for path in done.glob("[0-9]*.txt")} <= set(paths)
    assert {call.status for call in logged} <= {CallStatus.SUCCESS, CallStatus.ERROR}
    cut = [call for call in logged if call.status is CallStatus.ERROR]
    assert len(cut) <= KILLED
    assert {call.code for call in cut} <= {"interrupted"}


async def all_calls(hub: Hub) -> AsyncIterator[CallRecord]:
    cursor: str | None = None
    while True:
        page = await hub.tools.calls(limit=100, cursor=cursor)
        for call in page.items:
            yield call
        cursor = page.next_cursor
        if cursor is None:
            return
