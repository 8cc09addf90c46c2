"""`manyhands run`: one prompt, worked on to its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext

import click

from manyhands.cli.allowed import check_allowed
from manyhands.cli.attending import Attendant
from manyhands.cli.channels import channel_options, chosen_channel
from manyhands.cli.client import LONG_TIMEOUT_S, Api, Json, segment
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.completion import complete_model
from manyhands.cli.feed import Feed, Interrupts, unwinding
from manyhands.cli.output import print_json, say
from manyhands.cli.page import SilentPage, new_page
from manyhands.cli.progress import Progress
from manyhands.cli.run_view import RunView
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal, many_lines
from manyhands.errors import UnavailableError

FAILED, INTERRUPTED = 1, 130


@click.command(
    "run",
    cls=HubCommand,
    examples=[
        'manyhands run "which files are in this directory?"',
        'manyhands run "what time is it in Tokyo?" --model openai:gpt-6.1-sol',
        "manyhands run --allow 'write_file' --attach notes.txt \"make a table of this, as table.csv\"",
        "git diff | manyhands run - --quiet",
    ],
)
@click.argument("prompt", metavar="PROMPT", nargs=-1, required=True)
@click.option(
    "--model", metavar="ID", shell_complete=complete_model, help="Ask this model (the default one)."
)
@channel_options
@click.option(
    "--max-iterations", type=click.IntRange(1, 50), metavar="N", help="Ask the model at most so often (10)."
)
@click.option(
    "--allow",
    multiple=True,
    metavar="PATTERN",
    help="Tools that need no approval, by full name (repeatable).",
)
@click.option("--attach", multiple=True, metavar="FILE", help="A file or picture to look at (repeatable).")
@click.option("--quiet", "-q", is_flag=True, help="Print the answer alone.")
@json_option
@pass_session
def run(
    session: Session,
    /,
    prompt: Sequence[str],
    model: str | None,
    channel: str | None,
    directory: str | None,
    max_iterations: int | None,
    allow: Sequence[str],
    attach: Sequence[str],
    quiet: bool,
    as_json: bool,
) -> int:
    """Work on PROMPT (- reads it from standard input) with the tools that are connected, and show how.

    It belongs to the conversation of the current directory, unless told otherwise. What needs your approval
    is asked on a terminal, and denied where there is none.
    """
    body = {
        "prompt": _text(prompt),
        "attachments": [_attached(name) for name in attach],
        "model": model,
        "max_iterations": max_iterations,
        "allow": list(allow),
        "attended": can_be_asked(),
    }
    api = session.api
    api.start_servers()
    channel_id = chosen_channel(api, channel, directory) or here(api)
    check_allowed(api, channel_id, allow)
    with ExitStack() as stack:
        silent = stack.enter_context(Progress("working")) if as_json or quiet else None
        ended, stopped = _work(api, channel_id, body, silent)
    if as_json:
        print_json(api.request("GET", f"/runs/{segment(ended['id'])}"))
    elif quiet and ended["status"] != "failed":
        say(many_lines(ended["text"]) if is_terminal(sys.stdout) else ended["text"])
    return exit_code(ended, stopped=stopped)


def _work(api: Api, channel_id: str, body: Json, silent: Progress | None) -> tuple[Json, bool]:
    """The run as it ended, and whether it was stopped here."""
    view = RunView(SilentPage() if silent else new_page())
    aside = nullcontext if silent is None else silent.aside
    with unwinding(), Feed(api) as feed, Interrupts(feed) as interrupts:
        # A prompt or resource of a server that the text names is fetched first, however long that takes.
        path = f"/channels/{segment(channel_id)}/runs"
        started = api.request("POST", path, body, timeout=LONG_TIMEOUT_S)
        attendant = Attendant(api, feed, view, interrupts, asks=bool(body["attended"]), aside=aside)
        ended = attendant.attend(started["run_id"])
        view.finish(ended)
        return ended, attendant.is_stopping


def exit_code(run: Json, *, stopped: bool) -> int:
    """0 when the model answered, 130 when it was stopped here; a failure is told as every error is."""
    if run["status"] == "completed":
        return 0
    if stopped and run["status"] == "cancelled":
        return INTERRUPTED
    if run["status"] == "failed":
        raise UnavailableError(str(run["error"] or "The run failed."))
    return FAILED


def can_be_asked() -> bool:
    """Whether a person sits at a terminal."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def here(api: Api) -> str:
    """The channel of the current directory."""
    return str(api.request("POST", "/channels", {"dir_path": os.getcwd()})["id"])


def _text(prompt: Sequence[str]) -> str:
    """Words that were not quoted are one prompt all the same."""
    text = " ".join(prompt)
    return sys.stdin.read() if text == "-" else text


def _attached(name: str) -> Json:
    from manyhands.cli.attachments import read_attachment

    return read_attachment(name)
