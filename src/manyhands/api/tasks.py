"""Tasks over HTTP: schedules, their runs, and what a schedule would mean."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Response
from pydantic import Field

from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, items
from manyhands.errors import InvalidError
from manyhands.tasks.drafting import TaskDraft
from manyhands.tasks.types import Conversation, Does, Missed, Overlap, RunState, TaskType, Trigger
from manyhands.tasks.views import preview_json, run_json, task_json

router = APIRouter(prefix="/tasks", tags=["tasks"])


class TaskRun(schemas.Answer):
    """One time that a task was due. `run_id` leads to its transcript."""

    id: str
    task_id: str
    due_at: str
    state: RunState
    trigger: Trigger
    attempt: int
    retry_at: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    workflow_run_id: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    duration_s: float | None = None
    cost: float | None = Field(None, description="US dollars, where the model's price is known.")
    text: str
    error: str | None = None
    note: str | None = None
    denied: list[str] = Field(description="Tools that it wanted and was not allowed to use.")
    delete_at: str | None = Field(None, description="When its thread is removed.")


class SchedulePreview(schemas.Answer):
    """A schedule in words, its next times in its own zone, and what is worth knowing about it."""

    words: str
    next_times: list[str]
    notes: list[str]


class Task(SchedulePreview):
    """A task with its schedule in words, its next times and its last run."""

    id: str
    channel_id: str
    name: str
    type: TaskType
    schedule: str | None = None
    timezone: str
    does: Does
    prompt: str | None = None
    template_name: str | None = None
    auto_delete_sec: int
    keep_reports: bool
    missed: Missed
    missed_window_s: int
    workflow_name: str | None = None
    workflow_inputs: dict[str, Any]
    script: str | None = None
    model: str | None = None
    allow: list[str]
    worktree: bool
    budget: float | None = None
    conversation: Conversation
    thread_id: str | None = None
    overlap: Overlap
    jitter_s: int
    retries: int
    retry_delay_s: int
    max_failures: int
    timeout_s: int
    max_iterations: int | None = None
    enabled: bool
    running: bool
    failures: int = Field(description="How often it has failed in a row.")
    stopped_because: str | None = Field(None, description="Why it was switched off by itself.")
    author_id: str
    next_run_at: str | None = None
    last_run: TaskRun | None = None
    created_at: str
    updated_at: str


class NewTask(TaskDraft):
    """A task and the channel that it belongs to."""

    channel_id: str


class WantedPreview(schemas.Body):
    """A schedule that is not saved yet. Without a type the one that it looks like."""

    type: TaskType | None = None
    schedule: str | None = Field(None, max_length=500)
    timezone: str = "UTC"
    jitter_s: int = Field(0, ge=0)


class Copy(schemas.Body):
    """What the copy is called."""

    name: str | None = Field(None, min_length=1, max_length=200)


@router.get("")
async def list_tasks(
    hub: HubOf,
    channel_id: str | None = None,
    query: Annotated[str | None, Query(description="Part of a name or a prompt.")] = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[Task]:
    """All tasks, or those of a channel; newest first."""
    page = await hub.tasks.list(None if channel_id is None else [channel_id], query, limit, cursor)
    return items(page.items, page.next_cursor, task_json)


@router.post("", status_code=201, openapi_extra=schemas.described_body(NewTask))
async def create_task(hub: HubOf, response: Response, body: Annotated[dict[str, Any], Body()]) -> Task:
    """A new task. One with the same `template_name` in the channel is changed instead (200)."""
    values = dict(body)
    channel_id = values.pop("channel_id", None)
    if not isinstance(channel_id, str):
        raise InvalidError("channel_id: a task belongs to a channel.", hint="Give the id of one.")
    view, made = await hub.tasks.create(channel_id, values)
    if not made:
        response.status_code = 200
    return Task(**task_json(view))


@router.post("/preview")
async def preview_schedule(hub: HubOf, body: WantedPreview) -> SchedulePreview:
    """What a schedule means: in words, with its next five times; 422 says what is wrong with it."""
    found = hub.tasks.preview(body.type, body.schedule, body.timezone, body.jitter_s)
    return SchedulePreview(**preview_json(found))


@router.get("/{task_id}")
async def get_task(hub: HubOf, task_id: str) -> Task:
    """One task, its whole prompt included."""
    return Task(**task_json(await hub.tasks.get(task_id)))


@router.patch("/{task_id}", openapi_extra=schemas.described_body(TaskDraft))
async def edit_task(hub: HubOf, task_id: str, body: Annotated[dict[str, Any], Body()]) -> Task:
    """Change some fields. `enabled` pauses it or lets it go on; its next time is computed anew."""
    return Task(**task_json(await hub.tasks.edit(task_id, body)))


@router.delete("/{task_id}", status_code=204)
async def delete_task(hub: HubOf, task_id: str) -> None:
    """Remove a task with its history. A run that goes on is stopped; threads stay."""
    await hub.tasks.delete(task_id)


@router.post("/{task_id}/run", status_code=202)
async def run_task(hub: HubOf, task_id: str) -> TaskRun:
    """Run it now, also when it is paused. 409 while an earlier run goes on, unless its overlap allows it."""
    return TaskRun(**run_json(await hub.tasks.start(task_id)))


@router.post("/{task_id}/clone", status_code=201)
async def clone_task(hub: HubOf, task_id: str, body: Copy | None = None) -> Task:
    """A copy of it, paused."""
    return Task(**task_json(await hub.tasks.clone(task_id, body.name if body else None)))


@router.get("/{task_id}/runs")
async def list_task_runs(
    hub: HubOf,
    task_id: str,
    state: RunState | None = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[TaskRun]:
    """Its history, newest first: also times that were missed or skipped."""
    page = await hub.tasks.runs(task_id, state, limit, cursor)
    return items(page.items, page.next_cursor, run_json)


@router.post("/{task_id}/runs/{run_id}/cancel")
async def cancel_task_run(hub: HubOf, task_id: str, run_id: str) -> TaskRun:
    """Stop one run; one that has ended stays as it is."""
    return TaskRun(**run_json(await hub.tasks.cancel_run(run_id, task_id)))
