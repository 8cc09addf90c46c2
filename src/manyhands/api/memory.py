"""Memory over HTTP."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field

from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, items, while_connected
from manyhands.errors import InvalidError
from manyhands.hub import Hub
from manyhands.memory.service import MemoryScope, index_json
from manyhands.memory.types import Query as Question

router = APIRouter(prefix="/memory", tags=["memory"])

MOST = 100
Scope = Literal["project", "global", "channel"]
ChannelId = Annotated[str | None, Query(description="Whose memory; its project's and the global one.")]
DirPath = Annotated[str | None, Query(description="The same by a directory.")]


class _Placed(schemas.Body):
    channel_id: str | None = Field(None, description="Whose memory; without it and dir_path the global one.")
    dir_path: str | None = Field(None, description="The same by a directory.")


class MemoryQuestion(_Placed):
    """A question to a memory."""

    query: str = Field(min_length=1, max_length=4000)
    top_k: int = Field(5, ge=1, le=MOST, description="How many hits at most.")
    budget_chars: int | None = Field(
        None, ge=1, le=200_000, description="How many characters all texts may have together."
    )
    paths: list[str] = Field([], max_length=50, description="Only files that match one of these patterns.")
    since: datetime | None = Field(None, description="Only files that were changed since then.")
    until: datetime | None = Field(None, description="Only files that were changed until then.")
    recency: float = Field(0.0, ge=0, le=2, description="How much newer files gain.")
    diversity: float = Field(0.0, ge=0, le=1, description="How much hits that repeat others lose.")
    mode: Literal["hybrid", "lexical"] = Field("hybrid", description="lexical: by words alone.")


class ScoreParts(schemas.Answer):
    """What each way of searching gave to a score."""

    lexical: float
    vector: float
    recency: float


class MemoryHit(schemas.Answer):
    """A passage as it stands in its file."""

    path: str
    line_start: int
    line_end: int
    heading: str
    text: str
    score: float
    parts: ScoreParts
    scope: Scope = Field(description="Which memory it is from.")


class MemoryIndexState(schemas.Answer):
    """What was searched."""

    files: int
    chunks: int
    stale: int = Field(description="Files that are new or have changed and are not read yet.")
    indexing: bool


class MemoryAnswer(schemas.Answer):
    """Hits, best first, and how they were found."""

    results: list[MemoryHit]
    mode: Literal["hybrid", "lexical"]
    index: MemoryIndexState
    notes: list[str] = Field(description="What a person should know about this answer.")


class IndexWanted(_Placed):
    """What to bring up to date."""

    again: bool = Field(False, description="Forget what is kept and read everything anew.")


class FileCounts(schemas.Answer):
    """How many files."""

    added: int
    changed: int
    removed: int
    unchanged: int


class ChunkCounts(schemas.Answer):
    """How many chunks."""

    added: int
    removed: int


class FileProblem(schemas.Answer):
    """A file that could not be read as it is."""

    path: str
    problem: str


class IndexDone(schemas.Answer):
    """What indexing did."""

    scope: Scope
    directory: str | None
    files: FileCounts
    chunks: ChunkCounts
    embedded: int
    waiting: int
    problems: list[FileProblem]
    notes: list[str]


class MemoryCollection(schemas.Answer):
    """A memory: of a project, of a channel without a directory, or the global one."""

    scope: Scope
    directory: str | None
    channel_id: str | None
    roots: list[str]
    files: int
    chunks: int
    embedded: int = Field(description="Chunks that have a vector of the present embedder.")
    stale: int
    problems: int = Field(description="Files that could not be read as they are.")
    state: Literal["idle", "looking", "reading", "embedding"]
    done: int
    total: int
    watched: bool
    watch_problem: str | None
    indexed_at: str | None


class EmbedderState(schemas.Answer):
    """Who makes vectors."""

    name: str
    kept_in: Literal["matrix", "pgvector"]
    note: str | None = Field(description="Why they are kept so, where another way would be better.")
    problem: str | None
    retry_in_s: float | None


class MemoryStatus(schemas.Answer):
    """What is indexed, and what is going on."""

    collections: list[MemoryCollection]
    embedder: EmbedderState


class MemoryFile(schemas.Answer):
    """An indexed file, or one that could not be."""

    path: str
    scope: Scope
    kind: Literal["file", "conversation"]
    size: int
    chunks: int
    modified_at: str
    problem: str | None


class MemoryExcerpt(schemas.Answer):
    """Lines of a file as it is now."""

    path: str
    line_start: int
    line_end: int
    lines: int = Field(description="How many the whole file has.")
    text: str
    changed: bool = Field(description="Whether the file is another one than the one that was indexed.")
    problem: str | None


async def _scope(hub: Hub, channel_id: str | None, dir_path: str | None) -> MemoryScope:
    if channel_id is not None and dir_path is not None:
        raise InvalidError("There are both channel_id and dir_path.", hint="Send one of them.")
    return await hub.memory.scope(await hub.channel(channel_id), dir_path)


@router.post("/search")
async def search_memory(hub: HubOf, body: MemoryQuestion) -> MemoryAnswer:
    """The passages that answer a question best, each with where it stands and why it was found."""
    question = Question(
        body.query,
        body.top_k,
        body.budget_chars,
        tuple(body.paths),
        None if body.since is None else body.since.timestamp(),
        None if body.until is None else body.until.timestamp(),
        body.recency,
        body.diversity,
        body.mode == "lexical",
    )
    found = await hub.memory.search(await _scope(hub, body.channel_id, body.dir_path), question)
    return MemoryAnswer.model_validate(found.wire())


@router.post("/index")
async def index_memory(hub: HubOf, request: Request, body: IndexWanted) -> IndexDone:
    """Bring a memory up to date; answers when that is done. `memory.progress` events tell how far it is."""
    scope = await _scope(hub, body.channel_id, body.dir_path)

    async def work() -> dict[str, Any]:
        return index_json(scope, await hub.memory.index(scope, again=body.again))

    return IndexDone.model_validate(await while_connected(request, work))


@router.get("/status")
async def memory_status(hub: HubOf, channel_id: ChannelId = None, dir_path: DirPath = None) -> MemoryStatus:
    """What is indexed for a channel or directory, or everywhere, and who makes vectors."""
    everywhere = channel_id is None and dir_path is None
    scope = None if everywhere else await _scope(hub, channel_id, dir_path)
    return MemoryStatus.model_validate(await hub.memory.status(scope))


@router.get("/files")
async def memory_files(
    hub: HubOf,
    channel_id: ChannelId = None,
    dir_path: DirPath = None,
    problems: Annotated[bool, Query(description="Only those that could not be read as they are.")] = False,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[MemoryFile]:
    """The files of a memory, by path, with what is wrong with them."""
    scope = await _scope(hub, channel_id, dir_path)
    page = await hub.memory.files(scope, only_problems=problems, limit=limit, cursor=cursor)
    return items(page.items, page.next_cursor, lambda one: MemoryFile(**one))


@router.get("/file")
async def memory_file(
    hub: HubOf,
    path: Annotated[str, Query(description="As a hit or the list of files names it.")],
    line: Annotated[int, Query(ge=1, description="The line to show, with some around it.")] = 1,
    around: Annotated[int, Query(ge=0, le=200, description="How many lines before and after it.")] = 40,
    scope: Annotated[Scope | None, Query(description="Of which memory, as a hit says.")] = None,
    channel_id: ChannelId = None,
    dir_path: DirPath = None,
) -> MemoryExcerpt:
    """A part of an indexed file around a line, as the file is now."""
    whose = await _scope(hub, channel_id, dir_path)
    return MemoryExcerpt(**asdict(await hub.memory.excerpt(whose, path, line, around, scope)))
