"""The tools of workflows, through the official SDK's client."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import Client

from manyhands.chat.types import Channel
from manyhands.hub import Hub
from manyhands.secrets import HIDDEN
from tests.mcp_server.conftest import Connect, said

pytestmark = pytest.mark.anyio

GATED: dict[str, Any] = {
    "name": "gated",
    "description": "Waits.",
    "inputs": {"word": {"type": "string"}},
    "nodes": [
        {"id": "say", "type": "bash", "script": "echo {{ inputs.word }}"},
        {"id": "gate", "type": "approval", "message": "{{ nodes.say.output }}?", "depends_on": ["say"]},
        {"id": "end", "type": "bash", "script": "echo {{ nodes.gate.output }}", "depends_on": ["gate"]},
    ],
}


async def settled(hub: Hub, run_id: str) -> None:
    with anyio.fail_after(60):
        await hub.workflows.wait(run_id, until_paused=True)


async def call(client: Client, tool: str, /, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, said(result)
    return result


async def test_an_agent_saves_runs_answers_retries_and_removes(hub: Hub, connect: Connect) -> None:
    async with connect() as client:
        await call(client, "save_workflow", action="add", workflow=GATED, scope="project")
        listed = await call(client, "list_workflows")
        assert said(listed) == "gated (project): Waits. Inputs: word (string, required)."
        started = await call(client, "run_workflow", workflow_name="gated", inputs={"word": "a b"})
        run_id = started.structured_content["run_id"]
        await settled(hub, run_id)
        shown = await call(client, "get_workflow_run", run_id=run_id)
        assert "- gate (approval) waiting: a b?" in said(shown)
        await call(client, "resume_workflow_run", run_id=run_id, response="fine")
        await settled(hub, run_id)
        nodes = (await call(client, "get_workflow_run", run_id=run_id)).structured_content["nodes"]
        assert [(one["id"], one["status"], one["output"]) for one in nodes] == [
            ("say", "success", "a b"),
            ("gate", "success", "fine"),
            ("end", "success", "fine"),
        ]
        again = await call(client, "retry_workflow_run", run_id=run_id, from_node="end")
        assert again.structured_content["status"] == "running"
        await settled(hub, run_id)
        await call(client, "retry_workflow_run", run_id=run_id, from_node="gate")
        await settled(hub, run_id)
        await call(client, "resume_workflow_run", run_id=run_id, decision="reject", response="no")
        refused = said(await call(client, "get_workflow_run", run_id=run_id))
        assert "- gate (approval) success, rejected, 2 attempts: no" in refused
        runs = (await call(client, "list_workflow_runs")).structured_content["runs"]
        assert [(one["id"], one["status"]) for one in runs] == [(run_id, "completed")]
        await call(client, "retry_workflow_run", run_id=run_id, from_failed=False)
        await settled(hub, run_id)
        stopped = await call(client, "cancel_workflow_run", run_id=run_id)
        assert stopped.structured_content["status"] == "cancelled"
        await call(client, "delete_workflow_run", run_id=run_id)
        await call(client, "delete_workflow", name="gated", scope="project")
        assert (await call(client, "list_workflows")).structured_content == {"workflows": []}


async def test_what_is_wrong_is_said_with_its_place(hub: Hub, connect: Connect) -> None:
    async with connect() as client:
        broken = {**GATED, "nodes": [{"id": "a", "type": "bash", "script": "x", "depends_on": ["z"]}]}
        refused = await client.call_tool("save_workflow", {"action": "add", "workflow": broken})
        assert refused.is_error
        assert "nodes[0].depends_on[0]: 'a' depends on 'z'" in said(refused)
        marked = {**GATED, "nodes": [{"id": "a", "type": "bash", "script": f"echo {HIDDEN}"}]}
        refused = await client.call_tool("save_workflow", {"action": "add", "workflow": marked})
        assert "would destroy the secret" in said(refused)
        for name, arguments in (
            ("run_workflow", {"workflow_name": "gone"}),
            ("get_workflow_run", {"run_id": "gone"}),
            ("delete_workflow", {"name": "gone"}),
        ):
            assert (await client.call_tool(name, arguments)).is_error


async def test_runs_of_another_project_do_not_exist(hub: Hub, connect: Connect, channel: Channel) -> None:
    await hub.workflows.save(
        "add", {"name": "gated", "nodes": [{"id": "gate", "type": "approval", "message": "x"}]}
    )
    run = await hub.workflows.start("gated")
    async with connect() as client:
        hidden = await client.call_tool("get_workflow_run", {"run_id": run.id})
        assert hidden.is_error
        assert (await call(client, "list_workflow_runs")).structured_content == {"runs": []}
    async with connect(headers={"Authorization": f"Bearer {hub.home.token()}"}) as owner:
        assert not (await owner.call_tool("get_workflow_run", {"run_id": run.id})).is_error
