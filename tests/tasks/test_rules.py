from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from manyhands.tasks.rules import (
    Firing,
    add_costs,
    coming,
    decide_overlap,
    fire,
    gives_up,
    has_something_to_report,
    may_retry,
    retry_delay,
    run_id_of,
)
from manyhands.tasks.schedules import read_schedule
from manyhands.tasks.types import Task, TaskRun

NOON = datetime(2027, 1, 10, 12, tzinfo=UTC)


def make(schedule: str = "0 * * * *", due: datetime = NOON, **values: Any) -> Task:
    kind = values.pop("type", "cron")
    plain = Task("task_1", "ch_1", "hourly", kind, schedule, "UTC", "prompt", NOON, NOON, NOON)
    return replace(plain, **{"due_at": due, "next_run_at": due, **values})


def fired(task: Task, now: datetime, going: int = 0, waiting: int = 0) -> Firing:
    return fire(task, read_schedule(task.type, task.schedule, task.timezone), now, going, waiting)


def states(firing: Firing) -> list[tuple[str, str]]:
    return [(run.state, run.trigger) for run in firing.runs]


def test_a_run_is_named_by_its_task_and_its_time() -> None:
    assert run_id_of("task_1", NOON) == "task_1.20270110T120000"
    assert run_id_of("task_1", NOON + timedelta(milliseconds=250)) == "task_1.20270110T120000250"


def test_a_task_on_time_fires_once_and_comes_again() -> None:
    firing = fired(make(), NOON + timedelta(seconds=3))
    assert states(firing) == [("due", "schedule")]
    assert firing.runs[0].due_at == NOON
    assert firing.next_run_at == NOON + timedelta(hours=1)


@pytest.mark.requirement("L30")
def test_missed_times_leave_one_row_and_one_run_makes_up_for_them() -> None:
    firing = fired(make(), NOON + timedelta(hours=5, minutes=30))
    assert states(firing) == [("missed", "schedule"), ("due", "catch_up")]
    missed, run = firing.runs
    assert (missed.due_at, run.due_at) == (NOON, NOON + timedelta(hours=5))
    assert "6 runs were missed until 2027-01-10 17:00 UTC" in str(missed.note)
    assert firing.next_run_at == NOON + timedelta(hours=6)


@pytest.mark.requirement("L30")
def test_a_task_that_skips_what_it_missed_only_writes_it_down() -> None:
    firing = fired(make(missed="skip"), NOON + timedelta(hours=5, minutes=30))
    assert states(firing) == [("missed", "schedule")]
    assert "Nothing makes up for it" in str(firing.runs[0].note)
    assert firing.next_run_at == NOON + timedelta(hours=6)


@pytest.mark.requirement("L30")
def test_what_was_missed_too_long_ago_is_not_made_up_for() -> None:
    task = make("0 12 * * *", missed_window_s=3600)
    assert states(fired(task, NOON + timedelta(hours=2))) == [("missed", "schedule")]
    assert states(fired(task, NOON + timedelta(minutes=50))) == [("missed", "schedule"), ("due", "catch_up")]


@pytest.mark.requirement("L30")
def test_a_time_that_is_due_now_is_on_time_even_if_others_were_missed_before_it() -> None:
    firing = fired(make(missed="skip"), NOON + timedelta(hours=5, seconds=2))
    assert states(firing) == [("missed", "schedule"), ("due", "schedule")]
    assert firing.runs[1].due_at == NOON + timedelta(hours=5)


def test_a_month_of_seconds_that_were_missed_is_no_work() -> None:
    task = make("1s", type="interval")
    firing = fired(task, NOON + timedelta(days=30, milliseconds=300))
    assert states(firing) == [("missed", "schedule"), ("due", "schedule")]
    assert "More than 1000 runs" in str(firing.runs[0].note)
    assert firing.runs[1].due_at == NOON + timedelta(days=30)


def test_once_does_not_come_again() -> None:
    task = make("2027-01-10T12:00:00Z", type="once")
    firing = fired(task, NOON + timedelta(seconds=1))
    assert (states(firing), firing.next_run_at) == ([("due", "schedule")], None)


def test_jitter_delays_the_start_and_not_the_name() -> None:
    task = make(jitter_s=600)
    due, starts = coming(task, read_schedule("cron", task.schedule, "UTC"), NOON)
    assert due == NOON + timedelta(hours=1)
    assert starts is not None
    assert due < starts < due + timedelta(seconds=600)


@pytest.mark.parametrize(
    ("overlap", "going", "waiting", "state"),
    [
        ("skip", 0, 0, "due"),
        ("skip", 1, 0, "skipped"),
        ("queue", 1, 0, "waiting"),
        ("queue", 0, 1, "waiting"),
        ("queue", 1, 10, "skipped"),
        ("parallel", 3, 0, "due"),
    ],
)
def test_a_run_beside_an_earlier_one_is_what_the_task_says(
    overlap: str, going: int, waiting: int, state: str
) -> None:
    found, note = decide_overlap(make(overlap=overlap), going, waiting)
    assert found == state
    assert (note is None) == (state == "due")


def test_retries_wait_twice_as_long_each_time_up_to_an_hour() -> None:
    task = make(retry_delay_s=60)
    delays = [retry_delay(task, attempt).total_seconds() for attempt in (1, 2, 3, 10, 30)]
    assert delays == [60, 120, 240, 3600, 3600]


def test_a_failed_run_is_tried_again_so_often_and_within_its_budget() -> None:
    task = make(retries=2, budget=1.0)
    assert [may_retry(task, attempt) for attempt in (1, 2, 3)] == [True, True, False]
    assert [may_retry(task, 1, spent) for spent in (0.5, 1.0)] == [True, False]
    assert (add_costs(None, 0.5, 0.25), add_costs(None)) == (0.75, None)


def test_a_task_gives_up_after_so_many_failures_or_never() -> None:
    assert gives_up(make(max_failures=3), 3)
    assert not gives_up(make(max_failures=3), 2)
    assert not gives_up(make(max_failures=0), 1000)


def test_only_a_quiet_run_has_nothing_to_report() -> None:
    quiet = TaskRun("r", "t", NOON, "completed", "schedule", NOON, text="All fine.\nNothing to report.")
    assert not has_something_to_report(quiet)
    assert has_something_to_report(replace(quiet, text="Two tests fail."))
    assert has_something_to_report(replace(quiet, denied=["run_command"]))
    assert has_something_to_report(replace(quiet, state="failed"))
