from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from manyhands.servers.turns import Turns

pytestmark = pytest.mark.anyio


async def test_only_so_many_have_a_turn_at_once() -> None:
    turns = Turns(2, longest_s=60.0)
    first, _ = await turns.take(), await turns.take()
    third: list[Callable[[], None]] = []

    async def wait() -> None:
        third.append(await turns.take())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert not third
        first()
    assert third


async def test_a_turn_may_be_given_back_twice() -> None:
    turns = Turns(1, longest_s=60.0)
    back = await turns.take()
    back()
    back()
    await turns.take()


@pytest.mark.requirement("L09")
async def test_one_that_hangs_loses_its_turn() -> None:
    turns = Turns(1, longest_s=0.01)
    hanging = await turns.take()
    with anyio.fail_after(10):
        await turns.take()
    hanging()


async def test_one_that_is_cancelled_while_it_waits_takes_no_turn() -> None:
    turns = Turns(1, longest_s=60.0)
    back = await turns.take()
    with anyio.move_on_after(0.01):
        await turns.take()
    back()
    with anyio.fail_after(10):
        await turns.take()


async def test_another_number_holds_at_once() -> None:
    turns = Turns(1, longest_s=60.0)
    await turns.take()
    second: list[Callable[[], None]] = []

    async def wait() -> None:
        second.append(await turns.take())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert not second
        turns.resize(2)
    assert second
