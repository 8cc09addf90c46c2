"""`manyhands tasks`: work that is done later, or again and again."""

from __future__ import annotations

from typing import Any

import click

from manyhands.cli.channels import find_channel
from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.output import (
    Column,
    dim_style,
    done,
    print_fields,
    print_json,
    print_table,
    say,
    shown_id,
    state_style,
)
from manyhands.cli.session import Session
from manyhands.cli.task_options import given_fields, task_options
from manyhands.cli.terminal import many_lines, one_line
from manyhands.cli.tool_log import moment
from manyhands.errors import InvalidError, NotFoundError

tasks = HubGroup(
    "tasks",
    help="Schedules: work that is done later, or again and again.",
    examples=[
        'manyhands tasks add . "0 9 * * mon-fri" --timezone Europe/Berlin --prompt "What is new here?"',
        "manyhands tasks add . 2h30m --script ./check.sh",
        "manyhands tasks history nightly",
    ],
)
TASKS = (
    Column("ID", style=dim_style),
    Column("NAME"),
    Column("WHEN", flexible=True),
    Column("NEXT"),
    Column("LAST", style=state_style),
    Column("DOES", flexible=True),
)
RUNS = (
    Column("DUE"),
    Column("STATE", style=state_style),
    Column("TOOK"),
    Column("COST"),
    Column("RUN", style=dim_style),
    Column("SAYS", flexible=True),
)


@tasks.command("list", examples=["manyhands tasks list", "manyhands tasks list --channel ."])
@click.option("--channel", metavar="CHANNEL", help="Only those of a channel (id, name or directory).")
@json_option
@wide_option
@pass_session
def list_tasks(session: Session, channel: str | None, as_json: bool, wide: bool) -> None:
    """All tasks with their next and last run."""
    query = {"channel_id": find_channel(session.api, channel)["id"]} if channel else {}
    found = pages(session.api, "/tasks", query=query)
    if as_json:
        print_json(found)
    elif not found:
        say('No tasks yet. Make one: manyhands tasks add CHANNEL "0 9 * * *" --prompt TEXT')
    else:
        print_table(TASKS, [_row(task, wide=wide) for task in found], wide=wide)


def _row(task: Json, *, wide: bool) -> tuple[str, ...]:
    following = "" if task["enabled"] else "off"
    if task["next_times"]:
        following = _when(task["next_times"][0])
    last = task["last_run"]["state"] if task.get("last_run") else ""
    return shown_id(task["id"], wide=wide), task["name"], task["words"], following, last, _content(task)


def _when(text: str, before: str = "") -> str:
    """A time to come as the clocks of the task's zone will show it."""
    from datetime import datetime

    at = datetime.fromisoformat(text)
    seconds = ":%S" if at.second else ""
    return f"{at:{before}%Y-%m-%d %H:%M{seconds}} {text[-6:] if at.utcoffset() else 'UTC'}"


def _content(task: Json) -> str:
    return one_line(task.get("prompt") or task.get("workflow_name") or task.get("script") or "")


@tasks.command(
    "add",
    examples=[
        'manyhands tasks add . "0 9 * * mon-fri" --timezone Europe/Berlin --prompt "What is new?"',
        "manyhands tasks add . @daily --workflow nightly-report --inputs '{\"days\": 1}'",
        "manyhands tasks add . manual --prompt 'Prepare the release notes' --name release-notes",
    ],
)
@click.argument("channel")
@click.argument("schedule")
@task_options
@json_option
@pass_session
def add_task(session: Session, /, channel: str, schedule: str, as_json: bool, **options: Any) -> None:
    """Make a task. SCHEDULE: a cron expression, an interval, a time, or the word manual."""
    parent = find_channel(session.api, channel, make=True)
    fields = given_fields(options) | _schedule(schedule, options)
    _made(session.api.request("POST", "/tasks", {"channel_id": parent["id"], **fields}), as_json)


def _schedule(schedule: str, options: dict[str, Any]) -> dict[str, Any]:
    if schedule.strip().lower() == "manual":
        return {"type": "manual"}
    return {"schedule": schedule} | ({"type": options["type"]} if options.get("type") else {})


def _made(task: Json, as_json: bool) -> None:
    if as_json:
        print_json(task)
        return
    done(f"{task['name']} ({task['id']}): {task['words']}")
    _say_times(task)


def _say_times(task: Json) -> None:
    for following in task["next_times"]:
        say(f"  {_when(following, '%a ')}")
    for note in task["notes"]:
        say(f"  {note}")


@tasks.command("preview", examples=['manyhands tasks preview "30 2 * * *" --timezone Europe/Berlin'])
@click.argument("schedule")
@click.option("--timezone", default="UTC", metavar="ZONE", help="The zone that it is meant in.")
@json_option
@pass_session
def preview_schedule(session: Session, schedule: str, timezone: str, as_json: bool) -> None:
    """What a schedule means: in words, with its next five times."""
    found = session.api.request("POST", "/tasks/preview", {"schedule": schedule, "timezone": timezone})
    if as_json:
        print_json(found)
        return
    say(found["words"])
    _say_times(found)


@tasks.command("show", examples=["manyhands tasks show nightly"])
@click.argument("task")
@json_option
@pass_session
def show_task(session: Session, task: str, as_json: bool) -> None:
    """One task, by its id or name: the whole prompt, its next times, its last run."""
    found = find_task(session.api, task)
    if as_json:
        print_json(found)
        return
    say(f"{found['name']} ({found['id']}): {found['words']}{'' if found['enabled'] else ', off'}")
    if found.get("stopped_because"):
        say(f"switched off: {one_line(found['stopped_because'])}")
    _say_times(found)
    if last := found.get("last_run"):
        say(f"last run: {last['state']} {one_line(last.get('error') or '')}".rstrip())
    print_fields(_choices(found))
    for name in ("prompt", "script"):
        if found.get(name):
            say("")
            say(many_lines(found[name]))


def _choices(task: Json) -> list[tuple[str, str]]:
    """What was chosen for it, as the options of `add` name it; what is not there is left out."""
    import json

    inputs = json.dumps(task["workflow_inputs"], ensure_ascii=False) if task["workflow_inputs"] else ""
    fields = {
        "workflow": task["workflow_name"],
        "inputs": inputs,
        "template": task["template_name"],
        "model": task["model"],
        "allow": ", ".join(task["allow"]),
        "worktree": "for each run" if task["worktree"] else "",
        "budget": f"${task['budget']}" if task["budget"] else "",
        "conversation": task["conversation"] if task["does"] == "prompt" else "",
        "overlap": task["overlap"],
        "missed": f"{task['missed']} within {task['missed_window_s']} s",
        "retries": f"{task['retries']}, first after {task['retry_delay_s']} s" if task["retries"] else "",
        "max-failures": str(task["max_failures"] or "any number"),
        "timeout": f"{task['timeout_s']} s",
        "auto-delete": f"{task['auto_delete_sec']} s after a run" if task["auto_delete_sec"] else "",
    }
    return [(name, one_line(text or "")) for name, text in fields.items()]


@tasks.command(
    "edit",
    examples=[
        "manyhands tasks edit nightly --schedule '0 3 * * *'",
        "manyhands tasks edit nightly --retries 2",
    ],
)
@click.argument("task")
@click.option("--schedule", metavar="SCHEDULE", help="Another schedule.")
@task_options
@json_option
@pass_session
def edit_task(session: Session, /, task: str, schedule: str | None, as_json: bool, **options: Any) -> None:
    """Change some fields of a task."""
    fields = given_fields(options) | (_schedule(schedule, options) if schedule else {})
    if not fields:
        raise InvalidError("There is nothing to change.", hint="Give an option; see `--help`.")
    found = find_task(session.api, task)
    _made(session.api.request("PATCH", f"/tasks/{segment(found['id'])}", fields), as_json)


@tasks.command("run", examples=["manyhands tasks run nightly"])
@click.argument("task")
@json_option
@pass_session
def run_task(session: Session, task: str, as_json: bool) -> None:
    """Run a task now, whatever its schedule says. It goes on in the daemon."""
    api = session.required_daemon()
    found = find_task(api, task)
    run = api.request("POST", f"/tasks/{segment(found['id'])}/run")
    if as_json:
        print_json(run)
    else:
        done(f"{found['name']} is {run['state']} ({run['id']}); see `manyhands tasks history {found['id']}`")


@tasks.command("enable", examples=["manyhands tasks enable nightly"])
@click.argument("task")
@pass_session
def enable_task(session: Session, task: str) -> None:
    """Follow its schedule again; its next time is computed anew."""
    _switch(session, task, enabled=True)


@tasks.command("disable", examples=["manyhands tasks disable nightly"])
@click.argument("task")
@pass_session
def disable_task(session: Session, task: str) -> None:
    """Pause a task."""
    _switch(session, task, enabled=False)


def _switch(session: Session, task: str, *, enabled: bool) -> None:
    found = find_task(session.api, task)
    changed = session.api.request("PATCH", f"/tasks/{segment(found['id'])}", {"enabled": enabled})
    following = f", next {_when(changed['next_times'][0])}" if changed["next_times"] else ""
    done(f"{changed['name']} is {'on' if enabled else 'off'}{following}")


@tasks.command("clone", examples=["manyhands tasks clone nightly --name weekly"])
@click.argument("task")
@click.option("--name", metavar="NAME", help="What the copy is called.")
@json_option
@pass_session
def clone_task(session: Session, task: str, name: str | None, as_json: bool) -> None:
    """A copy of a task, switched off."""
    found = find_task(session.api, task)
    copy = session.api.request("POST", f"/tasks/{segment(found['id'])}/clone", {"name": name})
    _made(copy, as_json)


@tasks.command("delete", examples=["manyhands tasks delete nightly"])
@click.argument("task")
@pass_session
def delete_task(session: Session, task: str) -> None:
    """Remove a task with its history; threads stay."""
    found = find_task(session.api, task)
    session.api.request("DELETE", f"/tasks/{segment(found['id'])}")
    done(f"{found['name']} is deleted")


@tasks.command(
    "history", examples=["manyhands tasks history nightly", "manyhands tasks history nightly --json"]
)
@click.argument("task")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 500), help="How many at most.")
@json_option
@wide_option
@pass_session
def task_history(session: Session, task: str, limit: int, as_json: bool, wide: bool) -> None:
    """The runs of a task, newest first, missed and skipped times included."""
    found = find_task(session.api, task)
    runs = session.api.request("GET", f"/tasks/{segment(found['id'])}/runs", query={"limit": str(limit)})[
        "items"
    ]
    if as_json:
        print_json(runs)
    elif not runs:
        say("It has not run yet.")
    else:
        print_table(RUNS, [_run_row(run, wide=wide) for run in runs], wide=wide)


def _run_row(run: Json, *, wide: bool) -> tuple[str, ...]:
    took = f"{run['duration_s']:.1f} s" if run.get("duration_s") is not None else ""
    cost = f"${run['cost']:.4f}" if run.get("cost") is not None else ""
    leads = run.get("run_id") or run.get("workflow_run_id") or ""
    words = run.get("error") or run.get("note") or run.get("text") or ""
    leads = shown_id(leads, wide=wide) if leads else ""
    return (moment(run["due_at"]), run["state"], took, cost, leads, one_line(words[:1000]))


def find_task(api: Api, wanted: str) -> Json:
    """A task by its id or the end of it, its name or its template name."""
    if wanted.startswith("task_"):
        return dict(api.request("GET", f"/tasks/{segment(wanted)}"))
    ending = wanted.removeprefix("…") if wanted.startswith("…") else None
    fits = [
        task
        for task in pages(api, "/tasks")
        if wanted in (task["name"], task.get("template_name")) or (ending and task["id"].endswith(ending))
    ]
    if not fits:
        raise NotFoundError(f"There is no task {wanted!r}.", hint="`manyhands tasks list` shows them.")
    if len(fits) > 1:
        raise InvalidError(f"{len(fits)} tasks are called {wanted!r}.", hint="Use the id of one.")
    return dict(fits[0])
