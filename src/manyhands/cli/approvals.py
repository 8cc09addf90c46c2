"""`manyhands approvals`: the inbox of everything that waits for a person."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from manyhands.cli.client import Api, Json, pages
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.output import Column, dim_style, done, print_json, print_table, say, shown_id, state_style
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal
from manyhands.errors import InvalidError, NotFoundError

approvals = HubGroup(
    "approvals",
    help="What waits for your answer: permissions, servers' questions, sampling.",
    examples=["manyhands approvals list", "manyhands approvals answer approval_01jc… --approve"],
)
TABLE = (
    Column("ID", style=dim_style),
    Column("KIND"),
    Column("STATE", style=state_style),
    Column("EXPIRES"),
    Column("QUESTION", flexible=True),
)
STATES = ("pending", "approved", "rejected", "expired", "cancelled")


@approvals.command(
    "list", examples=["manyhands approvals list", "manyhands approvals list --state rejected --json"]
)
@click.option(
    "--state", type=click.Choice([*STATES, "all"]), default="pending", help="pending unless told otherwise."
)
@click.option("--limit", type=click.IntRange(1), default=50, help="How many at most (50).")
@json_option
@wide_option
@pass_session
def list_approvals(session: Session, state: str, limit: int, as_json: bool, wide: bool) -> None:
    """What waits, newest first."""
    query = {"state": None if state == "all" else state}
    found = pages(session.api, "/approvals", query=query, limit=limit)
    if as_json:
        print_json(found)
    elif not found:
        say("Nothing waits for you." if state == "pending" else "There are none.")
    else:
        print_table(TABLE, [_row(approval, wide=wide) for approval in found], wide=wide)


def _row(approval: Json, *, wide: bool) -> tuple[str, ...]:
    expires = (
        _remaining(approval["expires_at"])
        if approval["state"] == "pending" and approval.get("expires_at")
        else ""
    )
    return (
        shown_id(approval["id"], wide=wide),
        approval["kind"],
        approval["state"],
        expires,
        approval["title"],
    )


def _remaining(moment: str) -> str:
    from datetime import UTC, datetime

    from manyhands.cli.output import human_duration

    seconds = (datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds()
    return f"in {human_duration(seconds)}" if seconds > 0 else "now"


@approvals.command(
    "answer",
    examples=[
        "manyhands approvals answer                (asks you about the newest)",
        "manyhands approvals answer approval_01jc… --approve --scope tool",
        "manyhands approvals answer approval_01jc… --reject --reason 'not today'",
        """manyhands approvals answer approval_01jc… --approve --response '{"name":"Ada"}'""",
    ],
)
@click.argument("approval", required=False)
@click.option("--approve/--reject", default=None, help="Yes or no; without it you are asked.")
@click.option(
    "--scope", type=click.Choice(["once", "session", "tool", "server"]), help="How far a yes reaches (once)."
)
@click.option("--response", metavar="JSON", help="Form data for a server's question.")
@click.option("--reason", metavar="TEXT", help="Why not; the model reads it.")
@json_option
@pass_session
def answer_approval(
    session: Session,
    approval: str | None,
    approve: bool | None,
    scope: str | None,
    response: str | None,
    reason: str | None,
    as_json: bool,
) -> None:
    """Answer one; APPROVAL is its id or the end of it, the newest that waits when it is left out."""
    from manyhands.cli.asking import answer_here, send_answer

    found = find_approval(session.api, approval)
    if approve is None:
        if not is_terminal(sys.stdin):
            raise click.UsageError("Give --approve or --reject")
        answered = answer_here(session.api, found)
    else:
        given = {"scope": scope, "response": _parsed(response), "reason": reason}
        answer = {
            "decision": "approve" if approve else "reject",
            **{k: v for k, v in given.items() if v is not None},
        }
        answered = send_answer(session.api, found["id"], answer)
    if answered and as_json:
        print_json(answered)
    elif answered:
        done(f"{answered['state']}: {answered['title']}")


def _parsed(response: str | None) -> Any:
    if response is None:
        return None
    try:
        return json.loads(response)
    except ValueError as error:
        raise InvalidError(
            f"--response is not JSON: {error}.", hint="""Write it as '{"field": "value"}'."""
        ) from error


def find_approval(api: Api, wanted: str | None) -> Json:
    """The approval with this id or ending; without one the newest that waits."""
    waiting = pages(api, "/approvals", query={"state": "pending"})
    if wanted is None:
        if not waiting:
            raise NotFoundError(
                "Nothing waits for you.", hint="`manyhands approvals list --state all` shows what did."
            )
        return waiting[0]
    wanted = wanted.removeprefix("…")
    same = [approval for approval in waiting if approval["id"] == wanted or approval["id"].endswith(wanted)]
    if len(same) == 1:
        return same[0]
    if same:
        raise InvalidError(f"{wanted} is the end of several ids.", hint="Give more of it.")
    done = [approval for approval in pages(api, "/approvals", limit=500) if approval["id"] == wanted]
    if done:
        return done[0]
    raise NotFoundError(
        f"There is no approval {wanted}.", hint="`manyhands approvals list` shows what waits."
    )
