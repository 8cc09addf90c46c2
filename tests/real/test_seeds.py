"""What was promised of the loop, each promise as a test: with real servers, and a model that does as told."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from manyhands import Hub
from manyhands.chat.types import RunOptions, RunStatus
from manyhands.errors import InvalidError, ManyhandsError
from manyhands.models.types import TextDelta
from manyhands.settings import Settings
from manyhands.testing.scripted import SCRIPTED, Gate, ScriptedModel, calls
from tests.chat.hubs import channel_of, events_of, hub_with
from tests.chat.test_hands import SHELF_SERVER, hub_with_shelf, offered, tool

pytestmark = pytest.mark.anyio

HAND_SERVER = str(Path(__file__).parents[1] / "cli" / "hand_server.py")
NATIVE_TOOLS = 9


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


async def add_hand(hub: Hub, name: str = "hand", **config: Any) -> int:
    outcome = await hub.add_server(name, command=sys.executable, args=[HAND_SERVER], trust="full", **config)
    assert outcome.ok, outcome.error
    return outcome.view.server.id


async def add_shelf(hub: Hub, tmp_path: Path, name: str, *tools: str) -> int:
    shelf = tmp_path / f"{name}.json"
    shelf.write_text(json.dumps({"tools": [tool(one) for one in tools]}))
    outcome = await hub.add_server(
        name, command=sys.executable, args=[SHELF_SERVER, str(shelf)], trust="full"
    )
    assert outcome.ok, outcome.error
    return outcome.view.server.id


# --- how the loop works


async def test_all_enabled_tools_of_connected_servers_are_in_the_request(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with(tmp_path, "ok") as (hub, model):
        await add_shelf(hub, tmp_path, "one", "a", "b")
        await add_shelf(hub, tmp_path, "two", "c")
        await events_of(hub, await channel_of(hub, project), "go")
    names = offered(model.requests[0])
    assert {"mcp__one__a", "mcp__one__b", "mcp__two__c"} <= set(names)


async def test_mcp_tools_are_merged_with_the_nine_native_ones(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, "ok") as (hub, model):
        await add_shelf(hub, tmp_path, "one", "a")
        await events_of(hub, await channel_of(hub, project), "go")
    native = [name for name in offered(model.requests[0]) if not name.startswith("mcp__")]
    assert len([name for name in native if name != "read_skill"]) >= NATIVE_TOOLS


async def test_the_model_streams_and_ends_an_iteration_with_its_finish_reason(
    tmp_path: Path, project: Path
) -> None:
    script = [[TextDelta("let "), TextDelta("me see"), calls(("list_directory", {}))], "done"]
    async with hub_with(tmp_path, *script) as (hub, _):
        events = await events_of(hub, await channel_of(hub, project), "go")
    deltas = [event.data["text"] for event in events if event.type == "run.delta"]
    assert deltas[:2] == ["let ", "me see"]
    reasons = [event.data["finish_reason"] for event in events if event.type == "run.iteration"]
    assert reasons == ["tool_calls", "stop"]


async def test_all_calls_of_an_iteration_run_in_parallel(tmp_path: Path, project: Path) -> None:
    meet = {"wait_s": 30}
    script = [calls(("mcp__one__meet", meet), ("mcp__one__meet", meet)), "done"]
    async with hub_with(tmp_path, *script) as (hub, model):
        await add_shelf(hub, tmp_path, "one", "meet")
        await events_of(hub, await channel_of(hub, project), "go")
    results = [turn.text for turn in model.requests[1].turns if turn.role == "tool"]
    assert results == ["met", "met"]


async def test_results_are_appended_as_tool_messages_and_the_model_is_asked_again(
    tmp_path: Path, project: Path
) -> None:
    script = [calls(("mcp__one__a", {"text": "x"})), "done"]
    async with hub_with(tmp_path, *script) as (hub, model):
        await add_shelf(hub, tmp_path, "one", "a")
        end = (await events_of(hub, await channel_of(hub, project), "go"))[-1].data
        roles = [message.role for message in await hub.runs.messages_of(end["id"])]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert [turn.role for turn in model.requests[1].turns] == ["user", "assistant", "tool"]


async def test_a_model_without_tool_calls_gets_no_definitions_and_a_single_pass(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with(tmp_path, "ok", info=replace(SCRIPTED, tool_call=False)) as (hub, model):
        await add_shelf(hub, tmp_path, "one", "a")
        await events_of(hub, await channel_of(hub, project), "go")
    assert [len(request.tools) for request in model.requests] == [0]


async def test_the_log_has_the_original_name_the_server_the_arguments_the_result_and_the_time(
    tmp_path: Path, project: Path
) -> None:
    script = [calls(("mcp__hand__echo", {"text": "hello"})), "done"]
    async with hub_with(tmp_path, *script) as (hub, _):
        await add_hand(hub)
        end = (await events_of(hub, await channel_of(hub, project), "go"))[-1].data
        [call] = await hub.tools.calls_of_run(end["id"])
    assert (call.tool, call.server, call.arguments) == ("echo", "hand", {"text": "hello"})
    assert (call.result, call.status) == ("hello", "success")
    assert call.duration_ms is not None


# --- mcp_max_iterations


def test_iterations_are_ten_by_default_and_between_one_and_fifty() -> None:
    field = Settings.model_json_schema()["properties"]["mcp_max_iterations"]
    assert (field["default"], field["minimum"], field["maximum"]) == (10, 1, 50)


@pytest.mark.parametrize("outside", [0, 51])
async def test_a_limit_of_iterations_outside_its_bounds_is_refused(tmp_path: Path, outside: int) -> None:
    async with hub_with(tmp_path) as (hub, _):
        with pytest.raises(InvalidError, match="mcp_max_iterations"):
            await hub.settings.patch({"mcp_max_iterations": outside})
        assert hub.settings.current.mcp_max_iterations == 10


async def test_the_loop_ends_at_its_limit_of_iterations(tmp_path: Path, project: Path) -> None:
    script = [lambda request: calls(("mcp__one__a", {"text": str(len(request.turns))}))]
    async with hub_with(tmp_path, *script, repeat=True) as (hub, model):
        await add_shelf(hub, tmp_path, "one", "a")
        await hub.settings.patch({"mcp_max_iterations": 3})
        end = (await events_of(hub, await channel_of(hub, project), "go"))[-1].data
    assert (end["status"], end["iterations"], len(model.requests)) == ("max_iterations", 3, 3)


# --- why are my tools not showing up in the model's requests?


async def test_only_tools_of_servers_that_are_connected_are_sent(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, "a", "b", "c") as (hub, model):
        channel_id = await channel_of(hub, project)
        await add_shelf(hub, tmp_path, "one", "a")
        await events_of(hub, channel_id, "go")
        await hub.disconnect("one")
        await events_of(hub, channel_id, "go")
        why = await hub.tools.why("mcp__one__a")
        await hub.connect("one")
        await events_of(hub, channel_id, "go")
    assert ["mcp__one__a" in offered(request) for request in model.requests] == [True, False, True]
    assert "connected" in json.dumps(why)


async def test_only_tools_that_are_enabled_are_sent(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, "a") as (hub, model):
        server_id = await add_shelf(hub, tmp_path, "one", "a", "b")
        await hub.servers.set_preference(server_id, "a", enabled=False)
        await events_of(hub, await channel_of(hub, project), "go")
    names = offered(model.requests[0])
    assert ("mcp__one__a" in names, "mcp__one__b" in names) == (False, True)


async def test_a_tool_switched_off_a_moment_ago_is_refused_and_the_loop_goes_on(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with(tmp_path, calls(("mcp__one__a", {})), "done") as (hub, model):
        server_id = await add_shelf(hub, tmp_path, "one", "a")
        await hub.servers.set_preference(server_id, "a", enabled=False)
        end = (await events_of(hub, await channel_of(hub, project), "go"))[-1].data
    assert end["status"] == "completed"
    assert "switched off" in model.requests[1].turns[-1].text


# --- what happens if a tool call times out?


@pytest.mark.requirement("L11")
async def test_a_call_that_times_out_is_an_error_result_with_the_exact_text_and_the_loop_goes_on(
    tmp_path: Path, project: Path
) -> None:
    waits = ("mcp__hand__wait", {"file": str(tmp_path / "told")})
    async with hub_with(tmp_path, calls(waits, ("mcp__hand__echo", {"text": "hi"})), "done") as (hub, model):
        await add_hand(hub, tool_timeout=1000)
        end = (await events_of(hub, await channel_of(hub, project), "go"))[-1].data
        slow, quick = await hub.tools.calls_of_run(end["id"])
    timed_out, answered = (turn for turn in model.requests[1].turns if turn.role == "tool")
    assert timed_out.text.splitlines()[0] == "Tool execution timed out after 1000ms"
    assert (timed_out.is_error, answered.text) == (True, "hi")
    assert (slow.status, quick.status, end["status"]) == ("timeout", "success", "completed")


# --- can I stop a running agent loop?


@pytest.mark.requirement("L12")
async def test_stop_reaches_every_pending_call_and_the_servers_are_told(
    tmp_path: Path, project: Path
) -> None:
    files = [tmp_path / "first", tmp_path / "second"]
    script = [calls(*(("mcp__hand__wait", {"file": str(file)}) for file in files)), "never"]
    async with hub_with(tmp_path, *script) as (hub, model):
        await add_hand(hub)
        run = await hub.runs.start(await channel_of(hub, project), "go", RunOptions())
        async with hub.bus.subscribe(run.first_seq) as events:
            await _until_written(files, "waiting")
            await hub.runs.cancel(run.id)
            async for event in events:
                if event.type == "run.finished":
                    break
        await _until_written(files, "told to stop")
        record = await hub.call_tool("mcp__hand__echo", {"text": "still here"})
        statuses = [call.status for call in await hub.tools.calls_of_run(run.id)]
    assert event.data["status"] == "cancelled"
    assert statuses == ["cancelled", "cancelled"]
    assert record.result == "still here"
    assert model.left == 1


async def test_stop_ends_a_response_that_is_streaming(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, [TextDelta("…"), Gate(anyio.Event())]) as (hub, model):
        run = await hub.runs.start(await channel_of(hub, project), "go")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "run.delta":
                    await hub.runs.cancel(run.id)
                if event.type == "run.finished":
                    break
        assert (await hub.runs.get(run.id)).status is RunStatus.CANCELLED
    assert model.cancelled == 1


async def _until_written(files: list[Path], words: str) -> None:
    await anyio.to_thread.run_sync(_wait_for, files, words)


def _wait_for(files: list[Path], words: str) -> None:
    """What another process writes."""
    deadline = time.monotonic() + 60
    while not all(file.exists() and file.read_text() == words for file in files):
        assert time.monotonic() < deadline, f"the server did not write {words!r}"
        time.sleep(0.02)


# --- what if a tool name on one server conflicts with a tool on another server?


async def test_the_same_name_on_two_servers_means_two_tools(tmp_path: Path, project: Path) -> None:
    script = [calls(("mcp__one__a", {"text": "1"}), ("mcp__two__a", {"text": "2"})), "done"]
    async with hub_with(tmp_path, *script) as (hub, _):
        await add_shelf(hub, tmp_path, "one", "a")
        await add_shelf(hub, tmp_path, "two", "a")
        end = (await events_of(hub, await channel_of(hub, project), "go"))[-1].data
        logged = await hub.tools.calls_of_run(end["id"])
    assert sorted((call.server, call.tool, call.arguments["text"]) for call in logged) == [
        ("one", "a", "1"),
        ("two", "a", "2"),
    ]


@pytest.mark.parametrize("second", ["my server", "a__b", "3"])
async def test_a_name_that_could_meet_another_one_is_refused(tmp_path: Path, second: str) -> None:
    async with hub_with(tmp_path) as (hub, _):
        await add_shelf(hub, tmp_path, "my-server", "a")
        with pytest.raises(ManyhandsError):
            await hub.add_server(second, command=sys.executable, args=[HAND_SERVER])


async def test_tools_are_sent_and_called_under_the_servers_id_when_that_is_chosen(
    tmp_path: Path, project: Path
) -> None:
    def by_id(request: Any) -> Any:
        return calls((f"mcp__{server_id}__a", {"text": "x"}))

    async with hub_with(tmp_path, by_id, "done") as (hub, model):
        server_id = await add_shelf(hub, tmp_path, "one", "a")
        await hub.settings.patch({"tool_namespace": "id"})
        end = (await events_of(hub, await channel_of(hub, project), "go"))[-1].data
        [call] = await hub.tools.calls_of_run(end["id"])
    assert f"mcp__{server_id}__a" in offered(model.requests[0])
    assert (call.tool, call.server, call.status) == ("a", "one", "success")


async def test_a_tool_can_be_called_under_the_servers_id_whatever_is_chosen(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with(tmp_path) as (hub, _):
        server_id = await add_shelf(hub, tmp_path, "one", "a")
        record = await hub.call_tool(f"mcp__{server_id}__a", {"text": "x"})
    assert (record.tool, record.server) == ("a", "one")


# --- are tool preferences preserved when a server reconnects?


async def test_preferences_are_kept_when_a_server_reconnects_and_new_tools_are_enabled(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with_shelf(tmp_path, [tool("a"), tool("b")], "ok") as (hub, model, shelf):
        server_id = (await hub.servers.by_name("shelf")).server.id
        await hub.servers.set_preference(server_id, "a", enabled=False)
        shelf.write_text(json.dumps({"tools": [tool("a"), tool("b"), tool("new")]}))
        assert (await hub.servers.reconnect(server_id)).ok
        await events_of(hub, await channel_of(hub, project), "go")
    names = {name for name in offered(model.requests[0]) if name.startswith("mcp__")}
    assert names == {"mcp__shelf__b", "mcp__shelf__new"}


async def test_preferences_are_kept_over_a_restart(tmp_path: Path, project: Path) -> None:
    async with hub_with_shelf(tmp_path, [tool("a"), tool("b")]) as (hub, _, _):
        server_id = (await hub.servers.by_name("shelf")).server.id
        await hub.servers.set_preference(server_id, "a", enabled=False)
    model = ScriptedModel(["ok"])
    async with Hub(tmp_path / "home", model=model) as hub:
        assert all(outcome.ok for outcome in await hub.connect_all())
        await events_of(hub, await channel_of(hub, project), "go")
    assert "mcp__shelf__a" not in offered(model.requests[0])
    assert "mcp__shelf__b" in offered(model.requests[0])
