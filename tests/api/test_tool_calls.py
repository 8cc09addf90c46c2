"""The call log as a whole over HTTP, and the webhook's trial."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import httpx2
import pytest

from tests.api.conftest import HAND

pytestmark = pytest.mark.anyio


@pytest.fixture
async def calls(client: httpx2.AsyncClient) -> None:
    """Two calls that worked and one that did not."""
    outcome: dict[str, Any] = (await client.post("/api/servers", json=HAND)).json()
    assert outcome["ok"], outcome
    for name, arguments in (("echo", {"text": "one"}), ("fail", {}), ("echo", {"text": "two"})):
        body = {"name": f"mcp__hand__{name}", "arguments": arguments}
        assert (await client.post("/api/tools/call", json=body)).status_code == 200


@pytest.mark.usefixtures("calls")
async def test_statistics_say_how_calls_went_over_time_and_by_server(client: httpx2.AsyncClient) -> None:
    stats = (await client.get("/api/tool-calls/stats")).json()
    assert stats["bucket_s"] == 1800
    (server,) = stats["servers"]
    assert (server["server"], server["calls"], server["errors"]) == ("hand", 3, 1)
    assert server["p95_ms"] >= server["p50_ms"] >= 0
    assert sum(point["calls"] for point in stats["points"]) == 3
    other = (await client.get("/api/tool-calls/stats", params={"server": "other"})).json()
    assert (other["points"], len(other["servers"])) == ([], 1)


async def test_statistics_of_too_many_steps_are_refused(client: httpx2.AsyncClient) -> None:
    asked: dict[str, str | int] = {"since": "2020-01-01T00:00:00Z", "bucket": 60}
    answer = await client.get("/api/tool-calls/stats", params=asked)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


@pytest.mark.usefixtures("calls")
async def test_the_filtered_log_is_exported_as_lines_of_json(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/api/tool-calls/export", params={"tool": "echo"})
    assert answer.headers["content-disposition"] == 'attachment; filename="tool-calls.jsonl"'
    assert [json.loads(line)["result"] for line in answer.text.splitlines()] == ["two", "one"]


@pytest.mark.usefixtures("calls")
async def test_the_log_is_exported_as_a_table(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/api/tool-calls/export", params={"format": "csv", "q": "two"})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["tool"], row["arguments"]) for row in rows] == [("echo", '{"text": "two"}')]


async def test_a_webhook_that_is_not_set_up_or_does_not_answer_says_so(client: httpx2.AsyncClient) -> None:
    trial = (await client.post("/api/webhook/test")).json()
    assert not trial["ok"]
    assert "webhook_url" in trial["error"]
    await client.patch("/api/settings", json={"webhook_url": "http://127.0.0.1:1/"})
    trial = (await client.post("/api/webhook/test")).json()
    assert "does not answer" in trial["error"]
