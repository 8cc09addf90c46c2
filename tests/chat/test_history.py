"""A conversation that was summed up is read from its summary on, by later runs and after a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from manyhands.chat.context import SUMMARY_HEAD
from manyhands.chat.types import RunStatus
from manyhands.testing.scripted import SCRIPTED, Gate, calls
from tests.chat.hubs import channel_of, events_of, hub_with

pytestmark = pytest.mark.anyio

SMALL = replace(SCRIPTED, context=9_000)
LONG = "a long story about bees and their keepers " * 200


async def test_a_summary_is_kept_and_read_by_the_next_run(tmp_path: Path, project: Path) -> None:
    script = ["I listened.", "I listened.", "Bees were told of.", "Yes.", "Again yes."]
    async with hub_with(tmp_path, *script, info=SMALL) as (hub, model):
        channel_id = await channel_of(hub, project)
        for prompt in (LONG, LONG, LONG, "sure?"):
            end = (await events_of(hub, channel_id, prompt))[-1]
            assert end.data["status"] == "completed", end.data
        [summary] = [one for one in (await hub.runs.messages(channel_id)).items if one.covers]
    assert summary.content == "Bees were told of."
    last = [turn.text for turn in model.requests[-1].turns]
    assert last == [SUMMARY_HEAD + "Bees were told of.", LONG, "Yes.", "sure?"]


async def test_a_run_that_was_cut_goes_on_from_the_summary_that_it_had_made(
    tmp_path: Path, project: Path
) -> None:
    for name in ("a", "b"):
        (project / name).write_text(f"{name} is for {LONG}")
    reads = [calls(("read_file", {"path": name}), text=LONG) for name in ("a", "b")]
    script = [*reads, "Read a.", [Gate(anyio.Event())]]
    async with hub_with(tmp_path, *script, info=SMALL) as (hub, model):
        run = await hub.runs.start(await channel_of(hub, project), "read a and b")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                assert event.type != "run.finished", event.data
                if event.type == "message.created" and event.data["covers"]:
                    break
    async with hub_with(tmp_path, "All read.", info=SMALL) as (hub, model):
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "run.finished":
                    break
        assert (await hub.runs.get(run.id)).status is RunStatus.COMPLETED
    [request] = model.requests
    assert [turn.role for turn in request.turns] == ["user", "user", "assistant", "tool"]
    assert request.turns[0].text == SUMMARY_HEAD + "Read a."
    assert request.turns[1].text == "read a and b"
