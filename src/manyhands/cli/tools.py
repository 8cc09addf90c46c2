"""`manyhands tools`: the merged tools of all servers and our own: list, find, explain, switch."""

from __future__ import annotations

from collections.abc import Sequence

import click

from manyhands.cli.channels import channel_options, chosen_channel
from manyhands.cli.client import Api, Json, pages, segment
from manyhands.cli.command import HubGroup, json_option, pass_session, wide_option
from manyhands.cli.completion import complete_server, complete_tool
from manyhands.cli.output import (
    Column,
    dim_style,
    done,
    in_lines,
    plural,
    print_fields,
    print_json,
    print_table,
    say,
    state_style,
)
from manyhands.cli.server_view import find_server
from manyhands.cli.session import Session
from manyhands.cli.terminal import many_lines, one_line, paint
from manyhands.errors import InvalidError, NotFoundError

tools = HubGroup(
    "tools",
    help="The tools of all servers and our own.",
    later={
        "call": ("manyhands.cli.tool_call:call", "Call a tool."),
        "log": ("manyhands.cli.tool_log:show_log", "The calls that were made, newest first."),
        "result": ("manyhands.cli.tool_log:show_result", "The whole result of a call."),
        "policy": ("manyhands.cli.tool_policy:set_policy", "Say what calls of a tool need."),
        "accept": ("manyhands.cli.tool_policy:accept", "Accept a tool whose definition has changed."),
        "rules": ("manyhands.cli.rules:rules", "What is allowed, asked or denied."),
    },
    order="list search why call log result enable disable policy accept rules",
    examples=[
        "manyhands tools list",
        """manyhands tools call mcp__time__get_current_time '{"timezone":"Asia/Tokyo"}'""",
    ],
)
TABLE = (
    Column("TOOL"),
    Column("STATE", style=state_style),
    Column("DESCRIPTION", flexible=True, style=dim_style),
)
HINTS = {
    "readOnlyHint": "read-only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "reaching outside",
}
tool_argument = click.argument("name", shell_complete=complete_tool)


@tools.command("list", examples=["manyhands tools list", "manyhands tools list --server time --json"])
@click.option(
    "--server",
    metavar="NAME",
    shell_complete=complete_server,
    help="Only tools of this server (native: our own).",
)
@click.option("--offered", is_flag=True, help="Only those that a model is offered now.")
@channel_options
@json_option
@wide_option
@pass_session
def list_tools(
    session: Session,
    server: str | None,
    offered: bool,
    channel: str | None,
    directory: str | None,
    as_json: bool,
    wide: bool,
) -> None:
    """Every tool, with whether it is offered to a model."""
    channel_id = chosen_channel(session.api, channel, directory)
    found = [
        tool
        for tool in all_tools(session.api, channel_id)
        if (not server or tool["serverName"] == server) and (not offered or tool["offered"])
    ]
    if server and not found and server != "native":
        find_server(session.api, server)  # which says so if there is none
    if as_json:
        print_json(found)
        return
    print_table(TABLE, [_row(tool) for tool in found], wide=wide)
    for line in in_lines(_summary(found, anywhere=channel_id is None)):
        say(paint(line, "dim"))


def _summary(found: Sequence[Json], *, anywhere: bool) -> str:
    """How many there are, and how to learn about the rest."""
    count = sum(bool(tool["offered"]) for tool in found)
    told = f"{plural(len(found), 'tool')}, {count} offered"
    if count == len(found):
        return told
    told += "; why not: `manyhands tools why NAME`"
    return told + ("\nas they are in this directory: --dir ." if anywhere else "")


def all_tools(api: Api, channel_id: str | None = None) -> list[Json]:
    return pages(api, "/tools", query={"channel_id": channel_id})


def _row(tool: Json) -> Sequence[str]:
    description = tool["description"] if tool["offered"] else f"({tool['reason']}) {tool['description']}"
    return tool["fullName"], state_of(tool), description


def state_of(tool: Json) -> str:
    """Whether it is offered, in a word."""
    if tool["offered"]:
        return "offered"
    return "disabled" if tool.get("enabled") is False else "not offered"


def find_tool(api: Api, name: str, channel_id: str | None = None) -> Json:
    """The tool with this full name, or the only one with this name of its own."""
    found = all_tools(api, channel_id)
    same = [tool for tool in found if tool["fullName"] == name] or [
        tool for tool in found if tool["name"] == name
    ]
    if len(same) == 1:
        return same[0]
    if same:
        names = ", ".join(tool["fullName"] for tool in same)
        raise InvalidError(f"Several tools are called {name}.", hint=f"Give one of {names}.")
    raise no_such_tool(name, [tool["fullName"] for tool in found])


def no_such_tool(name: str, known: Sequence[str]) -> NotFoundError:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else "`manyhands tools list` shows them all."
    return NotFoundError(f"There is no tool {name}.", hint=hint)


@tools.command("search", examples=["manyhands tools search current time"])
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 100), default=10, help="How many at most (10).")
@json_option
@wide_option
@pass_session
def search_tools(session: Session, words: Sequence[str], limit: int, as_json: bool, wide: bool) -> None:
    """Find tools by what they do, best first."""
    answer = session.api.request("GET", "/tools/search", query={"q": " ".join(words), "limit": limit})
    found = answer["items"]
    if as_json:
        print_json(found)
    elif not found:
        say("No tool matches.")
    else:
        print_table(TABLE, [_row(tool) for tool in found], wide=wide)


@tools.command("why", examples=["manyhands tools why mcp__time__get_current_time"])
@tool_argument
@channel_options
@json_option
@pass_session
def why_tool(session: Session, name: str, channel: str | None, directory: str | None, as_json: bool) -> None:
    """Why a tool is or is not offered, and what a model's call of it would meet."""
    channel_id = chosen_channel(session.api, channel, directory)
    answer = session.api.request("GET", "/tools/why", query={"name": name, "channel_id": channel_id})
    if not answer["exists"] and not as_json:
        raise NotFoundError(f"There is no tool {name}.", hint=answer["reason"])
    if as_json:
        print_json(answer)
        return
    say(paint(answer["full_name"], "bold"))
    print_fields(_reasons(answer))
    if answer.get("diff"):
        say("\n" + many_lines(answer["diff"]))


def _reasons(answer: Json) -> list[tuple[str, str]]:
    offered = paint("yes", "green") if answer["offered"] else paint("no", "red")
    return [
        ("offered", f"{offered}: {one_line(answer['reason'])}"),
        ("a call", _met(answer)),
        ("some calls", "\n".join(_decision(one) for one in answer.get("by_arguments") or ())),
        ("server", " ".join(filter(None, [answer.get("server"), _status(answer)]))),
        ("trust", answer.get("trust") or ""),
        ("policy", answer.get("preference") or ""),
        ("changed", "its definition is not the one that was approved" if answer.get("changed") else ""),
        ("repaired", one_line(answer.get("repair") or "")),
        ("for the model", _sent(answer.get("model") or {})),
        ("taken for", ", ".join(_hints(answer.get("annotations") or {}))),
    ]


def _met(answer: Json) -> str:
    """What a call meets: what keeps it from running whoever allows it, or what is decided about it."""
    decision, obstacle = answer["decision"], answer.get("obstacle")
    if obstacle and decision["effect"] != "deny":
        return f"{paint('fails', 'red')}: {one_line(obstacle)}"
    reachable = answer.get("server_status") in (None, "connected")
    return _decision(decision, "" if reachable else ", if its server connects")


def _decision(decision: Json, condition: str = "") -> str:
    effect = decision["effect"]
    condition = "" if effect == "deny" else condition
    return f"{paint(effect, *state_style(effect))}{condition}: {one_line(decision['reason'])}"


def _sent(model: Json) -> str:
    """How the tool goes out to the model that would be asked, where that is not as it is."""
    if not model.get("repairs"):
        return ""
    what = "mended" if model["sent"] else paint("left out", "red")
    return f"{what} for {one_line(model['name'])}: {one_line('; '.join(model['repairs']))}"


def _status(answer: Json) -> str:
    status = answer.get("server_status")
    return f"({paint(status, *state_style(status))})" if status else ""


def _hints(annotations: Json) -> list[str]:
    """What a tool is taken for, by its own word or for want of it."""
    return [HINTS[name] for name, value in annotations.items() if value is True and name in HINTS]


@tools.command("enable", examples=["manyhands tools enable mcp__time__get_current_time"])
@click.argument("names", nargs=-1, required=True, shell_complete=complete_tool)
@pass_session
def enable_tools(session: Session, names: Sequence[str]) -> None:
    """Offer tools to models again."""
    _prefer(session.api, names, enabled=True)


@tools.command("disable", examples=["manyhands tools disable mcp__time__convert_time"])
@click.argument("names", nargs=-1, required=True, shell_complete=complete_tool)
@pass_session
def disable_tools(session: Session, names: Sequence[str]) -> None:
    """Hide tools from models; kept when the server reconnects."""
    _prefer(session.api, names, enabled=False)


def _prefer(api: Api, names: Sequence[str], *, enabled: bool) -> None:
    for name in names:
        tool = find_tool(api, name)
        if tool["serverId"] is None:
            _prefer_native(api, tool["name"], enabled=enabled)
        else:
            path = f"/servers/{tool['serverId']}/tools/{segment(tool['name'])}"
            api.request("PATCH", path, {"enabled": enabled})
        done(f"{tool['fullName']} is {'enabled' if enabled else 'disabled'}")


def _prefer_native(api: Api, name: str, *, enabled: bool) -> None:
    """A native tool has no server to keep a preference with: a rule that denies it hides it."""
    wanted = {"effect": "deny", "server": "native", "tool": name}
    rules = [
        rule for rule in pages(api, "/rules") if all(rule[key] == value for key, value in wanted.items())
    ]
    plain = [
        rule for rule in rules if not rule["arguments"] and not rule["channel_id"] and not rule["session_id"]
    ]
    if enabled:
        for rule in plain:
            api.request("DELETE", f"/rules/{segment(rule['id'])}")
    elif not plain:
        api.request("POST", "/rules", {**wanted, "note": "disabled"})
