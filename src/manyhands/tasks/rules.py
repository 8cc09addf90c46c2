"""Decisions about due tasks: what happens now, what was missed, when to try again or to give up. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from manyhands.tasks.schedules import Schedule, jitter_of
from manyhands.tasks.types import RunState, Task, TaskRun, Trigger

LATE = timedelta(seconds=60)
"""A time that lies further back was missed: nobody was there."""
MOST_WAITING = 10
LONGEST_DELAY_S = 3600
MOST_COUNTED = 1000
NOTHING_TO_REPORT = "NOTHING TO REPORT"


@dataclass(frozen=True, slots=True)
class Firing:
    """What a task that is due leads to."""

    runs: Sequence[TaskRun]
    due_at: datetime | None
    next_run_at: datetime | None


def run_id_of(task_id: str, due: datetime) -> str:
    """Made of the task and the time: whoever fires it, it is the same run."""
    return f"{task_id}.{due:%Y%m%dT%H%M%S}" + (f"{due.microsecond // 1000:03d}" if due.microsecond else "")


def coming(task: Task, schedule: Schedule, after: datetime) -> tuple[datetime | None, datetime | None]:
    """When it is due next, and when that one starts."""
    due = schedule.after(after, task.anchor)
    return due, None if due is None else due + jitter_of(task.id, due, task.jitter_s)


def fire(task: Task, schedule: Schedule, now: datetime, going: int, waiting: int) -> Firing:
    """What to do with a task whose time has come, and when it comes again."""
    assert task.due_at is not None
    assert task.next_run_at is not None
    due, next_run_at = coming(task, schedule, task.due_at)
    if now - task.next_run_at <= LATE and (next_run_at is None or next_run_at > now):
        return Firing([_started(task, task.due_at, "schedule", now, going, waiting)], due, next_run_at)
    return _catch_up(task, schedule, now, going, waiting)


def _catch_up(task: Task, schedule: Schedule, now: datetime, going: int, waiting: int) -> Firing:
    """Nobody was there for a while: one row says what was missed, and perhaps one run makes up for it."""
    assert task.due_at is not None
    times = [task.due_at]
    due, next_run_at = coming(task, schedule, task.due_at)
    while due is not None and next_run_at is not None and next_run_at <= now:
        times.append(due)
        if len(times) == MOST_COUNTED:
            times += _last_before(task, schedule, now)
            due, next_run_at = coming(task, schedule, now)
            break
        due, next_run_at = coming(task, schedule, due)
    last = times[-1]
    if now - last <= LATE:  # this one is on time, those before it were missed
        times.pop()
    makes_up = task.missed == "run_once" and now - last <= timedelta(seconds=task.missed_window_s)
    runs = [_missed(task, times, now, makes_up)] if times else []
    if makes_up or now - last <= LATE:
        trigger: Trigger = "schedule" if now - last <= LATE else "catch_up"
        runs.append(_started(task, last, trigger, now, going, waiting))
    return Firing(runs, due, next_run_at)


def _last_before(task: Task, schedule: Schedule, now: datetime) -> list[datetime]:
    """The latest time that has passed, when there were too many to go through one by one."""
    step = timedelta(minutes=1)
    while step < timedelta(days=3660):
        found, moment = None, now - step
        while (due := schedule.after(moment, task.anchor)) is not None and due <= now:
            found = moment = due
        if found is not None:
            return [found]
        step *= 4
    return []


def _missed(task: Task, times: Sequence[datetime], now: datetime, makes_up: bool) -> TaskRun:
    count = "More than 1000 runs" if len(times) >= MOST_COUNTED else f"{len(times)} runs"
    until = f"until {times[-1]:%Y-%m-%d %H:%M} UTC"
    what = "This run was missed" if len(times) == 1 else f"{count} were missed {until}"
    then = " One run makes up for it." if makes_up else " Nothing makes up for it."
    return TaskRun(
        id=f"{run_id_of(task.id, times[0])}.missed",
        task_id=task.id,
        due_at=times[0],
        state="missed",
        trigger="schedule",
        created_at=now,
        ended_at=now,
        note=f"{what}: no hub was there to start it.{then}",
    )


def _started(task: Task, due: datetime, trigger: Trigger, now: datetime, going: int, waiting: int) -> TaskRun:
    state, note = decide_overlap(task, going, waiting)
    ended = now if state == "skipped" else None
    return TaskRun(
        run_id_of(task.id, due), task.id, due, state, trigger, created_at=now, ended_at=ended, note=note
    )


def decide_overlap(task: Task, going: int, waiting: int) -> tuple[RunState, str | None]:
    """What becomes of a run while an earlier one goes on."""
    if task.overlap == "parallel" or going + waiting == 0:
        return "due", None
    if task.overlap == "queue":
        if waiting < MOST_WAITING:
            return "waiting", "An earlier run goes on; this one comes after it."
        return "skipped", f"An earlier run goes on, and {waiting} wait for it already."
    return "skipped", "An earlier run of this task was still going on."


def retry_delay(task: Task, attempt: int) -> timedelta:
    """How long to wait after a failed attempt, counted from 1: twice as long each time."""
    doubled = task.retry_delay_s * 2 ** min(attempt - 1, 20)
    return timedelta(seconds=min(doubled, max(LONGEST_DELAY_S, task.retry_delay_s)))


def may_retry(task: Task, attempt: int, spent: float | None = None) -> bool:
    """Whether another attempt follows; the budget is that of all of them."""
    return attempt <= task.retries and (task.budget is None or (spent or 0.0) < task.budget)


def gives_up(task: Task, failures: int) -> bool:
    """Whether it failed so often in a row that it is switched off."""
    return task.max_failures > 0 and failures >= task.max_failures


def add_costs(*costs: float | None) -> float | None:
    """What is known of them; nothing when no cost is."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def has_something_to_report(run: TaskRun) -> bool:
    """Whether a person should read it: it failed, was refused something, or says something."""
    if run.state != "completed" or run.denied:
        return True
    words = run.text.strip().rstrip(".!").upper()
    return bool(words) and not words.endswith(NOTHING_TO_REPORT)
