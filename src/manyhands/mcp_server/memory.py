"""The tools of memory: search a project's notes, and bring what is known of them up to date."""

from __future__ import annotations

from manyhands.access.types import Principal
from manyhands.mcp_server.entries import (
    CHANGES,
    READS,
    Answer,
    Caller,
    Json,
    ToolEntry,
    gives,
    many,
    number,
    takes,
    text,
)
from manyhands.memory.service import MemoryScope, SearchAnswer, hit_json, index_json
from manyhands.memory.types import IndexReport, Query

MOST = 50
MOST_PROBLEMS = 20


def with_memory(principal: Principal) -> bool:
    """Those that were started with `--memory`."""
    return "memory" in principal.flags


async def _scope(caller: Caller) -> MemoryScope:
    """The caller's own project and the global memory: another project's cannot be named."""
    return await caller.hub.memory.scope(await caller.scope.own())


# --- search_memory


async def search_memory(caller: Caller, arguments: Json) -> Answer:
    query = Query(arguments["query"], arguments.get("top_k", 5))
    found = await caller.hub.memory.search(await _scope(caller), query)
    return Answer(_said(found), found.wire())


def _said(found: SearchAnswer) -> str:
    lines = []
    for number_, hit in enumerate(map(hit_json, found.hits), 1):
        place = f"{hit['path']}:{hit['line_start']}-{hit['line_end']}"
        place += " in the global memory" if hit["scope"] == "global" else ""
        heading = f" ({hit['heading']})" if hit["heading"] else ""
        lines += [f"{number_}. {place}{heading}, score {hit['score']:.2f}", hit["text"], ""]
    if not found.hits:
        lines.append(f"Nothing was found in {found.files} files. Try other words.")
    return "\n".join([*lines, *found.notes]).strip()


# --- index_memory


async def index_memory(caller: Caller, arguments: Json) -> Answer:
    scope = await _scope(caller)
    report = await caller.hub.memory.index(scope)
    return Answer(_told(report), index_json(scope, report))


def _told(report: IndexReport) -> str:
    counts = f"{report.added} added, {report.changed} changed, {report.removed} removed"
    waiting = f", {report.waiting} still wait for one" if report.waiting else ""
    lines = [
        f"Files: {counts}, {report.unchanged} unchanged.",
        f"Chunks: {report.chunks_added} added, {report.chunks_removed} removed.",
        f"Vectors: {report.embedded} chunks got one{waiting}.",
        *report.notes,
        *(f"{path}: {problem}" for path, problem in report.problems[:MOST_PROBLEMS]),
    ]
    if len(report.problems) > MOST_PROBLEMS:
        lines.append(f"… and {len(report.problems) - MOST_PROBLEMS} more files with problems.")
    return "\n".join(lines)


# --- tables

_FLOAT = {"type": "number"}
HIT = gives(
    path=text("The file, from the project's directory where it is below it."),
    line_start=number("The first line of the passage."),
    line_end=number("Its last line."),
    heading=text("The headings that it stands under."),
    text=text("The passage as it stands there, at most 1,200 characters."),
    score=_FLOAT,
    parts=gives(lexical=_FLOAT, vector=_FLOAT, recency=_FLOAT),
    scope=text("Which memory it is from: project, channel for one without a directory, or global."),
)
INDEX = gives(
    files=number("Files that were searched."),
    chunks=number("Passages that were searched."),
    stale=number("Files that are new or have changed and are not read yet."),
    indexing={"type": "boolean"},
)

ENTRIES = (
    ToolEntry(
        "search_memory",
        "Search the memory",
        "Search the notes of your project and the global memory, by words and by meaning: what was decided, "
        "learned or said. Ask in a few telling words or a whole question. Each hit is a passage with its "
        "file and lines. Files that changed are read again by themselves.",
        takes(
            "query",
            query=text("What you want to know.", minLength=1, maxLength=4000),
            top_k={
                "type": "integer",
                "minimum": 1,
                "maximum": MOST,
                "default": 5,
                "description": "How many hits at most.",
            },
        ),
        gives(
            results=many(HIT, "The hits, best first."),
            mode=text("hybrid: by words and meaning. lexical: by words alone; the notes say why."),
            index=INDEX,
            notes=many({"type": "string"}, "What to know about this answer."),
        ),
        search_memory,
        READS,
        with_memory,
    ),
    ToolEntry(
        "index_memory",
        "Bring the memory up to date",
        "Read the notes of your project and the global memory again where they changed, and say what was "
        "added, changed and removed, and which files could not be read. Searching does this by itself; use "
        "it to be sure, or to learn why a file is not found.",
        takes(),
        gives(
            scope=text("project, or channel for one without a directory."),
            directory={"type": ["string", "null"], "description": "The project's directory."},
            files=gives(
                added=number("New ones."),
                changed=number("Changed ones."),
                removed=number("Those that are gone."),
                unchanged=number("Those that are as they were."),
            ),
            chunks=gives(added=number("New passages."), removed=number("Passages that are gone.")),
            embedded=number("Passages that got a vector."),
            waiting=number("Passages that still have none."),
            problems=many(gives(path=text("A file."), problem=text("What is wrong with it.")), "Problems."),
            notes=many({"type": "string"}, "What to know about this."),
        ),
        index_memory,
        CHANGES,
        with_memory,
    ),
)
