"""What can be asked of a connection, with real servers: tools, resources, prompts, completion."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from manyhands.errors import InvalidError, UnavailableError
from manyhands.servers.types import ServerStatus
from manyhands.tools.types import ToolResult
from tests.servers.rig import Caller, Rig, plain, running, sdk, web_server

pytestmark = pytest.mark.anyio


async def cancelled_call(rig: Rig, tool: str, **arguments: Any) -> None:
    """Call a tool that never answers, and stop waiting as soon as the server has the call."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: rig.call(tool, **arguments))
        await anyio.wait_all_tasks_blocked()
        await rig.call("echo")
        tasks.cancel_scope.cancel()


async def until_cancelled(rig: Rig) -> list[str]:
    with anyio.fail_after(10):
        while not (found := json.loads((await rig.call("cancelled")).text)):
            pass
    return list(found)


# --- results


@pytest.mark.requirement("L15")
async def test_text_structured_content_and_images_are_all_kept() -> None:
    async with running(plain()) as rig:
        result = await rig.call("mixed")
    assert [block["type"] for block in result.content] == ["text", "image"]
    assert result.content[1]["mimeType"] == "image/png"
    assert result.structured == {"n": 1}
    assert not result.is_error


@pytest.mark.requirement("L15")
async def test_the_error_flag_of_a_result_is_kept() -> None:
    async with running(plain()) as rig:
        result = await rig.call("fail_softly")
    assert result.is_error
    assert result.text == "no such file"


@pytest.mark.requirement("L15")
async def test_a_result_that_does_not_match_its_schema_is_kept_with_a_note() -> None:
    async with running(plain()) as rig:
        result = await rig.call("bad_output")
    assert not result.is_error
    assert result.structured == {"n": "not a number"}
    assert result.content[0]["text"] == "kept"
    assert "does not match the output schema" in result.content[1]["text"]


async def test_an_error_of_the_protocol_becomes_a_result_that_names_server_and_tool() -> None:
    async with running(plain()) as rig:
        result = await rig.call("fail_hard", message="the disk is full")
    assert result.is_error
    for part in ("'plain'", "'fail_hard'", "the disk is full", "-32603", "no luck"):
        assert part in result.text


async def test_an_unknown_tool_is_an_error_result() -> None:
    async with running(plain()) as rig:
        result = await rig.call("nothing_like_it")
    assert result.is_error
    assert result.code == "invalid"
    assert "Unknown tool" in result.text


# --- progress, cancellation, loss


@pytest.mark.parametrize("server", ["plain", "sdk"])
async def test_progress_reaches_the_caller(server: str) -> None:
    caller = Caller()
    async with running(plain() if server == "plain" else sdk()) as rig:
        await rig.call("progress", caller)
        await caller.steps.until(lambda step: step[0] == (2 if server == "plain" else 1))
    assert caller.steps.all[0] == (1, 2, "step 1" if server == "plain" else "half")


@pytest.mark.requirement("L12")
async def test_stopping_a_call_tells_a_stdio_server_and_does_not_end_it() -> None:
    async with running(plain()) as rig:
        await rig.up()
        pid = rig.connection.state.pid
        await cancelled_call(rig, "wait")
        assert len(await until_cancelled(rig)) == 1
        assert (await rig.call("pid")).text == str(pid)


@pytest.mark.parametrize("flags", [("http",), ("http", "--legacy"), ("sse",)])
@pytest.mark.requirement("L12")
async def test_stopping_a_call_tells_a_remote_server_and_does_not_end_it(flags: tuple[str, ...]) -> None:
    async with web_server("--transport", *flags) as server, running(server.target()) as rig:
        await rig.up()
        await cancelled_call(rig, "wait", mark="this one")
        assert await until_cancelled(rig) == ["this one"]
        assert len(rig.opened) == 1


async def test_a_server_that_dies_fails_its_calls_at_once() -> None:
    results: list[ToolResult] = []
    async with running(plain()) as rig:
        await rig.up()

        async def wait() -> None:
            results.append(await rig.call("wait"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await rig.call("die")
    assert results[0].is_error
    assert results[0].code == "unavailable"
    assert "'plain'" in results[0].text
    assert "'wait'" in results[0].text


async def test_calls_run_side_by_side() -> None:
    results: dict[int, str] = {}
    async with running(plain()) as rig:
        await rig.up()

        async def echo(number: int) -> None:
            results[number] = (await rig.call("echo", number=number)).text

        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(echo, number)
    assert results == {number: json.dumps({"number": number}) for number in range(100)}


async def test_a_call_to_a_stopped_connection_says_so() -> None:
    async with running(plain()) as rig:
        await rig.up()
        rig.connection.stop()
        result = await rig.call("echo")
    assert result.is_error
    assert result.code == "unavailable"
    assert "disconnected" in result.text


async def test_a_call_waits_for_a_connection_that_is_being_made() -> None:
    async with running(plain()) as rig:
        assert (await rig.call("echo")).text == "{}"


async def test_one_request_that_breaks_off_costs_that_request_alone() -> None:
    results: list[ToolResult] = []
    async with web_server("--transport", "http") as server, running(server.target()) as rig:
        await rig.up()

        async def wait() -> None:
            results.append(await rig.call("wait"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            broken = await rig.call("hang_up")
            assert broken.is_error
            assert broken.code == "unavailable"
            assert (await rig.call("echo")).text == "{}"
            assert not results
            tasks.cancel_scope.cancel()
        assert len(rig.opened) == 1
        assert rig.connection.state.status is ServerStatus.CONNECTED


# --- sessions of HTTP


@pytest.mark.requirement("L05")
async def test_a_session_that_the_server_has_forgotten_is_renewed_and_the_call_repeated_once() -> None:
    flags = ("--transport", "http", "--legacy")
    async with web_server(*flags) as server, running(server.target()) as rig:
        await rig.up()
        seen = len(rig.states.all)
        await rig.call("forget")
        result = await rig.call("echo", word="again")
        assert result.text == '{"word": "again"}'
        later = [state.status for state in rig.states.all[seen:]]
        assert later == [ServerStatus.CONNECTING, ServerStatus.CONNECTED]
        assert len(rig.opened) == 2


@pytest.mark.requirement("L05")
async def test_many_calls_on_a_forgotten_session_connect_anew_once() -> None:
    flags = ("--transport", "http", "--legacy")
    results: list[ToolResult] = []
    async with web_server(*flags) as server, running(server.target()) as rig:
        await rig.up()
        await rig.call("forget")

        async def echo() -> None:
            results.append(await rig.call("echo"))

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(echo)
        assert [result.text for result in results] == ["{}"] * 10
        assert len(rig.opened) == 2


@pytest.mark.requirement("L05")
async def test_reading_a_resource_survives_a_forgotten_session_too() -> None:
    flags = ("--transport", "http", "--legacy")
    async with web_server(*flags) as server, running(server.target()) as rig:
        await rig.up()
        await rig.call("forget")
        found = await rig.connection.read_resource("note://1")
        assert found["contents"][0]["text"] == "a note"


@pytest.mark.requirement("L05")
async def test_a_call_after_the_server_was_restarted_works() -> None:
    flags = ("--transport", "http", "--legacy")
    async with web_server(*flags) as server, running(server.target()) as rig:
        await rig.up()
        await server.end()
        await server.start_again()
        assert (await rig.call("echo")).text == "{}"


async def test_a_token_that_is_no_longer_good_asks_for_a_sign_in() -> None:
    flags = ("--transport", "http", "--token", "old")
    async with web_server(*flags) as server, running(server.target(token="old")) as rig:
        await rig.up()
        await server.end()
        server.flags = ("--transport", "http", "--token", "new")
        await server.start_again()
        result = await rig.call("echo")
        assert result.code == "needs_auth"
        await rig.status(ServerStatus.NEEDS_AUTH)


# --- resources, prompts, completion


async def test_resources_prompts_and_completions_come_as_wire_json() -> None:
    async with running(plain()) as rig:
        await rig.up()
        resource = await rig.connection.read_resource("note://7")
        prompt = await rig.connection.get_prompt("prompt_1", {"topic": "tea"})
        completion = await rig.connection.complete(
            "prompt", "prompt_1", {"name": "topic", "value": "te"}, {"tone": "dry"}
        )
    assert resource["contents"] == [{"uri": "note://7", "text": "a note"}]
    sent = json.loads(prompt["messages"][0]["content"]["text"])
    assert sent == {"name": "prompt_1", "arguments": {"topic": "tea"}}
    assert completion["completion"]["values"] == ["te!"]


async def test_a_resource_that_is_not_there_is_named() -> None:
    async with running(plain()) as rig:
        with pytest.raises(InvalidError, match=r"'plain'.*odd://1.*Unknown resource"):
            await rig.connection.read_resource("odd://1")


async def test_reading_from_a_server_that_does_not_come_up_says_why() -> None:
    async with running(plain("--die", "4")) as rig:
        with pytest.raises(UnavailableError, match="exit code 4"):
            await rig.connection.read_resource("note://1")


async def test_a_server_of_an_unknown_version_is_told_with_that_version() -> None:
    async with running(plain("--protocol", "1999-01-01")) as rig:
        with pytest.raises(UnavailableError, match="it speaks version '1999-01-01' of MCP"):
            await rig.up()


@pytest.mark.parametrize("legacy", [False, True])
async def test_changes_of_a_watched_resource_are_told_also_after_a_restart(legacy: bool) -> None:
    async with running(sdk("--legacy") if legacy else sdk()) as rig:
        await rig.up()
        await rig.connection.subscribe("note://1")
        await rig.call("touch", uri="note://1")
        await rig.updates.until(lambda uri: uri == "note://1")
        seen, told = len(rig.states.all), len(rig.updates.all)
        await rig.call("die")
        await rig.status(ServerStatus.CONNECTED, after=seen)
        await rig.connection.subscribe("note://2")
        await rig.call("touch", uri="note://1")
        await rig.updates.until(lambda uri: uri == "note://1", after=told)


async def test_a_resource_that_is_no_longer_watched_is_not_told() -> None:
    async with running(sdk()) as rig:
        await rig.up()
        await rig.connection.subscribe("note://1")
        await rig.connection.subscribe("note://2")
        await rig.connection.unsubscribe("note://1")
        await rig.call("touch", uri="note://1")
        await rig.call("touch", uri="note://2")
        await rig.updates.until(lambda uri: uri == "note://2")
        assert "note://1" not in rig.updates.all


async def test_a_server_that_tells_no_changes_of_resources_says_so() -> None:
    async with running(plain("--without", "resources")) as rig:
        with pytest.raises(InvalidError, match="does not tell"):
            await rig.connection.subscribe("note://1")


@pytest.mark.parametrize("legacy", [False, True])
async def test_what_a_server_logs_is_told(legacy: bool) -> None:
    async with running(sdk("--legacy") if legacy else sdk()) as rig:
        await rig.call("log")
        message = await rig.logs.until(lambda message: True)
    assert (message.level, message.logger, message.data) == ("warning", "sdk", "careful")
