"""What was used is summed up by run, by channel and by server, the same on both databases."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, insert

from manyhands.chat import run_store
from manyhands.chat import store as channel_store
from manyhands.chat.types import Channel, Run, RunOptions, RunStatus
from manyhands.chat.usage import select_usage
from manyhands.store.engine import Store
from manyhands.store.tables import tool_calls

pytestmark = pytest.mark.anyio

AT = datetime(2026, 1, 1, tzinfo=UTC)


def fill(conn: Connection) -> None:
    for name in ("dear", "cheap"):
        channel_store.insert_channel(
            conn, Channel(f"ch_{name}", name, None, "local", None, None, None, True, False, AT)
        )
    for number, channel, cost in ((1, "dear", 2.0), (2, "dear", 0.5), (3, "cheap", None)):
        usage = {"input": 100 * number, "output": number, "cached": 0}
        run = Run(
            f"run_{number}",
            f"ch_{channel}",
            RunStatus.COMPLETED,
            RunOptions(),
            AT,
            usage=usage,
            cost=cost,
            model="m",
        )
        run_store.insert_run(conn, run)
    for number, server in enumerate(("time", "git", "git")):
        row: dict[str, Any] = {
            "id": f"call_{number}",
            "tool": "t",
            "server": server,
            "run_id": "run_1",
            "arguments": {},
        }
        row |= {"is_error": False, "status": "success", "at": AT, "size": 360, "duration_ms": 5}
        conn.execute(insert(tool_calls), row)


async def test_usage_is_summed_up_by_run_channel_and_server(store: Store) -> None:
    await store.write(fill)
    by_run = await store.read(lambda conn: select_usage(conn, "run"))
    by_channel = await store.read(lambda conn: select_usage(conn, "channel"))
    by_server = await store.read(lambda conn: select_usage(conn, "server"))
    assert [(row["run_id"], row["input"], row["cost"], row["calls"]) for row in by_run] == [
        ("run_3", 300, None, 0),
        ("run_2", 200, 0.5, 0),
        ("run_1", 100, 2.0, 3),
    ]
    assert [(row["name"], row["runs"], row["input"], row["output"], row["cost"]) for row in by_channel] == [
        ("dear", 2, 300, 3, 2.5),
        ("cheap", 1, 300, 3, None),
    ]
    assert [dict(row) for row in by_server] == [
        {"server": "git", "calls": 2, "result_tokens": 200, "duration_ms": 10},
        {"server": "time", "calls": 1, "result_tokens": 100, "duration_ms": 5},
    ]
