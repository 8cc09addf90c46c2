"""`manyhands servers add|add-json|edit|test`: from options or JSON to a server's configuration."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from manyhands.cli.client import Api, Json
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.completion import complete_server
from manyhands.cli.output import done, human_duration, note, plural, print_json, say, warn
from manyhands.cli.progress import Progress
from manyhands.cli.server_view import find_server, patience, report_outcome
from manyhands.cli.session import Session
from manyhands.cli.terminal import is_terminal, many_lines, paint
from manyhands.errors import InvalidError, UnavailableError

Function = TypeVar("Function", bound=Callable[..., Any])

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL", re.IGNORECASE)
EDITABLE = (
    *("name", "transport", "command", "args", "env", "cwd", "url", "headers", "enabled", "trust"),
    *("tool_timeout", "connect_timeout", "parallel"),
)


def _pairs(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    found = {}
    for value in values:
        name, separator, text = value.partition("=")
        if not separator or not name.strip():
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", param=parameter)
        found[name.strip()] = text
    return found


def config_options(function: Function) -> Function:
    """The options that describe a server; what is not given is None."""
    options = [
        click.option("--url", metavar="URL", help="Reach the server over HTTP at this address."),
        click.option(
            "--transport", type=click.Choice(["stdio", "http", "sse"]), help="Default with --url: http."
        ),
        click.option(
            "--header",
            "headers",
            multiple=True,
            metavar="K=V",
            callback=_pairs,
            help="HTTP header (repeatable).",
        ),
        click.option(
            "--env",
            "-e",
            multiple=True,
            metavar="K=V",
            callback=_pairs,
            help="Environment variable (repeatable).",
        ),
        click.option("--cwd", metavar="DIR", help="Directory that the command starts in."),
        click.option(
            "--trust",
            type=click.Choice(["ask", "trusted", "full"]),
            help="ask (default): each call asks; trusted: only destructive ones; full: none.",
        ),
        click.option(
            "--tool-timeout", type=click.IntRange(1), metavar="MS", help="How long a call may take (30000)."
        ),
        click.option(
            "--connect-timeout",
            type=click.IntRange(1),
            metavar="MS",
            help="How long connecting may take (30000).",
        ),
        click.option(
            "--parallel",
            type=click.Choice(["all", "read_only", "none"]),
            help="Which calls may run side by side (all).",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


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
    _remark(config)
    return save(session.api, "POST", "/servers", config, wait=not no_wait, as_json=as_json)


def described(command: Sequence[str], given: Mapping[str, Any]) -> Json:
    """The configuration that a command line describes: just the fields that were given."""
    config = {key: value for key, value in given.items() if value not in (None, {})}
    if command and config.get("url"):
        raise click.UsageError("Give either a command or --url, not both")
    if not command and not config.get("url"):
        raise click.UsageError("Give the server's command after `--`, or --url")
    config.setdefault("transport", "stdio" if command else "http")
    if (config["transport"] == "stdio") != bool(command):
        raise click.UsageError("--transport stdio goes with a command, http and sse with --url")
    if command:
        config |= {"command": _program(command[0]), "args": list(command[1:])}
    if config.get("cwd"):
        config["cwd"] = str(Path(config["cwd"]).expanduser().absolute())
    return config


def _program(command: str) -> str:
    """A path is made absolute: the daemon runs in another directory."""
    has_directory = os.sep in command or command.startswith("~")
    return str(Path(command).expanduser().absolute()) if has_directory and "${" not in command else command


def _remark(config: Json) -> None:
    """What the person would want to know before it surprises them."""
    for key, value in {**config.get("env", {}), **config.get("headers", {})}.items():
        if SECRET_NAME.search(key) and "${" not in value:
            note(f"{key} is kept as a secret; {key}='${{VAR}}' would look it up instead of storing it")
    relative = [
        arg for arg in config.get("args", ()) if not arg.startswith("-") and not Path(arg).is_absolute()
    ]
    if not config.get("cwd") and (files := [arg for arg in relative if os.path.isfile(arg)]):
        warn(f"{files[0]} is a file of this directory, which the daemon does not start in; add --cwd .")


def save(api: Api, method: str, path: str, config: Json, *, wait: bool = True, as_json: bool = False) -> int:
    """Send a configuration and tell how connecting went."""
    with Progress(
        f"connecting {config['name']}" if config.get("enabled", True) else f"saving {config['name']}"
    ):
        outcome = api.request(method, path, config, query={"wait": wait}, timeout=patience(config))
    return report_outcome(outcome, as_json=as_json)


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
    with Progress(f"connecting {name}"):
        report = session.api.request("POST", "/servers/import", body, timeout=120)
    (item,) = report["items"]
    if item["server"] is None:
        raise InvalidError(
            f"{name} cannot be added: {item['error']}", hint="See `manyhands servers add --help`."
        )
    return report_outcome({**item, "notes": [*report["warnings"], *item["notes"]]}, as_json=as_json)


def read_object(text: str) -> Json:
    """A JSON object from an argument, `@FILE` or `-` for standard input."""
    if text == "-":
        text = sys.stdin.read()
    elif text.startswith("@"):
        text = Path(text[1:]).read_text(encoding="utf-8")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidError(
            f"This is not JSON: {error}.", hint='In a shell put it in single quotes: \'{"key": "value"}\'.'
        ) from error
    if not isinstance(value, dict):
        raise InvalidError(
            f"This is {type(value).__name__}, not an object.", hint='Write it as {"key": "value"}.'
        )
    return value


@click.command(
    "edit",
    cls=HubCommand,
    examples=[
        "manyhands servers edit time --tool-timeout 60000",
        "manyhands servers edit time -- uvx mcp-server-time --local-timezone Asia/Tokyo",
        "manyhands servers edit time        (opens your editor)",
    ],
)
@click.argument("name", shell_complete=complete_server)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARGS…]")
@config_options
@click.option("--name", "new_name", metavar="NAME", help="Another name.")
@click.option("--unset-env", multiple=True, metavar="K", help="Remove an environment variable (repeatable).")
@click.option("--unset-header", multiple=True, metavar="K", help="Remove a header (repeatable).")
@json_option
@pass_session
def edit(session: Session, /, name: str, command: Sequence[str], as_json: bool, **given: Any) -> int:
    """Change a server; it is connected again. Without options your editor opens.

    What is not given stays as it is. Secrets stay as they are where their masked value is left.
    """
    server = find_server(session.api, name)
    before = {key: server.get(key) for key in EDITABLE}
    asked = {key: value for key, value in given.items() if value not in (None, {}, ())}
    after = changed(before, command, asked) if command or asked else _edited(before)
    if after == before:
        say("Nothing changed.")
        return 0
    return save(session.api, "PUT", f"/servers/{server['id']}", after, as_json=as_json)


def changed(before: Json, command: Sequence[str], given: Mapping[str, Any]) -> Json:
    """The configuration with what was given in place of what it was."""
    asked = dict(given)
    unset = {"env": asked.pop("unset_env", ()), "headers": asked.pop("unset_header", ())}
    after = {**before, "name": asked.pop("new_name", before["name"])}
    for field, names in unset.items():
        values = {**(before.get(field) or {}), **asked.pop(field, {})}
        if missing := [name for name in names if name not in values]:
            raise click.UsageError(f"There is no {missing[0]} to remove")
        after[field] = {name: value for name, value in values.items() if name not in names}
    if command or asked.get("url"):
        return {**after, "command": None, "args": [], "url": None, **described(command, asked)}
    if asked.get("cwd"):
        asked["cwd"] = str(Path(asked["cwd"]).expanduser().absolute())
    return {**after, **asked}


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
    if report.get("stderr") and not report["ok"]:
        say(paint(many_lines(report["stderr"].rstrip()), "dim"))
    if not report["ok"]:
        reason = str(report.get("error") or "no reason was given").rstrip(".")
        raise UnavailableError(
            f"{name} does not work: {reason}.", hint="Correct its command, address or secrets."
        )
    tools = report.get("tools") or []
    took = human_duration(report.get("elapsed_ms", 0) / 1000)
    done(f"{name} works: {plural(len(tools), 'tool')} in {took}")
    for tool in tools:
        say(f"  {tool if isinstance(tool, str) else tool.get('name')}")
    return 0
