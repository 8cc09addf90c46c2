"""The options that describe a task, and the fields that they make. It sends nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from manyhands.cli.json_input import read_object
from manyhands.cli.text_input import read_text

Function = TypeVar("Function", bound=Callable[..., Any])

_NAMES = {"workflow": "workflow_name", "template": "template_name", "auto_delete": "auto_delete_sec"}
_PLAIN = ("type", "inputs", "prompt", "script", "allow")


def task_options(function: Function) -> Function:
    """The options that describe a task; what is not given is None."""
    options = [
        click.option("--prompt", metavar="TEXT", help="What an agent is to do; @FILE reads a file."),
        click.option("--workflow", metavar="NAME", help="A workflow to run instead."),
        click.option("--inputs", metavar="JSON", help="The workflow's inputs; @FILE reads a file."),
        click.option("--script", metavar="TEXT", help="A shell script to run instead; @FILE reads a file."),
        click.option(
            "--type",
            type=click.Choice(["cron", "interval", "once", "manual"]),
            help="The kind of schedule; else the one that it looks like.",
        ),
        click.option("--timezone", metavar="ZONE", help="The zone that the schedule is meant in (UTC)."),
        click.option("--name", metavar="NAME", help="What it is called."),
        click.option("--template", metavar="NAME", help="A name of its own: made again, it is changed."),
        click.option("--model", metavar="ID", help="The model to ask."),
        click.option(
            "--allow", multiple=True, metavar="PATTERN", help="A tool that it may use (repeatable)."
        ),
        click.option("--worktree/--no-worktree", default=None, help="A git worktree for each run."),
        click.option("--budget", type=float, metavar="USD", help="What one run may cost."),
        click.option(
            "--conversation", type=click.Choice(["new", "same"]), help="A new thread each time, or the same."
        ),
        click.option(
            "--overlap",
            type=click.Choice(["skip", "queue", "parallel"]),
            help="What happens while an earlier run goes on (skip).",
        ),
        click.option(
            "--missed", type=click.Choice(["skip", "run_once"]), help="After missed times (run_once)."
        ),
        click.option("--missed-window-s", type=int, metavar="S", help="How old a missed time may be."),
        click.option("--jitter-s", type=int, metavar="S", help="Start each run up to this much later."),
        click.option("--retries", type=int, metavar="N", help="How often a failed run is tried again."),
        click.option("--retry-delay-s", type=int, metavar="S", help="Seconds before the first retry (60)."),
        click.option("--max-failures", type=int, metavar="N", help="Failures in a row that switch it off."),
        click.option("--timeout-s", type=int, metavar="S", help="How long a run may take (3600)."),
        click.option("--max-iterations", type=int, metavar="N", help="How often a run may ask the model."),
        click.option("--auto-delete", type=int, metavar="S", help="Remove a run's thread after this long."),
        click.option("--keep-reports/--no-keep-reports", default=None, help="Keep threads that report."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def given_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, under the names of the API."""
    fields = {
        _NAMES.get(name, name): value
        for name, value in options.items()
        if value is not None and name not in _PLAIN
    }
    if options.get("allow"):
        fields["allow"] = list(options["allow"])
    for name in ("prompt", "script"):
        if options.get(name) is not None:
            fields[name] = _text(options[name])
    if options.get("inputs") is not None:
        fields["workflow_inputs"] = read_object(options["inputs"])
    if options.get("type") == "manual":
        fields["type"] = "manual"
    return fields


def _text(value: str) -> str:
    return read_text(value[1:]) if value.startswith("@") else value
