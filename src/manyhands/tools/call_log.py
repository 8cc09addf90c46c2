"""The call log in the database: one row a call, made when it begins or ends, whichever is written first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Text, cast, or_, select, update

from manyhands.paging import Page, cut_page
from manyhands.store.direct import Insert
from manyhands.store.tables import call_without_success
from manyhands.store.tables import tool_calls as table
from manyhands.tools.types import CallRecord, CallStatus

SEARCHED_ROWS = 1000
"""How many rows one request looks through for a text."""
INTERRUPTED = "interrupted"
INTERRUPTED_TEXT = (
    "The hub stopped while this call was running, so how it ended is not known."
    " Check what it did before you run it again."
)

_ENDING = (
    *("result", "content", "structured_content", "is_error", "status", "code", "error"),
    *("duration_ms", "size", "result_file"),
)
_BEGINNING = (
    *("id", "tool", "server", "server_id", "channel_id", "run_id", "iteration", "arguments"),
    *("is_error", "status", "at"),
)
_BEGIN = Insert(table, _BEGINNING)
_BEHIND = Insert(table, _BEGINNING, otherwise=())
_END = Insert(table, list(dict.fromkeys(_BEGINNING + _ENDING)), otherwise=_ENDING)


@dataclass(frozen=True, slots=True)
class CallFilter:
    """Which calls of the log; what is not given does not matter."""

    server: str | None = None
    tool: str | None = None
    status: CallStatus | None = None
    run_id: str | None = None
    channel_id: str | None = None
    q: str | None = None


def begin_call(conn: Connection, record: CallRecord) -> None:
    """The row of a call that is about to start: an id that was used before is refused."""
    _BEGIN.run(conn, record.beginning())


def add_begun(conn: Connection, records: Iterable[CallRecord]) -> None:
    """Rows of calls that have started; those that are there stay as they are."""
    for record in records:
        _BEHIND.run(conn, record.beginning())


def end_call(conn: Connection, record: CallRecord) -> None:
    """How it ended, whether or not its first row was written."""
    _END.run(conn, record.beginning() | _ending(record))


def add_calls(conn: Connection, records: Iterable[CallRecord]) -> None:
    """Calls as far as they are known, each begun or ended."""
    for record in records:
        if record.status is CallStatus.PENDING:
            add_begun(conn, [record])
        else:
            end_call(conn, record)


def interrupt_pending(conn: Connection) -> int:
    """End what a dead process left pending; how many there were."""
    return _interrupt(conn, call_without_success)


def interrupt_begun(conn: Connection, records: Sequence[CallRecord]) -> int:
    """The same for calls that it had begun, whether or not their rows were written."""
    add_begun(conn, records)
    return _interrupt(conn, table.c.id.in_([record.id for record in records]))


def _interrupt(conn: Connection, which: ColumnElement[bool]) -> int:
    left = update(table).where(table.c.status == CallStatus.PENDING.value, which)
    values = {
        "status": CallStatus.ERROR.value,
        "code": INTERRUPTED,
        "is_error": True,
        "error": INTERRUPTED_TEXT,
        "result": INTERRUPTED_TEXT,
    }
    return conn.execute(left.values(values)).rowcount


def select_call(conn: Connection, call_id: str) -> CallRecord | None:
    row = conn.execute(select(table).where(table.c.id == call_id)).first()
    return None if row is None else _record(row)


def select_lines(conn: Connection, call_ids: Sequence[str]) -> Sequence[CallRecord]:
    """Calls without their results, which may be long."""
    long = ("result", "content", "structured_content")
    columns = [column for column in table.c if column.name not in long]
    empty = dict.fromkeys(long)
    rows = conn.execute(select(*columns).where(table.c.id.in_(call_ids)).order_by(table.c.id))
    return [CallRecord(**{**row._asdict(), **empty, "status": CallStatus(row.status)}) for row in rows]


def select_of_run(conn: Connection, run_id: str) -> Sequence[CallRecord]:
    """In the order in which they were made."""
    rows = conn.execute(select(table).where(table.c.run_id == run_id).order_by(table.c.id))
    return [_record(row) for row in rows]


def select_calls(
    conn: Connection, wanted: CallFilter, limit: int, before: str | None, down_to: str | None = None
) -> Sequence[CallRecord]:
    """Newest first: ids sort by the time they were made."""
    query = select(table).order_by(table.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(table.c.id < before)
    if down_to is not None:
        query = query.where(table.c.id >= down_to)
    return [_record(row) for row in conn.execute(_filtered(query, wanted))]


def page_of_calls(conn: Connection, wanted: CallFilter, limit: int, before: str | None) -> Page[CallRecord]:
    """Newest first. Looking for a text reads every row, so one page looks through a bounded part of the log:
    it may be short, even empty, and still say where to go on.
    """
    end = None if not wanted.q else _end_of_window(conn, wanted, before)
    found, more = cut_page(select_calls(conn, wanted, limit + 1, before, down_to=end), limit)
    return Page(found, found[-1].id if more else end)


def _end_of_window(conn: Connection, wanted: CallFilter, before: str | None) -> str | None:
    """The last of the rows that one page looks through; nothing when they are all that is left."""
    query = select(table.c.id).order_by(table.c.id.desc()).offset(SEARCHED_ROWS - 1).limit(1)
    if before is not None:
        query = query.where(table.c.id < before)
    return conn.execute(_filtered(query, replace(wanted, q=None))).scalar()


def _filtered(query: Select[Any], wanted: CallFilter) -> Select[Any]:
    exact = {
        table.c.server: wanted.server,
        table.c.tool: wanted.tool,
        table.c.status: None if wanted.status is None else wanted.status.value,
        table.c.run_id: wanted.run_id,
        table.c.channel_id: wanted.channel_id,
    }
    for column, value in exact.items():
        if value is not None:
            query = query.where(column == value)
    if wanted.status not in (None, CallStatus.SUCCESS):
        query = query.where(call_without_success)
    if wanted.q:
        searched = (table.c.tool, table.c.server, table.c.result, cast(table.c.arguments, Text))
        query = query.where(or_(*(column.icontains(wanted.q, autoescape=True) for column in searched)))
    return query


def _ending(record: CallRecord) -> dict[str, Any]:
    return {
        "result": record.result,
        "content": record.content,
        "structured_content": record.structured_content,
        "is_error": record.is_error,
        "status": record.status.value,
        "code": record.code,
        "error": record.error,
        "duration_ms": record.duration_ms,
        "size": record.size,
        "result_file": record.result_file,
    }


def _record(row: Row[Any]) -> CallRecord:
    fields = row._asdict()
    return CallRecord(**{**fields, "status": CallStatus(fields["status"])})
