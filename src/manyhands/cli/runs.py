"""`manyhands runs`: the record of what was worked on: look at it, replay it, compare it, stop it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from manyhands.cli.call_line import call_line, recorded_call
from manyhands.cli.channels import channel_options, chosen_channel
from manyhands.cli.client import LONG_TIMEOUT_S, Api, Json, pages, segment
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.completion import complete_model
from manyhands.cli.output import (
    Column,
    dim_style,
    done,
    human_duration,
    in_lines,
    print_json,
    print_table,
    say,
    shown_id,
    state_style,
)
from manyhands.cli.progress import Progress
from manyhands.cli.run_view import closing_line, cost_text, seconds
from manyhands.cli.session import Session
from manyhands.cli.terminal import columns, many_lines, paint
from manyhands.cli.tool_log import moment
from manyhands.errors import InvalidError, NotFoundError

runs = HubGroup(
    "runs",
    help="What was worked on: every step is on record.",
    examples=["manyhands runs list", "manyhands runs show", "manyhands runs replay run_01jc… --model demo"],
)
TABLE = (
    Column("RUN", style=dim_style),
    Column("AT", optional=True, style=dim_style),
    Column("STATUS", style=state_style),
    Column("MODEL", flexible=True, optional=True),
    Column("TOOK", optional=True, right=True),
    Column("TOKENS", optional=True, right=True),
    Column("COST", optional=True, right=True),
    Column("ANSWER", flexible=True, style=dim_style),
)
STATUSES = ("queued", "running", "waiting", "completed", "failed", "cancelled", "max_iterations")
RECENT = 500
differing = click.option("--exit-code", "code", is_flag=True, help="Exit with 1 when they differ.")


@runs.command("list", examples=["manyhands runs list", "manyhands runs list --dir . --status failed"])
@channel_options
@click.option("--status", type=click.Choice(STATUSES), help="Those that are so.")
@click.option("--limit", type=click.IntRange(1), default=20, help="How many at most (20).")
@json_option
@wide_option
@pass_session
def list_runs(
    session: Session,
    channel: str | None,
    directory: str | None,
    status: str | None,
    limit: int,
    as_json: bool,
    wide: bool,
) -> None:
    """Runs, newest first."""
    asked = {"channel_id": chosen_channel(session.api, channel, directory), "status": status}
    found = pages(session.api, "/runs", query=asked, limit=limit)
    if as_json:
        print_json(found)
    elif not found:
        say("No runs." if status or asked["channel_id"] else 'No runs yet. Start one: manyhands run "PROMPT"')
    else:
        names = _model_names(session.api, found)
        print_table(TABLE, [_row(run, names, wide=wide) for run in found], wide=wide)


def _model_names(api: Api, found: Sequence[Json]) -> dict[str, str]:
    """Names of saved models, whose ids say nothing to a person."""
    if not any(str(run["model"]).startswith("model_") for run in found):
        return {}
    return {model["id"]: model["name"] for model in pages(api, "/models") if model["source"] == "saved"}


def _row(run: Json, names: Mapping[str, str], *, wide: bool) -> tuple[str, ...]:
    usage = run["usage"]
    return (
        shown_id(run["id"], wide=wide),
        moment(run["created_at"]),
        run["status"],
        names.get(run["model"], run["model"] or ""),
        human_duration(seconds(run)) if run.get("ended_at") else "",
        f"{usage.get('input', 0) + usage.get('output', 0):,}" if usage else "",
        "" if run["cost"] is None else cost_text(run["cost"]),
        (run["error"] or run["text"] or "")[:1000],
    )


@runs.command("show", examples=["manyhands runs show", "manyhands runs show run_01jc… --json"])
@click.argument("run", required=False)
@json_option
@pass_session
def show_run(session: Session, run: str | None, as_json: bool) -> None:
    """All that was said and done in a run. RUN is its id or the end of it, the newest when left out."""
    api = session.api
    found = api.request("GET", f"/runs/{segment(full_id(api, run))}")
    messages = api.request("GET", f"/runs/{segment(found['id'])}/messages")["items"]
    if as_json:
        print_json({**found, "messages": messages})
        return
    say(paint(f"{found['id']} · {moment(found['created_at'])}", "dim"))
    calls = {call["id"]: call for call in found["tool_calls"]}
    for message in messages:
        _print_message(message, calls)
    say()
    answered = [message["model"] for message in messages if message["model"]]
    say(closing_line({**found, "model": answered[-1] if answered else found["model"]}))


def _print_message(message: Json, calls: dict[str, Json]) -> None:
    text = "\n".join(in_lines(many_lines(str(message["content"])).strip()))
    match message["role"]:
        case "user":
            say(f"\n{paint('›', 'cyan')} {text}")
        case "assistant" | "system" if text:
            say("\n" + (paint(text, "red") if message["is_error"] else text))
    known = [calls[asked["call_id"]] for asked in message["tool_calls"] if asked["call_id"] in calls]
    width = columns()
    for number, record in enumerate(known):
        say(("" if number else "\n") + call_line(recorded_call(record), width and width - 1))


@runs.command("replay", examples=["manyhands runs replay", "manyhands runs replay run_01jc… --model demo"])
@click.argument("run", required=False)
@click.option("--model", metavar="ID", shell_complete=complete_model, help="Ask this model (the run's own).")
@differing
@json_option
@pass_session
def replay_run(session: Session, run: str | None, model: str | None, code: bool, as_json: bool) -> int:
    """Ask the model again with the recorded results of the tools; nothing is executed.

    RUN is the run's id or the end of it, the newest when left out. What came out otherwise is shown.
    """
    api = session.api
    path = f"/runs/{segment(full_id(api, run))}/replay"
    with Progress("replaying"):
        answer = api.request("POST", path, {"model": model}, timeout=LONG_TIMEOUT_S)
    if as_json:
        print_json(answer)
    elif answer["diff"]:
        print_diff(answer["diff"])
        for call in answer["unknown_calls"]:
            say(paint(f"not in the record: {many_lines(call)}", "yellow"))
    else:
        done(f"{answer['model']} did the same again")
    return 1 if code and answer["diff"] else 0


@runs.command("diff", examples=["manyhands runs diff run_01jc… run_01jd…"])
@click.argument("one")
@click.argument("other")
@differing
@json_option
@pass_session
def diff_runs(session: Session, one: str, other: str, code: bool, as_json: bool) -> int:
    """Compare what was said and done in two runs; ids, or the ends of them."""
    api = session.api
    path = f"/runs/{segment(full_id(api, one))}/diff/{segment(full_id(api, other))}"
    answer = api.request("GET", path)
    if as_json:
        print_json(answer)
    elif answer["same"]:
        done("the same was said and done")
    else:
        print_diff(answer["diff"])
    return 1 if code and not answer["same"] else 0


@runs.command("cancel", examples=["manyhands runs cancel run_01jc…"])
@click.argument("run")
@json_option
@pass_session
def cancel_run(session: Session, run: str, as_json: bool) -> None:
    """Stop a run: its model and every call that is pending."""
    api = session.api
    ended = api.request("POST", f"/runs/{segment(full_id(api, run))}/cancel")
    if as_json:
        print_json(ended)
    elif ended["ended_at"]:
        done(f"it has ended: {ended['status']}")
    else:
        done("it is told to stop")


def print_diff(text: str) -> None:
    """A unified diff in its usual colours."""
    looks = {"+": "green", "-": "red", "@": "cyan"}
    for line in many_lines(text).splitlines():
        say(paint(line, looks[line[0]]) if line[:1] in looks else line)


def full_id(api: Api, wanted: str | None) -> str:
    """The id of the run that is meant: the newest, or the one with this id or ending."""
    wanted = (wanted or "").removeprefix("…")
    if wanted.startswith("run_"):
        return wanted
    found = [str(run["id"]) for run in pages(api, "/runs", limit=RECENT if wanted else 1)]
    same = [run_id for run_id in found if run_id.endswith(wanted)]
    if not same:
        what = f"No recent run has an id that ends in {wanted}." if wanted else "There are no runs yet."
        raise NotFoundError(what, hint="`manyhands runs list --wide` shows whole ids.")
    if len(same) > 1:
        raise InvalidError(f"{wanted} is the end of several ids.", hint="Give more of it.")
    return same[0]
