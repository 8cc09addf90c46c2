"""One owner of a call's time: progress extends it to a cap, questions stop it, the text names the numbers."""

from __future__ import annotations

import math

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.tools.deadline import Deadline, Race


def test_without_progress_the_call_has_its_timeout() -> None:
    deadline = Deadline(30_000, 600_000, now=100.0)
    assert deadline.due == 130.0
    assert deadline.text(130.0) == "Tool execution timed out after 30000ms"


@pytest.mark.requirement("L11")
def test_progress_gives_it_its_whole_time_again() -> None:
    deadline = Deadline(30_000, 600_000, now=0.0)
    deadline.progressed(20.0)
    assert deadline.due == 50.0


@pytest.mark.requirement("L11")
def test_progress_extends_only_up_to_the_hard_cap_and_both_numbers_are_told() -> None:
    deadline = Deadline(30_000, 60_000, now=0.0)
    for second in range(0, 60, 10):
        deadline.progressed(float(second))
    assert deadline.due == 60.0
    first, *rest = deadline.text(60.0).splitlines()
    assert first == "Tool execution timed out after 30000ms"
    assert "60000ms" in " ".join(rest)


def test_a_tool_that_stops_reporting_is_told_how_long_it_ran() -> None:
    deadline = Deadline(30_000, 600_000, now=0.0)
    deadline.progressed(20.0)
    first, second = deadline.text(50.0).splitlines()
    assert first == "Tool execution timed out after 30000ms"
    assert "50000ms in all" in second
    assert "600000ms" in second


def test_time_stands_still_during_a_pause_for_timeout_and_cap() -> None:
    deadline = Deadline(10_000, 20_000, now=0.0)
    deadline.pause(5.0)
    assert deadline.due == math.inf
    deadline.resume(1005.0)
    assert deadline.due == 1010.0
    deadline.progressed(1009.0)
    assert deadline.due == 1019.0
    deadline.progressed(1018.0)
    assert deadline.due == 1020.0


def test_pauses_may_overlap() -> None:
    deadline = Deadline(10_000, 20_000, now=0.0)
    deadline.pause(1.0)
    deadline.pause(2.0)
    deadline.resume(3.0)
    assert deadline.due == math.inf
    deadline.resume(4.0)
    assert deadline.due == 13.0


def test_progress_during_a_pause_counts_from_its_end() -> None:
    deadline = Deadline(10_000, 60_000, now=0.0)
    deadline.pause(8.0)
    deadline.progressed(50.0)
    deadline.resume(100.0)
    assert deadline.due == 110.0


def test_a_timeout_above_the_cap_is_meant() -> None:
    assert Deadline(900_000, 600_000, now=0.0).due == 900.0


steps = st.lists(st.tuples(st.sampled_from(["progress", "pause", "resume"]), st.floats(0, 50)), max_size=30)


@given(steps)
def test_whatever_happens_the_time_outside_of_pauses_never_exceeds_the_cap(
    taken: list[tuple[str, float]],
) -> None:
    deadline, now, paused, open_pauses = Deadline(10_000, 30_000, now=0.0), 0.0, 0.0, 0
    for step, seconds in taken:
        now += seconds
        paused += seconds if open_pauses else 0.0
        if step == "progress":
            deadline.progressed(now)
        elif step == "pause":
            open_pauses += 1
            deadline.pause(now)
        elif open_pauses:
            open_pauses -= 1
            deadline.resume(now)
    while open_pauses:
        open_pauses -= 1
        deadline.resume(now)
    assert deadline.due - paused <= 30.0 + 1e-6


@pytest.mark.anyio
async def test_a_race_that_is_lost_cancels_what_runs() -> None:
    race = Race(10, 1000)
    with race.scope:
        await anyio.sleep_forever()
    assert race.scope.cancelled_caught
    assert race.text() == "Tool execution timed out after 10ms"


@pytest.mark.anyio
async def test_a_race_waits_as_long_as_a_pause_is_open() -> None:
    race = Race(1, 1000)
    with race.scope:
        with race.pause():
            await anyio.sleep(0.05)  # fifty times its timeout
        await anyio.sleep_forever()
    assert race.scope.cancelled_caught
