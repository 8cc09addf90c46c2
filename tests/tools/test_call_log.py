"""The call log is read page by page and filtered; on both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from manyhands.store.engine import Store
from manyhands.testing.clock import START
from manyhands.tools.call_log import (
    CallFilter,
    begin_call,
    end_call,
    interrupt_pending,
    select_call,
    select_calls,
)
from manyhands.tools.types import CallRecord, CallStatus

pytestmark = pytest.mark.anyio


def record(number: int, **more: Any) -> CallRecord:
    values: dict[str, Any] = {
        "id": f"call_{number:03}",
        "tool": "push",
        "server": "git",
        "server_id": 1,
        "channel_id": "ch_1",
        "run_id": None,
        "iteration": None,
        "arguments": {"n": number},
        "status": CallStatus.SUCCESS,
        "at": START + timedelta(seconds=number, microseconds=123456),
    }
    return CallRecord(**(values | more))


FULL = record(
    1,
    run_id="run_1",
    iteration=3,
    arguments={"text": "grüße", "deep": [{"a": None}]},
    status=CallStatus.ERROR,
    result="no",
    content=[{"type": "text", "text": "no"}],
    structured_content={"a": 1},
    is_error=True,
    code="odd",
    error="no",
    duration_ms=12,
    size=5_000_000_000,
    result_file="call_001.json",
)


async def test_a_row_gives_back_what_was_put_in(store: Store) -> None:
    def work(conn: Connection) -> CallRecord | None:
        end_call(conn, FULL)
        return select_call(conn, FULL.id)

    assert await store.write(work) == FULL


async def test_a_call_begins_pending_and_ends_with_its_outcome(store: Store) -> None:
    begun = record(1, run_id="run_1", iteration=3, arguments=FULL.arguments, status=CallStatus.PENDING)

    def work(conn: Connection) -> tuple[CallRecord | None, CallRecord | None]:
        begin_call(conn, begun)
        first = select_call(conn, begun.id)
        end_call(conn, FULL)
        return first, select_call(conn, begun.id)

    assert await store.write(work) == (begun, FULL)


async def test_an_end_without_a_beginning_is_kept_all_the_same(store: Store) -> None:
    def work(conn: Connection) -> CallRecord | None:
        end_call(conn, FULL)
        return select_call(conn, FULL.id)

    assert await store.write(work) == FULL


async def test_only_pending_calls_are_interrupted(store: Store) -> None:
    def work(conn: Connection) -> tuple[int, CallRecord | None, CallRecord | None]:
        begin_call(conn, record(1, status=CallStatus.PENDING))
        end_call(conn, record(2))
        return interrupt_pending(conn), select_call(conn, "call_001"), select_call(conn, "call_002")

    count, cut, whole = await store.write(work)
    assert count == 1
    assert cut is not None
    assert (cut.status, cut.code, cut.is_error) == (CallStatus.ERROR, "interrupted", True)
    assert whole == record(2)


async def test_filters_and_pages(store: Store) -> None:
    rows = [
        record(1),
        record(2, server="time", tool="now", result="It is NOON"),
        record(3, status=CallStatus.ERROR, run_id="run_1"),
        record(4, channel_id="ch_2", arguments={"text": "100% Sure_thing"}),
        record(5, tool="pull"),
    ]

    def fill(conn: Connection) -> None:
        for row in rows:
            end_call(conn, row)

    await store.write(fill)

    async def found(limit: int = 10, before: str | None = None, **wanted: Any) -> list[int]:
        chosen = await store.read(lambda conn: select_calls(conn, CallFilter(**wanted), limit, before))
        return [int(one.id.removeprefix("call_")) for one in chosen]

    assert await found() == [5, 4, 3, 2, 1]
    assert await found(limit=2, before="call_004") == [3, 2]
    assert await found(server="git") == [5, 4, 3, 1]
    assert await found(tool="pull") == [5]
    assert await found(status=CallStatus.ERROR) == [3]
    assert await found(run_id="run_1") == [3]
    assert await found(channel_id="ch_2") == [4]
    assert await found(q="noon") == [2]
    assert await found(q="TIME") == [2]
    assert await found(q="0% sure_") == [4]
    assert await found(q="%") == [4]
    assert await found(server="git", tool="push", limit=1) == [4]
