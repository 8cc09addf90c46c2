"""Servers over HTTP, with a real one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest

from tests.api.conftest import HAND, Served, appear

pytestmark = pytest.mark.anyio

FIELDS = """
    id name transport command args env cwd url headers enabled trust tool_timeout connect_timeout parallel
    status error tool_count version protocol capabilities instructions pid
"""
SHAPE = set(FIELDS.split())
MASK = "••••••"


async def add(client: httpx2.AsyncClient, **config: Any) -> dict[str, Any]:
    answer = await client.post("/api/servers", json={**HAND, **config})
    assert answer.status_code == 201, answer.text
    outcome: dict[str, Any] = answer.json()
    assert outcome["ok"], outcome
    server: dict[str, Any] = outcome["server"]
    return server


async def test_a_server_is_saved_connected_and_shown(client: httpx2.AsyncClient) -> None:
    server = await add(client)
    assert server.keys() >= SHAPE
    assert (server["status"], server["tool_count"], server["trust"]) == ("connected", 6, "ask")
    assert server["pid"]
    listed = (await client.get("/api/servers")).json()
    assert [one["id"] for one in listed["items"]] == [server["id"]]
    assert (await client.get(f"/api/servers/{server['id']}")).json()["name"] == "hand"


async def test_a_server_that_does_not_connect_is_kept_and_says_why(client: httpx2.AsyncClient) -> None:
    body = {"name": "broken", "command": sys.executable, "args": ["-c", "import sys; sys.exit('no licence')"]}
    answer = await client.post("/api/servers", json=body)
    outcome = answer.json()
    assert (answer.status_code, outcome["ok"]) == (201, False)
    assert outcome["error"]
    assert outcome["server"]["status"] == "error"
    log = (await client.get(f"/api/servers/{outcome['server']['id']}/log")).json()
    assert "no licence" in log["text"]
    assert log["exit_code"] == 1


async def test_a_name_that_exists_is_replaced(client: httpx2.AsyncClient) -> None:
    first = await add(client)
    second = await add(client, trust="full")
    assert second["id"] == first["id"]
    assert second["pid"] != first["pid"]
    assert len((await client.get("/api/servers")).json()["items"]) == 1


@pytest.mark.requirement("L28")
async def test_secrets_come_back_masked_and_a_mask_sent_back_is_kept(client: httpx2.AsyncClient) -> None:
    server = await add(client, env={"API_KEY": "swordfish-123"})
    assert server["env"] == {"API_KEY": MASK}
    for path in ("", f"/{server['id']}", "/export"):
        assert "swordfish" not in (await client.get(f"/api/servers{path}")).text
    answer = await client.put(f"/api/servers/{server['id']}", json={**server, "tool_timeout": 5000})
    changed = answer.json()["server"]
    assert (answer.status_code, changed["tool_timeout"], changed["env"]) == (200, 5000, {"API_KEY": MASK})
    said = await client.post(
        "/api/tools/call", json={"server": "hand", "tool": "echo", "arguments": {"text": "hi"}}
    )
    assert said.json()["result"] == "hi"


async def test_connect_disconnect_enable_disable_and_reconnect_answer_with_the_outcome(
    client: httpx2.AsyncClient,
) -> None:
    server = await add(client)
    path = f"/api/servers/{server['id']}"
    expected = {
        "disconnect": "disconnected",
        "connect": "connected",
        "disable": "disabled",
        "enable": "connected",
    }
    for action, status in expected.items():
        outcome = (await client.post(f"{path}/{action}")).json()
        assert (outcome["ok"], outcome["server"]["status"]) == (True, status), action
    again = (await client.post(f"{path}/reconnect")).json()
    assert again["server"]["pid"] != server["pid"]
    everybody = (await client.post("/api/servers/reconnect-all")).json()
    assert [outcome["ok"] for outcome in everybody["items"]] == [True]


async def test_not_waiting_answers_at_once(client: httpx2.AsyncClient) -> None:
    silent = {"name": "silent", "command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]}
    answer = await client.post("/api/servers?wait=false", json=silent)
    assert answer.json()["ok"] is True
    assert answer.json()["server"]["status"] in ("connecting", "disconnected")
    await client.delete(f"/api/servers/{answer.json()['server']['id']}")


async def test_a_removed_server_is_gone(client: httpx2.AsyncClient) -> None:
    server = await add(client)
    assert (await client.delete(f"/api/servers/{server['id']}")).status_code == 204
    assert (await client.get(f"/api/servers/{server['id']}")).status_code == 404
    assert (await client.get("/api/servers")).json()["items"] == []


async def test_a_server_can_be_tried_before_it_is_saved(client: httpx2.AsyncClient) -> None:
    report = (await client.post("/api/servers/test", json=HAND)).json()
    assert report["ok"]
    assert "echo" in report["tools"]
    assert (await client.get("/api/servers")).json()["items"] == []
    server = await add(client)
    saved = (await client.post("/api/servers/test", json={"id": server["id"]})).json()
    assert saved["ok"]
    assert (await client.post("/api/servers/test", json={"id": "x"})).status_code == 422


async def test_a_client_that_hangs_up_ends_its_trial_of_a_server(served: Served, tmp_path: Path) -> None:
    mute = (
        "import pathlib, sys; pathlib.Path('begun').touch(); sys.stdin.read(); pathlib.Path('ended').touch()"
    )
    body = {"name": "mute", "command": sys.executable, "args": ["-c", mute], "cwd": str(tmp_path)}
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                async with httpx2.AsyncClient(headers=served.headers, timeout=None) as asking:
                    await asking.post(
                        f"{served.url}/api/servers/test", json={**body, "connect_timeout": 600_000}
                    )

            group.start_soon(ask)
            await anyio.to_thread.run_sync(appear, tmp_path / "begun")
            group.cancel_scope.cancel()
        await anyio.to_thread.run_sync(appear, tmp_path / "ended")


async def test_the_json_of_other_clients_is_taken_over_and_given_back(client: httpx2.AsyncClient) -> None:
    config = {
        "mcpServers": {"hand": {key: HAND[key] for key in ("command", "args")}, "odd": {"colour": "red"}}
    }
    rehearsed = (await client.post("/api/servers/import", json={"config": config, "dry_run": True})).json()
    assert [item["action"] for item in rehearsed["items"]] == ["added", "skipped"]
    assert rehearsed["items"][0]["config"]["command"] == sys.executable
    assert rehearsed["items"][1]["config"] is None
    assert (await client.get("/api/servers")).json()["items"] == []
    report = (await client.post("/api/servers/import", json={"text": json.dumps(config)})).json()
    hand, odd = report["items"]
    assert (hand["ok"], hand["server"]["status"]) == (True, "connected")
    assert (odd["ok"], odd["server"]) == (False, None)
    assert odd["error"]
    exported = (await client.get("/api/servers/export")).json()
    assert exported["mcpServers"]["hand"]["command"] == sys.executable
    assert (await client.get("/api/servers/export?name=hand")).json() == exported
    assert (await client.get("/api/servers/export?name=hand&name=foot")).status_code == 404
    both = await client.post("/api/servers/import", json={"text": "{}", "config": {}})
    assert both.status_code == 422


async def rules_of(client: httpx2.AsyncClient) -> list[tuple[str, str | None, str | None]]:
    rules = (await client.get("/api/rules")).json()["items"]
    return [(rule["effect"], rule["server"], rule["tool"]) for rule in rules]


async def test_rules_go_with_a_renamed_server_and_not_to_the_next_one_of_its_name(
    client: httpx2.AsyncClient,
) -> None:
    server = await add(client)
    for rule in (
        {"effect": "deny", "server": "hand", "tool": "echo"},
        {"effect": "allow", "tool": "mcp__hand__add"},
    ):
        assert (await client.post("/api/rules", json=rule)).status_code == 201
    answer = await client.put(f"/api/servers/{server['id']}", json={"name": "other"})
    assert answer.json()["server"]["name"] == "other"
    assert await rules_of(client) == [("allow", None, "mcp__other__add"), ("deny", "other", "echo")]
    call = {"name": "mcp__other__echo", "arguments": {"text": "x"}}
    assert (await client.post("/api/tools/call", json=call)).json()["status"] == "denied"
    await add(client)
    call = {"name": "mcp__hand__echo", "arguments": {"text": "x"}}
    assert (await client.post("/api/tools/call", json=call)).json()["status"] == "success"
    assert (await client.delete(f"/api/servers/{server['id']}")).status_code == 204
    assert await rules_of(client) == [("deny", "other", "echo")]


@pytest.mark.requirement("L29")
async def test_a_file_with_the_wrong_top_key_is_refused_by_name(client: httpx2.AsyncClient) -> None:
    body = {"text": '{"mcp_servers": {}}', "source": "my-file.json"}
    answer = await client.post("/api/servers/import", json=body)
    assert answer.status_code == 422
    assert "mcp_servers" in answer.text
    assert "my-file.json" in answer.text


async def test_a_name_that_cannot_be_told_apart_is_refused(client: httpx2.AsyncClient) -> None:
    for name in ("with__two", "123", "  "):
        answer = await client.post("/api/servers", json={**HAND, "name": name})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), name


async def test_a_servers_tools_have_preferences(client: httpx2.AsyncClient) -> None:
    server = await add(client)
    path = f"/api/servers/{server['id']}/tools"
    listed = (await client.get(path)).json()
    assert {tool["name"] for tool in listed["items"]} >= {"echo", "fail", "wait"}
    kept = (await client.patch(f"{path}/echo", json={"enabled": False, "policy": "deny"})).json()
    assert kept == {"tool": "echo", "enabled": False, "policy": "deny"}
    echo = next(tool for tool in (await client.get(path)).json()["items"] if tool["name"] == "echo")
    assert (echo["enabled"], echo["offered"], echo["policy"]) == (False, False, "deny")
    assert (await client.patch(f"{path}/nothing", json={"enabled": True})).status_code == 404
    assert (await client.patch(f"{path}/echo", json={"policy": "perhaps"})).status_code == 422
    assert (await client.post(f"{path}/echo/accept")).status_code == 204


@pytest.mark.parametrize(
    ("area", "field", "found"),
    [("resources", "uri", ["note://one"]), ("prompts", "name", ["greet"]), ("skills", "name", [])],
)
async def test_the_other_lists_are_pages_too(
    client: httpx2.AsyncClient, area: str, field: str, found: list[str]
) -> None:
    server = await add(client)
    answer = (await client.get(f"/api/servers/{server['id']}/{area}")).json()
    assert [item[field] for item in answer["items"]] == found
    assert answer["next_cursor"] is None


async def test_a_local_server_has_no_sign_in(client: httpx2.AsyncClient) -> None:
    server = await add(client)
    answer = await client.post(f"/api/servers/{server['id']}/login")
    assert answer.status_code in (409, 422)
    assert answer.json()["detail"]


async def test_a_browser_with_an_unknown_state_learns_that_the_sign_in_failed(
    anonymous: httpx2.AsyncClient,
) -> None:
    answer = await anonymous.get("/api/servers/login/callback?state=<script>&code=1")
    assert answer.status_code in (403, 404, 422)
    assert answer.headers["content-type"].startswith("text/html")
    assert "<script>" not in answer.text


async def test_servers_of_a_channel_are_those_that_it_can_see(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    server = await add(client)
    channel = (await client.post("/api/channels", json={"dir_path": str(tmp_path)})).json()
    seen = (await client.get("/api/servers", params={"channel_id": channel["id"]})).json()
    assert [one["id"] for one in seen["items"]] == [server["id"]]
    assert (await client.get("/api/servers?channel_id=ch_nothing")).status_code == 404
