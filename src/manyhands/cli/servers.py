"""`manyhands servers`: what is configured, its state, and switching it on and off."""

from __future__ import annotations

import click

from manyhands.cli.client import Json, pages
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.completion import complete_server
from manyhands.cli.output import done, print_fields, print_json, print_table, say
from manyhands.cli.progress import Progress
from manyhands.cli.server_view import (
    SERVER_TABLE,
    find_server,
    patience,
    print_troubles,
    repair_text,
    report_outcome,
    server_fields,
    server_row,
    trouble_of,
)
from manyhands.cli.session import Session
from manyhands.cli.terminal import many_lines, one_line, paint

CONFIG, FILES, SIGN_IN = (
    f"manyhands.cli.{module}" for module in ("server_config", "server_files", "sign_in")
)

servers = HubGroup(
    "servers",
    help="MCP servers that the hub connects to.",
    later={
        "add": (f"{CONFIG}:add", "Add a server and connect it."),
        "add-json": (f"{CONFIG}:add_json", "Add a server from JSON."),
        "edit": (f"{CONFIG}:edit", "Change a server and connect it again."),
        "test": (f"{CONFIG}:test", "Try a server without saving anything."),
        "import": (f"{FILES}:import_servers", "Read the servers of another client's file."),
        "export": (f"{FILES}:export_servers", "Write the servers as JSON for other clients."),
        "login": (f"{SIGN_IN}:login", "Sign in to a server in the browser."),
        "logout": (f"{SIGN_IN}:logout", "Forget a server's sign-in."),
    },
    order="list show add add-json edit remove test import export connect disconnect reconnect enable disable"
    " login logout log",
    examples=["manyhands servers add time --trust trusted -- uvx mcp-server-time", "manyhands servers list"],
)

name_argument = click.argument("name", shell_complete=complete_server)


@servers.command("list", examples=["manyhands servers list", "manyhands servers list --json"])
@json_option
@wide_option
@pass_session
def list_servers(session: Session, as_json: bool, wide: bool) -> None:
    """Every server with its state."""
    found = pages(session.api, "/servers")
    if as_json:
        print_json(found)
        return
    if not found:
        say("No servers yet. Add one: manyhands servers add time --trust trusted -- uvx mcp-server-time")
        return
    print_table(SERVER_TABLE, [server_row(server) for server in found], wide=wide)
    print_troubles(found, wide=wide)


@servers.command("show", examples=["manyhands servers show time"])
@name_argument
@json_option
@pass_session
def show_server(session: Session, name: str, as_json: bool) -> None:
    """One server in full."""
    server = session.api.request("GET", f"/servers/{find_server(session.api, name)['id']}")
    if as_json:
        print_json(server)
        return
    say(paint(server["name"], "bold"))
    print_fields(server_fields(server))
    for repair in server.get("repairs") or ():
        say(f"{paint('repaired', 'yellow')}  {one_line(repair_text(repair))}")
    if server.get("instructions"):
        say("\n" + many_lines(server["instructions"].strip()))


@servers.command("remove", examples=["manyhands servers remove time"])
@name_argument
@pass_session
def remove_server(session: Session, name: str) -> None:
    """Remove a server.

    Its configuration, its tools' preferences and its sign-in are forgotten.
    """
    server = find_server(session.api, name)
    with Progress(f"removing {server['name']}"):
        session.api.request("DELETE", f"/servers/{server['id']}")
    done(f"{server['name']} is removed")


@servers.command("connect", examples=["manyhands servers connect time"])
@name_argument
@json_option
@pass_session
def connect_server(session: Session, name: str, as_json: bool) -> int:
    """Connect a server now."""
    return _switch(session, name, "connect", "connecting", as_json=as_json)


@servers.command(
    "reconnect", examples=["manyhands servers reconnect time", "manyhands servers reconnect --all"]
)
@click.argument("name", required=False, shell_complete=complete_server)
@click.option("--all", "every", is_flag=True, help="Every enabled server.")
@json_option
@pass_session
def reconnect_server(session: Session, name: str | None, every: bool, as_json: bool) -> int:
    """Connect a server anew, in a new process."""
    if every == bool(name):
        raise click.UsageError("Give the name of a server or --all")
    if name:
        return _switch(session, name, "reconnect", "reconnecting", as_json=as_json)
    with Progress("reconnecting all servers"):
        answer = session.api.request("POST", "/servers/reconnect-all", timeout=300)
    return _report_all(answer["items"], as_json=as_json)


@servers.command("disconnect", examples=["manyhands servers disconnect time"])
@name_argument
@json_option
@pass_session
def disconnect_server(session: Session, name: str, as_json: bool) -> int:
    """Disconnect a server; it stays so until you connect it again."""
    return _switch(session, name, "disconnect", "disconnecting", as_json=as_json)


@servers.command("enable", examples=["manyhands servers enable time"])
@name_argument
@json_option
@pass_session
def enable_server(session: Session, name: str, as_json: bool) -> int:
    """Let a server be connected, now and at every start."""
    return _switch(session, name, "enable", "connecting", as_json=as_json)


@servers.command("disable", examples=["manyhands servers disable time"])
@name_argument
@json_option
@pass_session
def disable_server(session: Session, name: str, as_json: bool) -> int:
    """Keep a server disconnected until it is enabled again."""
    return _switch(session, name, "disable", "disconnecting", as_json=as_json)


@servers.command("log", examples=["manyhands servers log time"])
@name_argument
@json_option
@pass_session
def show_log(session: Session, name: str, as_json: bool) -> None:
    """Show the last output of a server.

    It is what the server wrote to standard error, and how it ended.
    """
    server = find_server(session.api, name)
    log = session.api.request("GET", f"/servers/{server['id']}/log")
    if as_json:
        print_json(log)
        return
    say(many_lines(log["text"].rstrip("\n")) if log["text"] else f"{server['name']} has written nothing.")
    if log.get("exit_code") is not None:
        say(paint(f"exit code {log['exit_code']}", "dim"))
    if trouble := trouble_of(server):
        say(paint(trouble, "red"))


def _switch(session: Session, name: str, action: str, title: str, *, as_json: bool) -> int:
    server = find_server(session.api, name)
    with Progress(f"{title} {server['name']}"):
        outcome = session.api.request("POST", f"/servers/{server['id']}/{action}", timeout=patience(server))
    return report_outcome(outcome, as_json=as_json)


def _report_all(outcomes: list[Json], *, as_json: bool) -> int:
    if as_json:
        print_json(outcomes)
    else:
        print_table(SERVER_TABLE, [server_row(outcome["server"]) for outcome in outcomes])
        print_troubles([outcome["server"] for outcome in outcomes])
    return 0 if all(outcome["ok"] for outcome in outcomes) else 1
