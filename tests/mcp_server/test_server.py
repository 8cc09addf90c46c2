"""The MCP endpoint over HTTP, with the official SDK's client in both eras of the protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import httpx2
import jsonschema
import pytest
from mcp import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from manyhands.access.types import Grant
from manyhands.bridge import words
from manyhands.chat.types import Channel
from manyhands.hub import Hub
from manyhands.mcp_server import toolbox
from manyhands.mcp_server.entries import Answer, Caller, Json
from tests.api.conftest import Served
from tests.mcp_server.conftest import MODES, Connect, Mode, names, said

pytestmark = pytest.mark.anyio

ALWAYS = [
    "schedule_task",
    "list_tasks",
    "show_task",
    "cancel_task",
    "toggle_task",
    "edit_task",
    "run_workflow",
    "get_workflow_run",
    "list_workflows",
    "list_workflow_runs",
    "cancel_workflow_run",
    "resume_workflow_run",
    "save_workflow",
    "delete_workflow",
    "delete_workflow_run",
    "retry_workflow_run",
    "send_message",
    "create_channel",
    "create_thread",
    "create_worktree_thread",
    "delete_thread",
    "search_channels",
    "get_readme",
    "playground",
    "playground_file",
    "quality_scan",
    "quality_snapshot",
    "quality_complexity",
    "quality_clones",
]
MEMORY = ["search_memory", "index_memory"]
AGENTS = ["list_agents", "send_agent_message", "update_agent_status"]
# As the contract has them: each tool with its parameters.
PARAMETERS = {
    "schedule_task": {
        "schedule",
        "type",
        "prompt",
        "template_name",
        "auto_delete_sec",
        "timezone",
        "missed",
        "workflow_name",
        "workflow_inputs",
        "worktree",
        "model",
    },
    "list_tasks": set(),
    "show_task": {"task_id"},
    "cancel_task": {"task_id"},
    "toggle_task": {"task_id", "enabled"},
    "edit_task": {
        "task_id",
        "schedule",
        "type",
        "prompt",
        "auto_delete_sec",
        "timezone",
        "missed",
        "workflow_name",
        "workflow_inputs",
    },
    "run_workflow": {"workflow_name", "inputs", "dir_path"},
    "get_workflow_run": {"run_id"},
    "list_workflows": set(),
    "list_workflow_runs": {"channel_id", "limit"},
    "cancel_workflow_run": {"run_id"},
    "resume_workflow_run": {"run_id", "response", "decision", "node_id"},
    "save_workflow": {"action", "workflow", "scope"},
    "delete_workflow": {"name", "scope"},
    "delete_workflow_run": {"run_id"},
    "retry_workflow_run": {"run_id", "from_node", "from_failed"},
    "send_message": {"channel_id", "content"},
    "create_channel": {"name"},
    "create_thread": {"name", "message"},
    "create_worktree_thread": {"branch", "name", "message"},
    "delete_thread": {"thread_id", "force"},
    "search_channels": {"query"},
    "get_readme": set(),
    "playground": {"action", "name", "title", "description", "html", "scope"},
    "playground_file": {"action", "name", "path", "content", "scope"},
    "quality_scan": set(),
    "quality_snapshot": set(),
    "quality_complexity": {"limit", "offset"},
    "quality_clones": {"limit", "offset"},
    "search_memory": {"query", "top_k"},
    "index_memory": set(),
    "list_agents": set(),
    "send_agent_message": {"to_agent_id", "content"},
    "update_agent_status": {"name", "work_summary", "status"},
}


@pytest.mark.parametrize("mode", MODES)
async def test_tools_are_listed_by_what_the_token_is_for(connect: Connect, mode: Mode) -> None:
    async with connect(mode) as client:
        plain = await names(client)
    async with connect(mode, agent_id="builder") as client:
        of_agent = await names(client)
    async with connect(mode, agent_id="builder", flags=frozenset({"memory"})) as client:
        with_memory = await names(client)
    assert plain == ALWAYS
    assert of_agent == plain + AGENTS
    assert with_memory == plain + MEMORY + AGENTS


async def test_every_tool_has_the_parameters_of_the_contract_and_refuses_others(connect: Connect) -> None:
    async with connect(agent_id="builder", flags=frozenset({"memory"})) as client:
        for tool in (await client.list_tools()).tools:
            assert set(tool.input_schema["properties"]) == PARAMETERS[tool.name]
            assert tool.input_schema["additionalProperties"] is False
            for name, schema in tool.input_schema["properties"].items():
                assert schema.get("description"), f"{tool.name}.{name}"
            assert tool.output_schema is not None
            jsonschema.Draft202012Validator.check_schema(tool.output_schema)
            assert tool.description
            assert tool.annotations is not None
            hints = tool.annotations.model_dump(exclude_none=True)
            assert set(hints) == {
                "title",
                "read_only_hint",
                "destructive_hint",
                "idempotent_hint",
                "open_world_hint",
            }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"content": "hello", "colour": "red"}, "colour"),
        ({}, "content"),
        ({"content": 5}, "content"),
        ({"content": "x", "channel_id": "ch_none"}, "There is no channel"),
    ],
)
async def test_what_is_wrong_is_a_result_that_says_what_to_do(
    connect: Connect, mode: Mode, arguments: Json, says: str
) -> None:
    async with connect(mode) as client:
        result = await client.call_tool("send_message", arguments)
    assert result.is_error
    assert says in said(result)
    assert "Traceback" not in said(result)


@pytest.mark.parametrize("mode", MODES)
async def test_a_tool_that_is_not_offered_is_not_found(connect: Connect, mode: Mode) -> None:
    async with connect(mode) as client:
        for name in ("list_agents", "mcp__time__now", "nothing"):
            result = await client.call_tool(name, {})
            assert result.is_error
            assert f"There is no tool {name!r}" in said(result)


async def test_ten_megabytes_are_refused_in_words(connect: Connect) -> None:
    async with connect() as client:
        result = await client.call_tool("send_message", {"content": "x" * 10_000_000})
    assert result.is_error
    assert len(said(result)) < 2000


async def test_a_mistake_of_ours_shows_no_trace(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(caller: Caller, arguments: Json) -> Answer:
        raise ZeroDivisionError("a secret detail")

    entry = toolbox.all_entries()["get_readme"]
    broken = {**toolbox.all_entries(), "get_readme": type(entry)(**{**_fields(entry), "call": fail})}
    monkeypatch.setattr(toolbox, "all_entries", lambda: broken)
    async with connect() as client:
        result = await client.call_tool("get_readme", {})
    assert result.is_error
    assert "not foreseen" in said(result)
    assert "secret detail" not in said(result)


def _fields(entry: Any) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in entry.__slots__}


# --- whose it is


async def test_the_owner_names_the_channel_in_a_header(
    connect: Connect, served: Served, hub: Hub, channel: Channel
) -> None:
    await hub.channels.create("elsewhere")
    async with connect(headers=served.headers) as client:
        everything = await client.call_tool("search_channels", {})
        assert len(everything.structured_content["channels"]) == 2
        assert "X-Manyhands-Channel" in said(await client.call_tool("send_message", {"content": "x"}))
    async with connect(headers={**served.headers, "X-Manyhands-Channel": channel.id}) as client:
        scoped = await client.call_tool("search_channels", {})
    assert [one["id"] for one in scoped.structured_content["channels"]] == [channel.id]


async def test_a_token_cannot_name_another_channel(connect: Connect, hub: Hub, channel: Channel) -> None:
    other = await hub.channels.create("elsewhere")
    token = await hub.access.issue(Grant(channel.id))
    headers = {"Authorization": f"Bearer {token}", "X-Manyhands-Channel": other.id}
    async with connect(headers=headers) as client:
        found = await client.call_tool("search_channels", {})
    assert [one["id"] for one in found.structured_content["channels"]] == [channel.id]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/status"),
        ("GET", "/api/channels"),
        ("POST", "/api/tokens"),
        ("POST", "/api/shutdown"),
        ("GET", "/api/agents"),
        ("DELETE", "/api/agents/other?channel_id=CHANNEL"),
        ("DELETE", "/api/agents/builder?channel_id=ch_other"),
        ("GET", "/"),
        ("GET", "/v1/models"),
    ],
)
async def test_everything_else_is_not_there_for_a_limited_token(
    hub: Hub, served: Served, channel: Channel, method: str, path: str
) -> None:
    token = await hub.access.issue(Grant(channel.id, agent_id="builder"))
    async with httpx2.AsyncClient(base_url=served.url, timeout=60) as http:
        answer = await http.request(
            method, path.replace("CHANNEL", channel.id), headers={"Authorization": f"Bearer {token}"}
        )
    assert answer.status_code == 404


async def test_an_agent_reaches_its_own_entry(hub: Hub, served: Served, channel: Channel) -> None:
    token = await hub.access.issue(Grant(channel.id, agent_id="builder"))
    await hub.agents.register(channel.id, "builder")
    async with httpx2.AsyncClient(base_url=served.url, timeout=60) as http:
        answer = await http.delete(
            f"/api/agents/builder?channel_id={channel.id}", headers={"Authorization": f"Bearer {token}"}
        )
    assert answer.status_code == 204
    assert await hub.agents.list(channel.id) == []


@pytest.mark.parametrize("token", ["wrong", "mha_wrong"])
async def test_nobody_gets_in_without_a_token(served: Served, token: str) -> None:
    async with httpx2.AsyncClient(base_url=served.url, timeout=60) as http:
        answer = await http.post("/mcp", json={}, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401


async def test_a_session_is_of_no_use_to_another_token(hub: Hub, served: Served, channel: Channel) -> None:
    tokens = [await hub.access.issue(Grant(channel.id)) for _ in range(2)]
    async with httpx2.AsyncClient(base_url=served.url, timeout=60) as http:
        opened = await _post(http, tokens[0], {}, _initialize())
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        message = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        answers = [await _post(http, token, session, message) for token in tokens]
    assert [answer.status_code for answer in answers] == [200, 404]


async def _post(
    http: httpx2.AsyncClient, token: str, headers: dict[str, str], message: Json
) -> httpx2.Response:
    sent = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream", **headers}
    return await http.post("/mcp", json=message, headers=sent)


def _initialize(version: str = "2025-11-25") -> Json:
    about = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": about}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


# --- revisions


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
async def test_every_revision_that_begins_with_a_handshake_is_spoken(
    hub: Hub, served: Served, channel: Channel, version: str
) -> None:
    token = await hub.access.issue(Grant(channel.id))
    async with httpx2.AsyncClient(base_url=served.url, timeout=60) as http:
        opened = await _post(http, token, {}, _initialize(version))
        result = _result(opened.text)
        assert result["protocolVersion"] == version
        assert result["capabilities"]["tools"] == {"listChanged": True}
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": version}
        call = {"name": "search_channels", "arguments": {}}
        message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        assert channel.id in json.dumps(_result((await _post(http, token, session, message)).text))


def _result(text: str) -> Any:
    data = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
    return json.loads([one for one in data if one.strip()][-1])["result"]


def test_the_bridge_knows_the_revisions_of_the_sdk() -> None:
    known: Sequence[Sequence[str]] = (words.HANDSHAKE_VERSIONS, words.MODERN_VERSIONS)
    assert known == (HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS)


async def test_an_unknown_method_is_the_protocols_own_error(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(MCPError):
            await client.list_prompts()
