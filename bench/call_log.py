"""A page of the call log at the API when 100,000 calls are in it."""

from __future__ import annotations

import asyncio
import tempfile
import time
from datetime import UTC, datetime
from typing import Any

from bench.report import Report, p50, progress

ROWS = 100_000
REQUESTS = 60


def run(report: Report) -> None:
    asyncio.run(_run(report))


async def _run(report: Report) -> None:
    import httpx2

    from manyhands import Hub
    from manyhands.api.app import create_app

    with tempfile.TemporaryDirectory() as home:
        async with Hub(home=home) as hub:
            progress(f"writing {ROWS:,} calls")
            await _fill(hub)
            transport = httpx2.ASGITransport(app=create_app(hub))
            headers = {"Authorization": f"Bearer {hub.home.token()}"}
            async with httpx2.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", headers=headers
            ) as client:
                for what, query in {
                    "newest page": "",
                    "of one server": "server=server-7",
                    "of one tool, failed": "tool=tool-3&status=error",
                    "text search": "q=needle",
                }.items():
                    milliseconds = p50([await _page(client, query) for _ in range(REQUESTS)]) * 1e3
                    report.add("call log", f"{what}, {ROWS:,} calls", milliseconds, "ms", limit=10)


async def _page(client: Any, query: str) -> float:
    start = time.perf_counter()
    response = await client.get(f"/api/tool-calls?limit=50&{query}")
    elapsed = time.perf_counter() - start
    assert response.status_code == 200, response.text
    assert response.json()["items"]
    return elapsed


async def _fill(hub: Any) -> None:
    from sqlalchemy import insert

    from manyhands.ids import new_id
    from manyhands.store.tables import tool_calls

    at = datetime.now(UTC)
    rows = [
        {
            "id": new_id("call"),
            "tool": f"tool-{number % 40}",
            "server": f"server-{number % 20}",
            "arguments": {"text": "needle" if number % 997 == 0 else f"value {number}"},
            "result": f"result {number} " + "x" * 200,
            "content": [{"type": "text", "text": f"result {number} " + "x" * 200}],
            "is_error": number % 11 == 0,
            "status": "error" if number % 11 == 0 else "success",
            "duration_ms": number % 300,
            "size": 220,
            "at": at,
        }
        for number in range(ROWS)
    ]
    for start in range(0, ROWS, 10_000):
        await hub.store.write(
            lambda conn, start=start: conn.execute(insert(tool_calls), rows[start : start + 10_000])
        )
