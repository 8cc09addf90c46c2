"""The tools of schedules. What they do is the business of `tasks/`.

An agent sees and changes the tasks of its own channel and its threads; a task that an agent makes may use
only what needs no permission.
"""

from __future__ import annotations

from typing import Any

from manyhands.errors import NotFoundError
from manyhands.mcp_server.entries import (
    CHANGES,
    DESTROYS,
    READS,
    Answer,
    Caller,
    Json,
    ToolEntry,
    choice,
    gives,
    many,
    maybe,
    name_of,
    number,
    switch,
    takes,
    text,
    yes_or_no,
)
from manyhands.paging import MAX_LIMIT
from manyhands.tasks.types import TASK_TYPES, TaskView
from manyhands.tasks.views import task_json

SHORT = 200

TASK = gives(
    id=text("Its id, for the other task tools."),
    channel_id=text("The channel that it belongs to."),
    name=text("What it is called."),
    type=text("cron, interval, once or manual."),
    schedule=maybe(text("Its schedule.")),
    timezone=text("The zone that the schedule is meant in."),
    words=text("The schedule in words."),
    prompt=maybe(text("What an agent is to do.")),
    template_name=maybe(text("Its own name in the channel.")),
    auto_delete_sec=number("Seconds after its end that a run's thread is removed; 0 keeps it."),
    missed=text("What happens after missed times."),
    workflow_name=maybe(text("The workflow that it runs.")),
    workflow_inputs={"type": "object", "description": "What the workflow is given."},
    enabled=yes_or_no("Whether its schedule is followed."),
    running=yes_or_no("Whether a run goes on."),
    stopped_because=maybe(text("Why it was switched off by itself.")),
    next_run_at=maybe(text("When it runs next, in UTC.")),
    next_times=many({"type": "string"}, "Its next five times, in its zone."),
    notes=many({"type": "string"}, "What is worth knowing about the schedule."),
    last_run=maybe({"type": "object", "description": "What became of its last run."}),
)
_SHOWN = tuple(TASK["properties"])

_SCHEDULE = text(
    "cron: five fields with names, such as `0 9 * * mon-fri`, or @daily and the like; interval: `90s`, "
    "`2h30m`, `PT2H30M`; once: `2027-01-31T09:00:00+01:00`. Nothing for manual.",
    maxLength=500,
)
_TYPE = choice("What kind of schedule it is.", *TASK_TYPES)
_PROMPT = text("What an agent is to do each time; it knows nothing but this, so say everything.", minLength=1)
_DELETE = {
    "type": "integer",
    "minimum": 0,
    "maximum": 31_536_000,
    "description": "Seconds after its end that a run's thread is removed; 0 keeps it.",
}
_ZONE = text("The IANA time zone that the schedule is meant in.")
_MISSED = choice(
    "After times at which the hub did not run: let them go, or run once for all of them.", "skip", "run_once"
)
_WORKFLOW = name_of("A workflow to run instead of a prompt; list_workflows names them.")
_INPUTS: Json = {"type": "object", "description": "The inputs of the workflow."}
_ID = text("The task's id; list_tasks names them.")


def shown(view: TaskView) -> Json:
    """A task as tools show it."""
    whole = task_json(view)
    return {name: whole[name] for name in _SHOWN}


async def schedule_task(caller: Caller, arguments: Json) -> Answer:
    channel = await caller.scope.own()
    values = _given(arguments)
    view, made = await caller.hub.tasks.create(
        channel.id, values, author_id=caller.principal.author, agent=True
    )
    did = "Scheduled" if made else "Updated"
    return Answer(f"{did} the task {_headline(view)}", {"task": shown(view), "created": made})


async def list_tasks(caller: Caller, arguments: Json) -> Answer:
    channel = await caller.scope.own()
    page = await caller.hub.tasks.list([channel.id], limit=MAX_LIMIT)
    lines = [_headline(view) for view in page.items] or ["There are no tasks in this channel."]
    return Answer("\n".join(lines), {"tasks": [_short(shown(view)) for view in page.items]})


async def show_task(caller: Caller, arguments: Json) -> Answer:
    view = await _find(caller, arguments["task_id"])
    lines = [_headline(view)]
    lines += [f"Next: {', '.join(moment.isoformat() for moment in view.preview.times)}"] * bool(
        view.preview.times
    )
    lines += view.preview.notes
    if view.last_run is not None:
        lines.append(f"Last run: {view.last_run.state} {view.last_run.error or ''}".rstrip())
    if view.task.prompt:
        lines.append(f"Prompt:\n{view.task.prompt}")
    return Answer("\n".join(lines), {"task": shown(view)})


async def cancel_task(caller: Caller, arguments: Json) -> Answer:
    view = await _find(caller, arguments["task_id"])
    await caller.hub.tasks.delete(view.task.id)
    return Answer(f"Cancelled the task {view.task.name!r}; it is gone.", {"task_id": view.task.id})


async def toggle_task(caller: Caller, arguments: Json) -> Answer:
    view = await _find(caller, arguments["task_id"])
    view = await caller.hub.tasks.toggle(view.task.id, arguments["enabled"])
    return Answer(_headline(view), {"task": shown(view)})


async def edit_task(caller: Caller, arguments: Json) -> Answer:
    view = await _find(caller, arguments["task_id"])
    values = {name: value for name, value in arguments.items() if name != "task_id"}
    view = await caller.hub.tasks.edit(view.task.id, values, agent=True)
    return Answer(f"Changed the task {_headline(view)}", {"task": shown(view)})


async def _find(caller: Caller, task_id: str) -> TaskView:
    """A task that this caller may see: one of its own channel's project."""
    view = await caller.hub.tasks.get(task_id)
    allowed = await caller.scope.visible()
    if allowed is not None and view.task.channel_id not in allowed:
        raise NotFoundError(
            f"There is no task {task_id!r} here.", hint="list_tasks shows those that there are."
        )
    return view


def _given(arguments: Json) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _headline(view: TaskView) -> str:
    task = view.task
    state = "" if task.enabled else f" [off{': ' + task.stopped_because if task.stopped_because else ''}]"
    following = f", next {view.preview.times[0].isoformat()}" if view.preview.times else ""
    return f"{task.id} {task.name!r}: {view.preview.words}{following}{state}"


def _short(task: Json) -> Json:
    prompt = task["prompt"]
    if prompt is not None and len(prompt) > SHORT:
        task["prompt"] = f"{prompt[:SHORT]}…"
    return task


ONE = gives(task=TASK)
ENTRIES = (
    ToolEntry(
        "schedule_task",
        "Schedule a task",
        "Have work done later or again and again: a prompt for an agent, in a thread of its own, or "
        "a workflow. Nobody is there to be asked when it runs, so it can use only tools that need no "
        "permission. A template_name that this channel has already updates that task. The answer shows the "
        "next five times.",
        takes(
            "type",
            schedule=_SCHEDULE,
            type=_TYPE,
            prompt=_PROMPT,
            template_name=name_of("A name of its own: used again in this channel, the task is updated."),
            auto_delete_sec={**_DELETE, "default": 0},
            timezone={**_ZONE, "default": "UTC"},
            missed={**_MISSED, "default": "run_once"},
            workflow_name=_WORKFLOW,
            workflow_inputs=_INPUTS,
            worktree=switch("Whether each run gets a git worktree of its own.", default=False),
            model=name_of("The model to ask; that of the channel when it is left out."),
        ),
        gives(task=TASK, created=yes_or_no("Whether it is new; else one was updated.")),
        schedule_task,
        CHANGES,
    ),
    ToolEntry(
        "list_tasks",
        "List tasks",
        "The scheduled tasks of this channel with their next times; show_task gives the whole prompt of one.",
        takes(),
        gives(tasks=many(TASK, "The tasks, newest first; long prompts are cut.")),
        list_tasks,
        READS,
    ),
    ToolEntry(
        "show_task",
        "Show a task",
        "Everything about one task: the whole prompt, the next times, the last run.",
        takes("task_id", task_id=_ID),
        ONE,
        show_task,
        READS,
    ),
    ToolEntry(
        "cancel_task",
        "Cancel a task",
        "Remove a task with its history; a run of it that goes on is stopped. To pause it use toggle_task.",
        takes("task_id", task_id=_ID),
        gives(task_id=text("The task that is gone.")),
        cancel_task,
        DESTROYS,
    ),
    ToolEntry(
        "toggle_task",
        "Switch a task on or off",
        "Pause a task, or let it go on: its next run is then computed anew.",
        takes("task_id enabled", task_id=_ID, enabled=yes_or_no("Whether its schedule is followed.")),
        ONE,
        toggle_task,
        CHANGES,
    ),
    ToolEntry(
        "edit_task",
        "Edit a task",
        "Change some fields of a task; what is left out stays. A new schedule gives new next times.",
        takes(
            "task_id",
            task_id=_ID,
            schedule=_SCHEDULE,
            type=_TYPE,
            prompt=_PROMPT,
            auto_delete_sec=_DELETE,
            timezone=_ZONE,
            missed=_MISSED,
            workflow_name=_WORKFLOW,
            workflow_inputs=_INPUTS,
        ),
        ONE,
        edit_task,
        CHANGES,
    ),
)
