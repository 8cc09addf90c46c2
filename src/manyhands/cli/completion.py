"""`manyhands completion`, and the names that complete: those of a running daemon's servers, tools, models."""

from __future__ import annotations

from collections.abc import Callable

import click

from manyhands.cli.client import Api, pages
from manyhands.cli.command import HubCommand
from manyhands.cli.output import say
from manyhands.cli.session import Session
from manyhands.errors import ManyhandsError

QUICKLY_S = 2.0
"""A shell that waits for completions looks as if it hung."""
MOST_TOOLS = 2000

INSTALL = {
    "bash": """eval "$(manyhands completion bash)"  # in ~/.bashrc""",
    "zsh": """eval "$(manyhands completion zsh)"  # in ~/.zshrc""",
    "fish": "manyhands completion fish > ~/.config/fish/completions/manyhands.fish",
}


@click.command("completion", cls=HubCommand, examples=list(INSTALL.values()))
@click.argument("shell", type=click.Choice(list(INSTALL)))
def completion(shell: str) -> None:
    """Print the script that makes a shell complete commands, options, servers and tools."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(click.Command("manyhands"), {}, "manyhands", "_MANYHANDS_COMPLETE")
    say((script.source_template % script.source_vars()).rstrip("\n"))


def _quietly(context: click.Context, ask: Callable[[Api], list[str]]) -> list[str]:
    """No daemon, no names: completing must neither start a hub nor print an error."""
    session = context.find_object(Session)
    try:
        api = session.daemon() if session else None
        return ask(api) if api else []
    except (ManyhandsError, OSError):
        return []


def complete_server(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names of servers."""

    def ask(api: Api) -> list[str]:
        return [server["name"] for server in pages(api, "/servers", timeout=QUICKLY_S)]

    return [name for name in _quietly(context, ask) if name.startswith(incomplete)]


def complete_tool(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Full names of tools."""

    def ask(api: Api) -> list[str]:
        server = incomplete.split("__")[1] if incomplete.count("__") > 1 else None
        found = pages(api, "/tools", query={"server": server}, limit=MOST_TOOLS, timeout=QUICKLY_S)
        return [
            tool["fullName"] for tool in found or pages(api, "/tools", limit=MOST_TOOLS, timeout=QUICKLY_S)
        ]

    return [name for name in _quietly(context, ask) if name.startswith(incomplete)]


def complete_model(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Ids of models."""

    def ask(api: Api) -> list[str]:
        return [model["id"] for model in pages(api, "/models", timeout=QUICKLY_S)]

    return [name for name in _quietly(context, ask) if name.startswith(incomplete)]


def complete_setting(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names of settings."""
    from manyhands.settings import Settings

    return [name for name in Settings.model_fields if name.startswith(incomplete)]
