from __future__ import annotations

import subprocess
from datetime import timedelta
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from manyhands.errors import (
    ConflictError,
    InvalidError,
    NotAllowedError,
    NotFoundError,
    UnavailableError,
)
from manyhands.tasks import store as rows
from tests.tasks.conftest import SOON_S, Desk

pytestmark = pytest.mark.anyio


# --- what runs


async def test_a_prompt_runs_in_a_thread_of_its_own_with_its_transcript(desk: Desk) -> None:
    view = await desk.add(prompt="say all is well", name="nightly")
    run = (await desk.finish(desk.hours(1), view))[0]
    assert (run.state, run.text, run.trigger, run.attempt) == ("completed", "all is well", "schedule", 1)
    assert run.duration_s is not None
    thread = await desk.hub.channels.get(str(run.thread_id))
    assert (thread.parent_id, thread.name.startswith("nightly ")) == (desk.channel_id, True)
    chat_run = await desk.hub.runs.get(str(run.run_id))
    assert (chat_run.options.attended, chat_run.options.speaker) == (False, "schedule")
    again = (await desk.finish(desk.hours(1), view))[0]
    assert again.thread_id != run.thread_id


async def test_a_task_can_always_use_the_same_thread(desk: Desk) -> None:
    view = await desk.add(prompt="say hello", conversation="same")
    first = (await desk.finish(desk.hours(1), view))[0]
    second = (await desk.finish(desk.hours(1), view))[0]
    assert first.thread_id == second.thread_id
    await desk.hub.threads.delete(str(first.thread_id))
    third = (await desk.finish(desk.hours(1), view))[0]
    assert third.thread_id not in (None, first.thread_id)


async def test_a_script_runs_without_a_model(desk: Desk) -> None:
    asked = len(desk.model.requests)
    view = await desk.add(script="pwd; echo out")
    run = (await desk.finish(desk.hours(1), view))[0]
    assert run.state == "completed"
    assert str(desk.directory) in run.text
    assert "out" in run.text
    assert len(desk.model.requests) == asked


async def test_a_script_that_fails_is_a_failure_with_its_words(desk: Desk) -> None:
    view = await desk.add(script="echo broken; exit 3")
    run = (await desk.finish(desk.hours(1), view))[0]
    assert run.state == "failed"
    assert "broken" in run.text
    assert "exit code 3" in str(run.error)


async def test_a_script_has_the_time_of_its_task_and_keeps_what_it_wrote(desk: Desk) -> None:
    await desk.hub.settings.patch({"tool_timeout_max": 1000})
    try:
        longer = await desk.add(script="sleep 1.5; echo done", timeout_s=60)
        shorter = await desk.add(script="echo begun; sleep 600", timeout_s=1, overlap="parallel")
        await desk.until(desk.hours(1), "task.run_finished", 2)
    finally:
        await desk.hub.settings.patch({"tool_timeout_max": None})
    assert (await desk.runs(longer))[0].state == "completed"
    cut = (await desk.runs(shorter))[0]
    assert (cut.state, "longer than its 1 seconds" in str(cut.error)) == ("failed", True)
    assert "begun" in cut.text


async def test_a_workflow_runs_with_the_inputs_of_the_task(desk: Desk) -> None:
    text = (
        "name: greet\ninputs: {who: string}\nnodes:\n"
        "  - {id: say, type: bash, script: 'echo hello {{ inputs.who }} > said; test -e fine'}\n"
    )
    await desk.hub.workflows.save("add", text)
    with pytest.raises(InvalidError, match="who") as refused:
        await desk.add(workflow_name="greet")
    assert refused.value.data["field"] == "workflow_inputs"
    view = await desk.add(workflow_name="greet", workflow_inputs={"who": "you; ls"}, retries=1)
    await desk.until(desk.hours(1), "task.run_retrying")
    assert (desk.directory / "said").read_text() == "hello you; ls\n"
    (desk.directory / "fine").touch()
    run = (await desk.finish(lambda: desk.clock.advance(60), view))[0]
    assert (run.state, run.attempt, run.workflow_run_id) == ("completed", 2, f"{run.id}.2")
    ended = await desk.hub.workflows.get(str(run.workflow_run_id))
    assert (ended.status, ended.authority, ended.attended) == ("completed", "schedule", False)
    assert (await desk.hub.workflows.get(f"{run.id}.1")).status == "failed"


async def test_a_run_whose_workflow_waits_for_an_approval_says_so(desk: Desk) -> None:
    text = (
        "name: gate\nnodes:\n  - {id: gate, type: approval, message: May it}\n"
        "  - {id: talk, type: prompt, prompt: wait after, depends_on: [gate]}\n"
    )
    await desk.hub.workflows.save("add", text, "project", str(desk.directory))
    view = await desk.add(workflow_name="gate")
    (paused,) = await desk.until(desk.hours(1), "task.run_paused")
    assert (paused.data["state"], "inbox" in paused.data["note"]) == ("paused", True)
    assert (await desk.hub.tasks.get(view.task.id)).running
    await desk.until(lambda: desk.hub.workflows.resume(paused.data["workflow_run_id"]), "task.run_resumed")
    assert (await desk.runs(view))[0].state == "running"
    run = (await desk.finish(lambda: desk.open_gate("after"), view))[0]
    assert (run.state, run.note) == ("completed", None)


async def test_a_prompt_has_one_worktree_a_run_even_if_the_hub_breaks_off_after_making_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (
        ["init", "-q", "-b", "main"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"],
    ):
        subprocess.run(["git", *words], cwd=desk.directory, check=True)  # noqa: ASYNC221
    make = desk.hub.threads.create_worktree

    async def breaks_off(*given: Any, **more: Any) -> None:
        await make(*given, **more)
        raise UnavailableError("The hub broke off.")

    view = await desk.add(prompt="say fine", worktree=True, retries=1)
    monkeypatch.setattr(desk.hub.threads, "create_worktree", breaks_off)
    await desk.until(desk.hours(1), "task.run_retrying")
    run = (await desk.finish(lambda: desk.clock.advance(60), view))[0]
    thread = await desk.hub.channels.get(str(run.thread_id))
    assert (run.state, thread.worktree is not None) == ("completed", True)
    assert [view.worktree.id for view in await desk.hub.threads.worktrees()] == [thread.id]


async def test_the_model_and_the_budget_of_a_task_go_to_its_runs(desk: Desk) -> None:
    view = await desk.add(prompt="say fine", model="demo", budget=0.5, max_iterations=3)
    run = (await desk.finish(desk.hours(1), view))[0]
    options = (await desk.hub.runs.get(str(run.run_id))).options
    assert (options.model, options.cost_cap, options.max_iterations) == ("demo", 0.5, 3)


# --- what it may use


@pytest.mark.requirement("L31")
async def test_what_a_task_may_not_use_is_reported_and_the_next_run_still_happens(desk: Desk) -> None:
    view = await desk.add(prompt="use write_file")
    run = (await desk.finish(desk.hours(1), view))[0]
    assert (run.state, run.text) == ("completed", "done without it")
    assert list(run.denied) == ["write_file"]
    assert "not allowed to use write_file" in str(run.note)
    assert not (desk.directory / "made.txt").exists()
    again = await desk.finish(desk.hours(1), view)
    assert [one.state for one in again] == ["completed", "completed"]


@pytest.mark.requirement("L31")
async def test_what_a_task_may_use_needs_nobody(desk: Desk) -> None:
    view = await desk.add(prompt="use write_file", allow=["write_*"])
    run = (await desk.finish(desk.hours(1), view))[0]
    assert (run.state, list(run.denied)) == ("completed", [])
    assert (desk.directory / "made.txt").read_text() == "x"


# --- when several come together


@pytest.mark.requirement("L32")
async def test_a_slow_task_delays_no_other(desk: Desk) -> None:
    slow = await desk.add(prompt="wait slow")
    quick = await desk.add(prompt="say quick")
    run = (await desk.finish(desk.hours(1), quick))[0]
    assert run.state == "completed"
    assert (await desk.hub.tasks.get(slow.task.id)).running == 1
    history = await desk.finish(lambda: desk.open_gate("slow"), slow)
    assert history[0].state == "completed"


async def test_a_task_that_skips_leaves_out_what_comes_while_it_works(desk: Desk) -> None:
    view = await desk.add(prompt="wait skip")
    await desk.until(desk.hours(1), "task.run_started")
    await desk.until(desk.hours(1), "task.run_skipped")
    with pytest.raises(ConflictError, match="still going on"):
        await desk.hub.tasks.start(view.task.id)
    history = await desk.finish(lambda: desk.open_gate("skip"), view)
    assert [run.state for run in history] == ["skipped", "completed"]


async def test_a_task_that_queues_comes_after_itself(desk: Desk) -> None:
    view = await desk.add(prompt="wait queue", overlap="queue")
    await desk.until(desk.hours(1), "task.run_started")
    waiting = await desk.hub.tasks.start(view.task.id)
    assert waiting.state == "waiting"
    history = await desk.finish(lambda: desk.open_gate("queue"), view, 2)
    assert [run.state for run in history] == ["completed", "completed"]


async def test_a_task_that_allows_it_runs_beside_itself(desk: Desk) -> None:
    view = await desk.add(prompt="wait beside", overlap="parallel")
    await desk.until(desk.hours(1), "task.run_started")
    await desk.until(lambda: desk.hub.tasks.start(view.task.id), "task.run_started")
    assert (await desk.hub.tasks.get(view.task.id)).running == 2
    await desk.finish(lambda: desk.open_gate("beside"), view, 2)


# --- failing


async def test_a_failed_run_is_tried_again_with_growing_pauses(desk: Desk) -> None:
    view = await desk.add(prompt="fail first", retries=2, retry_delay_s=60)
    put_off = (await desk.until(desk.hours(1), "task.run_retrying"))[0].data
    assert (put_off["attempt"], put_off["state"]) == (2, "running")
    await desk.until(lambda: desk.clock.advance(60), "task.run_retrying", attempt=3)
    run = (await desk.finish(lambda: desk.clock.advance(120), view))[0]
    assert (run.state, run.attempt) == ("failed", 3)
    assert "The model is down" in str(run.error)


async def test_a_task_is_switched_off_after_failures_in_a_row_and_says_so(desk: Desk) -> None:
    view = await desk.add(prompt="fail always", max_failures=2, name="shaky")
    await desk.finish(desk.hours(1), view)
    assert (await desk.hub.tasks.get(view.task.id)).task.failures == 1
    told = await desk.until(desk.hours(1), "message.created", author_id="hub", channel_id=desk.channel_id)
    assert "failed 2 times in a row and is switched off" in told[0].data["content"]
    after = (await desk.hub.tasks.get(view.task.id)).task
    assert (after.enabled, after.next_run_at) == (False, None)
    assert "The model is down" in str(after.stopped_because)
    on = (await desk.hub.tasks.toggle(view.task.id, True)).task
    assert (on.failures, on.stopped_because) == (0, None)


async def test_a_success_forgets_the_failures_before_it(desk: Desk) -> None:
    view = await desk.add(prompt="fail once", max_failures=3)
    await desk.finish(desk.hours(1), view)
    await desk.hub.tasks.edit(view.task.id, {"prompt": "say fine"})
    await desk.finish(desk.hours(1), view)
    assert (await desk.hub.tasks.get(view.task.id)).task.failures == 0


async def test_a_run_that_takes_too_long_is_stopped(desk: Desk) -> None:
    view = await desk.add(prompt="wait for-ever", timeout_s=1)
    run = (await desk.finish(desk.hours(1), view))[0]
    assert (run.state, "longer than its 1 seconds" in str(run.error)) == ("failed", True)
    with anyio.fail_after(SOON_S):
        # On a busy machine its time may be over before there is a run to stop.
        while run.run_id and not (await desk.hub.runs.get(run.run_id)).status.ended:
            await anyio.lowlevel.checkpoint()


async def test_a_run_can_be_stopped(desk: Desk) -> None:
    view = await desk.add(prompt="wait stopped", max_failures=1)
    started = (await desk.until(desk.hours(1), "task.run_started"))[0]
    run = await desk.hub.tasks.cancel_run(started.data["id"])
    assert run.state == "cancelled"
    assert (await desk.hub.tasks.get(view.task.id)).task.enabled
    assert (await desk.hub.tasks.cancel_run(run.id)).state == "cancelled"


# --- missed


@pytest.mark.requirement("L30")
async def test_a_hub_that_was_away_makes_up_once_and_says_what_was_missed(desk: Desk) -> None:
    view = await desk.add(prompt="say fine")
    history = await desk.finish(desk.hours(5.5), view)
    assert sorted((run.state, run.trigger) for run in history) == [
        ("completed", "catch_up"),
        ("missed", "schedule"),
    ]
    missed = next(run for run in history if run.state == "missed")
    assert "5 runs were missed" in str(missed.note)


# --- threads that go


async def test_the_thread_of_a_run_is_removed_so_long_after_its_end(desk: Desk) -> None:
    view = await desk.add(prompt="say fine", auto_delete_sec=600)
    run = (await desk.finish(desk.hours(1), view))[0]
    assert run.delete_at is not None
    await desk.until(lambda: desk.clock.advance(601), "channel.deleted", id=run.thread_id)
    with pytest.raises(NotFoundError):
        await desk.hub.channels.get(str(run.thread_id))


async def test_the_threads_of_a_workflow_go_with_those_of_its_earlier_attempts(desk: Desk) -> None:
    text = (
        "name: asks\nnodes:\n  - {id: ask, type: prompt, prompt: say fine}\n"
        "  - {id: once, type: bash, depends_on: [ask], script: 'mkdir tried && exit 1 || exit 0'}\n"
    )
    await desk.hub.workflows.save("add", text, "project", str(desk.directory))
    view = await desk.add(workflow_name="asks", retries=1, auto_delete_sec=600, keep_reports=True)
    await desk.until(desk.hours(1), "task.run_retrying")
    run = (await desk.finish(lambda: desk.clock.advance(60), view))[0]
    assert (run.state, run.attempt) == ("completed", 2)
    await desk.until(lambda: desk.clock.advance(601), "channel.deleted", 2)
    assert [
        one.id for one in (await desk.hub.channels.list()).items if one.parent_id == desk.channel_id
    ] == []


async def test_a_thread_with_something_to_report_can_be_kept(desk: Desk) -> None:
    view = await desk.add(prompt="say two tests fail", auto_delete_sec=600, keep_reports=True)
    run = (await desk.finish(desk.hours(1), view))[0]
    assert run.delete_at is None
    await desk.hub.tasks.edit(view.task.id, {"prompt": "say NOTHING TO REPORT"})
    quiet = (await desk.finish(desk.hours(1), view))[0]
    assert quiet.delete_at == quiet.ended_at + timedelta(seconds=600) if quiet.ended_at else False
    assert "NOTHING TO REPORT" in desk.model.requests[-1].turns[-1].text


# --- making and changing


@pytest.mark.requirement("L33")
async def test_a_new_task_shows_its_schedule_in_words_and_its_next_five_times(desk: Desk) -> None:
    view = await desk.add(schedule="30 9 * * mon-fri", timezone="America/New_York")
    assert view.preview.words == "every Monday to Friday at 09:30 (America/New_York)"
    assert len(view.preview.times) == 5
    assert {f"{moment:%H:%M}" for moment in view.preview.times} == {"09:30"}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"model": "no-such-model"}, "There is no model"),
        ({"allow": ["no_such_*"]}, "No tool is called 'no_such_\\*'"),
        ({"worktree": True}, "no git repository"),
        ({"workflow_name": "no-such-workflow"}, "workflow"),
        ({"schedule": "0 0 30 2 *"}, "never comes"),
        ({"schedule": "2020-01-01T00:00:00Z", "type": "once"}, "in the past"),
    ],
)
@pytest.mark.requirement("L33")
async def test_a_task_that_could_not_run_is_not_made(desk: Desk, values: dict[str, Any], says: str) -> None:
    with pytest.raises((InvalidError, NotFoundError), match=says):
        await desk.add(**values)
    assert (await desk.hub.tasks.list([desk.channel_id])).items == []


async def test_the_same_template_name_updates_and_never_makes_a_second_one(desk: Desk) -> None:
    first = await desk.add(template_name="nightly", prompt="say one")
    second, made = await desk.hub.tasks.create(
        desk.channel_id, {"template_name": "nightly", "prompt": "say two", "schedule": "@daily"}
    )
    assert (second.task.id, made) == (first.task.id, False)
    listed = (await desk.hub.tasks.list([desk.channel_id])).items
    assert [(view.task.prompt, view.task.schedule) for view in listed] == [("say two", "@daily")]
    other = await desk.hub.channels.create("elsewhere")
    third, made = await desk.hub.tasks.create(
        other.id, {"template_name": "nightly", "prompt": "say", "schedule": "@daily"}
    )
    assert (made, third.task.id != first.task.id) == (True, True)


async def test_a_paused_task_does_not_fire_and_can_be_run_by_hand(desk: Desk) -> None:
    view = await desk.add()
    await desk.hub.tasks.toggle(view.task.id, False)
    run = (await desk.finish(lambda: desk.hub.tasks.start(view.task.id), view))[0]
    assert (run.state, run.trigger) == ("completed", "person")
    desk.clock.advance(7200)
    on = await desk.hub.tasks.toggle(view.task.id, True)
    assert on.task.next_run_at is not None
    assert on.task.next_run_at > desk.clock.now()
    assert len(await desk.runs(view)) == 1


async def test_once_is_off_after_it_ran(desk: Desk) -> None:
    at = (desk.clock.now() + timedelta(minutes=10)).isoformat()
    view = await desk.add(type="once", schedule=at)
    await desk.finish(lambda: desk.clock.advance(600), view)
    after = (await desk.hub.tasks.get(view.task.id)).task
    assert (after.enabled, after.next_run_at) == (False, None)
    with pytest.raises(InvalidError, match="in the past"):
        await desk.hub.tasks.toggle(view.task.id, True)


async def test_a_copy_is_off_and_leaves_the_first_alone(desk: Desk) -> None:
    view = await desk.add(template_name="nightly", name="nightly")
    copy = await desk.hub.tasks.clone(view.task.id)
    assert (copy.task.name, copy.task.enabled, copy.task.template_name) == ("nightly (copy)", False, None)


async def test_a_task_that_is_deleted_takes_its_history_and_stops_what_goes_on(desk: Desk) -> None:
    view = await desk.add(prompt="wait gone")
    begun = (await desk.until(desk.hours(1), "run.started"))[0].data
    ended = await desk.until(lambda: desk.hub.tasks.delete(view.task.id), "run.finished", id=begun["id"])
    assert ended[0].data["status"] == "cancelled"
    with pytest.raises(NotFoundError):
        await desk.hub.tasks.get(view.task.id)


async def test_an_agent_gives_no_powers_and_takes_none_over(desk: Desk) -> None:
    powerful = await desk.add(allow=["run_command"])
    with pytest.raises(NotAllowedError):
        await desk.hub.tasks.edit(powerful.task.id, {"prompt": "something else"}, agent=True)
    with pytest.raises(NotAllowedError):
        await desk.hub.tasks.create(
            desk.channel_id, {"schedule": "@daily", "prompt": "x", "allow": ["*"]}, agent=True
        )


async def test_history_comes_in_pages_newest_first(desk: Desk) -> None:
    view = await desk.add(script="true")
    for _ in range(3):
        await desk.finish(lambda: desk.hub.tasks.start(view.task.id), view)
    whole = await desk.runs(view)
    first = await desk.hub.tasks.runs(view.task.id, limit=2)
    rest = await desk.hub.tasks.runs(view.task.id, limit=2, cursor=first.next_cursor)
    assert [run.id for run in (*first.items, *rest.items)] == [run.id for run in whole]
    assert rest.next_cursor is None
    with pytest.raises(InvalidError, match="cursor"):
        await desk.hub.tasks.runs(view.task.id, cursor="nonsense")


async def test_a_run_whose_work_was_lost_ends_as_failed(desk: Desk) -> None:
    view = await desk.add(script="true")
    run = (await desk.finish(lambda: desk.hub.tasks.start(view.task.id), view))[0]
    values: dict[str, Any] = {"state": "running", "ended_at": None}
    await desk.hub.store.write(lambda conn: rows.update_run(conn, run.id, values))
    ended = (await desk.finish(lambda: desk.hub.tasks._life.begin(run.id), view))[0]
    assert (ended.state, ended.error) == ("failed", "What became of it is not known.")


async def test_a_run_that_another_hub_cancelled_ends_what_it_started_here(desk: Desk) -> None:
    await desk.add(prompt="wait elsewhere")
    begun = (await desk.until(desk.hours(1), "run.started"))[0]
    (run,) = (await desk.hub.tasks.list([desk.channel_id])).items
    assert run.last_run is not None
    run_id = run.last_run.id
    await desk.hub.store.write(lambda conn: rows.update_run(conn, run_id, {"state": "cancelled"}))
    await desk.until(lambda: desk.hub.durable.cancel([run_id]), "run.finished", id=begun.data["id"])
    assert (await desk.hub.runs.get(begun.data["id"])).status == "cancelled"
