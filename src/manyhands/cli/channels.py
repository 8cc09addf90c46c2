"""`manyhands channels`: conversations and the directories that their tools may touch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.output import Column, dim_style, done, print_json, print_table, say, warn
from manyhands.cli.session import Session
from manyhands.errors import ConflictError, NotFoundError

Function = TypeVar("Function", bound=Callable[..., Any])

channels = HubGroup(
    "channels",
    help="Conversations and the directories that they work in.",
    examples=["manyhands channels create --dir ~/project", "manyhands channels trust ~/project"],
)
TABLE = (
    Column("ID", style=dim_style),
    Column("NAME"),
    Column("DIRECTORY", flexible=True),
    Column("TRUSTED"),
)


@channels.command("list", examples=["manyhands channels list", "manyhands channels list project"])
@click.argument("query", required=False)
@json_option
@wide_option
@pass_session
def list_channels(session: Session, query: str | None, as_json: bool, wide: bool) -> None:
    """All channels, or those whose name or directory holds QUERY."""
    found = pages(session.api, "/channels", query={"query": query})
    if as_json:
        print_json(found)
    elif not found:
        say(
            "No channels yet. Make one: manyhands channels create --dir DIR"
            if not query
            else "No channel matches."
        )
    else:
        rows = [_row(channel) for channel in found]
        print_table(TABLE, rows, wide=wide)


def _row(channel: Json) -> tuple[str, ...]:
    return (
        channel["id"],
        channel["name"],
        channel.get("dir_path") or "",
        "yes" if channel.get("trusted") else "no",
    )


@channels.command(
    "create", examples=["manyhands channels create --dir ~/project", "manyhands channels create notes"]
)
@click.argument("name", required=False)
@click.option("--dir", "directory", metavar="DIR", help="The directory that its tools may touch.")
@json_option
@pass_session
def create_channel(session: Session, name: str | None, directory: str | None, as_json: bool) -> None:
    """Make a channel, or find the one that the directory or name has already."""
    if not name and not directory:
        raise click.UsageError("Give a NAME, --dir, or both")
    body = {"name": name, "dir_path": absolute(directory) if directory else None}
    channel = session.api.request("POST", "/channels", {key: value for key, value in body.items() if value})
    if as_json:
        print_json(channel)
    else:
        done(f"{channel['name']} ({channel['id']})")


@channels.command("delete", examples=["manyhands channels delete project"])
@click.argument("channel")
@pass_session
def delete_channel(session: Session, channel: str) -> None:
    """Delete a channel by id, name or directory. Files are never touched."""
    found = find_channel(session.api, channel)
    session.api.request("DELETE", f"/channels/{segment(found['id'])}")
    done(f"{found['name']} is deleted; its files are where they were")


@channels.command("trust", examples=["manyhands channels trust .", "manyhands channels trust . --revoke"])
@click.argument("channel")
@click.option("--revoke", is_flag=True, help="Trust it no longer.")
@json_option
@pass_session
def trust_channel(session: Session, channel: str, revoke: bool, as_json: bool) -> None:
    """Let the servers of a directory's `.mcp.json` start. CHANNEL is an id, a name or a directory."""
    found = _any_of_directory(session.api, channel) if revoke else None
    found = found or find_channel(session.api, channel, make=not revoke)
    changed = session.api.request("PATCH", f"/channels/{segment(found['id'])}", {"trusted": not revoke})
    if as_json:
        print_json(changed)
        return
    place = changed.get("dir_path") or changed["name"]
    meaning = "servers of its .mcp.json no longer start" if revoke else "servers of its .mcp.json may start"
    done(f"{place}: {meaning}")
    if changed.get("dir_path") and not revoke:
        from manyhands.cli.server_checks import project_problem

        if problem := project_problem(changed["dir_path"]):
            warn(problem)


@channels.command(
    "runner",
    examples=[
        "manyhands channels runner . --sandbox bwrap --no-network -- claude",
        "manyhands channels runner . --loop",
    ],
)
@click.argument("channel")
@click.argument("command", nargs=-1)
@click.option("--loop", is_flag=True, help="The built-in loop again.")
@click.option("--sandbox", type=click.Choice(["none", "bwrap", "docker", "podman"]), default="none")
@click.option("--network/--no-network", default=True, help="Whether it may use the network in its sandbox.")
@click.option("--image", metavar="IMAGE", help="Of a container.")
@click.option("--env", multiple=True, metavar="K=V", help="A variable; a reference such as ${KEY} is best.")
@json_option
@pass_session
def set_runner(
    session: Session,
    channel: str,
    command: tuple[str, ...],
    loop: bool,
    sandbox: str,
    network: bool,
    image: str | None,
    env: tuple[str, ...],
    as_json: bool,
) -> None:
    """Let a COMMAND such as `claude` work in a channel, in place of the built-in loop."""
    if loop == bool(command):
        raise click.UsageError("Give a COMMAND, or --loop")
    if bad := [pair for pair in env if "=" not in pair]:
        raise click.UsageError(f"{bad[0]!r} is not K=V")
    runner: Json | None = (
        {"command": command[0], "args": command[1:], "sandbox": sandbox} if command else None
    )
    if runner is not None:
        runner |= {"network": network, "image": image, "env": dict(pair.split("=", 1) for pair in env)}
    found = find_channel(session.api, channel, make=True)
    changed = session.api.request("PATCH", f"/channels/{segment(found['id'])}", {"runner": runner})
    if as_json:
        print_json(changed)
    else:
        done(f"{changed['name']}: {' '.join(command) or 'the built-in loop'} works here from now on")


@channels.command(
    "edit",
    examples=[
        "manyhands channels edit . --model gpt-5 --prompt 'Answer in French.'",
        "manyhands channels edit notes --prompt-file house-rules.md",
        "manyhands channels edit notes --model ''",
    ],
)
@click.argument("channel")
@click.option("--name", help="What it is called.")
@click.option("--model", metavar="ID", help="The model of its runs; '' for the default one.")
@click.option("--prompt", metavar="TEXT", help="Its system prompt; '' for none.")
@click.option("--prompt-file", type=click.File(encoding="utf-8"), help="The system prompt from a file.")
@json_option
@pass_session
def edit_channel(
    session: Session,
    channel: str,
    name: str | None,
    model: str | None,
    prompt: str | None,
    prompt_file: TextIO | None,
    as_json: bool,
) -> None:
    """Change a channel's name, the model of its runs, or what every run in it is told first."""
    if prompt is not None and prompt_file is not None:
        raise click.UsageError("Give --prompt or --prompt-file, not both")
    told = prompt_file.read() if prompt_file else prompt
    given = {"name": name, "model": model, "system_prompt": told}
    body = {field: value or None for field, value in given.items() if value is not None}
    if not body:
        raise click.UsageError("Say what to change: --name, --model, --prompt or --prompt-file")
    found = find_channel(session.api, channel, make=True)
    changed = session.api.request("PATCH", f"/channels/{segment(found['id'])}", body)
    if as_json:
        print_json(changed)
    else:
        done(f"{changed['name']} ({changed['id']}) is changed; the next run in it goes by that")


def absolute(directory: str) -> str:
    """As the daemon, which runs elsewhere, has to be told."""
    return str(Path(directory).expanduser().absolute())


def find_channel(api: Api, wanted: str, *, make: bool = False) -> Json:
    """The channel with this id, name or directory; a directory's can be made."""
    found = pages(api, "/channels")
    path = absolute(wanted)
    same = [
        channel
        for channel in found
        if channel["id"] == wanted or (_is_in(channel, path) and not channel.get("parent_id"))
    ]
    same = same or [channel for channel in found if channel["name"] == wanted]
    if len(same) > 1:
        ids = ", ".join(channel["id"] for channel in same)
        raise ConflictError(f"Several channels are called {wanted}: {ids}.", hint="Give the id instead.")
    if same:
        return same[0]
    if make and Path(path).is_dir():
        return dict(api.request("POST", "/channels", {"dir_path": path}))
    raise NotFoundError(f"There is no channel {wanted}.", hint="`manyhands channels list` shows them all.")


def _any_of_directory(api: Api, directory: str) -> Json | None:
    """A directory's channel, or else a thread: the trust is the directory's, whichever of them says it."""
    path = absolute(directory)
    same = [channel for channel in pages(api, "/channels") if _is_in(channel, path)]
    return min(same, key=lambda channel: channel.get("parent_id") is not None, default=None)


def _is_in(channel: Json, path: str) -> bool:
    return channel.get("dir_path") in (path, str(Path(path).resolve()))


def channel_options(function: Function) -> Function:
    """`--channel` and `--dir`: on whose behalf; `chosen_channel` reads them."""
    options = [
        click.option("--channel", metavar="CHANNEL", help="In this channel (id, name)."),
        click.option(
            "--dir", "directory", metavar="DIR", help="In the channel of this directory; made when missing."
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def chosen_channel(api: Api, channel: str | None, directory: str | None) -> str | None:
    """The id of the channel that the options name."""
    if channel and directory:
        raise click.UsageError("Give --channel or --dir, not both")
    if directory:
        return str(api.request("POST", "/channels", {"dir_path": absolute(directory)})["id"])
    return str(find_channel(api, channel)["id"]) if channel else None
