"""The call log as a file: a line of JSON for each call, or a table for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal

from manyhands.paging import MAX_LIMIT, Page
from manyhands.tools.types import CallRecord

Format = Literal["jsonl", "csv"]
ReadPage = Callable[[int, str | None], Awaitable[Page[CallRecord]]]

COLUMNS = (
    *("at", "id", "server", "tool", "status", "duration_ms", "size", "channel_id", "run_id", "iteration"),
    *("code", "error", "arguments"),
)
# What a spreadsheet would take for a formula.
_ACTIVE = ("=", "+", "-", "@", "\t", "\r")


async def export_calls(read: ReadPage, format: Format) -> AsyncIterator[str]:
    """Piece by piece, newest first, so that a log of any length goes out in little memory."""
    if format == "csv":
        yield _rows([COLUMNS])
    cursor: str | None = None
    while True:
        page = await read(MAX_LIMIT, cursor)
        yield _lines(page.items) if format == "jsonl" else _rows([_cells(call) for call in page.items])
        cursor = page.next_cursor
        if cursor is None:
            return


def _lines(calls: Sequence[CallRecord]) -> str:
    return "".join(json.dumps(call.wire(), ensure_ascii=False) + "\n" for call in calls)


def _rows(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _cells(call: CallRecord) -> list[Any]:
    fields = call.wire() | {"arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return [_inert(fields[name]) for name in COLUMNS]


def _inert(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_ACTIVE) else value
