"""`manyhands tools log|result`: the record of calls, and results that were too large for it."""

from __future__ import annotations

import sys

import click

from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.command import HubCommand, json_option, pass_session, wide_option
from manyhands.cli.completion import complete_server
from manyhands.cli.output import (
    Column,
    dim_style,
    human_duration,
    human_size,
    print_json,
    print_table,
    say,
    shown_id,
    state_style,
)
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal, many_lines
from manyhands.errors import NotFoundError

TABLE = (
    Column("CALL", style=dim_style),
    Column("AT", optional=True, style=dim_style),
    Column("TOOL"),
    Column("STATUS", style=state_style),
    Column("TOOK", optional=True, right=True),
    Column("SIZE", optional=True, right=True),
    Column("RESULT", flexible=True, style=dim_style),
)
STATUSES = ("pending", "success", "error", "timeout", "cancelled", "denied")
PAGE = 500_000
RECENT = 500


@click.command(
    "log", cls=HubCommand, examples=["manyhands tools log", "manyhands tools log --status error --limit 5"]
)
@click.option(
    "--server", metavar="NAME", shell_complete=complete_server, help="Calls of this server's tools."
)
@click.option("--tool", metavar="NAME", help="Calls of this tool (its own name).")
@click.option("--status", type=click.Choice(STATUSES), help="Calls that ended so.")
@click.option("--query", "-q", metavar="TEXT", help="Calls with this text in them.")
@click.option("--limit", type=click.IntRange(1), default=20, help="How many at most (20).")
@json_option
@wide_option
@pass_session
def show_log(
    session: Session,
    server: str | None,
    tool: str | None,
    status: str | None,
    query: str | None,
    limit: int,
    as_json: bool,
    wide: bool,
) -> None:
    """The calls that were made, newest first."""
    asked = {"server": server, "tool": tool, "status": status, "q": query}
    found = pages(session.api, "/tool-calls", query=asked, limit=limit)
    if as_json:
        print_json(found)
    elif not found:
        say("No calls.")
    else:
        print_table(TABLE, [_row(call, wide=wide) for call in found], wide=wide)


def _row(call: Json, *, wide: bool) -> tuple[str, ...]:
    took = "" if call["duration_ms"] is None else human_duration(call["duration_ms"] / 1000)
    size = "" if call["size"] is None else human_size(call["size"])
    said = (call["error"] or call["result"] or "")[:1000]
    where = f"{call['server']}: {call['tool']}"
    return shown_id(call["id"], wide=wide), moment(call["at"]), where, call["status"], took, size, said


def moment(text: str) -> str:
    """The time of day, and the date where it is not today's."""
    from datetime import datetime

    at, now = datetime.fromisoformat(text).astimezone(), datetime.now().astimezone()
    return f"{at:%H:%M:%S}" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M}"


@click.command("result", cls=HubCommand, examples=["manyhands tools result call_01jc… > result.txt"])
@click.argument("call_id")
@pass_session
def show_result(session: Session, call_id: str) -> None:
    """The whole text of a call's result, however large. CALL_ID may be the end of a recent call's id."""
    call_id = _full_id(session.api, call_id.removeprefix("…"))
    offset: int | None = 0
    while offset is not None:
        query = {"offset": offset, "limit": PAGE}
        page = session.api.request("GET", f"/tool-calls/{segment(call_id)}/result", query=query)
        sys.stdout.write(many_lines(page["text"]) if is_terminal(sys.stdout) else page["text"])
        offset = page["next_offset"]
    sys.stdout.write("\n" if is_terminal(sys.stdout) else "")


def _full_id(api: Api, wanted: str) -> str:
    if wanted.startswith("call_"):
        return wanted
    same = [call["id"] for call in pages(api, "/tool-calls", limit=RECENT) if call["id"].endswith(wanted)]
    if len(same) != 1:
        found = "Several calls have" if same else "No recent call has"
        raise NotFoundError(
            f"{found} an id that ends in {wanted}.", hint="`manyhands tools log --wide` shows whole ids."
        )
    return str(same[0])
