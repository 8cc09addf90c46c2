"""`manyhands servers import|export`: the `mcpServers` JSON that other clients read and write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import click

from manyhands.cli.client import Json
from manyhands.cli.command import HubCommand, json_option, pass_session
from manyhands.cli.completion import complete_server
from manyhands.cli.output import Column, plural, print_json, print_table, say, state_style, warn
from manyhands.cli.progress import Progress
from manyhands.cli.session import Session
from manyhands.cli.terminal import one_line, paint
from manyhands.cli.text_input import read_text

IMPORT_TABLE = (
    Column("NAME"),
    Column("ENTRY"),
    Column("STATUS", style=state_style),
    Column("TOOLS", right=True),
)


@click.command(
    "import",
    cls=HubCommand,
    examples=[
        "manyhands servers import ~/.config/client/mcp.json",
        "manyhands servers import - < one-entry.json",
    ],
)
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "--trust",
    type=click.Choice(["ask", "trusted", "full"]),
    help="Trust of the imported servers. Without it new ones get ask and known ones keep theirs.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be imported.")
@json_option
@pass_session
def import_servers(session: Session, file: str, trust: str | None, dry_run: bool, as_json: bool) -> int:
    """Add the servers of another client's JSON file (- reads standard input)."""
    source = "standard input" if file == "-" else str(Path(file).expanduser().absolute())
    body = {"text": read_text(file), "source": source, "trust": trust, "dry_run": dry_run}
    with Progress(f"importing from {source}"):
        report = session.api.request("POST", "/servers/import", body, timeout=300)
    if as_json:
        print_json(report)
        return 0 if all(item["ok"] for item in report["items"]) else 1
    return _print_import(report, dry_run=dry_run)


def _print_import(report: Json, *, dry_run: bool) -> int:
    for remark in [*report["warnings"], *(note for item in report["items"] for note in item["notes"])]:
        warn(one_line(remark))
    if report["items"]:
        print_table(IMPORT_TABLE, [_import_row(item, dry_run=dry_run) for item in report["items"]])
    for item in report["items"]:
        if reason := item["error"] or item["reason"]:
            say(f"{paint(item['name'], 'red')}: {one_line(reason)}")
    count = sum(item["action"] != "skipped" for item in report["items"])
    say(f"{plural(count, 'server')} {'would be imported' if dry_run else 'imported'}")
    return 0 if all(item["ok"] for item in report["items"]) else 1


def _import_row(item: Json, *, dry_run: bool) -> Sequence[str]:
    server = item["server"] or {}
    status = "" if dry_run else server.get("status", "")
    tools = str(server.get("tool_count")) if status == "connected" else ""
    return item["name"], item["action"], status, tools


@click.command("export", cls=HubCommand, examples=["manyhands servers export > mcp.json"])
@click.argument("names", nargs=-1, shell_complete=complete_server)
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Write to this file.")
@pass_session
def export_servers(session: Session, names: Sequence[str], output: str | None) -> None:
    """Print the servers, all or the named ones, as `mcpServers` JSON; secrets stay references."""
    chosen = urlencode([("name", name) for name in names])
    exported = session.api.request("GET", f"/servers/export?{chosen}")
    for remark in exported.pop("notes", ()):
        warn(one_line(remark))
    if output is None:
        print_json(exported)
        return
    import json

    Path(output).write_text(json.dumps(exported, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    say(f"{plural(len(exported['mcpServers']), 'server')} written to {output}")
