"""`manyhands tools policy|accept`: what calls of a tool need; a changed definition that a person has seen."""

from __future__ import annotations

import sys

import click

from manyhands.cli.channels import channel_options, chosen_channel
from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.command import HubCommand, pass_session
from manyhands.cli.completion import complete_tool
from manyhands.cli.output import done, say
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal, many_lines, paint
from manyhands.cli.tools import find_tool
from manyhands.errors import ConflictError, InvalidError

MEANS = {
    "allow": "runs without asking",
    "ask": "asks every time",
    "deny": "never runs and is not offered",
    "default": "is decided by rules and by the trust of its server again",
}


@click.command(
    "policy",
    cls=HubCommand,
    examples=[
        "manyhands tools policy mcp__time__get_current_time allow",
        "manyhands tools policy run_command default",
    ],
)
@click.argument("name", shell_complete=complete_tool)
@click.argument("policy", type=click.Choice(list(MEANS)))
@channel_options
@pass_session
def set_policy(session: Session, name: str, policy: str, channel: str | None, directory: str | None) -> None:
    """Say what a model's calls of a tool need; `default` leaves it to rules and to the trust of its server.

    It is kept when the server reconnects. A rule that denies still wins.
    """
    tool = find_tool(session.api, name, chosen_channel(session.api, channel, directory))
    if tool["serverId"] is None:
        _set_native(session.api, tool["name"], policy)
    else:
        session.api.request("PATCH", _path(tool), {"policy": policy})
    done(f"{tool['fullName']} {MEANS[policy]}")


def _set_native(api: Api, name: str, policy: str) -> None:
    """A native tool has no server to keep it with: a rule of its own says it."""
    for rule in pages(api, "/rules"):
        scoped = rule["arguments"] or rule["channel_id"] or rule["session_id"] or rule["project"]
        if (rule["server"], rule["tool"]) == ("native", name) and not scoped:
            api.request("DELETE", f"/rules/{segment(rule['id'])}")
    if policy != "default":
        api.request("POST", "/rules", {"effect": policy, "server": "native", "tool": name})


@click.command(
    "accept",
    cls=HubCommand,
    examples=["manyhands tools accept mcp__notes__search", "manyhands tools accept mcp__notes__search --yes"],
)
@click.argument("name", shell_complete=complete_tool)
@click.option("--yes", is_flag=True, help="Accept it without asking.")
@channel_options
@pass_session
def accept(session: Session, name: str, yes: bool, channel: str | None, directory: str | None) -> None:
    """Show how a tool's definition has changed since it was pinned, and accept it as it is now."""
    tool = find_tool(session.api, name, chosen_channel(session.api, channel, directory))
    full_name = tool["fullName"]
    if not tool.get("changed"):
        raise InvalidError(
            f"{full_name} is as it was when it was pinned.", hint="There is nothing to accept."
        )
    say(paint(full_name, "bold"))
    say(many_lines(tool.get("diff") or "its definition is another one"))
    if not yes:
        _confirm(full_name)
    session.api.request("POST", f"{_path(tool)}/accept")
    done(f"{full_name} is accepted as it is now")


def _confirm(name: str) -> None:
    if not is_terminal(sys.stdin):
        raise InvalidError(f"{name} is not accepted: nobody can be asked here.", hint="Add --yes.")
    if not click.confirm("Accept it?", err=True):
        raise ConflictError(f"{name} is not accepted.", hint="Its calls ask until it is.")


def _path(tool: Json) -> str:
    return f"/servers/{tool['serverId']}/tools/{segment(tool['name'])}"
