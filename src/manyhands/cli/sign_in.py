"""`manyhands servers login|logout`: OAuth sign-in with the browser here, or on another machine."""

from __future__ import annotations

import sys
import time
from shlex import quote

import click

from manyhands.cli.client import Api, Json
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.completion import complete_server
from manyhands.cli.feed import LOOK_S, Feed
from manyhands.cli.output import done, warn
from manyhands.cli.progress import Progress
from manyhands.cli.server_view import find_server, patience, report_outcome
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal, paint_error
from manyhands.errors import InvalidError, NotAllowedError, UnavailableError


@click.command(
    "login",
    cls=HubCommand,
    examples=[
        "manyhands servers login docs",
        "manyhands servers login docs --paste   (browser on another machine)",
    ],
)
@click.argument("name", shell_complete=complete_server)
@click.option(
    "--paste", is_flag=True, help="Paste the address that the browser ends at: for a browser elsewhere."
)
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
@click.option("--timeout", type=click.IntRange(1), default=300, metavar="S", help="How long to wait (300).")
@json_option
@pass_session
def login(session: Session, name: str, paste: bool, no_browser: bool, timeout: int, as_json: bool) -> int:
    """Sign in to a server."""
    api = session.api
    server = find_server(api, name)
    # Without a daemon nobody is there whom the browser could come back to.
    if paste or not api.is_daemon:
        _start(api, server)
        outcome = _pasted(api, server)
    else:
        with Feed(api) as feed:  # opened first, so that no answer is missed
            url = _start(api, server)
            if not no_browser and is_terminal(sys.stderr):
                click.launch(url)
            _await_browser(feed, server, timeout)
        outcome = _connected(api, server)
    return report_outcome(outcome, as_json=as_json, verb="is signed in")


def _start(api: Api, server: Json) -> str:
    with Progress(f"asking {server['name']} where to sign in"):
        start = api.request("POST", f"/servers/{server['id']}/login", timeout=patience(server))
    sys.stderr.write(f"Sign in to {server['name']} here:\n  {paint_error(start['url'], 'cyan')}\n")
    return str(start["url"])


def _pasted(api: Api, server: Json) -> Json:
    sys.stderr.write("When the browser shows an address that it cannot open, copy that address.\n")
    if not is_terminal(sys.stdin):
        return _finished(api, server, sys.stdin.readline())
    while True:
        try:
            return _finished(api, server, click.prompt("Address", err=True))
        except InvalidError as error:  # the wrong text was copied; the sign-in still waits
            warn(str(error))


def _finished(api: Api, server: Json, address: str) -> Json:
    if not address.strip():
        raise InvalidError(
            "Nothing was pasted.", hint="Paste the whole address that the browser was sent back to."
        )
    with Progress(f"signing in to {server['name']}"):
        body = {"callback_url": address.strip()}
        answer: Json = api.request(
            "POST", f"/servers/{server['id']}/login/finish", body, timeout=patience(server)
        )
    return answer


def _await_browser(feed: Feed, server: Json, timeout: int) -> None:
    deadline = time.monotonic() + timeout
    with Progress("waiting for the browser (Ctrl-C ends the wait, --paste helps when it runs elsewhere)"):
        while (left := deadline - time.monotonic()) > 0:
            told = feed.get(min(left, LOOK_S))
            if told is not None and told[0] == "event" and _is_end(told[1], server):
                if not told[1]["data"]["ok"]:
                    raise NotAllowedError(told[1]["data"]["error"])
                return
    command = f"manyhands servers login {quote(server['name'])}"
    raise UnavailableError(
        f"Nobody signed in to {server['name']} within {timeout} s.",
        hint=f"Run `{command}` again; --paste is for a browser elsewhere.",
    )


def _is_end(event: Json, server: Json) -> bool:
    return bool(event["type"] == "mcp.sign_in_ended" and event["data"]["server_id"] == server["id"])


def _connected(api: Api, server: Json) -> Json:
    with Progress(f"connecting {server['name']}"):
        outcome: Json = api.request("POST", f"/servers/{server['id']}/connect", timeout=patience(server))
    return outcome


@click.command("logout", cls=HubCommand, examples=["manyhands servers logout docs"])
@click.argument("name", shell_complete=complete_server)
@pass_session
def logout(session: Session, name: str) -> None:
    """Forget a server's sign-in."""
    server = find_server(session.api, name)
    session.api.request("POST", f"/servers/{server['id']}/logout")
    done(f"signed out of {server['name']}")
