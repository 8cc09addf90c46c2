"""What a task is, and what became of it each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

TaskType = Literal["cron", "interval", "once", "manual"]
Does = Literal["prompt", "workflow", "script"]
Overlap = Literal["skip", "queue", "parallel"]
Missed = Literal["skip", "run_once"]
Conversation = Literal["new", "same"]
"""`new`: every run in a thread of its own; `same`: all of them in one."""
RunState = Literal[
    "due", "waiting", "running", "paused", "completed", "failed", "cancelled", "missed", "skipped"
]
"""`waiting`: for an earlier run of the task; `paused`: for a person whom its workflow has asked."""
Trigger = Literal["schedule", "catch_up", "person", "agent"]

TASK_TYPES: tuple[TaskType, ...] = get_args(TaskType)
GOING: tuple[RunState, ...] = ("due", "running", "paused")
OPEN: tuple[RunState, ...] = (*GOING, "waiting")


@dataclass(frozen=True, slots=True)
class Task:
    """Work with a schedule."""

    id: str
    channel_id: str
    name: str
    type: TaskType
    schedule: str | None
    timezone: str
    does: Does
    created_at: datetime
    updated_at: datetime
    anchor: datetime
    """Intervals count from here: when it was made, changed or switched on."""
    author_id: str = "owner"
    template_name: str | None = None
    prompt: str | None = None
    workflow_name: str | None = None
    workflow_inputs: Mapping[str, Any] = field(default_factory=dict)
    script: str | None = None
    model: str | None = None
    allow: Sequence[str] = ()
    """Tools that its runs may use without being asked; nobody is there to ask."""
    worktree: bool = False
    budget: float | None = None
    conversation: Conversation = "new"
    thread_id: str | None = None
    overlap: Overlap = "skip"
    missed: Missed = "run_once"
    missed_window_s: int = 86_400
    jitter_s: int = 0
    retries: int = 0
    retry_delay_s: int = 60
    max_failures: int = 5
    timeout_s: int = 3600
    max_iterations: int | None = None
    auto_delete_sec: int = 0
    keep_reports: bool = False
    enabled: bool = True
    failures: int = 0
    stopped_because: str | None = None
    due_at: datetime | None = None
    """When it is due next, and below when that one starts: later by its jitter."""
    next_run_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One time that a task was due. Its id is made of the task and the time, so that there is only one."""

    id: str
    task_id: str
    due_at: datetime
    state: RunState
    trigger: Trigger
    created_at: datetime
    attempt: int = 0
    retry_at: datetime | None = None
    thread_id: str | None = None
    run_id: str | None = None
    workflow_run_id: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cost: float | None = None
    text: str = ""
    error: str | None = None
    note: str | None = None
    denied: Sequence[str] = ()
    delete_at: datetime | None = None

    @property
    def duration_s(self) -> float | None:
        if self.started_at is None or self.ended_at is None:
            return None
        return round((self.ended_at - self.started_at).total_seconds(), 3)


@dataclass(frozen=True, slots=True)
class Preview:
    """A schedule in words, its next times in its own zone, and what is worth knowing."""

    words: str
    times: Sequence[datetime]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task with what is known around it."""

    task: Task
    preview: Preview
    running: int
    last_run: TaskRun | None
