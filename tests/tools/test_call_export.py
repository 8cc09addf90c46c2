"""The call log as a file."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from manyhands.paging import Page
from manyhands.testing.clock import START
from manyhands.tools.call_export import COLUMNS, Format, export_calls
from manyhands.tools.types import CallRecord, CallStatus

pytestmark = pytest.mark.anyio


def call(number: int, **fields: Any) -> CallRecord:
    given: dict[str, Any] = {
        "tool": "echo",
        "server": "hand",
        "arguments": {"n": number},
        "status": CallStatus.SUCCESS,
    }
    nobody: dict[str, Any] = dict.fromkeys(("server_id", "channel_id", "run_id", "iteration"))
    return CallRecord(id=f"call_{number}", at=START, **(nobody | given | fields))


async def exported(format: Format, *pages: list[CallRecord]) -> str:
    async def read(limit: int, cursor: str | None) -> Page[CallRecord]:
        place = int(cursor or 0)
        return Page(pages[place], str(place + 1) if place + 1 < len(pages) else None)

    return "".join([piece async for piece in export_calls(read, format)])


async def test_every_call_of_every_page_is_one_line_of_json() -> None:
    text = await exported("jsonl", [call(1), call(2, result="ü\n2")], [], [call(3)])
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["id"] for line in lines] == ["call_1", "call_2", "call_3"]
    assert lines[1]["result"] == "ü\n2"


async def test_a_table_has_a_head_and_a_row_for_each_call() -> None:
    text = await exported("csv", [call(1, error='a "b",\nc')], [call(2)])
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == list(COLUMNS)
    assert (rows[0]["error"], rows[0]["arguments"]) == ('a "b",\nc', '{"n": 1}')
    assert [row["id"] for row in rows] == ["call_1", "call_2"]


@pytest.mark.parametrize("evil", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
async def test_a_spreadsheet_runs_no_formula_of_a_stranger(evil: str) -> None:
    rows = list(csv.DictReader(io.StringIO(await exported("csv", [call(1, tool=evil)]))))
    assert rows[0]["tool"] == f"'{evil}"
