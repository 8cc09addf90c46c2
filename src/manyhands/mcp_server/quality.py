"""The tools of quality: have the channel's code scanned, and read what the last scan said."""

from __future__ import annotations

from typing import Any

from manyhands.mcp_server.entries import (
    CHANGES,
    READS,
    Answer,
    Caller,
    Json,
    ToolEntry,
    gives,
    many,
    maybe,
    number,
    takes,
    text,
    yes_or_no,
)
from manyhands.quality.types import Rows, Shown

FUNCTIONS, MOST_FUNCTIONS = 50, 100
CLONES, MOST_CLONES = 25, 50


async def quality_scan(caller: Caller, arguments: Json) -> Answer:
    channel = await caller.scope.own()
    status = await caller.hub.quality.start_scan(channel.id)
    began = "Started to scan" if status == "started" else "A scan goes on already of"
    said = f"{began} {channel.dir_path}. It ends as the event quality.scanned; then read quality_snapshot."
    return Answer(said, {"status": status})


async def quality_snapshot(caller: Caller, arguments: Json) -> Answer:
    channel = await caller.scope.own()
    shown = await caller.hub.quality.snapshot(channel.id)
    whole = shown.wire()
    metrics = {
        name: {"score": metric["score"], "raw": metric["raw"], "reasons": metric["reasons"]}
        for name, metric in whole["metrics"].items()
    }
    named = {name: whole[name] for name in SNAPSHOT["properties"] if name != "metrics"}
    return Answer(_report(shown), {**named, "metrics": metrics})


def _report(shown: Shown) -> str:
    whole = shown.wire()
    change = "" if whole["change"] is None else f" ({whole['change']:+d} since the scan before)"
    counts = f"{whole['files']} files, {whole['functions']} functions, {whole['loc']} lines with code"
    lines = [
        f"Quality signal {whole['quality_signal']} of 10000{change}, geo mean {whole['geo_mean']:.4f}.",
        f"{counts}; scanned {whole['scanned_at']} on {_branch(whole['branch'])}.",
    ]
    if not whole["files"]:
        lines.append("No source file was measured: the number says nothing.")
    if shown.branch_mismatch:
        now = _branch(whole["current_branch"])
        lines.append(f"This is another branch than now ({now}): call quality_scan for this one.")
    if whole["truncated"]:
        lines.append("A limit was reached: not all files were read.")
    lines += [
        f"- {name}: {metric['score']:.3f}. {' '.join(metric['reasons'])}"
        for name, metric in sorted(whole["metrics"].items(), key=lambda item: item[1]["score"])
    ]
    return "\n".join(lines)


def _branch(name: str | None) -> str:
    return f"branch {name}" if name else "no branch"


async def quality_complexity(caller: Caller, arguments: Json) -> Answer:
    found, offset = await _rows(caller, arguments, "functions", FUNCTIONS)
    lines = [
        f"{offset + at}. {row['path']}:{row['line']} {row['name']}: cyclomatic {row['cyclomatic']}, "
        f"cognitive {row['cognitive']}, nesting {row['nesting']}, parameters {row['parameters']}, "
        f"lines {row['lines']}" + (f" (over: {', '.join(row['over'])})" if row["over"] else "")
        for at, row in enumerate(found.items, 1)
    ]
    return _paged(found, offset, lines, "functions")


async def quality_clones(caller: Caller, arguments: Json) -> Answer:
    found, offset = await _rows(caller, arguments, "clones", CLONES)
    lines = []
    for at, row in enumerate(found.items, 1):
        lines.append(f"{offset + at}. {len(row['units'])} copies, {row['lines']} lines in sum:")
        lines += [
            f"   {unit['path']}:{unit['line']}-{unit['end_line']} {unit['name']}" for unit in row["units"]
        ]
    return _paged(found, offset, lines, "clusters")


async def _rows(caller: Caller, arguments: Json, part: Any, usual: int) -> tuple[Rows, int]:
    channel = await caller.scope.own()
    offset = arguments.get("offset", 0)
    return await caller.hub.quality.rows(channel.id, part, offset, arguments.get("limit", usual)), offset


def _paged(found: Rows, offset: int, lines: list[str], what: str) -> Answer:
    end = offset + len(found.items)
    following = end if end < found.total else None
    head = f"{what.capitalize()} {offset + 1} to {end} of {found.total}, worst first."
    head = head if found.items else f"No {what} here; there are {found.total}."
    if found.shown.branch_mismatch:
        head += f" They are of {_branch(found.shown.snapshot.branch)}, not of the one checked out now."
    more = [f"More: offset {following}."] if following is not None else []
    structured = {
        what: list(found.items),
        "total": found.total,
        "next_offset": following,
        "branch_mismatch": found.shown.branch_mismatch,
    }
    return Answer("\n".join([head, *lines, *more]), structured)


# --- tables


def _score(description: str) -> Json:
    return {"type": "number", "description": description}


METRIC = gives(
    score=_score("From 0 to 1."),
    raw=maybe(_score("What the score was made from; nothing when there was nothing to judge.")),
    reasons=many({"type": "string"}, "Why it is what it is."),
)
SNAPSHOT = gives(
    quality_signal=number("The geometric mean of the six scores times 10000."),
    geo_mean=_score("The geometric mean itself."),
    change=maybe(number("Against the scan before it.")),
    metrics={"type": "object", "additionalProperties": METRIC, "description": "The six metrics by name."},
    branch=maybe(text("The branch that was scanned.")),
    current_branch=maybe(text("The branch that is checked out now.")),
    branch_mismatch=yes_or_no("Whether those two differ."),
    commit=maybe(text("The commit that was checked out.")),
    scanned_at=text("When it was scanned."),
    files=number("Files measured."),
    functions=number("Functions measured."),
    loc=number("Lines with code."),
    clones=number("Groups of copies."),
    cycles=number("Import cycles."),
    unused=number("Functions that nothing refers to."),
    syntax_errors=number("Syntax errors found."),
    left_out={
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "description": "How many files were not measured, by reason.",
    },
    truncated=yes_or_no("Whether a limit was reached."),
)
FUNCTION = gives(
    path=text("Its file."),
    name=text("Its name, with what it is in."),
    line=number("Its first line."),
    end_line=number("Its last line."),
    cyclomatic=number("McCabe's complexity."),
    cognitive=number("Cognitive complexity."),
    nesting=number("The deepest nesting."),
    parameters=number("How many parameters."),
    lines=number("Lines of its own code."),
    score=_score("What it earns, from 0 to 1."),
    over=many({"type": "string"}, "In what it is over the threshold."),
)
UNIT = gives(
    path=text("Its file."),
    name=text("Its name."),
    line=number("Its first line."),
    end_line=number("Its last line."),
    lines=number("Lines with code."),
)
CLUSTER = gives(
    id=number("Its place in the list."),
    lines=number("Lines of all copies."),
    exact=yes_or_no("Whether they differ in names and literals alone."),
    units=many(UNIT, "The copies."),
)
_REST = {
    "total": number("How many there are."),
    "next_offset": maybe(number("Where the next page begins.")),
    "branch_mismatch": yes_or_no("Whether this is of another branch than the one checked out."),
}


def _paging(usual: int, most: int) -> Json:
    return takes(
        limit={
            "type": "integer",
            "minimum": 1,
            "maximum": most,
            "default": usual,
            "description": "How many at most.",
        },
        offset={"type": "integer", "minimum": 0, "default": 0, "description": "How many to skip."},
    )


ENTRIES = (
    ToolEntry(
        "quality_scan",
        "Scan code quality",
        "Start to scan the code of your channel's directory: complexity of every function, copies, import "
        "graph, and one number for its health. Answers at once; the report comes as the event "
        "quality.scanned, and quality_snapshot reads it.",
        takes(),
        gives(status=text("started, or in_progress when a scan goes on already.")),
        quality_scan,
        CHANGES,
    ),
    ToolEntry(
        "quality_snapshot",
        "Read the quality snapshot",
        "Read the last scan of your channel's code: the quality signal, the six metrics with their reasons, "
        "and whether it is of another branch than the one checked out now. Needs a scan.",
        takes(),
        SNAPSHOT,
        quality_snapshot,
        READS,
    ),
    ToolEntry(
        "quality_complexity",
        "List complex functions",
        "List the functions of the last scan, the worst first, with cyclomatic and cognitive complexity, "
        "deepest nesting, parameters and lines. Needs a scan.",
        _paging(FUNCTIONS, MOST_FUNCTIONS),
        gives(functions=many(FUNCTION, "The functions, worst first."), **_REST),
        quality_complexity,
        READS,
    ),
    ToolEntry(
        "quality_clones",
        "List copied code",
        "List groups of functions that are near-copies of each other in the last scan, those with most "
        "lines first. Needs a scan.",
        _paging(CLONES, MOST_CLONES),
        gives(clusters=many(CLUSTER, "The groups, largest first."), **_REST),
        quality_clones,
        READS,
    ),
)
