"""A task where it enters: what a person, a program or an agent writes, checked and made into a task. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from manyhands.errors import InvalidError, ManyhandsError, NotAllowedError
from manyhands.tasks.rules import coming
from manyhands.tasks.schedules import LONGEST_JITTER_S, Schedule, check_coming, read_schedule
from manyhands.tasks.types import Conversation, Does, Missed, Overlap, Task, TaskType

PROMPT_LIMIT = 1_000_000
YEAR_S = 31_536_000
_TIMING = frozenset({"type", "schedule", "timezone", "jitter_s"})
_CONTENT: dict[str, Does] = {"prompt": "prompt", "workflow_name": "workflow", "script": "script"}
_OF_PROMPTS = {
    "model": "a model",
    "allow": "tools to allow",
    "budget": "a budget",
    "max_iterations": "a limit of iterations",
    "worktree": "a worktree",
    "conversation": "a thread that stays the same",
}
_POWERS = frozenset({"allow", "script", "budget"})
Text = Annotated[str, Field(min_length=1, max_length=200)]


class TaskDraft(BaseModel):
    """The fields of a task that may be set. What is left out stays as it is, or has its default."""

    model_config = ConfigDict(extra="forbid")

    name: Text | None = Field(None, description="What it is called; made of its prompt when left out.")
    type: TaskType | None = Field(None, description="cron, interval, once or manual.")
    schedule: str | None = Field(
        None, max_length=500, description="`0 9 * * mon-fri`, `2h30m` or `2027-01-31T09:00:00+01:00`."
    )
    timezone: Text | None = Field(None, description="The IANA zone that the schedule is meant in (UTC).")
    prompt: str | None = Field(None, max_length=PROMPT_LIMIT, description="What an agent is to do.")
    workflow_name: Text | None = Field(None, description="The workflow that runs instead of a prompt.")
    workflow_inputs: dict[str, Any] | None = Field(None, description="What the workflow is given.")
    script: str | None = Field(
        None, max_length=PROMPT_LIMIT, description="A shell script that runs instead of a prompt; no tokens."
    )
    template_name: Text | None = Field(
        None, description="A name of its own in the channel: made again, the task is changed."
    )
    model: Text | None = Field(None, description="The model that is asked; else that of the channel.")
    allow: list[Text] | None = Field(None, description="Tools that it may use, as patterns.")
    worktree: bool | None = Field(None, description="Whether each run gets a git worktree of its own.")
    budget: float | None = Field(None, gt=0, description="US dollars that one run may cost.")
    conversation: Conversation | None = Field(
        None, description="A new thread for each run, or always the same."
    )
    overlap: Overlap | None = Field(None, description="What happens while an earlier run goes on (skip).")
    missed: Missed | None = Field(None, description="What happens after missed times (run_once).")
    missed_window_s: int | None = Field(
        None, ge=0, le=YEAR_S, description="How old a missed time may be to be made up for (a day)."
    )
    jitter_s: int | None = Field(
        None, ge=0, le=LONGEST_JITTER_S, description="Seconds by which each run may start later."
    )
    retries: int | None = Field(None, ge=0, le=20, description="How often a failed run is tried again (0).")
    retry_delay_s: int | None = Field(
        None, ge=1, le=86_400, description="Seconds before the first retry, twice as long each time (60)."
    )
    max_failures: int | None = Field(
        None, ge=0, le=1000, description="Failures in a row that switch it off; 0 never does (5)."
    )
    timeout_s: int | None = Field(None, ge=1, le=86_400, description="Seconds that a run may take (3600).")
    max_iterations: int | None = Field(None, ge=1, le=50, description="How often a run may ask the model.")
    auto_delete_sec: int | None = Field(
        None, ge=0, le=YEAR_S, description="Seconds after its end that a run's thread is removed; 0 keeps it."
    )
    keep_reports: bool | None = Field(
        None, description="Whether threads that have something to report are kept all the same."
    )
    enabled: bool | None = Field(None, description="Whether its schedule is followed.")


def read_draft(values: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields, checked one by one. Nothing given for a field means its default."""
    try:
        draft = TaskDraft.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidError(
            f"{place}: {first['msg']}.",
            hint="Correct it and send it again.",
            data={"field": str(first["loc"][0])},
        ) from error
    return {name: getattr(draft, name) for name in draft.model_fields_set}


def build_task(old: Task, given: Mapping[str, Any], now: datetime) -> tuple[Task, Schedule]:
    """The task with these changes, its next time computed anew where they touch it."""
    values = _defaults_for_nothing(given)
    content = [name for name in _CONTENT if given.get(name) is not None]
    if len(content) > 1:
        raise InvalidError(
            f"A task has one of prompt, workflow_name and script, and {' and '.join(content)} are given.",
            hint="Make two tasks.",
        )
    if content:
        values |= {name: None for name in _CONTENT if name != content[0]} | {"does": _CONTENT[content[0]]}
        if content[0] != "workflow_name":
            values.setdefault("workflow_inputs", {})
    if values.get("type") == "manual" and "schedule" not in given:
        values["schedule"] = None
    if values.get("type") is None:
        values["type"] = _type_for(old, given)
    if values.get("does", old.does) != "prompt":
        values = {name: _default_of(name) for name in _OF_PROMPTS} | values
    task = replace(old, **values, updated_at=now)
    _check(task)
    schedule = read_schedule(task.type, task.schedule, task.timezone)
    return _timed(old, task, schedule, now), schedule


def _defaults_for_nothing(given: Mapping[str, Any]) -> dict[str, Any]:
    """An explicit null is a field's default."""
    stays = ("timezone", "name", "type")
    values = {
        name: _default_of(name) if value is None else value
        for name, value in given.items()
        if not (value is None and name in stays)
    }
    if "allow" in values:
        values["allow"] = tuple(values["allow"])
    return values


def _default_of(name: str) -> Any:
    default = Task.__dataclass_fields__[name].default
    return {} if name == "workflow_inputs" else None if default is MISSING else default


def _type_for(old: Task, given: Mapping[str, Any]) -> TaskType:
    """The type that a schedule looks like, when none is said."""
    text = given.get("schedule")
    if text is None:
        return old.type
    try:
        read_schedule(old.type, text, old.timezone)
        return old.type
    except ManyhandsError:
        return guess_type(text)


def guess_type(schedule: str | None) -> TaskType:
    """The type of a schedule for which none was given, by its looks; it may be wrong all the same."""
    text = (schedule or "").strip()
    if not text:
        return "manual"
    if re.match(r"\d{4}-", text):
        return "once"
    return "interval" if re.match(r"[\dPp]", text) and len(text.split()) < 3 else "cron"


def _check(task: Task) -> None:
    said = {"prompt": task.prompt, "workflow": task.workflow_name, "script": task.script}[task.does]
    if not (said or "").strip():
        raise InvalidError(
            "A task needs something to do.",
            hint="Give a prompt, a workflow_name or a script.",
            data={"field": {"prompt": "prompt", "workflow": "workflow_name", "script": "script"}[task.does]},
        )
    if task.workflow_inputs and task.does != "workflow":
        raise InvalidError("workflow_inputs need a workflow_name.", hint="Give one, or leave them out.")
    for name in _OF_PROMPTS if task.does != "prompt" else ():
        if getattr(task, name) != _default_of(name):
            raise InvalidError(
                f"Only a prompt can have {_OF_PROMPTS[name]}.",
                hint=f"Leave {name} out.",
                data={"field": name},
            )
    if task.conversation == "same" and (task.worktree or task.auto_delete_sec):
        raise InvalidError(
            "A task that always uses the same thread has no worktree per run and deletes no threads.",
            hint="Use conversation new, or leave worktree and auto_delete_sec out.",
        )


def _timed(old: Task, task: Task, schedule: Schedule, now: datetime) -> Task:
    switched_on = task.enabled and not old.enabled
    fresh = task.created_at == now and old.due_at is None
    changed = any(getattr(old, name) != getattr(task, name) for name in _TIMING)
    if task.enabled and (changed or switched_on or fresh):
        check_coming(schedule, now, task.jitter_s)
        task = replace(
            task,
            anchor=now.replace(microsecond=0),
            failures=0 if switched_on else task.failures,
            stopped_because=None,
        )
    elif changed:
        check_coming(schedule, now, task.jitter_s)
    if not task.enabled:
        return replace(task, due_at=None, next_run_at=None)
    if changed or switched_on or fresh:
        due, starts = coming(task, schedule, now)
        return replace(task, due_at=due, next_run_at=starts)
    return task


def check_authority(old: Task | None, given: Mapping[str, Any]) -> None:
    """An agent may not give itself powers, nor rewrite a task to which a person gave some."""
    if taken := sorted(_POWERS & set(given)):
        raise NotAllowedError(f"Only a person can set {taken[0]} of a task.", hint="Ask the person to do so.")
    if old is None or not (old.allow or old.script):
        return
    if any(name in given and given[name] != getattr(old, name) for name in (*_CONTENT, "workflow_inputs")):
        raise NotAllowedError(
            "A person gave this task powers for what it does now, so only a person can change that.",
            hint="Make a task of your own, or ask the person.",
        )


def name_of(task: Task) -> str:
    """What a task is called when nobody said it."""
    said = task.template_name or task.prompt or task.workflow_name or task.script or "task"
    line = " ".join(said.strip().splitlines()[0].split()) if said.strip() else "task"
    return line if len(line) <= 60 else f"{line[:57].rstrip()}…"
