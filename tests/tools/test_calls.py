"""The way of a call: logged from pending to its end, under policy, against its time; failures are results."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from sqlalchemy import event as sqlalchemy_event

from manyhands.approvals.types import Answer, ApprovalState, Question
from manyhands.chat.types import Channel
from manyhands.errors import NotFoundError, ToolFault, ToolRefusal, UnavailableError
from manyhands.secrets import HIDDEN, MASK, Redactor
from manyhands.store.sqlite import SqliteStore
from manyhands.testing.tools import Function
from manyhands.tools.types import Annotations, CallStatus, Invocation, ToolResult, text_result
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

Json = Mapping[str, Any]


@pytest.fixture
def trusted(desk: Desk) -> Desk:
    """A desk whose server may do everything."""
    desk.source.add("echo")
    desk.source.trust("memory", "full")
    return desk


class Blocking:
    """A tool that waits until it is let go, and knows how it ended."""

    def __init__(self) -> None:
        self.started = anyio.Event()
        self.go = anyio.Event()
        self.cancelled = False
        self.call_id = ""

    async def __call__(self, arguments: Json, invocation: Invocation) -> ToolResult:
        self.call_id = invocation.call_id
        self.started.set()
        try:
            await self.go.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled = True
            raise
        return text_result("done")


def raising(error: Exception) -> Function:
    async def function(arguments: Json, invocation: Invocation) -> ToolResult:
        raise error

    return function


def answering(result: ToolResult) -> Function:
    async def function(arguments: Json, invocation: Invocation) -> ToolResult:
        return result

    return function


# --- the log and the events


async def test_a_call_is_logged_with_everything_about_it(stored: Desk) -> None:
    record = await stored.call("mcp__memory__echo", {"text": "hello"}, run_id="run_1", iteration=2)
    assert (record.tool, record.server, record.server_id) == ("echo", "memory", 1)
    assert record.status is CallStatus.SUCCESS
    assert (record.result, record.is_error, record.error) == ("hello", False, None)
    assert record.content == [{"type": "text", "text": "hello"}]
    assert record.arguments == {"text": "hello"}
    assert (record.run_id, record.iteration, record.size) == ("run_1", 2, 5)
    assert record.duration_ms is not None
    assert await stored.tools.get_call(record.id) == record


async def test_a_call_is_pending_in_the_log_before_its_tool_runs(stored: Desk) -> None:
    seen: list[CallStatus] = []

    async def look(arguments: Json, invocation: Invocation) -> ToolResult:
        seen.append((await stored.tools.get_call(invocation.call_id)).status)
        return text_result("seen")

    stored.source.add("look", look)
    await stored.call("mcp__memory__look")
    assert seen == [CallStatus.PENDING]


async def test_start_and_end_are_events_with_the_fields_of_the_call(trusted: Desk) -> None:
    record = await trusted.call("mcp__memory__echo", {"text": "hi"}, run_id="run_1")
    started, finished = trusted.events
    assert (started.type, finished.type) == ("tool.started", "tool.finished")
    assert started.data["status"] == "pending"
    assert finished.data == record.wire()
    assert set(finished.data) >= {
        *("id", "tool", "server", "arguments", "result", "content", "structuredContent", "isError"),
        *("status", "duration_ms", "error", "run_id", "iteration", "size", "at"),
    }


async def test_a_long_argument_is_whole_in_the_log_and_short_in_events(trusted: Desk) -> None:
    arguments = {"other": "x" * 100_000, "rows": [["y" * 100] * 1000], "few": [1]}
    record = await trusted.call("mcp__memory__echo", arguments)
    assert (await trusted.tools.get_call(record.id)).arguments == arguments
    shown = trusted.events[0].data["arguments"]
    assert len(str(shown)) < 10_000
    assert shown["few"] == [1]
    assert shown["other"].endswith("… (100000 characters)")


@pytest.mark.requirement("L15")
async def test_text_structure_images_and_the_error_flag_are_all_kept(stored: Desk) -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    content = [{"type": "text", "text": "first"}, image, {"type": "text", "text": "second"}, link]
    stored.source.add("rich", answering(ToolResult(content, structured={"n": [1, None]}, is_error=True)))
    record = await stored.call("mcp__memory__rich")
    assert record.content == content
    assert record.structured_content == {"n": [1, None]}
    assert record.is_error
    assert record.status is CallStatus.ERROR
    assert record.result == "first\n[image image/png]\nsecond\n[resource file:///a]"
    assert await stored.tools.get_call(record.id) == record


async def test_what_cannot_be_stored_does_not_lose_the_call(stored: Desk) -> None:
    nasty = text_result("a\0b\ud800", structured={"k\0": float("nan")})
    stored.source.add("nasty", answering(nasty))
    record = await stored.call("mcp__memory__nasty", {"x\0": "\udfff"})
    assert record.result == "a␀b�"
    assert await stored.tools.get_call(record.id) == record


async def test_what_may_be_a_secret_is_masked_in_log_and_events_and_not_for_the_caller(desk: Desk) -> None:
    redactor = Redactor()
    redactor.register("s3cret-setting")
    desk.tools = desk.new_service(redactor=redactor)
    desk.source.add("echo")
    desk.source.trust("memory", "full")
    record = await desk.call("mcp__memory__echo", {"text": "the s3cret-setting"})
    assert (record.result, record.arguments) == ("the s3cret-setting", {"text": f"the {MASK}"})
    logged = await desk.tools.get_call(record.id)
    assert (logged.result, logged.arguments) == (f"the {MASK}", {"text": f"the {MASK}"})
    assert not any("s3cret" in str(event.data) for event in desk.events)


async def test_what_stands_for_a_secret_is_refused_where_it_could_overwrite_it(trusted: Desk) -> None:
    trusted.source.add("look", annotations=Annotations(read_only=True))
    arguments = {"text": "x", "deep": [{"er": f"a {HIDDEN}"}]}
    refused = await trusted.call("mcp__memory__echo", arguments)
    assert (refused.status, refused.code) == (CallStatus.ERROR, "invalid_arguments")
    assert "'deep' of mcp__memory__echo" in (refused.error or "")
    assert (await trusted.call("mcp__memory__look", arguments)).status is CallStatus.SUCCESS


async def test_sixty_four_calls_at_once_share_few_commits(trusted: Desk) -> None:
    assert isinstance(trusted.store, SqliteStore)
    await trusted.call("mcp__memory__echo")
    await trusted.store.flush()
    commits: list[object] = []
    sqlalchemy_event.listen(trusted.store._write_engine, "commit", commits.append)
    async with anyio.create_task_group() as group:
        for _ in range(64):
            group.start_soon(trusted.call, "mcp__memory__echo")
    await trusted.store.flush()
    assert len(trusted.of_kind("tool.finished")) == 65
    assert len(commits) < 64  # 256 rows were written


# --- failures of tools are results


@pytest.mark.parametrize(
    ("error", "text", "code"),
    [
        (ToolFault("No such row.", hint="Try 5."), "No such row. Try 5.", "tool_fault"),
        (ToolRefusal("Not yours."), "Not yours. Do not try this again.", "tool_refused"),
        (UnavailableError("Gone.", hint="Later."), "Gone. Later.", "unavailable"),
        (ValueError("line one\nTraceback"), "The tool failed: ValueError: line one.", "failed"),
        (ExceptionGroup("g", [ExceptionGroup("h", [ToolFault("inner")])]), "inner", "tool_fault"),
        (KeyError(), "The tool failed: KeyError.", "failed"),
    ],
)
async def test_what_a_tool_raises_becomes_an_error_result(
    trusted: Desk, error: Exception, text: str, code: str
) -> None:
    trusted.source.add("bad", raising(error))
    record = await trusted.call("mcp__memory__bad")
    assert (record.status, record.is_error, record.code) == (CallStatus.ERROR, True, code)
    assert record.result == record.error == text


async def test_one_failing_call_does_not_touch_its_siblings(trusted: Desk) -> None:
    trusted.source.add("bad", raising(ValueError("no")))
    names = ["mcp__memory__echo", "mcp__memory__bad", "mcp__memory__echo"]
    records: dict[int, CallStatus] = {}

    async def one(number: int, name: str) -> None:
        records[number] = (await trusted.call(name)).status

    async with anyio.create_task_group() as group:
        for number, name in enumerate(names):
            group.start_soon(one, number, name)
    assert [records[n] for n in range(3)] == [CallStatus.SUCCESS, CallStatus.ERROR, CallStatus.SUCCESS]


async def test_an_unknown_tool_raises_for_the_owner_and_tells_a_model_what_it_may_have_meant(
    trusted: Desk,
) -> None:
    with pytest.raises(NotFoundError, match="Did you mean mcp__memory__echo"):
        await trusted.call("mcp__memory__ecko_echo", direct=True)
    record = await trusted.call("mcp__memory__echo_it", {"a": 1})
    assert (record.status, record.code) == (CallStatus.ERROR, "unknown_tool")
    assert "There is no tool 'mcp__memory__echo_it'. Did you mean mcp__memory__echo" in str(record.result)
    assert (await trusted.tools.get_call(record.id)).tool == "mcp__memory__echo_it"


async def test_a_tool_that_was_switched_off_is_not_called(trusted: Desk) -> None:
    trusted.source.change("mcp__memory__echo", enabled=False)
    record = await trusted.call("mcp__memory__echo", direct=True)
    assert (record.status, record.code) == (CallStatus.DENIED, "disabled")
    assert "switched off" in str(record.result)


async def test_a_tool_that_is_known_but_cannot_be_called_says_why(trusted: Desk) -> None:
    trusted.source.change("mcp__memory__echo", offered=False, reason="its schema is broken")
    del trusted.source.tools["mcp__memory__echo"]
    record = await trusted.call("mcp__memory__echo")
    assert (record.status, record.code) == (CallStatus.ERROR, "unavailable")
    assert "its schema is broken" in str(record.result)


@pytest.mark.parametrize("arguments", [[1], "{", {"n": "x"}, {}])
async def test_arguments_that_do_not_fit_never_reach_the_tool(desk: Desk, arguments: object) -> None:
    async def never(arguments: Json, invocation: Invocation) -> ToolResult:
        raise AssertionError("it was called")

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    desk.source.add("count", never, schema=schema)
    record = await desk.call("mcp__memory__count", arguments, direct=True)
    assert (record.status, record.code) == (CallStatus.ERROR, "invalid_arguments")
    assert (await desk.tools.get_call(record.id)).result == record.result


async def test_a_value_without_end_fails_that_call_and_nothing_else(trusted: Desk) -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    trusted.source.add("deep", answering(text_result("x", structured=deep)))
    record = await trusted.call("mcp__memory__deep")
    assert (record.status, record.is_error) == (CallStatus.ERROR, True)
    assert "nested more than 200 levels" in str(record.result)
    record = await trusted.call("mcp__memory__echo", deep)
    assert (record.status, record.code) == (CallStatus.ERROR, "invalid_arguments")


async def test_once_a_call_could_not_be_logged_no_other_is_started_before_that_works_again(
    trusted: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocking = Blocking()
    trusted.source.add("never", blocking)

    async def full(work: object) -> None:
        raise UnavailableError("The database is full.", hint="Free some disk space.")

    with monkeypatch.context() as broken:
        broken.setattr(trusted.store, "write_row", full)
        first = await trusted.call("mcp__memory__echo", {"text": "hi"})
        assert (first.status, first.code) == (CallStatus.ERROR, "not_logged")
        record = await trusted.call("mcp__memory__never")
    assert (record.status, record.code) == (CallStatus.ERROR, "not_logged")
    assert "was not called" in str(record.result)
    assert "Free some disk space" in str(record.result)
    assert not blocking.started.is_set()
    assert (await trusted.call("mcp__memory__echo", {"text": "hi"})).status is CallStatus.SUCCESS
    await trusted.new_service().start()
    kept = await trusted.tools.get_call(first.id)
    assert (kept.status, kept.code, kept.arguments) == (CallStatus.ERROR, "not_logged", {"text": "hi"})
    assert kept.result == first.result


async def test_a_call_that_cannot_be_noted_is_not_started_when_it_cannot_be_logged_either(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocking = Blocking()
    desk.source.add("never", blocking)
    desk.source.trust("memory", "full")
    desk.tools.close()

    async def full(work: object) -> None:
        raise UnavailableError("The database is full.")

    monkeypatch.setattr(desk.store, "write_row", full)
    record = await desk.call("mcp__memory__never")
    assert (record.status, record.code) == (CallStatus.ERROR, "not_logged")
    assert "was not called" in str(record.result)
    assert not blocking.started.is_set()


async def test_a_result_that_cannot_be_logged_is_handed_out_with_a_word_about_it(
    trusted: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocking = Blocking()
    trusted.source.add("work", blocking)

    async def full(work: object) -> None:
        raise UnavailableError("The database is full.")

    async with anyio.create_task_group() as group:

        async def break_database() -> None:
            await blocking.started.wait()
            monkeypatch.setattr(trusted.store, "write_row", full)
            blocking.go.set()

        group.start_soon(break_database)
        record = await trusted.call("mcp__memory__work")
    assert (record.is_error, record.code) == (True, "not_logged")
    assert "could not be logged: The database is full." in str(record.result)
    assert str(record.result).endswith("done")
    kept = await trusted.tools.get_call(record.id)
    assert (kept.code, kept.result) == ("not_logged", record.result)


# --- time


@pytest.mark.requirement("L11")
async def test_a_stuck_call_ends_with_its_timeout_and_the_tool_is_cancelled(trusted: Desk) -> None:
    blocking = Blocking()
    trusted.source.add("stuck", blocking, timeout_ms=30)
    record = await trusted.call("mcp__memory__stuck")
    assert (record.status, record.is_error, record.code) == (CallStatus.TIMEOUT, True, "timeout")
    assert str(record.result).splitlines()[0] == "Tool execution timed out after 30ms"
    assert blocking.cancelled
    assert (await trusted.tools.get_call(record.id)).status is CallStatus.TIMEOUT


@pytest.mark.requirement("L11")
async def test_progress_keeps_a_call_alive_up_to_the_cap_and_both_numbers_are_told(trusted: Desk) -> None:
    trusted.settings.change(tool_timeout_max=600)

    async def reporting(arguments: Json, invocation: Invocation) -> ToolResult:
        while True:
            invocation.progress(1)
            await anyio.sleep(0.005)

    trusted.source.add("slow", reporting, timeout_ms=400)
    record = await trusted.call("mcp__memory__slow")
    assert record.status is CallStatus.TIMEOUT
    first, second, *_ = str(record.result).splitlines()
    assert first == "Tool execution timed out after 400ms"
    assert "600ms" in second


@pytest.mark.requirement("L11")
async def test_the_time_stands_still_while_a_person_is_asked(trusted: Desk) -> None:
    async def asking(arguments: Json, invocation: Invocation) -> ToolResult:
        answer = await invocation.ask(Question("elicitation", "Which one?"))
        return text_result(str(answer.response))

    trusted.source.add("asks", asking, timeout_ms=300)
    records: list[str | None] = []

    async def call() -> None:
        record = await trusted.call("mcp__memory__asks", channel_id=None, run_id="run_1")
        records.append(record.result)

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        asked = await trusted.event("approval.requested")
        await anyio.sleep(0.5)  # longer than the timeout
        await trusted.approvals.answer(asked.data["id"], True, response="the blue one")
    assert records == ["the blue one"]
    assert asked.data["call_id"] == trusted.of_kind("tool.started")[0].data["id"]
    assert asked.data["run_id"] == "run_1"


async def test_a_question_of_an_unattended_call_is_refused_at_once(trusted: Desk) -> None:
    answers: list[Answer] = []

    async def asking(arguments: Json, invocation: Invocation) -> ToolResult:
        answers.append(await invocation.ask(Question("elicitation", "Which one?")))
        return text_result("went on")

    trusted.source.add("asks", asking)
    record = await trusted.call("mcp__memory__asks", attended=False)
    assert record.result == "went on"
    assert answers[0].state is ApprovalState.REJECTED
    assert "unattended" in str(answers[0].reason)
    assert not trusted.of_kind("approval.requested")


@pytest.mark.requirement("L11")
async def test_progress_is_an_event_with_the_elapsed_time_and_a_flood_of_it_is_thinned(trusted: Desk) -> None:
    async def reporting(arguments: Json, invocation: Invocation) -> ToolResult:
        for step in range(1001):
            invocation.progress(step, 1000, "x" * 5000)
        return text_result("done")

    trusted.source.add("steps", reporting)
    record = await trusted.call("mcp__memory__steps", run_id="run_1")
    reports = [event.data for event in trusted.of_kind("tool.progress")]
    assert 2 <= len(reports) < 100
    assert reports[0]["id"] == record.id
    assert (reports[0]["tool"], reports[0]["server"], reports[0]["total"]) == ("steps", "memory", 1000)
    assert reports[-1]["progress"] == 1000
    assert reports[0]["elapsed_ms"] >= 0
    assert len(reports[0]["message"]) <= 1000


async def test_what_is_told_of_a_call_that_never_waits_comes_in_its_order(trusted: Desk) -> None:
    async def hasty(arguments: Json, invocation: Invocation) -> ToolResult:
        invocation.progress(1, 1)
        return text_result("done")

    trusted.source.add("hasty", hasty)
    await trusted.call("mcp__memory__hasty")
    told = [event.type for event in trusted.events if event.type.startswith("tool.")]
    assert told == ["tool.started", "tool.progress", "tool.finished"]


# --- cancellation


@pytest.mark.requirement("L12")
async def test_stopping_a_call_reaches_its_tool_and_ends_its_row(stored: Desk) -> None:
    blocking = Blocking()
    stored.source.add("long", blocking)
    async with anyio.create_task_group() as group:
        group.start_soon(stored.call, "mcp__memory__long")
        await blocking.started.wait()
        group.cancel_scope.cancel()
    assert blocking.cancelled
    logged = await stored.tools.get_call(blocking.call_id)
    assert (logged.status, logged.code, logged.is_error) == (CallStatus.CANCELLED, "cancelled", True)
    assert stored.events[-1].data["status"] == "cancelled"


@pytest.mark.requirement("L12")
async def test_a_task_that_is_cancelled_by_other_means_ends_its_row_too(stored: Desk) -> None:
    blocking = Blocking()
    stored.source.add("long", blocking)
    task = asyncio.ensure_future(stored.call("mcp__memory__long"))
    await blocking.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert blocking.cancelled
    assert (await stored.tools.get_call(blocking.call_id)).status is CallStatus.CANCELLED


async def test_a_tool_that_had_ended_is_logged_as_ended_although_the_caller_left_meanwhile(
    stored: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = anyio.CancelScope()
    write = stored.store.write_row
    leaving = False

    async def write_and_leave(work: Any) -> Any:
        nonlocal leaving
        if leaving:
            leaving = False
            scope.cancel()
        return await write(work)

    async def work(arguments: Json, invocation: Invocation) -> ToolResult:
        nonlocal leaving
        leaving = True
        return text_result("done")

    monkeypatch.setattr(stored.store, "write_row", write_and_leave)
    stored.source.add("work", work)
    with scope:
        await stored.call("mcp__memory__work")
    assert scope.cancel_called
    [finished] = stored.of_kind("tool.finished")
    assert finished.data["status"] == "success"
    assert (await stored.tools.get_call(finished.data["id"])).status is CallStatus.SUCCESS


async def test_calls_that_a_dead_process_left_are_ended_as_interrupted(stored: Desk) -> None:
    blocking = Blocking()
    stored.source.add("long", blocking)
    async with anyio.create_task_group() as group:
        group.start_soon(stored.call, "mcp__memory__long")
        await blocking.started.wait()
        after_restart = stored.new_service()
        await after_restart.start()
        cut = await after_restart.get_call(blocking.call_id)
        assert await after_restart.interrupt_leftovers() == 0
        group.cancel_scope.cancel()
    assert (cut.status, cut.code, cut.is_error) == (CallStatus.ERROR, "interrupted", True)
    assert "not known" in str(cut.result)


# --- side by side


@pytest.mark.requirement("L14")
async def test_calls_of_a_server_that_takes_one_at_a_time_wait_for_each_other(trusted: Desk) -> None:
    first, second = Blocking(), Blocking()
    trusted.source.add("first", first)
    trusted.source.add("second", second)
    trusted.source.trust("memory", "full", parallel="none")
    async with anyio.create_task_group() as group:
        group.start_soon(trusted.call, "mcp__memory__first")
        await first.started.wait()
        group.start_soon(trusted.call, "mcp__memory__second")
        await trusted.event("tool.started", 2)
        await anyio.wait_all_tasks_blocked()
        assert not second.started.is_set()
        first.go.set()
        await second.started.wait()
        second.go.set()


@pytest.mark.requirement("L14")
async def test_calls_run_side_by_side_by_default(trusted: Desk) -> None:
    first, second = Blocking(), Blocking()
    trusted.source.add("first", first)
    trusted.source.add("second", second)
    async with anyio.create_task_group() as group:
        group.start_soon(trusted.call, "mcp__memory__first")
        group.start_soon(trusted.call, "mcp__memory__second")
        with anyio.fail_after(10):
            await first.started.wait()
            await second.started.wait()
        assert not trusted.of_kind("tool.finished")
        first.go.set()
        second.go.set()


async def test_a_model_that_calls_a_tool_of_a_server_nobody_has_met_has_it_connected(desk: Desk) -> None:
    async def meet(full_name: str, channel: Channel | None) -> None:
        desk.source.add("echo", server="new")
        desk.source.trust("new", "full")

    desk.source.meet = meet  # type: ignore[method-assign]
    record = await desk.call("mcp__new__echo", {"text": "hello"})
    assert (record.status, record.result, record.server) == (CallStatus.SUCCESS, "hello", "new")
    wrong = await desk.call("mcp__new__sing", {})
    assert (wrong.status, wrong.code) == (CallStatus.ERROR, "unknown_tool")
    assert "mcp__new__echo" in (wrong.result or "")
