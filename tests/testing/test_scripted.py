"""The scripted model: a double that others may use in their tests."""

from __future__ import annotations

import anyio
import pytest

from manyhands.models.types import ModelError, ModelRequest, Piece, Reply, TextDelta, Turn
from manyhands.testing.clock import FakeClock
from manyhands.testing.scripted import Gate, Pause, ScriptedModel, ScriptExhaustedError, calls

pytestmark = pytest.mark.anyio


def says(text: str) -> ModelRequest:
    return ModelRequest("", [Turn("user", text)])


async def ask(model: ScriptedModel, text: str = "hi") -> list[Piece]:
    async with model.stream(says(text)) as pieces:
        return [piece async for piece in pieces]


async def test_it_says_what_it_was_told_step_by_step() -> None:
    model = ScriptedModel(["One\ntwo", calls(("list", {"path": "."}), ("odd", "{broken"))])
    first, second = await ask(model), await ask(model)
    assert first == [TextDelta("One\n"), TextDelta("two"), Reply("One\ntwo", model="scripted")]
    [reply] = second
    assert isinstance(reply, Reply)
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("list", '{"path": "."}'),
        ("odd", "{broken"),
    ]
    assert model.left == 0


async def test_it_remembers_what_it_was_asked() -> None:
    model = ScriptedModel(["a", "b"])
    await ask(model, "first")
    await ask(model, "second")
    assert [request.turns[-1].text for request in model.requests] == ["first", "second"]


async def test_it_fails_when_told_to_even_in_the_middle() -> None:
    model = ScriptedModel([ModelError("down"), [TextDelta("Once"), ModelError("cut")]])
    with pytest.raises(ModelError, match="down"):
        await ask(model)
    async with model.stream(says("hi")) as pieces:
        assert await anext(pieces) == TextDelta("Once")
        with pytest.raises(ModelError, match="cut"):
            await anext(pieces)


async def test_a_step_may_depend_on_the_request() -> None:
    model = ScriptedModel([lambda request: request.turns[-1].text.upper()])
    assert (await ask(model, "hello"))[-1] == Reply("HELLO", model="scripted")


async def test_a_script_that_is_over_says_so() -> None:
    model = ScriptedModel(["only"])
    await ask(model)
    with pytest.raises(ScriptExhaustedError, match="has 1 steps"):
        await ask(model)


async def test_a_script_may_begin_again() -> None:
    model = ScriptedModel(["a", "b"], repeat=True)
    texts = [(await ask(model))[-1] for _ in range(3)]
    assert [reply.text for reply in texts if isinstance(reply, Reply)] == ["a", "b", "a"]


async def test_pauses_are_those_of_the_clock() -> None:
    clock = FakeClock()
    model = ScriptedModel([[Pause(60), Reply("late")]], clock=clock)
    async with anyio.create_task_group() as group:
        group.start_soon(ask, model)
        await clock.someone_sleeps()
        assert clock.next_wake() == 60
        clock.advance(60)


async def test_a_gate_holds_it_until_the_test_opens_it() -> None:
    gate = anyio.Event()
    model = ScriptedModel([[TextDelta("a"), Gate(gate), Reply("ab")]])
    async with model.stream(says("hi")) as pieces:
        assert await anext(pieces) == TextDelta("a")
        gate.set()
        assert await anext(pieces) == Reply("ab", model="scripted")


async def test_leaving_before_the_end_is_counted() -> None:
    model = ScriptedModel([[TextDelta("a"), TextDelta("b"), Reply("ab")], "whole"])
    async with model.stream(says("hi")) as pieces:
        await anext(pieces)
    assert model.cancelled == 1
    await ask(model)
    assert model.cancelled == 1
