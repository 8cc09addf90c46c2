"""A run that reaches a cap of cost pauses and asks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from manyhands import Hub
from manyhands.chat.types import RunOptions
from manyhands.models.asking import Asking
from manyhands.models.types import ModelError, ModelRequest, Price, Reply, Usage
from manyhands.testing.scripted import SCRIPTED, Gate, ScriptedModel, calls
from tests.chat.hubs import channel_of, events_of, hub_with

pytestmark = pytest.mark.anyio

DEAR = replace(SCRIPTED, price=Price(input=1_000_000, output=0))
LOOK = replace(calls(("list_directory", {})), usage=Usage(input=1))
"""Costs one dollar."""
DONE = Reply("done", usage=Usage(input=1))


async def answered(hub: Hub, channel_id: str, answers: list[bool], **options: Any) -> tuple[Any, list[Any]]:
    """How a run ended, and what it asked."""
    asked = []
    async for event in hub.run("go", channel_id=channel_id, **options):
        if event.type == "approval.requested":
            asked.append(event.data)
            await hub.approvals.answer(event.data["id"], answers.pop(0), reason="too dear")
    return event.data, asked


async def test_a_run_at_its_cap_asks_and_goes_on_for_the_same_amount_again(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with(tmp_path, LOOK, LOOK, LOOK, LOOK, DONE, info=DEAR) as (hub, _):
        end, asked = await answered(hub, await channel_of(hub, project), [True, True], cost_cap=2.0)
    assert end["status"] == "completed"
    assert end["cost"] == 5.0
    assert [(one["kind"], one["detail"]["spent"], one["detail"]["cap"]) for one in asked] == [
        ("budget", 2.0, 2.0),
        ("budget", 4.0, 4.0),
    ]
    assert asked[0]["run_id"] == end["id"]


async def test_a_no_ends_the_run_and_says_why(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, LOOK, DONE, info=DEAR) as (hub, model):
        end, _ = await answered(hub, await channel_of(hub, project), [False], cost_cap=0.5)
    assert end["status"] == "failed"
    assert "has cost $1.0000" in end["error"]
    assert "too dear" in end["error"]
    assert model.left == 1


async def test_an_unattended_run_ends_at_its_cap_with_a_clear_message(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, LOOK, DONE, info=DEAR) as (hub, _):
        await hub.settings.patch({"run_cost_cap": 1.0})
        events = await events_of(hub, await channel_of(hub, project), "go", attended=False)
    assert events[-1].data["status"] == "failed"
    assert "Raise run_cost_cap" in events[-1].data["error"]


async def test_the_runs_of_a_channel_count_together(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, DONE, DONE, DONE, DONE, info=DEAR) as (hub, _):
        await hub.settings.patch({"channel_cost_cap": 2.0})
        channel_id = await channel_of(hub, project)
        ends = [await answered(hub, channel_id, [True]) for _ in range(3)]
        elsewhere, _ = await hub.channels.find_or_create(name="elsewhere")
        other = await answered(hub, elsewhere.id, [])
    assert [len(asked) for _, asked in [*ends, other]] == [0, 0, 1, 0]
    assert ends[2][1][0]["detail"]["of"] == "channel"


async def test_a_model_without_a_price_costs_nothing_that_could_be_counted(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with(tmp_path, LOOK, DONE) as (hub, _):
        end, asked = await answered(hub, await channel_of(hub, project), [], cost_cap=0.01)
    assert (end["status"], end["cost"], asked) == ("completed", None, [])


async def test_a_raised_cap_is_remembered_by_the_next_start(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, DONE, DONE, info=DEAR) as (hub, _):
        await hub.settings.patch({"channel_cost_cap": 1.0})
        channel_id = await channel_of(hub, project)
        await answered(hub, channel_id, [])
        _, asked = await answered(hub, channel_id, [True])
        assert len(asked) == 1
    async with hub_with(tmp_path, DONE, DONE, info=DEAR) as (hub, _):
        end, asked = await answered(hub, channel_id, [True])
        assert [one["detail"]["cap"] for one in asked] == [2.0]
        assert end["status"] == "completed"


async def test_a_run_that_a_restart_cut_keeps_its_raised_cap(tmp_path: Path, project: Path) -> None:
    asked_again, never = anyio.Event(), anyio.Event()

    def wait(_: ModelRequest) -> list[Gate]:
        asked_again.set()
        return [Gate(never)]

    async with hub_with(tmp_path, LOOK, wait, info=DEAR) as (hub, _):
        channel_id = await channel_of(hub, project)
        run = await hub.runs.start(channel_id, "go", RunOptions(cost_cap=1.0))
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "approval.requested":
                    await hub.approvals.answer(event.data["id"], True, "tool")
                    break
        with anyio.fail_after(60):
            await asked_again.wait()
    async with hub_with(tmp_path, DONE, info=DEAR) as (hub, _):
        async with hub.bus.subscribe(run.first_seq) as events:
            types = []
            async for event in events:
                types.append(event.type)
                if event.type == "run.finished":
                    break
        assert event.data["status"] == "completed"
        assert types.count("approval.requested") == 1


async def test_the_model_that_answers_is_the_one_whose_price_counts(tmp_path: Path, project: Path) -> None:
    cheap = replace(SCRIPTED, id="cheap", name="cheap", price=Price(input=10_000, output=0))
    down = ScriptedModel([ModelError("down")], info=DEAR)
    chain = Asking([down, ScriptedModel([DONE], info=cheap)])
    async with Hub(tmp_path / "home", model=chain) as hub:
        end, _ = await answered(hub, await channel_of(hub, project), [])
    assert (end["status"], end["cost"]) == ("completed", 0.01)
