"""Runs: streamed, in order, stoppable, on record, and picked up again after a crash."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import anyio
import pytest

from manyhands import Hub
from manyhands.approvals.types import ApprovalState
from manyhands.chat import run_store
from manyhands.chat.repeats import STOP_AFTER
from manyhands.chat.types import RunOptions, RunStatus
from manyhands.durable import leases
from manyhands.errors import ConflictError, InvalidError, NotFoundError
from manyhands.events import Event
from manyhands.models.types import ModelError, ModelInfo, Reply, TextDelta, ToolRequest
from manyhands.testing.scripted import SCRIPTED, Gate, ScriptedModel, calls
from tests.chat.hubs import channel_of, events_of, hub_with

pytestmark = pytest.mark.anyio


async def test_a_run_calls_a_tool_and_answers_with_what_it_found(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, calls(("read_file", {"path": "notes.txt"})), "It says: milk.") as (
        hub,
        model,
    ):
        events = await events_of(hub, await channel_of(hub, project), "what do the notes say?")
    assert model.requests[1].turns[-1].text == "remember the milk"
    finished = events[-1]
    assert finished.type == "run.finished"
    assert (finished.data["status"], finished.data["text"]) == ("completed", "It says: milk.")
    assert finished.data["iterations"] == 2
    order = [event.type for event in events if event.type.startswith(("run.i", "tool", "run.f"))]
    assert order == ["run.iteration", "tool.started", "tool.finished", "run.iteration", "run.finished"]


async def test_everything_is_on_record_with_the_call_under_its_own_id(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, calls(("read_file", {"path": "notes.txt"})), "done") as (hub, _):
        channel_id = await channel_of(hub, project)
        run_id = (await events_of(hub, channel_id, "go"))[-1].data["id"]
        messages = await hub.runs.messages_of(run_id)
        [call] = await hub.tools.calls_of_run(run_id)
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1].tool_calls[0].call_id == call.id
    assert messages[2].tool_call_id == messages[1].tool_calls[0].id
    assert (call.run_id, call.iteration, call.status) == (run_id, 1, "success")


@pytest.mark.requirement("L13")
async def test_a_failing_call_is_a_result_and_hides_none_of_its_siblings(
    tmp_path: Path, project: Path
) -> None:
    asked = calls(("read_file", {"path": "missing"}), ("read_file", {"path": "notes.txt"}), ("nope", {}))
    async with hub_with(tmp_path, asked, "done") as (hub, model):
        await events_of(hub, await channel_of(hub, project), "go")
    results = [turn for turn in model.requests[1].turns if turn.role == "tool"]
    assert [result.is_error for result in results] == [True, False, True]
    assert results[1].text == "remember the milk"
    assert "no tool 'nope'" in results[2].text


@pytest.mark.requirement("L19")
@pytest.mark.parametrize("arguments", ["{broken", "[1, 2]", '"text"'])
async def test_malformed_arguments_come_back_as_an_error_the_model_can_act_on(
    tmp_path: Path, project: Path, arguments: str
) -> None:
    async with hub_with(tmp_path, calls(("read_file", arguments)), "done") as (hub, model):
        await events_of(hub, await channel_of(hub, project), "go")
    result = model.requests[1].turns[-1]
    assert result.is_error
    assert "JSON object" in result.text


async def test_two_calls_with_the_same_id_are_both_answered(tmp_path: Path, project: Path) -> None:
    twins = Reply(
        calls=(
            ToolRequest("x", "read_file", '{"path": "notes.txt"}'),
            ToolRequest("x", "list_directory", "{}"),
        )
    )
    async with hub_with(tmp_path, twins, "done") as (hub, model):
        await events_of(hub, await channel_of(hub, project), "go")
    results = [turn for turn in model.requests[1].turns if turn.role == "tool"]
    assert len({result.call_id for result in results}) == 2
    assert "notes.txt" in results[1].text


async def test_a_model_without_tool_calls_gets_no_tools_and_one_pass(tmp_path: Path, project: Path) -> None:
    plain = ModelInfo(id="plain", name="Plain", provider="demo", model="plain", tool_call=False)
    async with hub_with(tmp_path, "just text", info=plain) as (hub, model):
        events = await events_of(hub, await channel_of(hub, project), "go")
    assert len(model.requests) == 1
    assert model.requests[0].tools == ()
    assert events[-1].data["status"] == "completed"


async def test_stop_ends_the_model_stream_and_the_conversation_can_go_on(
    tmp_path: Path, project: Path
) -> None:
    started = anyio.Event()
    slow = [TextDelta("thinking…"), Gate(anyio.Event())]
    async with hub_with(tmp_path, slow, "second answer") as (hub, model):
        channel_id = await channel_of(hub, project)
        run = await hub.runs.start(channel_id, "take your time")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "run.delta":
                    started.set()
                    await hub.runs.cancel(run.id)
                if event.type == "run.finished":
                    break
        assert (await hub.runs.get(run.id)).status is RunStatus.CANCELLED
        assert model.cancelled == 1
        again = await events_of(hub, channel_id, "and now?")
    assert again[-1].data["text"] == "second answer"


@pytest.mark.requirement("L12")
async def test_stop_ends_pending_calls_too(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, calls(("write_file", {"path": "x", "content": "y"})), "done") as (hub, _):
        run = await hub.runs.start(await channel_of(hub, project), "write it")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "approval.requested":
                    await hub.runs.cancel(run.id)
                if event.type == "run.finished":
                    break
        [call] = await hub.tools.calls_of_run(run.id)
        pending = await hub.approvals.list(ApprovalState.PENDING)
    assert call.status == "cancelled"
    assert not pending.items
    assert not (project / "x").exists()


async def test_a_run_that_waits_for_a_person_says_so_and_goes_on_when_answered(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with(tmp_path, calls(("write_file", {"path": "x", "content": "y"})), "done") as (hub, _):
        run = await hub.runs.start(await channel_of(hub, project), "write it")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "approval.requested":
                    await hub.store.flush()
                    assert (await hub.runs.get(run.id)).status is RunStatus.WAITING
                    await hub.approvals.answer(event.data["id"], approve=True)
                if event.type == "run.finished":
                    break
        assert (await hub.runs.get(run.id)).status is RunStatus.COMPLETED
    assert (project / "x").read_text() == "y"


async def test_a_run_waits_until_the_last_of_its_questions_is_answered(tmp_path: Path, project: Path) -> None:
    writes = calls(*(("write_file", {"path": name, "content": "y"}) for name in ("a", "b")))
    asked: list[str] = []
    async with hub_with(tmp_path, writes, "done") as (hub, _):
        run = await hub.runs.start(await channel_of(hub, project), "write both")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "approval.requested":
                    asked.append(event.data["id"])
                    if len(asked) == 2:
                        await hub.approvals.answer(asked[0], approve=True)
                        await hub.store.flush()
                        assert (await hub.runs.get(run.id)).status is RunStatus.WAITING
                        await hub.approvals.answer(asked[1], approve=True)
                if event.type == "run.finished":
                    break
        assert (await hub.runs.get(run.id)).status is RunStatus.COMPLETED


async def test_an_unattended_run_is_denied_what_would_ask_and_goes_on(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, calls(("write_file", {"path": "x", "content": "y"})), "could not") as (
        hub,
        model,
    ):
        events = await events_of(hub, await channel_of(hub, project), "write it", attended=False)
    assert events[-1].data["status"] == "completed"
    assert model.requests[1].turns[-1].is_error
    assert not (project / "x").exists()


async def test_allowed_patterns_need_no_approval_in_their_run(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, calls(("write_file", {"path": "x", "content": "y"})), "done") as (hub, _):
        await events_of(hub, await channel_of(hub, project), "go", attended=False, allow=("write_*",))
    assert (project / "x").read_text() == "y"


async def test_a_message_sent_during_a_run_joins_it_and_can_be_withdrawn_before(
    tmp_path: Path, project: Path
) -> None:
    gate = anyio.Event()
    first = [TextDelta("…"), Gate(gate), calls(("list_directory", {}))]
    async with hub_with(tmp_path, first, "done") as (hub, model):
        channel_id = await channel_of(hub, project)
        run = await hub.runs.start(channel_id, "go")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "run.delta" and not gate.is_set():
                    wrong, none = await hub.runs.post(channel_id, "no, wait")
                    assert none is None
                    await hub.runs.withdraw(wrong.id)
                    kept, _ = await hub.runs.post(channel_id, "and the size")
                    await hub.runs.edit(kept.id, "and the sizes, please")
                    gate.set()
                if event.type == "run.finished":
                    break
        with pytest.raises(ConflictError, match="read already"):
            await hub.runs.withdraw((await hub.runs.messages_of(run.id))[-2].id)
    assert [turn.text for turn in model.requests[1].turns if turn.role == "user"] == [
        "go",
        "and the sizes, please",
    ]


async def test_runs_of_one_channel_queue_and_other_channels_do_not_wait(
    tmp_path: Path, project: Path
) -> None:
    gate = anyio.Event()
    script = [TextDelta("fir"), Gate(gate), Reply("first")]
    async with hub_with(tmp_path, script, "other", "second") as (hub, _):
        channel_id = await channel_of(hub, project)
        elsewhere, _ = await hub.channels.find_or_create(name="elsewhere")
        async with hub.bus.subscribe() as events:
            first = await hub.runs.start(channel_id, "1")
            with anyio.fail_after(60):  # its model has been asked before anybody else's
                async for event in events:
                    if event.type == "run.delta":
                        break
        second = await hub.runs.start(channel_id, "2")
        other = await events_of(hub, elsewhere.id, "3")
        assert other[-1].data["text"] == "other"
        assert (await hub.runs.get(second.id)).status is RunStatus.QUEUED
        async with hub.bus.subscribe() as events:
            gate.set()
            ends = [event.data["id"] async for event in _finished(events, 2)]
    assert ends == [first.id, second.id]


async def test_a_run_that_waited_reads_what_the_run_before_it_said(tmp_path: Path, project: Path) -> None:
    gate = anyio.Event()
    async with hub_with(tmp_path, [Gate(gate), Reply("first")], "second") as (hub, model):
        channel_id = await channel_of(hub, project)
        await hub.runs.start(channel_id, "1")
        await hub.runs.start(channel_id, "2")
        async with hub.bus.subscribe() as events:
            gate.set()
            assert len([event async for event in _finished(events, 2)]) == 2
    assert [turn.text for turn in model.requests[0].turns] == ["1"]
    assert [turn.text for turn in model.requests[1].turns] == ["1", "first", "2"]


async def _finished(events: AsyncIterator[Event], count: int) -> AsyncIterator[Event]:
    async for event in events:
        if event.type == "run.finished":
            yield event
            count -= 1
            if count == 0:
                return


async def test_the_limit_of_iterations_can_be_set_per_run(tmp_path: Path, project: Path) -> None:
    async with Hub(
        tmp_path / "home", model=ScriptedModel([calls(("list_directory", {}))], repeat=True)
    ) as hub:
        (project / "a").mkdir()
        events = await events_of(hub, await channel_of(hub, project), "go", max_iterations=2)
        messages = await hub.runs.messages_of(events[-1].data["id"])
    assert events[-1].data["status"] == "max_iterations"
    assert "2 iterations" in messages[-1].content


async def test_a_failing_model_ends_the_run_with_its_reason_and_the_conversation_is_intact(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with(tmp_path, ModelError("The key is wrong. Check OPENAI_API_KEY."), "better now") as (
        hub,
        model,
    ):
        channel_id = await channel_of(hub, project)
        failed = await events_of(hub, channel_id, "first")
        again = await events_of(hub, channel_id, "second")
    assert failed[-1].data["status"] == "failed"
    assert "Check OPENAI_API_KEY" in failed[-1].data["error"]
    assert again[-1].data["text"] == "better now"
    assert [turn.text for turn in model.requests[1].turns] == ["first", "second"]


@pytest.mark.parametrize("prompt", ["", "   ", "x" * 1_000_001])
async def test_a_prompt_that_makes_no_sense_is_refused(tmp_path: Path, project: Path, prompt: str) -> None:
    async with hub_with(tmp_path, "never") as (hub, _):
        with pytest.raises(InvalidError):
            await hub.runs.start(await channel_of(hub, project), prompt)
        with pytest.raises(NotFoundError):
            await hub.runs.start("ch_nowhere", "hello")


async def test_a_run_goes_on_after_a_restart_and_never_repeats_a_finished_call(
    tmp_path: Path, project: Path
) -> None:
    """The hub is closed in the middle of the second request; the new one continues from the record."""
    asked = calls(("write_file", {"path": "log", "content": "once"}))
    async with hub_with(tmp_path, asked, [Gate(anyio.Event())]) as (hub, _):
        run = await hub.runs.start(await channel_of(hub, project), "go", RunOptions(allow=("write_file",)))
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "message.created" and event.data["role"] == "tool":
                    break
    (project / "log").write_text("changed since")
    async with hub_with(tmp_path, "all done") as (hub, model):
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "run.finished":
                    break
        assert (await hub.runs.get(run.id)).status is RunStatus.COMPLETED
    assert (project / "log").read_text() == "changed since"
    assert [turn.role for turn in model.requests[0].turns] == ["user", "assistant", "tool"]


async def test_a_hub_that_stays_for_a_moment_leaves_a_cut_run_alone(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, [TextDelta("thinking…"), Gate(anyio.Event())]) as (hub, _):
        run = await hub.runs.start(await channel_of(hub, project), "go")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "run.delta":
                    break
    unasked = ScriptedModel(["not this one"], info=SCRIPTED)
    async with Hub(tmp_path / "home", model=unasked, resume=False) as passing:
        other = await events_of(passing, await channel_of(passing, project), "something else")
        assert not (await passing.runs.get(run.id)).status.ended
    assert other[-1].data["text"] == "not this one"
    async with hub_with(tmp_path, "all done") as (hub, _), hub.bus.subscribe(run.first_seq) as events:
        async for event in events:
            if event.type == "run.finished" and event.data["id"] == run.id:
                break
        assert (await hub.runs.get(run.id)).text.endswith("all done")


async def test_a_run_that_goes_on_waits_for_the_tools_of_its_servers(tmp_path: Path, project: Path) -> None:
    asked = calls(("mcp__time__get_current_time", {"timezone": "Asia/Tokyo"}))
    async with hub_with(tmp_path, asked, [Gate(anyio.Event())]) as (hub, _):
        await hub.add_server("time", command=sys.executable, args=["-m", "mcp_server_time"], trust="full")
        run = await hub.runs.start(await channel_of(hub, project), "go")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "message.created" and event.data["role"] == "tool":
                    break
    async with hub_with(tmp_path, "all done") as (hub, model), hub.bus.subscribe(run.first_seq) as events:
        async for event in events:
            if event.type == "run.finished":
                break
    assert "mcp__time__get_current_time" in [tool.name for tool in model.requests[0].tools]


async def test_a_replay_uses_recorded_results_and_does_nothing(tmp_path: Path, project: Path) -> None:
    script = [calls(("write_file", {"path": "log", "content": "once"})), "written"]
    async with hub_with(tmp_path, *script, *script) as (hub, _):
        events = await events_of(hub, await channel_of(hub, project), "go", allow=("write_file",))
        (project / "log").unlink()
        replayed = await hub.runs.replay(events[-1].data["id"])
    assert not (project / "log").exists()
    assert replayed["text"] == "written"
    assert replayed["diff"] == ""
    assert replayed["unknown_calls"] == []


async def test_a_replay_tells_the_model_what_a_run_tells_it(tmp_path: Path, project: Path) -> None:
    script = [calls(("read_file", {"path": "notes.txt"})), "read"]
    async with hub_with(tmp_path, *script, *script) as (hub, model):
        events = await events_of(hub, await channel_of(hub, project), "go")
        await hub.runs.replay(events[-1].data["id"])
    first, again = model.requests[0], model.requests[2]
    assert again.system == first.system
    assert [tool.schema for tool in again.tools] == [tool.schema for tool in first.tools]


async def test_a_replay_of_a_run_that_went_in_circles_ends_where_the_run_did(
    tmp_path: Path, project: Path
) -> None:
    circle = calls(("read_file", {"path": "notes.txt"}))
    async with hub_with(tmp_path, *[circle] * (2 * STOP_AFTER)) as (hub, _):
        events = await events_of(hub, await channel_of(hub, project), "go")
        replayed = await hub.runs.replay(events[-1].data["id"])
    assert replayed["diff"] == ""
    assert f"same call {STOP_AFTER} times" in replayed["text"]


async def test_a_replay_hears_what_was_said_during_the_run(tmp_path: Path, project: Path) -> None:
    gate = anyio.Event()
    first = [TextDelta("…"), Gate(gate), calls(("list_directory", {}))]
    async with hub_with(tmp_path, first, "blue", calls(("list_directory", {})), "blue") as (hub, model):
        channel_id = await channel_of(hub, project)
        run = await hub.runs.start(channel_id, "go")
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "run.delta" and not gate.is_set():
                    await hub.runs.post(channel_id, "which colour?")
                    gate.set()
                elif event.type == "run.finished":
                    break
        replayed = await hub.runs.replay(run.id)
    assert replayed["diff"] == ""
    assert [turn.text for turn in model.requests[3].turns if turn.role == "user"] == ["go", "which colour?"]


async def test_two_runs_are_compared_as_transcripts(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, "red", "blue") as (hub, _):
        channel_id = await channel_of(hub, project)
        one = (await events_of(hub, channel_id, "colour?"))[-1].data["id"]
        two = (await events_of(hub, channel_id, "colour?"))[-1].data["id"]
        diff = await hub.runs.diff(one, two)
    assert not diff["same"]
    assert "-assistant: red" in diff["diff"]
    assert "+assistant: blue" in diff["diff"]


async def test_arguments_in_the_record_are_exactly_what_the_model_wrote(
    tmp_path: Path, project: Path
) -> None:
    written = '{"path":   "notes.txt"}'
    async with hub_with(tmp_path, calls(("read_file", written)), "done") as (hub, _):
        events = await events_of(hub, await channel_of(hub, project), "go")
        messages = await hub.runs.messages_of(events[-1].data["id"])
    assert messages[1].tool_calls[0].arguments == written
    assert json.loads(written) == {"path": "notes.txt"}


async def test_what_a_home_on_the_same_database_left_open_for_a_day_is_given_up(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hub_with(tmp_path, "red", "blue") as (hub, _):
        monkeypatch.setattr(hub.runs, "_holder", "here:/home")
        channel_id, now = await channel_of(hub, project), hub.now()
        left, lives = [(await events_of(hub, channel_id, "go"))[-1].data["id"] for _ in range(2)]
        for run_id, holder in ((left, "gone:/home"), (lives, "busy:/home")):
            values = {"status": "running", "holder": holder, "created_at": now - timedelta(days=2)}
            await hub.store.write(partial(run_store.update_run, run_id=run_id, values=values))
        until = now + timedelta(seconds=30)
        await hub.store.write(lambda conn: leases.register(conn, "exec_busy", "busy:/home", until))
        await hub.runs.give_up_left()
        assert [(await hub.runs.get(run_id)).status for run_id in (left, lives)] == ["failed", "running"]
        said = (await hub.runs.messages(channel_id)).items[0].content
    assert "has not come back" in said
