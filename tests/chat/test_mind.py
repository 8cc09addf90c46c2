"""What is sent fits the model, and what the model streams is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from manyhands.chat.context import SUMMARY_HEAD, estimate
from manyhands.chat.loop import RunEnds
from manyhands.chat.mind import SUMMARY_PROMPT, RunMind
from manyhands.chat.types import Run, RunOptions, RunStatus
from manyhands.events import Event, EventBus
from manyhands.models.types import (
    ContextTooLongError,
    ModelError,
    ModelRequest,
    Reply,
    Restarted,
    TextDelta,
    ToolRepair,
    ToolRequest,
    ToolsMended,
    Turn,
    Usage,
)
from manyhands.testing.scripted import SCRIPTED, ScriptedModel

pytestmark = pytest.mark.anyio

SMALL = replace(SCRIPTED, context=2_000)
RUN = Run("run_1", "ch_1", RunStatus.RUNNING, RunOptions(), datetime(2026, 1, 1, tzinfo=UTC))


class Rig:
    """A mind with everything that it told and kept."""

    def __init__(self, bus: EventBus, *script: Any, context: int = 2_000) -> None:
        self.model = ScriptedModel(script, info=replace(SMALL, context=context))
        self.events: list[Event] = []
        self.summaries: list[tuple[int, str]] = []
        self.spent = Usage()
        bus.observe(self.events.append)
        self.mind = RunMind(
            RUN, self.model, self._brief, bus, on_usage=self._use, on_summary=self._keep, afford=self._afford
        )

    async def _brief(self) -> str:
        return "Be brief."

    async def _afford(self) -> None:
        pass

    async def _use(self, reply: Reply) -> None:
        self.spent += reply.usage

    async def _keep(self, after: int, text: str) -> None:
        self.summaries.append((after, text))

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [event.data for event in self.events if event.type == kind]


@pytest.fixture
def rig() -> Callable[..., Rig]:
    return lambda *script, **options: Rig(EventBus(_NoLog()), *script, **options)


class _NoLog:
    """Nothing is kept."""

    async def open(self) -> bool:
        return True

    async def close(self) -> None: ...

    def append(self, event: Event) -> None: ...

    async def since(self, seq: int, limit: int) -> Sequence[Event]:
        return []

    def lost(self) -> int:
        return 0

    async def flush(self) -> None: ...

    async def floor(self) -> int:
        return 0

    async def reserve(self, count: int) -> int:
        return 0


def round_of(number: int, size: int) -> list[Turn]:
    call = ToolRequest(f"c{number}", "read", "{}")
    return [Turn("assistant", calls=[call]), Turn("tool", f"{number}" * size, call_id=call.id, tool="read")]


async def test_what_fits_is_sent_as_it_is(rig: Callable[..., Rig]) -> None:
    turns = [Turn("user", "go"), *round_of(1, 900)]
    made = await rig().mind.request(turns, [])
    assert made == ModelRequest("Be brief.", turns, [])


async def test_old_results_are_shortened_before_anything_is_summed_up(rig: Callable[..., Rig]) -> None:
    one = rig()
    turns = [Turn("user", "go"), *[turn for number in range(4) for turn in round_of(number, 2_000)]]
    made = await one.mind.request(turns, [])
    assert estimate(made) <= one.mind.limit
    assert one.model.requests == []
    assert "dropped to save room" in made.turns[2].text
    assert made.turns[-1] == turns[-1]


async def test_results_that_the_model_has_not_read_yet_stay_whole_beside_a_summary(
    rig: Callable[..., Rig],
) -> None:
    one = rig("They spoke of bees.")
    turns = [
        *[Turn("user", f"tell me of bees, part {number}" * 40) for number in range(9)],
        Turn("user", "and now read"),
        *round_of(1, 3_000),
    ]
    made = await one.mind.request(turns, [])
    [asked] = one.model.requests
    assert asked.system == SUMMARY_PROMPT
    assert "part 8" in asked.turns[0].text
    assert [turn.text for turn in made.turns[:2]] == [SUMMARY_HEAD + "They spoke of bees.", "and now read"]
    assert made.turns[-1] == turns[-1]
    assert one.summaries == [(3, "They spoke of bees.")]
    assert one.told("run.compacting")


async def test_a_long_run_is_summed_up_to_its_last_round_and_keeps_what_the_person_asked(
    rig: Callable[..., Rig],
) -> None:
    one = rig(Reply("Nine files read.", usage=Usage(100, 10)))
    rounds = [turn for number in range(30) for turn in round_of(number, 400)]
    made = await one.mind.request([Turn("user", "read them all"), *rounds], [])
    assert [turn.role for turn in made.turns] == ["user", "user", "assistant", "tool"]
    assert made.turns[1].text == "read them all"
    assert one.summaries == [(2, "Nine files read.")]
    assert one.spent == Usage(100, 10)


async def test_a_summary_is_used_again_as_long_as_there_is_room(rig: Callable[..., Rig]) -> None:
    one = rig("Summed up.")
    turns = [*[Turn("user", "words " * 100) for _ in range(20)], Turn("user", "go")]
    await one.mind.request(turns, [])
    made = await one.mind.request([*turns, *round_of(1, 10)], [])
    assert len(one.model.requests) == 1
    assert [turn.role for turn in made.turns] == ["user", "user", "assistant", "tool"]


async def test_what_cannot_be_made_to_fit_ends_with_what_to_do_and_costs_nothing(
    rig: Callable[..., Rig],
) -> None:
    one = rig()
    with pytest.raises(RunEnds, match="Shorten the message, attach less") as ended:
        await one.mind.request([Turn("user", "old"), Turn("user", "x" * 20_000)], [])
    assert ended.value.status is RunStatus.FAILED
    assert one.model.requests == []


async def test_a_model_that_takes_less_than_is_known_of_it_is_asked_once_more_with_less(
    rig: Callable[..., Rig],
) -> None:
    one = rig(ContextTooLongError("It takes 900 tokens."), "Bees.", "done", context=100_000)
    turns = [*[Turn("user", f"bees {number} " * 50) for number in range(20)], Turn("user", "go")]
    reply = await one.mind.ask(await one.mind.request(turns, []), 1)
    assert reply.text == "done"
    assert [len(request.turns) for request in one.model.requests] == [21, 1, 2]
    assert "Asking again with less" in one.told("run.notice")[0]["text"]


async def test_a_model_that_finds_it_too_long_again_ends_the_run(rig: Callable[..., Rig]) -> None:
    too_long = ContextTooLongError("It takes 900 tokens.")
    one = rig(too_long, "Bees.", too_long, context=100_000)
    turns = [*[Turn("user", f"bees {number} " * 50) for number in range(20)], Turn("user", "go")]
    with pytest.raises(RunEnds, match="900 tokens"):
        await one.mind.ask(await one.mind.request(turns, []), 1)


async def test_words_and_new_attempts_are_told_as_they_come(rig: Callable[..., Rig]) -> None:
    pieces = [TextDelta("He"), Restarted("cut off", "scripted", 2, 0.5), TextDelta("Hello"), Reply("Hello")]
    one = rig(pieces)
    await one.mind.ask(ModelRequest("", [Turn("user", "hi")]), 3)
    assert [event.type for event in one.events] == ["run.delta", "run.restarted", "run.delta"]
    assert one.told("run.restarted") == [
        {
            "run_id": "run_1",
            "iteration": 3,
            "reason": "cut off",
            "model": "scripted",
            "attempt": 2,
            "wait": 0.5,
        }
    ]


async def test_tools_that_a_provider_does_not_take_as_they_are_are_reported_once(
    rig: Callable[..., Rig],
) -> None:
    mended = ToolsMended([ToolRepair("odd", False, ["an enum lost a null"]), ToolRepair("bad", True, ["no"])])
    one = rig([mended, Reply("a")], [mended, Reply("b")])
    for iteration in (1, 2):
        await one.mind.ask(ModelRequest("", [Turn("user", "hi")]), iteration)
    notices = one.told("run.notice")
    assert [notice["repairs"][0]["tool"] for notice in notices] == ["bad", "odd"]
    assert "left out: bad" in notices[0]["text"]


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("", "answered with nothing"),
        ([TextDelta("half an ans")], "ended its answer in the middle"),
        (ModelError("The key is wrong."), "The key is wrong"),
    ],
)
async def test_a_model_that_fails_ends_the_run_with_the_reason(
    rig: Callable[..., Rig], step: Any, why: str
) -> None:
    with pytest.raises(RunEnds, match=why):
        await rig(step).mind.ask(ModelRequest("", [Turn("user", "hi")]), 1)
