"""Tools, calls, the log and the rules over HTTP, with a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from manyhands.hub import Hub
from manyhands.tools import call_log
from tests.api.conftest import HAND, HAND_SERVER, Served, appear

pytestmark = pytest.mark.anyio

TOOL = {"fullName", "name", "description", "inputSchema", "serverName", "annotations", "offered", "reason"}
FIELDS = """
    id tool server arguments result content structuredContent isError status duration_ms error run_id
    iteration size at
"""
CALL = set(FIELDS.split())


@pytest.fixture
async def hand(client: httpx2.AsyncClient) -> dict[str, Any]:
    outcome: dict[str, Any] = (await client.post("/api/servers", json=HAND)).json()
    assert outcome["ok"], outcome
    server: dict[str, Any] = outcome["server"]
    return server


async def call(client: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await client.post("/api/tools/call", json=body)
    assert answer.status_code == 200, answer.text
    record: dict[str, Any] = answer.json()
    return record


@pytest.mark.requirement("L21")
async def test_every_tool_is_listed_with_whether_it_is_offered_and_why(
    client: httpx2.AsyncClient, hand: dict[str, Any]
) -> None:
    tools = (await client.get("/api/tools")).json()["items"]
    by_name = {tool["fullName"]: tool for tool in tools}
    assert all(tool.keys() >= TOOL for tool in tools)
    assert by_name["mcp__hand__echo"]["offered"]
    assert by_name["mcp__hand__echo"]["serverName"] == "hand"
    assert not by_name["write_file"]["offered"]
    assert "director" in by_name["write_file"]["reason"]
    await client.post(f"/api/servers/{hand['id']}/disconnect")
    after = {tool["fullName"]: tool for tool in (await client.get("/api/tools")).json()["items"]}
    assert not after["mcp__hand__echo"]["offered"]
    assert "disconnect" in after["mcp__hand__echo"]["reason"]


async def test_the_list_of_tools_is_paged_and_can_be_of_one_server(
    client: httpx2.AsyncClient, hand: dict[str, Any]
) -> None:
    everything = [tool["fullName"] for tool in (await client.get("/api/tools")).json()["items"]]
    paged, cursor = [], None
    while True:
        page = (
            await client.get("/api/tools", params={"limit": 4, **({"cursor": cursor} if cursor else {})})
        ).json()
        paged += [tool["fullName"] for tool in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert paged == everything
    hands = (await client.get("/api/tools?server=hand")).json()["items"]
    assert {tool["serverName"] for tool in hands} == {"hand"}


@pytest.mark.parametrize(
    "name",
    [{"name": "mcp__hand__echo"}, {"server": "hand", "tool": "echo"}, {"server": 1, "tool": "echo"}],
)
async def test_a_tool_is_called_by_name_or_by_server_and_tool(
    client: httpx2.AsyncClient, hand: dict[str, Any], name: dict[str, Any]
) -> None:
    record = await call(client, **name, arguments={"text": "hello"})
    assert record.keys() >= CALL
    assert (record["result"], record["status"], record["isError"]) == ("hello", "success", False)
    assert (record["tool"], record["server"]) == ("echo", "hand")
    assert record["content"] == [{"type": "text", "text": "hello"}]
    assert (await client.get(f"/api/tool-calls/{record['id']}")).json() == record


async def test_a_tool_that_fails_is_an_answer_not_an_error(
    client: httpx2.AsyncClient, hand: dict[str, Any]
) -> None:
    failed = await call(client, name="mcp__hand__fail")
    assert (failed["isError"], failed["status"]) == (True, "error")
    wrong = await call(client, name="mcp__hand__echo", arguments={"text": 5})
    assert (wrong["isError"], wrong["code"]) == (True, "invalid_arguments")
    assert "text" in wrong["result"]


async def test_a_call_of_nothing_is_refused(client: httpx2.AsyncClient, hand: dict[str, Any]) -> None:
    unknown = await client.post("/api/tools/call", json={"name": "mcp__hand__ehco"})
    assert unknown.status_code == 404
    assert "mcp__hand__echo" in unknown.json()["hint"]
    assert (await client.post("/api/tools/call", json={"server": "nobody", "tool": "t"})).status_code == 404
    for body in (
        {},
        {"tool": "echo"},
        {"name": "a", "server": "b", "tool": "c"},
        {"name": "a", "arguments": []},
    ):
        assert (await client.post("/api/tools/call", json=body)).status_code == 422, body


async def never_connected(client: httpx2.AsyncClient, script: Path) -> dict[str, Any]:
    """A server whose program comes only after it was saved, so that nobody has read its tools."""
    late = {"name": "late", "command": HAND["command"], "args": [str(script)]}
    outcome: dict[str, Any] = (await client.post("/api/servers", json=late)).json()
    assert not outcome["ok"]
    await anyio.Path(script).write_text(HAND_SERVER.read_text())
    server: dict[str, Any] = outcome["server"]
    return server


async def test_a_call_connects_a_server_that_has_never_been_connected(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    await never_connected(client, tmp_path / "late.py")
    record = await call(client, name="mcp__late__echo", arguments={"text": "at last"})
    assert (record["result"], record["tool"], record["server"]) == ("at last", "echo", "late")


async def test_a_wrong_tool_of_a_server_that_has_never_been_connected_names_those_it_has(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    server = await never_connected(client, tmp_path / "late.py")
    answer = await client.post("/api/tools/call", json={"server": server["id"], "tool": "sing"})
    assert answer.status_code == 404
    assert answer.json()["hint"].startswith("Server late has mcp__late__echo, mcp__late__fail, ")


async def test_a_call_connects_nothing_that_a_person_has_disconnected(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    server = await never_connected(client, tmp_path / "late.py")
    await client.post(f"/api/servers/{server['id']}/disconnect")
    record = await call(client, name="mcp__late__echo", arguments={"text": "x"})
    assert (record["isError"], record["code"]) == (True, "unavailable")
    assert "manyhands servers connect late" in record["result"]
    assert (await client.get(f"/api/servers/{server['id']}")).json()["status"] == "disconnected"


async def test_a_native_tool_works_in_the_directory_of_its_channel(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "note.txt").write_text("remember")
    channel = (await client.post("/api/channels", json={"dir_path": str(project)})).json()
    record = await call(client, name="read_file", arguments={"path": "note.txt"}, channel_id=channel["id"])
    assert "remember" in record["result"]
    same = await call(
        client, server="native", tool="read_file", arguments={"path": "note.txt"}, channel_id=channel["id"]
    )
    assert same["result"] == record["result"]


@pytest.mark.requirement("L12")
async def test_a_client_that_hangs_up_cancels_its_call_and_the_server_is_told(
    served: Served, client: httpx2.AsyncClient, hand: dict[str, Any], tmp_path: Path, hub: Hub
) -> None:
    told = tmp_path / "told"
    body = {"name": "mcp__hand__wait", "arguments": {"file": str(told)}}
    async with hub.bus.subscribe() as events:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:

                async def ask() -> None:
                    async with httpx2.AsyncClient(headers=served.headers, timeout=None) as asking:
                        await asking.post(f"{served.url}/api/tools/call", json=body)

                group.start_soon(ask)
                while (await anext(events)).type != "tool.started":
                    pass
                group.cancel_scope.cancel()
            while (event := await anext(events)).type != "tool.finished":
                pass
            await anyio.to_thread.run_sync(appear, told)
    assert event.data["status"] == "cancelled"
    [record] = (await client.get("/api/tool-calls?status=cancelled")).json()["items"]
    assert record["tool"] == "wait"


async def test_calls_beyond_the_limit_wait_outside(
    client: httpx2.AsyncClient, hand: dict[str, Any], hub: Hub, tmp_path: Path
) -> None:
    crowds = client._transport.app.state.crowds  # type: ignore[attr-defined]
    crowds.calls._limit = 1
    body = {"name": "mcp__hand__wait", "arguments": {"file": str(tmp_path / "told")}}
    async with anyio.create_task_group() as group, hub.bus.subscribe() as events:
        group.start_soon(lambda: client.post("/api/tools/call", json=body))
        while (await anext(events)).type != "tool.started":
            pass
        answer = await client.post("/api/tools/call", json=body)
        group.cancel_scope.cancel()
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many")
    assert answer.headers["retry-after"]


async def test_the_log_is_filtered_searched_and_paged(
    client: httpx2.AsyncClient, hand: dict[str, Any]
) -> None:
    for text in ("Apple", "pear", "100% apple"):
        await call(client, name="mcp__hand__echo", arguments={"text": text})
    await call(client, name="mcp__hand__fail")

    async def found(**query: str) -> list[str]:
        page = (await client.get("/api/tool-calls", params=query)).json()
        return [record["arguments"].get("text", record["tool"]) for record in page["items"]]

    assert await found() == ["fail", "100% apple", "pear", "Apple"]
    assert await found(status="error") == ["fail"]
    assert await found(tool="echo", server="hand") == ["100% apple", "pear", "Apple"]
    assert await found(q="apple") == ["100% apple", "Apple"]
    assert await found(q="0% a") == ["100% apple"]
    assert await found(server="nobody") == []
    assert await found(run="run_x") == []
    first = (await client.get("/api/tool-calls?limit=3")).json()
    rest = (await client.get("/api/tool-calls", params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert [record["arguments"] for record in rest["items"]] == [{"text": "Apple"}]
    assert rest["next_cursor"] is None
    assert (await client.get("/api/tool-calls/call_nothing")).status_code == 404


async def test_a_search_looks_through_a_bounded_part_of_the_log_at_a_time(
    client: httpx2.AsyncClient, hand: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_log, "SEARCHED_ROWS", 3)
    for text in ("needle 1", "a", "b", "c", "d", "needle 2", "e"):
        await call(client, name="mcp__hand__echo", arguments={"text": text})
    found: list[str] = []
    sizes: list[int] = []
    query: dict[str, str] = {"q": "needle"}
    while True:
        page = (await client.get("/api/tool-calls", params=query)).json()
        found += [record["arguments"]["text"] for record in page["items"]]
        sizes.append(len(page["items"]))
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert found == ["needle 2", "needle 1"]
    assert sizes == [1, 0, 1]


@pytest.mark.requirement("L16")
async def test_a_large_result_is_read_page_by_page(client: httpx2.AsyncClient, hand: dict[str, Any]) -> None:
    text = "".join(f"line {number} ü\n" for number in range(10_000))
    record = await call(client, name="mcp__hand__echo", arguments={"text": text})
    assert len(record["result"]) < len(text)
    assert record["size"] >= len(text)
    read = ""
    offset: int | None = 0
    while offset is not None:
        page = (
            await client.get(
                f"/api/tool-calls/{record['id']}/result", params={"offset": offset, "limit": 50_000}
            )
        ).json()
        read += page["text"]
        offset = page["next_offset"]
    assert read == text


async def test_tools_are_found_by_what_one_wants_to_do(
    client: httpx2.AsyncClient, hand: dict[str, Any]
) -> None:
    found = (await client.get("/api/tools/search", params={"q": "asks the person"})).json()["items"]
    assert found[0]["fullName"] == "mcp__hand__ask"
    assert found[0]["score"] > 0
    assert (await client.get("/api/tools/search?q=")).status_code == 422


@pytest.mark.requirement("L21")
async def test_why_says_everything_that_decides_about_a_tool(
    client: httpx2.AsyncClient, hand: dict[str, Any]
) -> None:
    why = (await client.get("/api/tools/why", params={"name": "mcp__hand__echo"})).json()
    assert (why["fullName"], why["offered"], why["server"]) == ("mcp__hand__echo", True, "hand")
    assert why["decision"]["effect"] == "ask"
    unknown = (await client.get("/api/tools/why", params={"name": "mcp__hand__nothing"})).json()
    assert unknown["exists"] is False
    assert unknown["reason"]


async def test_rules_are_added_listed_and_revoked(client: httpx2.AsyncClient, hand: dict[str, Any]) -> None:
    body = {"effect": "deny", "server": "hand", "tool": "ec*", "note": "too loud"}
    made = await client.post("/api/rules", json=body)
    assert made.status_code == 201
    rule = made.json()
    assert {name: rule[name] for name in body} == body
    assert (await client.get("/api/rules")).json()["items"] == [rule]
    why = (await client.get("/api/tools/why", params={"name": "mcp__hand__echo"})).json()
    assert why["decision"]["rule_id"] == rule["id"]
    assert (await client.delete(f"/api/rules/{rule['id']}")).status_code == 204
    assert (await client.delete(f"/api/rules/{rule['id']}")).status_code == 404
    assert (await client.post("/api/rules", json={"effect": "perhaps"})).status_code == 422
    unclear = await client.post("/api/rules", json={"effect": "allow", "tool": "echo"})
    assert (unclear.status_code, "server" in unclear.json()["hint"]) == (422, True)


@pytest.mark.requirement("L18")
@pytest.mark.requirement("L21")
async def test_why_says_how_a_tool_goes_out_to_the_model(
    client: httpx2.AsyncClient, hand: dict[str, Any]
) -> None:
    query = {"name": "mcp__hand__echo"}
    base = {"provider": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "default": True}
    plain = (await client.post("/api/models", json={"name": "plain", "model": "m", **base})).json()
    model = (await client.get("/api/tools/why", params=query)).json()["model"]
    assert model == {"id": plain["id"], "name": "plain", "sent": True, "repairs": []}
    await client.patch(f"/api/models/{plain['id']}", json={"tool_call": 0})
    model = (await client.get("/api/tools/why", params=query)).json()["model"]
    assert not model["sent"]
    assert "tool_call" in model["repairs"][0]


async def test_a_native_tool_is_switched_and_given_a_policy_by_rules(client: httpx2.AsyncClient) -> None:
    async def listed() -> dict[str, Any]:
        tools = (await client.get("/api/tools", params={"server": "native"})).json()["items"]
        found: dict[str, Any] = next(tool for tool in tools if tool["name"] == "fetch_url")
        return found

    before = await listed()
    assert (before["enabled"], before["policy"], before["saysOpenWorld"]) == (True, None, True)
    assert before["tokens"] > 20
    for _ in range(2):  # twice is as once
        answer = await client.patch("/api/tools/fetch_url", json={"enabled": False, "policy": "allow"})
        assert answer.json() == {"tool": "fetch_url", "enabled": False, "policy": "allow"}
    assert (await listed())["reason"] == "this tool is switched off"
    assert len((await client.get("/api/rules")).json()["items"]) == 2
    answer = await client.patch("/api/tools/fetch_url", json={"enabled": True, "policy": "default"})
    assert answer.json() == {"tool": "fetch_url", "enabled": True, "policy": None}
    assert (await client.get("/api/rules")).json()["items"] == []
    assert (await listed()) == before
    assert (await client.patch("/api/tools/nothing", json={"enabled": False})).status_code == 404
