"""`manyhands servers login|logout`: OAuth sign-in with the browser here, or on another machine."""

from __future__ import annotations

import sys
import time

import click

from manyhands.cli.client import Api, Json
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.completion import complete_server
from manyhands.cli.output import done
from manyhands.cli.progress import Progress
from manyhands.cli.server_view import find_server, patience, report_outcome
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal, paint_error
from manyhands.errors import UnavailableError

LOOK_AGAIN_S = 1.0


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
    with Progress(f"asking {server['name']} where to sign in"):
        start = api.request("POST", f"/servers/{server['id']}/login", timeout=patience(server))
    sys.stderr.write(f"Sign in to {server['name']} here:\n  {paint_error(start['url'], 'cyan')}\n")
    if paste:
        outcome = _pasted(api, server)
    else:
        if not no_browser and is_terminal(sys.stderr):
            click.launch(start["url"])
        outcome = _awaited(api, server, timeout)
    return report_outcome(outcome, as_json=as_json, verb="is signed in")


def _pasted(api: Api, server: Json) -> Json:
    sys.stderr.write("When the browser shows an address that it cannot open, copy that address.\n")
    address = (
        click.prompt("Address", err=True, hide_input=False)
        if is_terminal(sys.stdin)
        else sys.stdin.readline()
    )
    with Progress(f"signing in to {server['name']}"):
        body = {"callback_url": address.strip()}
        answer: Json = api.request(
            "POST", f"/servers/{server['id']}/login/finish", body, timeout=patience(server)
        )
    return answer


def _awaited(api: Api, server: Json, timeout: int) -> Json:
    deadline = time.monotonic() + timeout
    with Progress("waiting for the browser (Ctrl-C ends the wait, --paste helps when it runs elsewhere)"):
        while time.monotonic() < deadline:
            now: Json = api.request("GET", f"/servers/{server['id']}")
            has_changed = now["status"] != server["status"] or now["since"] != server["since"]
            if has_changed and now["status"] in ("connected", "error", "disabled"):
                return {"ok": now["status"] == "connected", "error": now.get("error"), "server": now}
            time.sleep(LOOK_AGAIN_S)
    raise UnavailableError(
        f"Nobody signed in to {server['name']} within {timeout} s.",
        hint=f"Run `manyhands servers login {server['name']}` again; --paste is for a browser elsewhere.",
    )


@click.command("logout", cls=HubCommand, examples=["manyhands servers logout docs"])
@click.argument("name", shell_complete=complete_server)
@pass_session
def logout(session: Session, name: str) -> None:
    """Forget a server's sign-in."""
    server = find_server(session.api, name)
    session.api.request("POST", f"/servers/{server['id']}/logout")
    done(f"signed out of {server['name']}")
