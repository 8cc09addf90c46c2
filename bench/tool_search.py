"""Tool search: is the right tool among the first five, and how long does a search take?

The tools are those of six real servers, as they define them now, and of well-known ones from a list; the rest
up to 300 and 3,000 are the same definitions for other things than files and repositories: they compete.

There are three lists of requests: the stated one, the one that the search was tuned on, and one that it was
not, which says what to expect of requests that nobody thought of. A tool made for another thing never counts
as right, even where the request would allow it.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from bench.report import Report, p50, progress
from bench.tool_requests import HELD_OUT, TUNED
from manyhands.embedding import VectorCache, embed
from manyhands.tools.search import ToolIndex
from manyhands.tools.types import ToolDefinition
from tests.real.servers import from_npm, from_pypi
from tests.tools.catalogue_sample import REQUESTS, sample

SIZES = (300, 3_000)
FIRST = 5
ROUNDS = 20
THINGS = (
    *("invoice", "patient", "vehicle", "ticket", "recipe", "contract", "sensor", "playlist", "shipment"),
    *("campaign", "employee", "device", "booking", "lesson", "asset", "budget", "survey", "parcel"),
    *("contact", "warehouse", "payment", "policy", "claim", "lead", "podcast", "flight", "hotel", "garden"),
    *("album", "course", "grant", "house", "machine", "novel", "order", "plant", "quote", "route", "season"),
)
NOUNS = re.compile(
    r"file|director(?:y|ies)|repositor(?:y|ies)|repo|branch|issue|commit|entit(?:y|ies)|channel|page|email",
    re.IGNORECASE,
)


def run(report: Report) -> None:
    progress("reading the definitions of real servers")
    real = asyncio.run(_real_definitions())
    known = {definition.server for definition in real}
    base = [*real, *(definition for definition in sample() if definition.server not in known)]
    for size in SIZES:
        _measure(report, [*base, *_variants(base, size - len(base))], {one.full_name for one in base})


def _measure(report: Report, tools: Sequence[ToolDefinition], right: set[str]) -> None:
    index = ToolIndex(tools)
    _recall(report, index, "held-out requests, by words alone", HELD_OUT, right)
    start = time.perf_counter()
    index.learn(VectorCache(embed, 20_000).embed)
    took = time.perf_counter() - start
    report.add("tool_search", f"{len(tools):,} tools, learning their meaning", took * 1e3, "ms")
    _recall(report, index, "the stated requests", REQUESTS, right, limit=0.9)
    _recall(report, index, "requests it was tuned on", TUNED, right)
    _recall(report, index, "held-out requests", HELD_OUT, right, limit=0.7)
    times = [_timed(index, request) for _ in range(ROUNDS) for request in (*REQUESTS, *HELD_OUT)]
    report.add("tool_search", f"{len(tools):,} tools, one search, p50", p50(times) * 1e3, "ms", limit=5)


def _recall(
    report: Report,
    index: ToolIndex,
    which: str,
    requests: Mapping[str, str],
    right: set[str],
    limit: float | None = None,
) -> None:
    found = [_finds(index, request, names, right) for request, names in requests.items()]
    report.add(
        "tool_search",
        f"{len(index.definitions):,} tools, the right one among the first {FIRST}, {which}",
        sum(found) / len(found),
        "of them",
        limit=limit,
        at_least=True,
        against=f"{len(requests)} requests",
    )


def _finds(index: ToolIndex, request: str, names: str, right: set[str]) -> bool:
    found = [hit.definition for hit in index.search(request, FIRST)]
    return any(one.name in names.split("|") and one.full_name in right for one in found)


def _timed(index: ToolIndex, request: str) -> float:
    start = time.perf_counter()
    index.search(request, FIRST)
    return time.perf_counter() - start


def _variants(base: Sequence[ToolDefinition], count: int) -> Iterator[ToolDefinition]:
    """The same tools for other things; each thing has a server of its own."""
    made = 0
    for number, thing in enumerate(cycle(THINGS)):
        again = number // len(THINGS)
        server = f"{thing}s{again or ''}"
        for definition in base:
            if made == count:
                return
            made += 1
            yield _about(definition, thing, server)


def _about(definition: ToolDefinition, thing: str, server: str) -> ToolDefinition:
    name = NOUNS.sub(thing, definition.name)
    name = name if name != definition.name else f"{thing}_{name}"
    description = NOUNS.sub(thing, definition.description)
    if description == definition.description:
        description = f"{description} For each {thing}."
    full_name = f"mcp__{server}_{definition.server}__{name}"
    return replace(definition, full_name=full_name, name=name, description=description, server=server)


async def _real_definitions() -> list[ToolDefinition]:
    from manyhands import Hub

    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        async with Hub(root / "home") as hub:
            servers = {
                "filesystem": from_npm("filesystem", directory),
                "memory": from_npm("memory"),
                "everything": from_npm("everything", "stdio"),
                "git": from_pypi("git"),
                "time": from_pypi("time"),
                "fetch": from_pypi("fetch"),
            }
            for name, config in servers.items():
                outcome = await hub.add_server(name, **config)
                if not outcome.ok:
                    print(f"{name} did not start: {outcome.error}", file=sys.stderr)
            listings = await hub.list_all_tools()
            return [one.definition for one in listings if one.definition.server in servers]
