"""No question to the call log reads all of it: SQLite takes a partial index only for a statement that has the
index's own condition.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, event

from manyhands.store.engine import open_store
from manyhands.testing.clock import START
from manyhands.tools.call_log import CallFilter, interrupt_pending, select_calls, select_of_run
from manyhands.tools.call_stats import Span, select_stats
from manyhands.tools.types import CallStatus

pytestmark = pytest.mark.anyio

Question = Callable[[Connection], object]


def page(**wanted: Any) -> Question:
    return lambda conn: select_calls(conn, CallFilter(**wanted), 50, None)


def plan_of(conn: Connection, question: Question) -> str:
    asked: list[tuple[str, Any]] = []

    def note(conn: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
        asked.append((statement, values))

    event.listen(conn.engine, "before_cursor_execute", note)
    question(conn)
    event.remove(conn.engine, "before_cursor_execute", note)
    [(statement, values)] = asked
    return " ".join(row[3] for row in conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values))


@pytest.mark.parametrize(
    ("question", "index"),
    [
        (page(run_id="run_1"), "INDEX ix_tool_calls_run_id_id"),
        (page(channel_id="ch_1"), "INDEX ix_tool_calls_channel_id_id"),
        (page(status=CallStatus.ERROR), "INDEX ix_tool_calls_status_id"),
        (page(server="git"), "INDEX ix_tool_calls_server_id"),
        (page(tool="push"), "INDEX ix_tool_calls_tool_id"),
        (page(), "INDEX sqlite_autoindex_tool_calls_1"),
        (page(status=CallStatus.SUCCESS), "INDEX sqlite_autoindex_tool_calls_1"),
        (lambda conn: select_of_run(conn, "run_1"), "INDEX ix_tool_calls_run_id_id"),
        (
            lambda conn: select_stats(conn, Span(START, START + timedelta(days=1), 3600)),
            "COVERING INDEX ix_tool_calls_at_measured",
        ),
        (interrupt_pending, "INDEX ix_tool_calls_status_id"),
    ],
)
async def test_each_question_has_its_index(made_sqlite_url: str, question: Question, index: str) -> None:
    async with open_store(made_sqlite_url) as store:
        plan = await store.write(lambda conn: plan_of(conn, question))
    assert f"USING {index}" in plan
    assert "SCAN" not in plan or "autoindex" in index
