"""Workflows over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from manyhands import Hub

pytestmark = pytest.mark.anyio

TEXT = """\
# Greets
name: greet
inputs: {who: {type: string, default: you}}
nodes:
  - id: say
    type: bash
    script: echo hello {{ inputs.who }}
  - id: gate
    type: approval
    depends_on: [say]
    message: Enough?
"""


async def test_a_definition_is_kept_shown_changed_and_removed(client: httpx2.AsyncClient) -> None:
    made = await client.post("/api/workflows", json={"action": "add", "workflow": TEXT})
    assert (made.status_code, made.json()["text"]) == (201, TEXT)
    again = await client.post("/api/workflows", json={"action": "add", "workflow": TEXT})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    found = (await client.get("/api/workflows/greet")).json()
    assert (found["valid"], found["workflow"]["nodes"][1]["id"], found["problems"]) == (True, "gate", [])
    changed = {**found["workflow"], "description": "Greets somebody."}
    updated = await client.post("/api/workflows", json={"action": "update", "workflow": changed})
    assert updated.status_code == 200
    assert updated.json()["text"].startswith("# Greets\nname: greet\n")
    listed = (await client.get("/api/workflows")).json()["items"]
    assert [(one["name"], one["description"], one["nodes"]) for one in listed] == [
        ("greet", "Greets somebody.", 2)
    ]
    assert (await client.delete("/api/workflows/greet")).status_code == 204
    assert (await client.get("/api/workflows/greet")).status_code == 404


async def test_mistakes_have_their_places(client: httpx2.AsyncClient) -> None:
    bad = TEXT.replace("depends_on: [say]", "depends_on: [nope]")
    refused = await client.post("/api/workflows", json={"action": "add", "workflow": bad})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    problem = refused.json()["problems"][0]
    assert (problem["line"], problem["path"]) == (10, "nodes[1].depends_on[0]")
    verdict = (await client.post("/api/workflows/validate", json={"workflow": bad})).json()
    assert (verdict["ok"], verdict["problems"][0]["line"]) == (False, 10)
    dry = (
        await client.post("/api/workflows/validate", json={"workflow": TEXT, "inputs": {"who": "me"}})
    ).json()
    assert dry["dry_run"]["nodes"][0]["inputs"] == {"script": "echo hello me"}


async def test_a_run_is_begun_shown_answered_and_removed(
    client: httpx2.AsyncClient, hub: Hub, tmp_path: Path
) -> None:
    await client.post("/api/workflows", json={"action": "add", "workflow": TEXT})
    wanted: dict[str, Any] = {"workflow_name": "greet", "inputs": {"who": "all"}, "dir_path": str(tmp_path)}
    begun = await client.post("/api/workflows/runs", json=wanted)
    assert begun.status_code == 201
    run_id = begun.json()["run_id"]
    with anyio.fail_after(60):
        await hub.workflows.wait(run_id, until_paused=True)
    shown = (await client.get(f"/api/workflows/runs/{run_id}")).json()
    assert (shown["run"]["status"], shown["workflow"]["name"]) == ("paused", "greet")
    assert [(one["id"], one["status"], one["output"], one["attempts"]) for one in shown["nodes"]] == [
        ("say", "success", "hello all", 1),
        ("gate", "waiting", None, 1),
    ]
    retried = await client.post(f"/api/workflows/runs/{run_id}/retry", json={})
    assert retried.status_code == 409
    answered = await client.post(f"/api/workflows/runs/{run_id}/resume", json={"decision": "reject"})
    assert answered.json()["status"] == "completed"
    listed = (await client.get("/api/workflows/runs", params={"workflow_name": "greet"})).json()["items"]
    assert [(one["id"], one["nodes"]) for one in listed] == [(run_id, {"success": 2})]
    cancelled = await client.post(f"/api/workflows/runs/{run_id}/cancel")
    assert cancelled.json()["status"] == "completed"
    assert (await client.delete(f"/api/workflows/runs/{run_id}")).status_code == 204
    assert (await client.get(f"/api/workflows/runs/{run_id}")).status_code == 404
    missing = await client.post("/api/workflows/runs", json={"workflow_name": "nope"})
    assert missing.status_code == 404


async def test_the_examples_are_listed(client: httpx2.AsyncClient) -> None:
    found = (await client.get("/api/workflows/examples")).json()["items"]
    assert {"fan-out", "review-loop"} <= {one["name"] for one in found}
    assert all(one["text"].startswith("#") for one in found)
