"""`manyhands mcp`: what the fast path of `main.py` leaves over: help, snippets for clients, wrong options."""

from __future__ import annotations

from typing import Any

import click

from manyhands import __version__
from manyhands.cli.client_config import CLIENTS, command_for_others, snippet
from manyhands.cli.command import HubCommand, pass_session
from manyhands.cli.session import Session
from manyhands.home import find_home

EXAMPLES = [
    "manyhands mcp --dir .",
    "manyhands mcp --channel-id ch_01jc --agent-id builder-1",
    "manyhands mcp --print-config claude-code",
]


@click.command("mcp", cls=HubCommand, examples=EXAMPLES)
@click.option("--api-url", metavar="URL", help="The daemon: http(s)://… or unix:PATH (the home's own).")
@click.option("--channel-id", metavar="ID", help="Speak for this channel or thread.")
@click.option("--dir", "dir", metavar="DIR", help="Speak for this directory's channel; it is made if needed.")
@click.option("--author-id", metavar="ID", help="Recorded on everything that is made.")
@click.option("--platform", metavar="NAME", help="With --dir: where its people talk (local).")
@click.option("--memory", is_flag=True, help="Offer the tools of memory.")
@click.option("--agent-id", metavar="ID", help="Register as this agent, and get other agents' messages.")
@click.option("--gateway", is_flag=True, help="Offer the tools of the connected servers, too.")
@click.option("--log", metavar="FILE", help="Write what goes on to this file (logs/mcp.log in the home).")
@click.option(
    "--print-config", metavar="CLIENT", help=f"Print the snippet for a client: {', '.join(CLIENTS)}."
)
@pass_session
def mcp(session: Session, /, print_config: str | None, **options: Any) -> None:
    """The MCP server for agents, on stdio: channels, threads, agents, pages.

    Clients start it; it speaks to the running daemon.
    """
    given = {name: value for name, value in options.items() if value}
    if print_config is not None:
        _print_config(print_config, given, session)
        return
    if not given.keys() & {"channel_id", "dir"}:
        raise click.UsageError("Give --channel-id or --dir.")
    from manyhands.bridge.main import run
    from manyhands.bridge.options import UsageError, make_options

    try:
        chosen = make_options({**given, "home": str(session.home.path)})
    except UsageError as error:
        raise click.UsageError(str(error)) from error
    run(chosen, __version__)


def _print_config(name: str, given: dict[str, Any], session: Session) -> None:
    client = CLIENTS.get(name)
    if client is None:
        raise click.UsageError(f"There is no snippet for {name!r}; there is one for {', '.join(CLIENTS)}.")
    if not given.keys() & {"channel_id", "dir"}:
        given = {"dir": client.here, **given}
    if session.home != find_home(env={}):  # the client will not have our environment
        given = {**given, "home": session.home.path}
    words = [
        word
        for option, value in given.items()
        for word in ([_flag(option)] if value is True else [_flag(option), str(value)])
    ]
    click.echo(f"{client.file}:", err=True)
    click.echo(snippet(client, words, command_for_others()))


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"
