"""`manyhands workflows`: several steps that survive anything; definitions and runs of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from manyhands.cli.channels import absolute, find_channel
from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.json_input import read_object
from manyhands.cli.output import (
    Column,
    dim_style,
    done,
    print_json,
    print_table,
    say,
    shown_id,
    state_style,
    warn,
)
from manyhands.cli.session import Session
from manyhands.cli.terminal import many_lines, one_line
from manyhands.cli.text_input import read_text
from manyhands.cli.tool_log import moment
from manyhands.cli.workflow_view import follow_run, print_node, print_problems, print_run
from manyhands.errors import InvalidError, NotFoundError

workflows = HubGroup(
    "workflows",
    help="Several steps that survive anything: definitions, and runs of them.",
    order="list examples validate save delete run runs show approve reject cancel retry",
    examples=[
        "manyhands workflows save review.yaml",
        "manyhands workflows run review --input path=src",
        "manyhands workflows approve wfr_01jc… 'Looks good.'",
    ],
)
RECENT = 500
ENDS_S = 90.0
"""How long a run may take to be stopped."""
DEFINITIONS = (
    Column("NAME"),
    Column("SCOPE", style=dim_style),
    Column("NODES", right=True),
    Column("INPUTS"),
    Column("DESCRIPTION", flexible=True),
)
RUNS = (
    Column("ID", style=dim_style),
    Column("WORKFLOW"),
    Column("STATUS", style=state_style),
    Column("BEGAN"),
    Column("NODES", flexible=True),
    Column("ERROR", flexible=True),
)
_dir = click.option("--dir", "directory", metavar="DIR", help="The project whose workflows are meant (.).")
_scope = click.option(
    "--scope", type=click.Choice(["global", "project"]), help="Whether it is the hub's or the project's."
)
_wait = click.option("--no-wait", is_flag=True, help="Do not wait until it ends or asks something.")


# --- definitions


@workflows.command("list", examples=["manyhands workflows list", "manyhands workflows list --dir ~/shop"])
@_dir
@json_option
@wide_option
@pass_session
def list_workflows(session: Session, directory: str | None, as_json: bool, wide: bool) -> None:
    """All workflows; those of a project hide global ones of the same name."""
    found = pages(session.api, "/workflows", query={"dir_path": absolute(directory or ".")})
    if as_json:
        print_json(found)
    elif not found:
        say("No workflows yet. Save one: manyhands workflows save FILE")
    else:
        print_table(DEFINITIONS, [_row(one) for one in found], wide=wide)


def _row(one: Json) -> tuple[str, ...]:
    about = one["description"] if one["valid"] else f"has mistakes: {one['problems'][0]['message']}"
    return one["name"], one["scope"], str(one["nodes"]), ", ".join(one["inputs"]), about


@workflows.command(
    "examples",
    examples=["manyhands workflows examples", "manyhands workflows examples fan-out > fan-out.yaml"],
)
@click.argument("name", required=False)
@json_option
@pass_session
def list_examples(session: Session, name: str | None, as_json: bool) -> None:
    """The workflows that ship as examples, or the text of one. Save it, perhaps changed, to run it."""
    found = session.api.request("GET", "/workflows/examples")["items"]
    if name is not None:
        found = [one for one in found if one["name"] == name]
        if not found:
            raise NotFoundError(
                f"There is no example {name!r}.", hint="`manyhands workflows examples` lists them."
            )
    if as_json:
        print_json(found)
    elif name is not None:
        click.echo(found[0]["text"], nl=False)
    else:
        print_table(DEFINITIONS, [_row(one) for one in found])


@workflows.command(
    "validate",
    examples=["manyhands workflows validate review.yaml", "manyhands workflows validate a.yaml --input x=1"],
)
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=VALUE", help="For a dry run; as often as wanted."
)
@click.option("--dry-run", is_flag=True, help="Show the order, what goes in, and what would be skipped.")
@_dir
@json_option
@pass_session
def validate_workflow(
    session: Session, file: str, inputs: tuple[str, ...], dry_run: bool, directory: str | None, as_json: bool
) -> int:
    """Say what is wrong with a definition, each mistake with its line."""
    body: Json = {"workflow": read_text(file), "dir_path": absolute(directory or ".")}
    if dry_run or inputs:
        body["inputs"] = _inputs(inputs)
    verdict = session.api.request("POST", "/workflows/validate", body)
    if as_json:
        print_json(verdict)
        return 0 if verdict["ok"] else 1
    print_problems(verdict["problems"], file)
    if verdict["ok"]:
        if verdict["dry_run"]:
            for problem in verdict["dry_run"]["problems"]:
                warn(one_line(problem))
            for node in verdict["dry_run"]["nodes"]:
                print_node(node)
        done(f"{file} is a workflow")
    return 0 if verdict["ok"] else 1


@workflows.command(
    "save", examples=["manyhands workflows save review.yaml", "manyhands workflows save - < a.yaml"]
)
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@_scope
@_dir
@json_option
@pass_session
def save_workflow(
    session: Session, file: str, scope: str | None, directory: str | None, as_json: bool
) -> None:
    """Keep a definition from a file, new or changed."""
    api, text, where = session.api, read_text(file), absolute(directory or ".")
    verdict = api.request("POST", "/workflows/validate", {"workflow": text, "dir_path": where})
    name = (verdict["workflow"] or {}).get("name")
    known = {(one["name"], one["scope"]) for one in _everything(api, where)}
    action = "update" if (name, scope or "global") in known else "add"
    body = {"action": action, "workflow": text, "scope": scope or "global", "dir_path": where}
    stored = api.request("POST", "/workflows", body)
    if as_json:
        print_json(stored)
        return
    print_problems(stored["problems"], file)
    done(f"{stored['name']} is kept in {stored['path']}")


def _everything(api: Api, directory: str) -> list[Json]:
    return [*pages(api, "/workflows"), *pages(api, "/workflows", query={"dir_path": directory})]


@workflows.command(
    "delete", examples=["manyhands workflows delete review", "manyhands workflows delete wfr_01jc…"]
)
@click.argument("what")
@_scope
@_dir
@pass_session
def delete_workflow(session: Session, what: str, scope: str | None, directory: str | None) -> None:
    """Delete a definition by its name; runs of it go on. Or a run by its id; it is cancelled first."""
    if _is_run(what):
        run_id = full_id(session.api, what)
        session.api.request("DELETE", f"/workflows/runs/{segment(run_id)}", timeout=ENDS_S)
        done(f"run {run_id} is deleted")
        return
    query: Json = {"dir_path": absolute(directory or ".")}
    if scope:
        query["scope"] = scope
    session.api.request("DELETE", f"/workflows/{segment(what)}", query=query)
    done(f"{what} is deleted")


# --- runs


@workflows.command(
    "run",
    examples=["manyhands workflows run review --input path=src", "manyhands workflows run nightly --no-wait"],
)
@click.argument("name")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help="One input; as often as wanted.")
@click.option("--inputs", "whole", metavar="JSON", help="All inputs: JSON, @FILE, or - for standard input.")
@click.option("--channel", metavar="CHANNEL", help="The channel that it belongs to (id, name or directory).")
@click.option("--dir", "directory", metavar="DIR", help="Where it works (.).")
@_wait
@json_option
@pass_session
def run_workflow(
    session: Session,
    name: str,
    inputs: tuple[str, ...],
    whole: str | None,
    channel: str | None,
    directory: str | None,
    no_wait: bool,
    as_json: bool,
) -> int:
    """Start a run and follow it to its end, or until it asks something."""
    api = session.api
    body: Json = {"workflow_name": name, "inputs": (read_object(whole) if whole else {}) | _inputs(inputs)}
    if channel:
        body["channel_id"] = find_channel(api, channel)["id"]
    if directory or not channel:
        body["dir_path"] = absolute(directory or ".")

    def start() -> str:
        return str(api.request("POST", "/workflows/runs", body)["run_id"])

    return _follow(api, start, no_wait, as_json)


def _follow(api: Api, begin: Callable[[], str], no_wait: bool, as_json: bool) -> int:
    if no_wait:
        run_id = begin()
    else:
        api.start_servers()
        run_id = follow_run(api, begin, quiet=as_json)
    found = api.request("GET", f"/workflows/runs/{segment(run_id)}")
    if as_json:
        print_json(found)
    elif no_wait:
        done(f"run {run_id} is {found['run']['status']}")
    else:
        print_run(found)
    return 1 if found["run"]["status"] in ("failed", "cancelled") else 0


@workflows.command("runs", examples=["manyhands workflows runs", "manyhands workflows runs review"])
@click.argument("name", required=False)
@click.option("--status", help="Only runs that are so: running, paused, completed, failed, cancelled.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="How many at most.")
@json_option
@wide_option
@pass_session
def list_runs(
    session: Session, name: str | None, status: str | None, limit: int, as_json: bool, wide: bool
) -> None:
    """Runs, newest first."""
    query = {"limit": limit, "workflow_name": name, "status": status}
    asked = {key: value for key, value in query.items() if value is not None}
    found = session.api.request("GET", "/workflows/runs", query=asked)["items"]
    if as_json:
        print_json(found)
    elif not found:
        say("No runs." if name or status else "No runs yet. Start one: manyhands workflows run NAME")
    else:
        print_table(RUNS, [_run_row(one, wide=wide) for one in found], wide=wide)


def _run_row(run: Json, *, wide: bool) -> tuple[str, ...]:
    nodes = ", ".join(f"{count} {status}" for status, count in sorted(run["nodes"].items()))
    shown = shown_id(run["id"], wide=wide), run["workflow_name"], run["status"], moment(run["created_at"])
    return *shown, nodes, run["error"] or ""


@workflows.command("show", examples=["manyhands workflows show review", "manyhands workflows show wfr_01jc…"])
@click.argument("what")
@_dir
@json_option
@pass_session
def show_workflow(session: Session, what: str, directory: str | None, as_json: bool) -> None:
    """A run by its id, or the text of a workflow by its name."""
    if not _is_run(what):
        query = {"dir_path": absolute(directory or ".")}
        found = session.api.request("GET", f"/workflows/{segment(what)}", query=query)
        if as_json:
            print_json(found)
        else:
            print_problems(found["problems"], found["path"])
            click.echo(many_lines(found["text"]), nl=not found["text"].endswith("\n"))
        return
    found = session.api.request("GET", f"/workflows/runs/{segment(full_id(session.api, what))}")
    if as_json:
        print_json(found)
    else:
        print_run(found)


def _is_run(what: str) -> bool:
    """Whether an id of a run is meant: no name begins like one, nor has the dots of a task's runs."""
    return what.startswith(("wfr_", "…")) or "." in what


def full_id(api: Api, wanted: str) -> str:
    """The id of the run that is meant: this one, or the recent one whose id ends so."""
    if wanted.startswith(("wfr_", "task_")):
        return wanted
    ending = wanted.removeprefix("…")
    recent = api.request("GET", "/workflows/runs", query={"limit": RECENT})["items"]
    same = [str(run["id"]) for run in recent if run["id"].endswith(ending)]
    if len(same) != 1:
        found = "Several runs have" if same else "No recent run has"
        raise NotFoundError(
            f"{found} an id that ends in {ending}.", hint="`manyhands workflows runs --wide` shows whole ids."
        )
    return same[0]


def _answer(
    session: Session,
    run_id: str,
    response: str | None,
    node: str | None,
    decision: str,
    no_wait: bool,
    as_json: bool,
) -> int:
    body = {"decision": decision, "response": response, "node_id": node}
    run_id = full_id(session.api, run_id)

    def answer() -> str:
        session.api.request("POST", f"/workflows/runs/{segment(run_id)}/resume", body)
        return run_id

    return _follow(session.api, answer, no_wait, as_json)


_node = click.option("--node", metavar="ID", help="Which node, when several wait.")


@workflows.command("approve", examples=["manyhands workflows approve wfr_01jc… 'Looks good.' --node gate"])
@click.argument("run_id")
@click.argument("response", required=False)
@_node
@_wait
@json_option
@pass_session
def approve(
    session: Session, run_id: str, response: str | None, node: str | None, no_wait: bool, as_json: bool
) -> int:
    """Say yes to what a run waits for, with a response that later nodes read."""
    return _answer(session, run_id, response, node, "approve", no_wait, as_json)


@workflows.command("reject", examples=["manyhands workflows reject wfr_01jc… 'The tests are missing.'"])
@click.argument("run_id")
@click.argument("response", required=False)
@_node
@_wait
@json_option
@pass_session
def reject(
    session: Session, run_id: str, response: str | None, node: str | None, no_wait: bool, as_json: bool
) -> int:
    """Say no to what a run waits for, with what is to be changed."""
    return _answer(session, run_id, response, node, "reject", no_wait, as_json)


@workflows.command("cancel", examples=["manyhands workflows cancel wfr_01jc…"])
@click.argument("run_id")
@json_option
@pass_session
def cancel(session: Session, run_id: str, as_json: bool) -> None:
    """Stop a run with everything that it started."""
    path = f"/workflows/runs/{segment(full_id(session.api, run_id))}/cancel"
    run = session.api.request("POST", path, timeout=ENDS_S)
    if as_json:
        print_json(run)
    else:
        done(f"run {run['id']} is {run['status']}")


@workflows.command(
    "retry",
    examples=["manyhands workflows retry wfr_01jc…", "manyhands workflows retry wfr_01jc… --from build"],
)
@click.argument("run_id")
@click.option("--from", "from_node", metavar="ID", help="Begin again at this node.")
@click.option("--from-start", is_flag=True, help="Begin from the start, not where it failed.")
@_wait
@json_option
@pass_session
def retry(
    session: Session, run_id: str, from_node: str | None, from_start: bool, no_wait: bool, as_json: bool
) -> int:
    """Go on with a run that has ended. It begins where it failed, at a node, or from the start."""
    body = {"from_node": from_node, "from_failed": not from_start}
    run_id = full_id(session.api, run_id)

    def again() -> str:
        session.api.request("POST", f"/workflows/runs/{segment(run_id)}/retry", body)
        return run_id

    return _follow(session.api, again, no_wait, as_json)


# --- parts


def _inputs(given: tuple[str, ...]) -> Json:
    """`name=value`: a value that is JSON is taken as such, anything else as a text."""
    import json

    made: Json = {}
    for one in given:
        name, sign, text = one.partition("=")
        if not sign:
            raise InvalidError(f"{one!r} is no input.", hint="Write NAME=VALUE.")
        try:
            value: Any = json.loads(text)
        except ValueError:
            value = text
        made[name] = value
    return made
