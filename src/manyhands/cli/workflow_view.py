"""How runs of workflows and mistakes in definitions look in a terminal, also while a run goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from manyhands.cli.client import Api, Json, segment
from manyhands.cli.feed import Feed
from manyhands.cli.output import STATE_STYLES, say
from manyhands.cli.terminal import one_line, paint, paint_error

LOOK_S = 2.0
_SIGNS = {
    "success": "✓",
    "failed": "✗",
    "skipped": "–",
    "cancelled": "–",
    "waiting": "?",
    "running": "…",
    "pending": "·",
}


def print_problems(problems: Sequence[Json], file: str) -> None:
    """Each with its place, as compilers write it."""
    import sys

    for one in problems:
        place = ":".join(str(part) for part in (file, one["line"], one["column"]) if part)
        word = paint_error(one["severity"] + ":", "red" if one["severity"] == "error" else "yellow")
        path = f" ({one['path']})" if one["path"] else ""
        sys.stderr.write(f"{one_line(place)}: {word} {one_line(one['message'])}{path}\n")


def print_node(node: Json, depth: int = 0) -> None:
    """One node of a dry run, with those of its body."""
    state = "skipped" if node["skipped"] else f"wave {node['wave']}"
    why = f" ({node['reason']})" if node["reason"] else ""
    say(f"{'  ' * depth}{node['id']} [{node['type']}] {state}{one_line(why)}")
    for name, value in (node["inputs"] or {}).items():
        open_one = " (known at run time)" if name in node["unknown"] else ""
        say(f"{'  ' * depth}    {name}: {one_line(_text(value))}{open_one}")
    for inner in node.get("body", ()):
        print_node(inner, depth + 1)


def print_run(found: Json) -> None:
    """A run with its nodes, and what to do when it waits."""
    run = found["run"]
    say(f"run {run['id']} of {run['workflow_name']}: {_painted(run['status'])}")
    if run["error"]:
        say(f"  {one_line(run['error'])}")
    for node in found["nodes"]:
        say(_line(node))
    for node in found["nodes"]:
        if node["status"] == "waiting":
            asks = (node["inputs"] or {}).get("message") or "It waits for you."
            say(f"{node['id']} asks: {one_line(str(asks))}")
            say(f"  manyhands workflows approve {run['id']} RESPONSE --node {node['id']} (or reject)")


def _text(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _painted(status: str) -> str:
    return paint(status, *STATE_STYLES.get(status, ()))


def _line(node: Json) -> str:
    depth = node["id"].count("/")
    decided = ", rejected" if node["decision"] == "reject" else ""
    again = f" (attempt {node['attempt']})" if node["attempt"] > 1 else ""
    more = node["error"] or node["reason"]
    if more is None and node["status"] == "success":
        more = node["output"]
    said = "" if more in (None, "") else f": {one_line(_text(more)[:1000])[:200]}"
    sign = paint(_SIGNS.get(node["status"], "·"), *STATE_STYLES.get(node["status"], ()))
    return f"  {'  ' * depth}{sign} {node['id']} {node['status']}{decided}{again}{said}"


def follow_run(api: Api, begin: Callable[[], str], *, quiet: bool) -> str:
    """Begin something and tell how the run goes, until it ends or waits for a person."""
    with Feed(api) as feed:
        run_id = begin()
        looked = 0.0
        while True:
            told = feed.get(LOOK_S)
            if told is not None and told[0] == "event":
                event = told[1]
                if (
                    event["data"].get("run_id") == run_id
                    and not quiet
                    and event["type"].startswith("workflow.node")
                ):
                    say(_line(event["data"]))
                moved = event["type"] in ("workflow.run_finished", "workflow.run_paused")
                if moved and event["data"].get("id") == run_id:
                    looked = 0.0
            if time.monotonic() - looked >= LOOK_S:
                looked = time.monotonic()
                if _stands(api, run_id):
                    return run_id


def _stands(api: Api, run_id: str) -> bool:
    run = api.request("GET", f"/workflows/runs/{segment(run_id)}")["run"]
    return bool(run["status"] != "running")
