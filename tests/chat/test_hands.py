"""The tools of a run: as they are at each iteration, searched above a budget, skills on demand."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from manyhands import Hub
from manyhands.models.types import ModelRequest
from manyhands.testing.scripted import SCRIPTED, ScriptedModel, calls
from tests.chat.hubs import channel_of, events_of, hub_with

pytestmark = pytest.mark.anyio

SHELF_SERVER = str(Path(__file__).parents[1] / "servers" / "fixtures" / "shelf_server.py")


def tool(name: str, description: str = "", **annotations: bool) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string", "description": "Any text."}}}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": annotations}


@asynccontextmanager
async def hub_with_shelf(
    tmp_path: Path, tools: list[dict[str, Any]], *script: Any, context: int = 200_000, trust: str = "full"
) -> AsyncIterator[tuple[Hub, ScriptedModel, Path]]:
    """A hub with a server whose tools are those of a file."""
    shelf = tmp_path / "shelf.json"
    shelf.write_text(json.dumps({"tools": tools}))
    async with hub_with(tmp_path, *script, info=replace(SCRIPTED, context=context)) as (hub, model):
        outcome = await hub.add_server(
            "shelf", command=sys.executable, args=[SHELF_SERVER, str(shelf)], trust=trust
        )
        assert outcome.ok, outcome.error
        yield hub, model, shelf


def offered(request: ModelRequest) -> list[str]:
    return [spec.name for spec in request.tools]


@pytest.mark.requirement("L06")
async def test_a_tool_that_appears_during_a_run_is_offered_at_the_next_iteration_and_announced(
    tmp_path: Path, project: Path
) -> None:
    reload, paint, old = tool("reload"), tool("paint", "Paints."), tool("old")

    def grow(_: ModelRequest) -> Any:
        shelf.write_text(json.dumps({"tools": [reload, paint]}))
        return calls(("mcp__shelf__reload", {}))

    script = [grow, calls(("mcp__shelf__paint", {"text": "red"})), "painted"]
    async with hub_with_shelf(tmp_path, [reload, old], *script) as (hub, model, shelf):
        events = await events_of(hub, await channel_of(hub, project), "go")
    assert events[-1].data["text"] == "painted"
    before, after = (offered(request) for request in model.requests[:2])
    assert "mcp__shelf__paint" not in before
    assert "mcp__shelf__paint" in after
    assert "mcp__shelf__old" not in after
    assert "New tools" not in model.requests[0].system
    assert "New tools since this run began: mcp__shelf__paint." in model.requests[1].system
    assert "gone since this run began: mcp__shelf__old." in model.requests[1].system
    assert model.requests[2].turns[-1].text == 'paint {"text": "red"}'


def many() -> list[dict[str, Any]]:
    made = [tool(f"task_{number:03}", f"Does the task number {number}. " * 5) for number in range(300)]
    return [*made, tool("paint_wall", "Paints a wall in a colour.", destructiveHint=True)]


@pytest.mark.requirement("L20")
async def test_above_its_budget_tools_are_searched_described_and_called(
    tmp_path: Path, project: Path
) -> None:
    script = [
        calls(("search_tools", {"query": "paint a wall"})),
        calls(("describe_tool", {"name": "mcp__shelf__paint_wall"})),
        calls(("call_tool", {"name": "mcp__shelf__paint_wall", "arguments": {"text": "red"}})),
        "painted",
    ]
    async with hub_with_shelf(tmp_path, many(), *script, context=32_000) as (hub, model, _):
        end = (await events_of(hub, await channel_of(hub, project), "paint it"))[-1].data
        [call] = await hub.tools.calls_of_run(end["id"])
    assert end["status"] == "completed"
    names = offered(model.requests[0])
    assert names[-4:-1] == ["search_tools", "describe_tool", "call_tool"]
    assert "read_file" in names
    assert not any(name.startswith("mcp__") for name in names)
    assert all(offered(request) == names for request in model.requests)
    results = [turn.text for turn in model.requests[3].turns if turn.role == "tool"]
    assert results[0].splitlines()[0].startswith("- mcp__shelf__paint_wall: Paints a wall")
    assert '"Any text."' in results[1]
    assert results[2] == 'paint_wall {"text": "red"}'
    assert (call.tool, call.server, call.arguments) == ("paint_wall", "shelf", {"text": "red"})


@pytest.mark.requirement("L20")
async def test_tools_that_ask_a_person_first_are_marked_where_they_are_found(
    tmp_path: Path, project: Path
) -> None:
    script = [calls(("search_tools", {"query": "paint a wall"}), ("search_tools", {"query": "task 7"})), "ok"]
    async with hub_with_shelf(tmp_path, many(), *script, context=32_000, trust="trusted") as (hub, model, _):
        await events_of(hub, await channel_of(hub, project), "paint it")
    paint, task = (turn.text for turn in model.requests[1].turns if turn.role == "tool")
    assert "- mcp__shelf__paint_wall (asks the person first): Paints" in paint
    assert "asks the person first" not in task


@pytest.mark.requirement("L20")
async def test_a_budget_of_nothing_turns_search_off_and_the_order_of_tools_is_stable(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with_shelf(tmp_path, many(), "a", "b", context=60_000) as (hub, model, _):
        await hub.settings.patch({"tool_search_budget": 0})
        for _ in range(2):
            await events_of(hub, await channel_of(hub, project), "go")
    first, second = (offered(request) for request in model.requests)
    assert first == second
    assert len([name for name in first if name.startswith("mcp__shelf__")]) == 301
    assert "search_tools" not in first


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("search_tools", "[]"), "one JSON object"),
        (("describe_tool", {"name": "mcp__shelf__nothing"}), "There is no tool"),
        (("call_tool", {"name": "mcp__shelf__nothing"}), "There is no tool"),
        (("call_tool", {"name": "mcp__shelf__task_001", "arguments": "text"}), "JSON object"),
        (("search_tools", {"query": "xyzzy"}), "No tool fits"),
    ],
)
async def test_a_search_that_leads_nowhere_says_so(
    tmp_path: Path, project: Path, asked: tuple[str, Any], said: str
) -> None:
    async with hub_with_shelf(tmp_path, many(), calls(asked), "ok", context=32_000) as (hub, model, _):
        await events_of(hub, await channel_of(hub, project), "go")
    assert said in model.requests[1].turns[-1].text


async def test_skills_of_servers_are_listed_and_read_on_demand(tmp_path: Path, project: Path) -> None:
    asked = calls(("read_skill", {"name": "tidy"}), ("read_skill", {"name": "fly"}))
    async with hub_with_shelf(tmp_path, [tool("env")], asked, "tidied") as (hub, model, _):
        await events_of(hub, await channel_of(hub, project), "tidy up")
    assert "- tidy (shelf): How to tidy" in model.requests[0].system
    assert offered(model.requests[0])[-1] == "read_skill"
    tidy, fly = (turn for turn in model.requests[1].turns if turn.role == "tool")
    assert (tidy.text, tidy.is_error) == ("a note", False)
    assert fly.is_error
    assert "no skill 'fly'" in fly.text


async def test_instructions_of_servers_are_told_below_the_persons(tmp_path: Path, project: Path) -> None:
    (project / "AGENTS.md").write_text("Use tabs.")
    async with hub_with_shelf(tmp_path, [tool("env")], "ok") as (hub, model, _):
        await hub.settings.patch({"profile": "Short answers, please."})
        await events_of(hub, await channel_of(hub, project), "go")
    system = model.requests[0].system
    assert system.index("Short answers, please.") < system.index("Use tabs.")
    assert system.index("Use tabs.") < system.index('<server name="shelf">\nTake what you need.')
