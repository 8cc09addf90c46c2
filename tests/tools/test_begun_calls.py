"""Notes of calls that have begun: what a killed process leaves, the next one finds."""

from __future__ import annotations

import os
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
from manyhands.store.engine import Store
from manyhands.tools.begun_calls import PLACE, PLACES, BegunCalls
from manyhands.tools.call_log import CallFilter, begin_call, end_call, interrupt_begun, select_call
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


def record(number: int, **more: object) -> CallRecord:
    at = datetime(2026, 11, 16, 12, 0, 0, 123456, tzinfo=UTC)
    made = CallRecord(
        f"call_{number:03}", "echo", "peer", 1, "ch_1", None, 2, {"text": "ü"}, CallStatus.PENDING, at
    )
    return replace(made, **more)  # type: ignore[arg-type]


@pytest.fixture
def begun(tmp_path: Path) -> BegunCalls:
    made = BegunCalls(tmp_path / "calls.begun")
    assert made.open() == []
    return made


def after_a_kill(tmp_path: Path) -> list[CallRecord]:
    """What the next process finds, while the first has closed nothing."""
    return BegunCalls(tmp_path / "calls.begun").open()


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
    assert (tmp_path / "calls.begun").stat().st_mode & 0o077 == 0


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
    begun = BegunCalls(tmp_path / "no such directory" / "calls.begun")
    assert begun.open() == []
    assert not begun.note(record(1))
    assert "cannot be noted" in caplog.text


@pytest.mark.parametrize("damage", [b"", b"half", os.urandom(5000), b"\xff" * PLACE * PLACES])
def test_a_damaged_file_is_used_again(
    tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "calls.begun").write_bytes(damage)
    begun = BegunCalls(tmp_path / "calls.begun")
    assert begun.open() == []
    assert begun.note(record(1))
    assert after_a_kill(tmp_path) == [record(1)]
    assert ("cannot be read" in caplog.text) is damage.startswith(b"\xff")


async def test_what_was_begun_is_interrupted_unless_it_has_ended(store: Store) -> None:
    unknown, pending, ended = record(1), record(2), record(3, status=CallStatus.SUCCESS, result="done")

    def work(conn: Connection) -> list[CallRecord | None]:
        begin_call(conn, pending)
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
        begin_call(conn, record(1))
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
    noted: list[int] = []

    async def work(arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        noted.append(len(BegunCalls(stored.home.begun_calls).open()))
        return text_result("done")

    stored.source.add("work", work)
    await stored.call("mcp__memory__work")
    assert noted == [1 if stored.store.dialect == "sqlite" else 0]


@pytest.mark.parametrize("text", ["short", "x" * 2 * PLACE])
async def test_a_call_leaves_no_note_behind(stored: Desk, text: str) -> None:
    ended = await stored.call("mcp__memory__echo", {"text": text})
    assert BegunCalls(stored.home.begun_calls).open() == []
    assert (await stored.tools.get_call(ended.id)).status is CallStatus.SUCCESS


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
