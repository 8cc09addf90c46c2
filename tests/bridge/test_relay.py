"""What passes through the bridge in both eras: requests, progress, cancellation, pushes, questions."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.lowlevel.server import Server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from sse_starlette import sse

from manyhands.api.serving import HttpServer
from tests.bridge.conftest import MODES, Mode, api_of, by_hand, under_sdk
from tests.cli.conftest import CommandLine, running_daemon, until

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", MODES)
async def test_the_sdks_client_lists_and_calls_over_stdio(
    served: CommandLine, project: Path, mode: Mode
) -> None:
    async with under_sdk(served, mode, "--dir", str(project)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "send_message" in names
        result = await client.call_tool("search_channels", {})
        assert [one["dir_path"] for one in result.structured_content["channels"]] == [str(project)]
        many = [{"content": f"message {number}: é\u2028"} for number in range(20)]
        async with anyio.create_task_group() as group:
            for arguments in many:
                group.start_soon(client.call_tool, "send_message", arguments)
        channel_id = result.structured_content["channels"][0]["id"]
    said = api_of(served).request("GET", f"/channels/{channel_id}/messages")["items"]
    assert {one["content"] for one in said} == {one["content"] for one in many}


@pytest.mark.parametrize("mode", MODES)
async def test_progress_passes(served: CommandLine, project: Path, mode: Mode) -> None:
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with under_sdk(served, mode, "--dir", str(project), "--gateway") as client:
        result = await client.call_tool("mcp__hand__count", {"to": 3}, progress_callback=hear)
    assert not result.is_error
    assert told


@pytest.mark.parametrize("mode", MODES)
async def test_a_cancelled_call_is_cancelled_at_its_server(
    served: CommandLine, project: Path, mode: Mode
) -> None:
    file = project / "stopped"
    api = api_of(served)
    async with under_sdk(served, mode, "--dir", str(project), "--gateway") as client:
        await client.list_tools()
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "mcp__hand__wait", {"file": str(file)})
            await anyio.to_thread.run_sync(until, lambda: _pending(api))
            group.cancel_scope.cancel()
        await anyio.to_thread.run_sync(until, file.exists)
        assert not (await client.call_tool("search_channels", {})).is_error


def _pending(api: Any) -> Any:
    return api.request("GET", "/tool-calls?status=pending")["items"]


# --- a server that asks back


FORM: dict[str, Any] = {"type": "object", "properties": {"colour": {"type": "string"}}}
QUESTION = "Which colour?"


async def _list(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="paint", input_schema={"type": "object"})])


async def _paint(context: Any, params: types.CallToolRequestParams) -> Any:
    """Asks in the way of the caller's revision: by a request of its own, or by an answer that wants more."""
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        answer = await context.session.elicit_form(QUESTION, FORM, related_request_id=context.request_id)
    elif params.input_responses is None:
        asked = types.ElicitRequestFormParams(message=QUESTION, requested_schema=FORM)
        return types.InputRequiredResult(
            input_requests={"colour": types.ElicitRequest(params=asked)}, request_state="s"
        )
    else:
        answer = types.ElicitResult.model_validate(dict(params.input_responses["colour"]))
    text = f"painted {answer.content['colour']}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


@pytest.fixture
async def asking(anyio_backend: str) -> AsyncIterator[str]:
    """The address of a server that asks the client's person; the hub's own asks in its inbox instead."""
    server = Server[Any]("asking", on_call_tool=_paint, on_list_tools=_list)
    app = server.streamable_http_app()
    sse._get_shutdown_state().watcher_started = True  # else it leaves a task behind
    with socket.create_server(("127.0.0.1", 0)) as listener:
        http = HttpServer(app, grace_s=1)
        async with anyio.create_task_group() as group, server.session_manager.run():
            group.start_soon(http.serve_on, listener)
            await http.listening.wait()
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            http.stop()
            await http.stopped.wait()


async def _answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"colour": "blue"})


@pytest.mark.parametrize("mode", MODES)
async def test_questions_pass_both_ways(
    cli: CommandLine, asking: str, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--channel-id", "any", "--api-url", asking)
    monkeypatch.setenv("MANYHANDS_TOKEN", "mha_any")
    async with under_sdk(cli, mode, *options, elicitation_callback=_answer) as client:
        result = await client.call_tool("paint", {})
    assert _text(result) == "painted blue"


def _text(result: Any) -> str:
    return str(result.content[0].text)


# --- pushes


@pytest.mark.parametrize("mode", MODES)
async def test_a_change_of_the_tools_is_pushed(served: CommandLine, project: Path, mode: Mode) -> None:
    api = api_of(served)
    heard = anyio.Event()

    async def hear(message: Any) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            heard.set()

    async def change() -> None:
        broken = {"name": f"broken-{mode}", "command": str(project / "none")}
        await anyio.to_thread.run_sync(api.request, "POST", "/servers", broken)

    async with under_sdk(served, mode, "--dir", str(project), "--gateway", message_handler=hear) as client:
        await client.list_tools()
        with anyio.fail_after(60):
            if mode == "legacy":
                while not heard.is_set():
                    await change()
                return
            await _listen(client, change)


async def _listen(client: Client, change: Any) -> None:
    async with client.listen(tools_list_changed=True) as changes:
        await change()
        async for _ in changes:
            return


async def test_a_subscription_outlives_the_daemon(cli: CommandLine, project: Path) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    wanted = {"notifications": {"toolsListChanged": True}, "_meta": meta}
    with by_hand(cli, "--dir", str(project), "--gateway") as bridge:
        with running_daemon(cli):
            bridge.send({"id": "s", "method": "subscriptions/listen", "params": wanted})
            bridge.until_notified("notifications/subscriptions/acknowledged")
        with running_daemon(cli):
            params = bridge.until_notified("notifications/tools/list_changed")
            assert params["_meta"]["io.modelcontextprotocol/subscriptionId"] == "s"
