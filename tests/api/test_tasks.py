"""Tasks over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from manyhands import Hub

pytestmark = pytest.mark.anyio

SOON_S = 60


async def make(client: httpx2.AsyncClient, directory: Path, **values: Any) -> dict[str, Any]:
    channel = (await client.post("/api/channels", json={"dir_path": str(directory)})).json()
    body = {"channel_id": channel["id"], "schedule": "0 3 * * *", **values}
    if "script" not in body:
        body.setdefault("prompt", "What is new?")
    made = await client.post("/api/tasks", json=body)
    assert made.status_code == 201, made.text
    return dict(made.json())


async def test_a_task_is_made_read_listed_changed_and_deleted(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    task = await make(client, tmp_path, timezone="Europe/Berlin", name="nightly")
    assert (task["words"], task["type"]) == ("every day at 03:00 (Europe/Berlin)", "cron")
    assert len(task["next_times"]) == 5
    assert (await client.get(f"/api/tasks/{task['id']}")).json() == task
    listed = (await client.get("/api/tasks", params={"channel_id": task["channel_id"]})).json()
    assert [one["id"] for one in listed["items"]] == [task["id"]]
    assert (await client.get("/api/tasks", params={"query": "NIGHT"})).json()["items"] == [task]
    assert (await client.get("/api/tasks", params={"query": "other"})).json()["items"] == []
    changed = (await client.patch(f"/api/tasks/{task['id']}", json={"schedule": "2h", "retries": 2})).json()
    assert (changed["type"], changed["retries"]) == ("interval", 2)
    paused = (await client.patch(f"/api/tasks/{task['id']}", json={"enabled": False})).json()
    assert (paused["next_run_at"], paused["next_times"]) == (None, [])
    copy = await client.post(f"/api/tasks/{task['id']}/clone", json={"name": "other"})
    assert (copy.status_code, copy.json()["name"], copy.json()["enabled"]) == (201, "other", False)
    assert (await client.delete(f"/api/tasks/{task['id']}")).status_code == 204
    assert (await client.get(f"/api/tasks/{task['id']}")).status_code == 404


async def test_a_template_is_made_once_and_then_changed(client: httpx2.AsyncClient, tmp_path: Path) -> None:
    task = await make(client, tmp_path, template_name="nightly")
    again = await client.post(
        "/api/tasks",
        json={
            "channel_id": task["channel_id"],
            "template_name": "nightly",
            "schedule": "@daily",
            "prompt": "x",
        },
    )
    assert (again.status_code, again.json()["id"]) == (200, task["id"])


async def test_a_run_is_in_the_history_with_its_output(
    client: httpx2.AsyncClient, hub: Hub, tmp_path: Path
) -> None:
    task = await make(client, tmp_path, script="echo from the script")
    async with hub.bus.subscribe() as events:
        started = await client.post(f"/api/tasks/{task['id']}/run")
        assert started.status_code == 202
        with anyio.fail_after(SOON_S):
            async for event in events:
                if event.type == "task.run_finished":
                    break
    (run,) = (await client.get(f"/api/tasks/{task['id']}/runs")).json()["items"]
    assert (run["id"], run["state"], run["trigger"]) == (started.json()["id"], "completed", "person")
    assert "from the script" in run["text"]
    assert run["duration_s"] is not None
    assert (await client.get(f"/api/tasks/{task['id']}/runs", params={"state": "failed"})).json()[
        "items"
    ] == []
    stopped = await client.post(f"/api/tasks/{task['id']}/runs/{run['id']}/cancel")
    assert stopped.json()["state"] == "completed"
    lost = await client.post(f"/api/tasks/task_none/runs/{run['id']}/cancel")
    assert lost.status_code == 404


async def test_a_schedule_can_be_looked_at_before_it_is_saved(client: httpx2.AsyncClient) -> None:
    found = await client.post(
        "/api/tasks/preview", json={"schedule": "30 2 * * *", "timezone": "Europe/Berlin"}
    )
    assert found.json()["words"] == "every day at 02:30 (Europe/Berlin)"
    assert len(found.json()["next_times"]) == 5
    wrong = await client.post("/api/tasks/preview", json={"schedule": "0 0 30 2 *"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid")
    assert "never comes" in wrong.json()["detail"]
    assert wrong.json()["hint"]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"schedule": "0 3 * *"}, "5 fields"),
        ({"colour": "red"}, "colour"),
        ({"prompt": None}, "something to do"),
        ({"prompt": 5}, "prompt"),
        ({"timezone": "Mars/Base"}, "no time zone"),
        ({"retries": -1}, "retries"),
        ({"channel_id": None}, "channel"),
    ],
)
async def test_what_is_wrong_is_a_problem_that_says_so(
    client: httpx2.AsyncClient, tmp_path: Path, values: dict[str, Any], says: str
) -> None:
    channel = (await client.post("/api/channels", json={"dir_path": str(tmp_path)})).json()
    body = {"channel_id": channel["id"], "schedule": "@daily", "prompt": "look", **values}
    refused = await client.post("/api/tasks", json=body)
    assert refused.status_code == 422
    assert says in refused.json()["detail"]
