"""Messages and runs over HTTP."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from manyhands.home import Home
from manyhands.hub import Hub
from manyhands.models.types import Reply, TextDelta, Usage
from manyhands.testing.scripted import Gate, ScriptedModel, calls

pytestmark = pytest.mark.anyio


@pytest.fixture
def script() -> list[Any]:
    return []


@pytest.fixture
def model(script: list[Any]) -> ScriptedModel:
    return ScriptedModel([lambda request: script.pop(0)], repeat=True)


@pytest.fixture
async def hub(tmp_path: Path, model: ScriptedModel) -> AsyncIterator[Hub]:
    async with Hub(Home(tmp_path / "home"), model=model) as hub:
        yield hub


@pytest.fixture
async def channel_id(client: httpx2.AsyncClient, tmp_path: Path) -> str:
    answer = await client.post("/api/channels", json={"dir_path": str(tmp_path)})
    return str(answer.json()["id"])


async def start(client: httpx2.AsyncClient, channel_id: str, **body: Any) -> str:
    answer = await client.post(f"/api/channels/{channel_id}/runs", json={"prompt": "go", **body})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


async def follow(client: httpx2.AsyncClient, run_id: str, **headers: str) -> list[dict[str, Any]]:
    """The events of a run, until it has finished."""
    async with client.stream("GET", f"/api/runs/{run_id}/events", headers=headers) as stream:
        lines = [line async for line in stream.aiter_lines()]
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


async def test_a_run_is_started_followed_and_read(
    client: httpx2.AsyncClient, channel_id: str, script: list[Any]
) -> None:
    script += [calls(("list_directory", {})), Reply("done", usage=Usage(10, 2))]
    run_id = await start(client, channel_id)
    events = await follow(client, run_id)
    assert [event["type"] for event in events][-1] == "run.finished"
    run = (await client.get(f"/api/runs/{run_id}")).json()
    assert (run["status"], run["text"], run["iterations"]) == ("completed", "done", 2)
    assert run["usage"] == {"input": 10, "output": 2, "cached": 0}
    assert [call["tool"] for call in run["tool_calls"]] == ["list_directory"]
    messages = (await client.get(f"/api/channels/{channel_id}/messages")).json()["items"]
    assert [message["role"] for message in messages] == ["assistant", "tool", "assistant", "user"]
    assert messages[2]["tool_calls"][0]["name"] == "list_directory"


async def test_the_events_of_a_run_resume_where_a_client_left_off(
    client: httpx2.AsyncClient, channel_id: str, script: list[Any]
) -> None:
    script.append("done")
    run_id = await start(client, channel_id)
    events = await follow(client, run_id)
    middle = events[len(events) // 2]
    again = await follow(client, run_id, **{"Last-Event-ID": str(middle["seq"])})
    assert again == [event for event in events if event["seq"] > middle["seq"]]


async def test_a_message_joins_the_run_that_is_going_on_or_starts_one(
    client: httpx2.AsyncClient, channel_id: str, script: list[Any], hub: Hub, model: ScriptedModel
) -> None:
    gate = anyio.Event()
    script += [[TextDelta("…"), Gate(gate), calls(("list_directory", {}))], "done"]
    async with hub.bus.subscribe() as events:
        sent = await client.post("/api/messages", json={"channel_id": channel_id, "content": "go"})
        assert sent.status_code == 201
        async for event in events:
            if event.type == "run.delta":
                break
        body = {"channel_id": channel_id, "content": "and quickly"}
        joined = (await client.post("/api/messages", json=body)).json()
        gone = (await client.post("/api/messages", json=body | {"content": "no"})).json()
        assert joined["state"] == "queued"
        path = f"/api/messages/{joined['id']}"
        assert (await client.patch(path, json={"content": "and slowly"})).status_code == 200
        assert (await client.delete(f"/api/messages/{gone['id']}")).status_code == 204
        gate.set()
        async for event in events:
            if event.type == "run.finished":
                break
    assert model.requests[-1].turns[-1].text == "and slowly"
    assert (await client.delete(path)).status_code == 404


async def test_a_run_is_cancelled(client: httpx2.AsyncClient, channel_id: str, script: list[Any]) -> None:
    script.append([Gate(anyio.Event())])
    run_id = await start(client, channel_id)
    await client.post(f"/api/runs/{run_id}/cancel")
    assert (await follow(client, run_id))[-1]["data"]["status"] == "cancelled"
    again = await client.post(f"/api/runs/{run_id}/cancel")
    assert (again.status_code, again.json()["status"]) == (200, "cancelled")


@pytest.mark.parametrize("iterations", [0, 51, -1, "many"])
async def test_iterations_outside_their_bounds_are_refused(
    client: httpx2.AsyncClient, channel_id: str, iterations: Any
) -> None:
    body = {"prompt": "go", "max_iterations": iterations}
    answer = await client.post(f"/api/channels/{channel_id}/runs", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


async def test_attachments_reach_the_model(
    client: httpx2.AsyncClient, channel_id: str, script: list[Any], model: ScriptedModel
) -> None:
    script.append("seen")
    data = base64.b64encode(b"words").decode()
    attached = {"name": "a.txt", "mime": "text/plain", "data": data}
    await follow(client, await start(client, channel_id, attachments=[attached]))
    assert [(one.name, one.data) for one in model.requests[0].turns[0].attachments] == [("a.txt", b"words")]
    bad = {"prompt": "go", "attachments": [attached | {"data": "%%%"}]}
    assert (await client.post(f"/api/channels/{channel_id}/runs", json=bad)).status_code == 422


async def test_a_run_is_replayed_and_two_are_compared(
    client: httpx2.AsyncClient, channel_id: str, script: list[Any]
) -> None:
    script += ["red", "blue", "red"]
    ids = [await start(client, channel_id) for _ in range(2)]
    for run_id in ids:
        await follow(client, run_id)
    replayed = (await client.post(f"/api/runs/{ids[0]}/replay", json={})).json()
    assert (replayed["text"], replayed["diff"]) == ("red", "")
    diff = (await client.get(f"/api/runs/{ids[0]}/diff/{ids[1]}")).json()
    assert "+assistant: blue" in diff["diff"]


async def test_usage_is_shown_by_run_by_channel_and_by_server(
    client: httpx2.AsyncClient, channel_id: str, script: list[Any]
) -> None:
    script += [calls(("list_directory", {})), Reply("done", usage=Usage(10, 2))]
    run_id = await start(client, channel_id)
    await follow(client, run_id)
    shown = {
        by: (await client.get("/api/usage", params={"by": by})).json()["items"]
        for by in ("run", "channel", "server", "model", "day")
    }
    assert (shown["run"][0]["run_id"], shown["run"][0]["input"], shown["run"][0]["calls"]) == (run_id, 10, 1)
    assert (shown["channel"][0]["channel_id"], shown["channel"][0]["output"]) == (channel_id, 2)
    assert (shown["server"][0]["server"], shown["server"][0]["calls"]) == ("native", 1)
    assert shown["model"][0]["runs"] == shown["day"][0]["runs"] == 1
    for bad in ({"by": "moon"}, {"by": "day", "zone": "Moon/Base"}, {"since": "yesterday"}):
        assert (await client.get("/api/usage", params=bad)).status_code == 422
    later = {"by": "run", "since": "2999-01-01T00:00:00Z"}
    assert (await client.get("/api/usage", params=later)).json()["items"] == []
