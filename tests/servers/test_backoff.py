from __future__ import annotations

from random import Random

import pytest

from manyhands.servers.backoff import BackOff


def test_pauses_grow_up_to_the_longest() -> None:
    backoff = BackOff(first_s=1.0, factor=2.0, longest_s=10.0, attempts=6)
    pauses = [backoff.pause(attempt, Random(1), remote=False) for attempt in range(1, 7)]
    # The same chance for each: what is left is the growth.
    share = Random(1).uniform(0.5, 1.0)
    assert pauses == pytest.approx([share * s for s in (1.0, 2.0, 4.0, 8.0, 10.0, 10.0)])


def test_chance_spreads_pauses_over_their_upper_half() -> None:
    random = Random(7)
    pauses = [BackOff(first_s=1.0).pause(1, random, remote=False) for _ in range(200)]
    assert all(pause is not None and 0.5 <= pause <= 1.0 for pause in pauses)
    assert len(set(pauses)) > 100


def test_the_same_seed_gives_the_same_pauses() -> None:
    first, second = Random(3), Random(3)
    backoff = BackOff()
    assert [backoff.pause(n, first, remote=False) for n in (1, 2, 3)] == [
        backoff.pause(n, second, remote=False) for n in (1, 2, 3)
    ]


@pytest.mark.requirement("L01")
def test_a_local_server_is_given_up_after_the_last_attempt() -> None:
    backoff = BackOff(attempts=3)
    assert backoff.pause(3, Random(), remote=False) is not None
    assert backoff.pause(4, Random(), remote=False) is None


def test_a_remote_server_is_tried_now_and_then_after_the_last_attempt() -> None:
    backoff = BackOff(attempts=3, slow_s=300.0)
    pause = backoff.pause(4, Random(), remote=True)
    assert pause is not None
    assert 150.0 <= pause <= 300.0


def test_without_attempts_nothing_is_tried_again() -> None:
    assert BackOff(attempts=0).pause(1, Random(), remote=True) is None


def test_counting_begins_anew_after_a_steady_time() -> None:
    backoff = BackOff(steady_s=60.0)
    assert backoff.counted(5, up_s=59.0) == 5
    assert backoff.counted(5, up_s=60.0) == 0
