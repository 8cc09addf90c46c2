"""The options that describe a server, and the configuration that they make. It sends nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from manyhands.cli.client import Json
from manyhands.cli.output import note, warn

Function = TypeVar("Function", bound=Callable[..., Any])

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL", re.IGNORECASE)


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
    if command and config.get("headers"):
        raise click.UsageError("--header goes with --url; a command takes --env")
    if command:
        config |= {"command": _program(command[0]), "args": list(command[1:])}
    if config.get("cwd"):
        config["cwd"] = str(Path(config["cwd"]).expanduser().absolute())
    return config


def _program(command: str) -> str:
    """A path is made absolute: the daemon runs in another directory."""
    has_directory = os.sep in command or command.startswith("~")
    return str(Path(command).expanduser().absolute()) if has_directory and "${" not in command else command


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


def remark_on(config: Json) -> None:
    """What the person would want to know before it surprises them."""
    for key, value in {**config.get("env", {}), **config.get("headers", {})}.items():
        if SECRET_NAME.search(key) and "${" not in value:
            note(f"{key} is kept as a secret; {key}='${{VAR}}' would look it up instead of storing it")
    relative = [
        arg for arg in config.get("args", ()) if not arg.startswith("-") and not Path(arg).is_absolute()
    ]
    if not config.get("cwd") and (files := [arg for arg in relative if os.path.isfile(arg)]):
        warn(f"{files[0]} is a file of this directory, which the daemon does not start in; add --cwd .")
