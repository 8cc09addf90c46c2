"""Tasks and their runs as the API, events and tools show them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from manyhands.clock import rfc3339
from manyhands.tasks.types import Preview, TaskRun, TaskView

_PAUSED = "Its workflow waits for an approval, which lies in the inbox."


def run_json(run: TaskRun) -> dict[str, Any]:
    return {
        "id": run.id,
        "task_id": run.task_id,
        "due_at": rfc3339(run.due_at),
        "state": run.state,
        "trigger": run.trigger,
        "attempt": run.attempt,
        "retry_at": _moment(run.retry_at),
        "thread_id": run.thread_id,
        "run_id": run.run_id,
        "workflow_run_id": run.workflow_run_id,
        "started_at": _moment(run.started_at),
        "ended_at": _moment(run.ended_at),
        "duration_s": run.duration_s,
        "cost": run.cost,
        "text": run.text,
        "error": run.error,
        "note": _PAUSED if run.state == "paused" else run.note,
        "denied": list(run.denied),
        "delete_at": _moment(run.delete_at),
    }


def preview_json(preview: Preview) -> dict[str, Any]:
    return {
        "words": preview.words,
        "next_times": [moment.isoformat() for moment in preview.times],
        "notes": list(preview.notes),
    }


def task_json(view: TaskView) -> dict[str, Any]:
    task = view.task
    return {
        "id": task.id,
        "channel_id": task.channel_id,
        "name": task.name,
        "type": task.type,
        "schedule": task.schedule,
        "timezone": task.timezone,
        "does": task.does,
        "prompt": task.prompt,
        "template_name": task.template_name,
        "auto_delete_sec": task.auto_delete_sec,
        "keep_reports": task.keep_reports,
        "missed": task.missed,
        "missed_window_s": task.missed_window_s,
        "workflow_name": task.workflow_name,
        "workflow_inputs": dict(task.workflow_inputs),
        "script": task.script,
        "model": task.model,
        "allow": list(task.allow),
        "worktree": task.worktree,
        "budget": task.budget,
        "conversation": task.conversation,
        "thread_id": task.thread_id,
        "overlap": task.overlap,
        "jitter_s": task.jitter_s,
        "retries": task.retries,
        "retry_delay_s": task.retry_delay_s,
        "max_failures": task.max_failures,
        "timeout_s": task.timeout_s,
        "max_iterations": task.max_iterations,
        "enabled": task.enabled,
        "running": view.running > 0,
        "failures": task.failures,
        "stopped_because": task.stopped_because,
        "author_id": task.author_id,
        "next_run_at": _moment(task.next_run_at),
        "last_run": None if view.last_run is None else run_json(view.last_run),
        "created_at": rfc3339(task.created_at),
        "updated_at": rfc3339(task.updated_at),
        **preview_json(view.preview),
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)
