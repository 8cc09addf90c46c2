"""`manyhands servers add|add-json|edit|test`: from options or JSON to a server's configuration."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from manyhands.cli.channels import find_channel
from manyhands.cli.client import Api, Json
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.completion import complete_server
from manyhands.cli.json_input import read_object
from manyhands.cli.output import done, human_duration, plural, print_json, say, warn
from manyhands.cli.progress import Progress
from manyhands.cli.server_options import changed, config_options, described, remark_on
from manyhands.cli.server_view import find_server, patience, report_outcome
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal, many_lines, one_line, paint
from manyhands.errors import InvalidError, UnavailableError

EDITABLE = (
    *("name", "transport", "command", "args", "env", "cwd", "url", "headers", "enabled", "trust"),
    *("tool_timeout", "connect_timeout", "parallel", "channel_push"),
)
NOWHERE = "none"


ADD_EXAMPLES = [
    "manyhands servers add time --trust trusted -- uvx mcp-server-time",
    "manyhands servers add gh --env 'TOKEN=${GITHUB_TOKEN}' -- npx -y some-server",
    "manyhands servers add docs --url https://example.com/mcp --header 'Authorization=Bearer ${TOKEN}'",
]


@click.command("add", cls=HubCommand, examples=ADD_EXAMPLES)
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARGS…]")
@config_options
@click.option("--disabled", is_flag=True, help="Save it without connecting, now or later.")
@click.option("--no-wait", is_flag=True, help="Do not wait until it is connected.")
@json_option
@pass_session
def add(
    session: Session,
    /,
    name: str,
    command: Sequence[str],
    disabled: bool,
    no_wait: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Add a server and connect it; a server with this name is replaced.

    Values of --env and --header are kept as secrets. Give '${VAR}' (in single quotes) to have a value looked
    up in the daemon's environment each time instead of storing it.
    """
    config = {"name": name, **described(command, given)}
    if disabled:
        config["enabled"] = False
    remark_on(config)
    return save(session.api, "POST", "/servers", config, wait=not no_wait, as_json=as_json)


def save(api: Api, method: str, path: str, config: Json, *, wait: bool = True, as_json: bool = False) -> int:
    """Send a configuration and tell how connecting went."""
    with Progress(
        f"connecting {config['name']}" if config.get("enabled", True) else f"saving {config['name']}"
    ):
        outcome = api.request(method, path, config, query={"wait": wait}, timeout=patience(config))
    return report_outcome(outcome, as_json=as_json, saved=True)


@click.command(
    "add-json",
    cls=HubCommand,
    examples=["""manyhands servers add-json time '{"command":"uvx","args":["mcp-server-time"]}'"""],
)
@click.argument("name")
@click.argument("config")
@click.option("--trust", type=click.Choice(["ask", "trusted", "full"]), help="When its calls ask (ask).")
@json_option
@pass_session
def add_json(session: Session, name: str, config: str, trust: str | None, as_json: bool) -> int:
    """Add a server from JSON, as other clients write one entry of `mcpServers` (- reads standard input)."""
    body = {"config": read_object(config), "name": name, "source": "the argument", "trust": trust}
    _check_that_it_is(
        name, session.api.request("POST", "/servers/import", {**body, "dry_run": True})["items"]
    )
    with Progress(f"connecting {name}"):
        report = session.api.request("POST", "/servers/import", body, timeout=120)
    (item,) = report["items"]
    if item["server"] is None:
        raise InvalidError(
            f"{name} cannot be added: {item['error']}", hint="See `manyhands servers add --help`."
        )
    return report_outcome(
        {**item, "notes": [*report["warnings"], *item["notes"]]}, as_json=as_json, saved=True
    )


def _check_that_it_is(name: str, described: Sequence[Json]) -> None:
    """A whole file may stand where one entry is meant; nothing else than this server is to be added."""
    names = [item["name"] for item in described]
    if names != [name]:
        what = f"the server {names[0]}" if len(names) == 1 else plural(len(names), "server")
        hint = "Give its entry alone; `manyhands servers import` adds all servers of a file."
        raise InvalidError(f"This describes {what} and not {name} alone.", hint=hint)


@click.command(
    "edit",
    cls=HubCommand,
    examples=[
        "manyhands servers edit time --tool-timeout 60000",
        "manyhands servers edit time -- uvx mcp-server-time --local-timezone Asia/Tokyo",
        "manyhands servers edit messenger --channel-push .",
        "manyhands servers edit time        (opens your editor)",
    ],
)
@click.argument("name", shell_complete=complete_server)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARGS…]")
@config_options
@click.option("--name", "new_name", metavar="NAME", help="Another name.")
@click.option("--unset-env", multiple=True, metavar="K", help="Remove an environment variable (repeatable).")
@click.option("--unset-header", multiple=True, metavar="K", help="Remove a header (repeatable).")
@click.option(
    "--channel-push",
    metavar="CHANNEL",
    help="Let it push messages into this channel (id, name or directory); none takes that back.",
)
@json_option
@pass_session
def edit(session: Session, /, name: str, command: Sequence[str], as_json: bool, **given: Any) -> int:
    """Change a server; it is connected again. Without options your editor opens.

    What is not given stays as it is. Secrets stay as they are where their masked value is left.
    """
    server = find_server(session.api, name)
    before = {key: server.get(key) for key in EDITABLE}
    asked = {key: value for key, value in given.items() if value not in (None, {}, ())}
    if push := asked.get("channel_push"):
        asked["channel_push"] = None if push == NOWHERE else find_channel(session.api, push)["id"]
    after = changed(before, command, asked) if command or asked else _edited(before)
    if after == before:
        say("Nothing changed.")
        return 0
    return save(session.api, "PUT", f"/servers/{server['id']}", after, as_json=as_json)


def _edited(before: Json) -> Json:
    if not is_terminal(sys.stdin):
        raise click.UsageError("Say what to change with options; the editor needs a terminal")
    text = click.edit(json.dumps(before, indent=2, ensure_ascii=False) + "\n", extension=".json")
    return before if text is None else read_object(text)


@click.command(
    "test",
    cls=HubCommand,
    examples=["manyhands servers test time", "manyhands servers test trial -- uvx mcp-server-time"],
)
@click.argument("name", shell_complete=complete_server)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARGS…]")
@config_options
@json_option
@pass_session
def test(session: Session, /, name: str, command: Sequence[str], as_json: bool, **given: Any) -> int:
    """Try a server without saving anything: a saved one by its name, or one described as for `add`."""
    api = session.api
    if command or given.get("url"):
        config = {"name": name, **described(command, given)}
        body = config
    else:
        config = find_server(api, name)
        body = {"id": config["id"]}
    with Progress(f"testing {config['name']}"):
        report = api.request("POST", "/servers/test", body, timeout=patience(config))
    if as_json:
        print_json(report)
        return 0 if report["ok"] else 1
    return _print_test(config["name"], report)


def _print_test(name: str, report: Json) -> int:
    if not report["ok"]:
        reason = str(report.get("error") or "no reason was given").rstrip(".")
        words = str(report.get("stderr") or "").strip()
        if words not in reason:  # which tells the last of them
            say(paint(many_lines(words), "dim"))
        raise UnavailableError(
            f"{name} does not work: {reason}.", hint="Correct its command, address or secrets."
        )
    tools = report.get("tools") or []
    took = human_duration(report.get("elapsed_ms", 0) / 1000)
    problem = report.get("problem")
    done(f"{name} {'connects' if problem else 'works'}: {plural(len(tools), 'tool')} in {took}")
    if problem:
        warn(f"{name}: {one_line(problem)}")
    for tool in tools:
        say(f"  {tool if isinstance(tool, str) else tool.get('name')}")
    return 0
