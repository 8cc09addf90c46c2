"""Run the benchmarks: `python -m bench [NAME…] [--write]`."""

from __future__ import annotations

import importlib
import sys
import warnings

from bench.report import Bench, Report

TOPICS = (
    "calls",
    "connect",
    "startup",
    "call_log",
    "tool_search",
    "loop",
    "agents",
    "bridge",
    "browser",
    "memory",
    "tasks",
    "workflows",
    "quality",
)
NAMED_ONLY = ("peers", "clones", "prefect")
"""What needs more than the benchmarks' own environment."""


def main(arguments: list[str]) -> int:
    if "--help" in arguments or "-h" in arguments:
        print(f"{__doc__} The names: {', '.join((*TOPICS, *NAMED_ONLY))}.")
        return 0
    if wrong := [option for option in arguments if option.startswith("-") and option != "--write"]:
        print(f"There is no option {wrong[0]}; the one that there is is --write.", file=sys.stderr)
        return 2
    names = [name for name in arguments if not name.startswith("-")] or list(TOPICS)
    if unknown := [name for name in names if name not in (*TOPICS, *NAMED_ONLY)]:
        known = ", ".join((*TOPICS, *NAMED_ONLY))
        print(f"There is no benchmark {unknown[0]!r}; there are {known}.", file=sys.stderr)
        return 2
    report = Report()
    for name in names:
        run: Bench = importlib.import_module(f"bench.{name}").run
        run(report)
    if "--write" in arguments:
        report.write()
    for figure in report.failed:
        print(f"over its limit: {figure.topic}: {figure.what}", file=sys.stderr)
    return 1 if report.failed else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
