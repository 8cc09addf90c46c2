"""Asking again, asking another model, and what listeners are told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest

from manyhands.models.asking import Asking, Patience
from manyhands.models.types import (
    ContextTooLongError,
    ModelError,
    ModelInfo,
    Piece,
    Reply,
    Restarted,
    TextDelta,
)
from manyhands.testing.clock import FakeClock
from manyhands.testing.scripted import SCRIPTED, Gate, ScriptedModel, Step, calls
from tests.models.asked import ask, says

pytestmark = pytest.mark.anyio

BUSY = ModelError("The provider is busy.", provider_status=503, retry=True)
WRONG_KEY = ModelError("The key is wrong.", provider_status=401)


def named(name: str, context: int = 1000) -> ModelInfo:
    return replace(SCRIPTED, id=name, name=name, context=context)


class InstantClock(FakeClock):
    """Sleeps take no time, and are written down."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await anyio.lowlevel.checkpoint()


@pytest.fixture
def clock() -> InstantClock:
    return InstantClock()


def asking(clock: InstantClock, *scripts: Sequence[Step]) -> tuple[Asking, list[ScriptedModel]]:
    models = [ScriptedModel(script, info=named(f"model{index}")) for index, script in enumerate(scripts)]
    return Asking(models, clock=clock, chance=lambda: 1.0), models


async def test_an_answer_at_once_needs_nothing_of_this(clock: InstantClock) -> None:
    model, _ = asking(clock, ["Hello."])
    assert await ask(model, says("hi")) == [TextDelta("Hello."), Reply("Hello.", model="scripted")]
    assert clock.slept == []


async def test_what_may_pass_is_asked_again_after_growing_pauses(clock: InstantClock) -> None:
    model, [only] = asking(clock, [BUSY, BUSY, BUSY, "Here."])
    *before, reply = await ask(model, says("hi"))
    assert isinstance(reply, Reply)
    assert clock.slept == [0.5, 1.0, 2.0]
    assert [piece for piece in before if isinstance(piece, Restarted)] == [
        Restarted("The provider is busy.", "model0", 2, 0.5),
        Restarted("The provider is busy.", "model0", 3, 1.0),
        Restarted("The provider is busy.", "model0", 4, 2.0),
    ]
    assert len({id(request) for request in only.requests}) == 1


async def test_after_the_last_attempt_the_error_is_told(clock: InstantClock) -> None:
    model, [only] = asking(clock, [BUSY] * 9)
    with pytest.raises(ModelError, match="busy"):
        await ask(model, says("hi"))
    assert len(only.requests) == 4


async def test_what_cannot_pass_is_not_asked_again(clock: InstantClock) -> None:
    model, [only] = asking(clock, [WRONG_KEY, "never"])
    with pytest.raises(ModelError, match="key is wrong"):
        await ask(model, says("hi"))
    assert len(only.requests) == 1


async def test_the_pause_that_the_provider_asks_for_is_kept(clock: InstantClock) -> None:
    model, _ = asking(clock, [ModelError("Slow down.", retry=True, after=9.0), "Here."])
    await ask(model, says("hi"))
    assert clock.slept[0] >= 9.0


async def test_a_provider_that_asks_for_an_hour_is_not_waited_for(clock: InstantClock) -> None:
    model, _ = asking(clock, [ModelError("Come back later.", retry=True, after=3600), "never"])
    with pytest.raises(ModelError, match="later"):
        await ask(model, says("hi"))
    assert clock.slept == []


def test_pauses_are_spread_and_never_longer_than_the_longest() -> None:
    patience = Patience()
    assert {patience.pause(attempt, None, 1.0) for attempt in (20, 30)} == {patience.longest_pause}
    assert patience.pause(1, None, 0.0) < patience.pause(1, None, 0.5) < patience.pause(1, None, 1.0)


async def test_words_that_were_passed_on_are_taken_back_before_new_ones_come(clock: InstantClock) -> None:
    model, _ = asking(clock, [[TextDelta("Once "), TextDelta("upon"), BUSY], "Twice."])
    pieces = await ask(model, says("hi"))
    kinds = [type(piece) for piece in pieces]
    assert kinds == [TextDelta, TextDelta, Restarted, TextDelta, Reply]
    assert pieces[-1] == Reply("Twice.", model="scripted")


async def test_a_reply_is_never_followed_by_another_request(clock: InstantClock) -> None:
    reply = calls(("write_file", {"path": "a"}))
    model, [only] = asking(clock, [[reply, BUSY], "never"])
    seen: list[Piece] = []
    async with model.stream(says("hi")) as pieces:
        async for piece in pieces:
            seen.append(piece)
            if isinstance(piece, Reply):
                break
    assert len(only.requests) == 1
    assert isinstance(seen[-1], Reply)


# --- the chain


async def test_the_next_model_is_asked_when_one_fails_for_good(clock: InstantClock) -> None:
    model, [first, second] = asking(clock, [WRONG_KEY], ["From the second."])
    pieces = await ask(model, says("hi"))
    assert pieces[0] == Restarted("The key is wrong. Asking model1 instead.", "model1", 1)
    assert pieces[-1] == Reply("From the second.", model="scripted")
    assert (len(first.requests), len(second.requests)) == (1, 1)


async def test_the_chain_names_the_first_model(clock: InstantClock) -> None:
    model, _ = asking(clock, [], [])
    assert model.info.id == "model0"


async def test_each_model_gets_all_its_attempts(clock: InstantClock) -> None:
    model, [first, second] = asking(clock, [BUSY] * 4, [BUSY, "Here."])
    assert (await ask(model, says("hi")))[-1] == Reply("Here.", model="scripted")
    assert (len(first.requests), len(second.requests)) == (4, 2)


async def test_when_all_fail_all_are_named(clock: InstantClock) -> None:
    model, _ = asking(clock, [WRONG_KEY], [ModelError("No such model.", provider_status=404)])
    with pytest.raises(ModelError, match=r"The key is wrong. No such model\.") as caught:
        await ask(model, says("hi"))
    assert caught.value.provider_status == 404


@pytest.mark.parametrize(("context", "asked"), [(2000, 1), (1000, 0), (500, 0)])
async def test_a_request_that_is_too_long_goes_on_only_to_a_model_that_takes_more(
    clock: InstantClock, context: int, asked: int
) -> None:
    small = ScriptedModel([ContextTooLongError("Too long.")], info=named("small", 1000))
    other = ScriptedModel(["It fits."], info=named("other", context))
    model = Asking([small, other], clock=clock)
    if asked:
        assert (await ask(model, says("hi")))[-1] == Reply("It fits.", model="scripted")
    else:
        with pytest.raises(ContextTooLongError):
            await ask(model, says("hi"))
    assert len(other.requests) == asked


# --- stopping


async def test_leaving_in_the_middle_leaves_the_model_too(clock: InstantClock) -> None:
    model, [only] = asking(clock, [[TextDelta("Once "), TextDelta("upon "), Reply("Once upon a time")]])
    async with model.stream(says("hi")) as pieces:
        await anext(pieces)
    assert only.cancelled == 1


async def test_being_cancelled_is_no_reason_to_ask_again(clock: InstantClock) -> None:
    model, [only] = asking(clock, [[TextDelta("Once "), Gate(anyio.Event())], "never"])
    with anyio.CancelScope() as scope:
        async with model.stream(says("hi")) as pieces:
            async for _ in pieces:
                scope.cancel()
    assert scope.cancelled_caught
    assert (len(only.requests), only.cancelled) == (1, 1)


async def test_a_stop_during_a_pause_ends_it() -> None:
    clock = FakeClock()
    only = ScriptedModel([BUSY, "never"])
    with anyio.CancelScope() as scope:
        async with (
            Asking([only], clock=clock).stream(says("hi")) as pieces,
            anyio.create_task_group() as group,
        ):

            async def stop() -> None:
                await clock.someone_sleeps()
                scope.cancel()

            group.start_soon(stop)
            async for _ in pieces:
                pass
    assert scope.cancelled_caught
    assert len(only.requests) == 1
