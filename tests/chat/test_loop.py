"""The loop asks, acts and lets the model observe, whatever the model and the tools do."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from manyhands.chat.loop import Ending, Loop, RunEnds
from manyhands.chat.repeats import STOP_AFTER, TELL_AFTER
from manyhands.chat.types import RunStatus
from manyhands.models.types import ModelRequest, Reply, ToolRequest, ToolSpec, Turn

pytestmark = pytest.mark.anyio


class Script:
    """A mind that says its lines, and keeps what it was shown."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.shown: list[list[Turn]] = []
        self.offered: list[list[str]] = []

    async def request(self, turns: Sequence[Turn], tools: Sequence[ToolSpec]) -> ModelRequest:
        self.shown.append(list(turns))
        self.offered.append([tool.name for tool in tools])
        return ModelRequest("", turns, tools)

    async def ask(self, request: ModelRequest, iteration: int) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


class Bench:
    """Hands whose tools answer when they are told to."""

    def __init__(self, answers: dict[str, str]) -> None:
        self.answers = answers
        self.names = sorted(answers)
        self.running = 0
        self.most_at_once = 0
        self.gate: anyio.Event | None = None
        self.wait_for = 1

    async def offer(self) -> Sequence[ToolSpec]:
        return [ToolSpec(name, "", {"type": "object"}) for name in self.names]

    async def call(self, call: ToolRequest, iteration: int) -> Turn:
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        if self.gate is not None:
            if self.running == self.wait_for:
                self.gate.set()
            await self.gate.wait()
        self.running -= 1
        return Turn("tool", self.answers[call.name], call_id=call.id, tool=call.name)


class Diary:
    """A record that keeps the order of things."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.arriving: list[Turn] = []

    async def take_in(self) -> Sequence[Turn]:
        taken, self.arriving = self.arriving, []
        return taken

    async def replied(self, reply: Reply, iteration: int) -> Reply:
        self.lines.append(f"{iteration} reply {[call.id for call in reply.calls]}")
        return reply

    async def observed(self, results: Sequence[Turn], iteration: int) -> None:
        self.lines.append(f"{iteration} results {[result.call_id for result in results]}")


def asks(*names: str) -> Reply:
    calls = tuple(ToolRequest(f"{name}-{number}", name, "{}") for number, name in enumerate(names))
    return Reply(calls=calls, finish_reason="tool_calls")


def loop(script: Script, bench: Bench, diary: Diary, limit: int = 10) -> Loop:
    return Loop(script, bench, diary, limit)


async def test_an_answer_without_a_call_ends_the_run() -> None:
    ending = await loop(Script(Reply("done")), Bench({}), Diary()).run([Turn("user", "hello")])
    assert ending == Ending(RunStatus.COMPLETED, "done")


async def test_calls_of_one_iteration_run_side_by_side_and_results_keep_the_order_of_the_calls() -> None:
    bench = Bench({"one": "1", "two": "2", "three": "3"})
    bench.gate, bench.wait_for = anyio.Event(), 3
    script, diary = Script(asks("three", "one", "two"), Reply("done")), Diary()
    with anyio.fail_after(5):
        await loop(script, bench, diary).run([Turn("user", "go")])
    assert bench.most_at_once == 3
    assert [turn.text for turn in script.shown[1] if turn.role == "tool"] == ["3", "1", "2"]


async def test_a_reply_is_on_record_before_its_calls_and_results_before_the_model_sees_them() -> None:
    diary = Diary()
    await loop(Script(asks("one"), Reply("done")), Bench({"one": "1"}), diary).run([Turn("user", "go")])
    assert diary.lines == ["1 reply ['one-0']", "1 results ['one-0']", "2 reply []"]


async def test_a_message_sent_during_the_run_is_read_at_the_next_iteration() -> None:
    script, diary = Script(asks("one"), Reply("done")), Diary()
    bench = Bench({"one": "1"})
    run = loop(script, bench, diary)
    diary.arriving = [Turn("user", "and be quick")]
    await run.run([Turn("user", "go")])
    assert [turn.text for turn in script.shown[0]] == ["go", "and be quick"]


async def test_tools_are_those_of_each_iteration() -> None:
    script = Script(asks("one"), Reply("done"))
    bench = Bench({"one": "1"})

    class Growing(Bench):
        async def call(self, call: ToolRequest, iteration: int) -> Turn:
            self.names = ["new", "one"]
            return await super().call(call, iteration)

    bench = Growing({"one": "1"})
    await loop(script, bench, Diary()).run([Turn("user", "go")])
    assert script.offered == [["one"], ["new", "one"]]


async def test_the_limit_of_iterations_ends_the_run_with_a_clear_message() -> None:
    calls = 0

    class Restless(Script):
        async def ask(self, request: ModelRequest, iteration: int) -> Reply:
            nonlocal calls
            calls += 1
            return Reply(calls=(ToolRequest(f"c{iteration}", "one", f'{{"n": {iteration}}}'),))

    ending = await loop(Restless(Reply()), Bench({"one": "1"}), Diary(), limit=4).run([Turn("user", "go")])
    assert ending.status is RunStatus.MAX_ITERATIONS
    assert "4 iterations" in ending.text
    assert calls == 4


@pytest.mark.requirement("L17")
async def test_a_model_that_repeats_the_same_call_is_told_and_then_stopped() -> None:
    script = Script(asks("one"))
    ending = await loop(script, Bench({"one": "same"}), Diary(), limit=50).run([Turn("user", "go")])
    assert ending.status is RunStatus.FAILED
    assert f"same call {STOP_AFTER} times" in ending.text
    results = [turn.text for turn in script.shown[-1] if turn.role == "tool"]
    assert len(results) == STOP_AFTER - 1
    assert "same call" not in results[TELL_AFTER - 2]
    assert "same call" in results[TELL_AFTER - 1]


async def test_an_ending_raised_by_the_mind_is_the_ending_of_the_run() -> None:
    class Broken(Script):
        async def ask(self, request: ModelRequest, iteration: int) -> Reply:
            raise RunEnds(RunStatus.FAILED, "the key is wrong")

    ending = await loop(Broken(Reply()), Bench({}), Diary()).run([Turn("user", "go")])
    assert ending == Ending(RunStatus.FAILED, "the key is wrong")
