"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import timedelta

import anyio
import pytest

from manyhands.testing.clock import START, FakeClock

pytestmark = pytest.mark.anyio


async def test_sleepers_wake_in_the_order_of_their_times() -> None:
    clock, woken = FakeClock(), list[float]()

    async def sleeper(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(seconds)

    async with anyio.create_task_group() as group:
        for seconds in (30.0, 10.0, 20.0, 0.0):
            group.start_soon(sleeper, seconds)
        await anyio.wait_all_tasks_blocked()
        assert clock.next_wake() == 10.0
        clock.advance(15)
        await anyio.wait_all_tasks_blocked()
        assert woken == [0.0, 10.0]
        clock.advance(15)
    assert woken == [0.0, 10.0, 20.0, 30.0]
    assert clock.now() == START + timedelta(seconds=30)
    assert clock.monotonic() == 30.0


async def test_a_sleeper_that_is_cancelled_is_forgotten() -> None:
    clock = FakeClock()
    async with anyio.create_task_group() as group:
        group.start_soon(clock.sleep, 5)
        await clock.someone_sleeps()
        group.cancel_scope.cancel()
    async with anyio.create_task_group() as group:
        group.start_soon(clock.sleep, 7)
        await clock.someone_sleeps()
        assert clock.next_wake() == 7
        clock.advance(7)
