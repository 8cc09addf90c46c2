"""Quality over HTTP: scans of a channel's directory, what they found, comparisons with a base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, items, slice_page, while_connected
from manyhands.hub import Hub
from manyhands.quality.types import Json, Part, trend_point

router = APIRouter(prefix="/channels/{channel_id}/quality", tags=["quality"])

MOST_FILES = 20_000
Sorting = Literal["harm", "cyclomatic", "cognitive", "nesting", "parameters", "lines", "path"]


class ScanStarted(schemas.Answer):
    """Whether this began a scan, or one goes on already."""

    status: Literal["started", "in_progress"]


class ScanState(schemas.Answer):
    """A scan that goes on. `share` of the files is measured; the phase says what it is at."""

    running: bool
    phase: str | None = None
    done: int = 0
    total: int = 0
    share: float = 0.0


class Metric(schemas.Answer):
    """One of the six. `raw` is what the score was made from; nothing when there was nothing to judge."""

    score: float
    raw: float | None
    reasons: list[str]
    worst: list[dict[str, Any]] = Field(description="What harms most; its form depends on the metric.")


class NamedMetric(Metric):
    """One of the six with its name."""

    name: str


class LanguageShare(schemas.Answer):
    """How much of a project is in a language."""

    files: int
    loc: int


class EarlierScore(schemas.Answer):
    """What the scan before it said."""

    id: str
    quality_signal: int
    scanned_at: str
    metrics: dict[str, float]


class SnapshotShown(schemas.Answer):
    """What the newest scan of a channel says. `loc`: lines with code."""

    id: str
    channel_id: str
    directory: str
    branch: str | None
    current_branch: str | None
    branch_mismatch: bool
    commit: str | None
    scanned_at: str
    duration_ms: int
    quality_signal: int
    geo_mean: float
    change: int | None = Field(description="Against the scan before it, of the same branch.")
    previous: EarlierScore | None
    metrics: dict[str, Metric]
    files: int
    functions: int
    loc: int
    languages: dict[str, LanguageShare]
    clones: int
    duplicated_lines: int
    cycles: int
    unused: int
    syntax_errors: int
    broken_files: list[str]
    left_out: dict[str, int] = Field(description="How many files were not measured, by reason.")
    truncated: bool = Field(description="Whether a limit was reached: the rest was not read.")
    measured: int = Field(description="How many files were not known from an earlier scan.")


class FunctionShown(schemas.Answer):
    """A function as measured. `over`: where it is above the threshold. `score`: what it earns, up to 1."""

    path: str
    name: str
    line: int
    end_line: int
    cyclomatic: int
    cognitive: int
    nesting: int
    parameters: int
    lines: int
    score: float
    over: list[str]


class CloneUnit(schemas.Answer):
    """A function that has copies."""

    path: str
    name: str
    line: int
    end_line: int
    lines: int


class CloneCluster(schemas.Answer):
    """Functions that are copies of each other. `exact`: they differ in names and literals alone."""

    id: int
    lines: int
    exact: bool
    units: list[CloneUnit]


class CycleShown(schemas.Answer):
    """Files that import each other, with the links among them as pairs of paths."""

    id: int
    size: int
    files: list[str]
    links: list[list[str]]


class MeasuredFile(schemas.Answer):
    """A file of the treemap. `harm`: what is missing of full marks for complexity, by lines, 0 to 1."""

    path: str
    folder: str
    language: str
    loc: int
    functions: int
    harm: float
    duplicated: int
    unused: int
    in_cycle: bool
    imports: int
    syntax_errors: int
    hash: str


class FileImports(schemas.Answer):
    """The files of the project that a file imports, and the community that it was found to belong to."""

    path: str
    imports: list[str]
    community: int | None = Field(None, description="Its number, the largest first; none without links.")


class UnusedShown(schemas.Answer):
    """A function that nothing refers to by name."""

    path: str
    name: str
    line: int
    lines: int


class TrendPoint(schemas.Answer):
    """One scan of the trend; `metrics` are the scores."""

    id: str
    quality_signal: int
    geo_mean: float
    scanned_at: str
    branch: str | None
    commit: str | None
    metrics: dict[str, float]
    files: int
    functions: int
    loc: int


class SourceShown(schemas.Answer):
    """Lines of a file as they are now. `changed`: not as they were scanned. `cut`: there are more."""

    path: str
    language: str
    start_line: int
    end_line: int
    text: str
    changed: bool
    cut: bool


class Comparison(schemas.Body):
    """What to compare with, and what a change may do."""

    base: str | None = Field(
        None, min_length=1, max_length=250, description="A branch, tag or commit; else the main branch."
    )
    rules: dict[str, Any] = Field(default_factory=dict, description="Rules of the gate.")


class GateProblemShown(schemas.Answer):
    """Something that is worse than at the base."""

    kind: str
    path: str
    line: int | None
    message: str
    name: str


class FunctionChange(schemas.Answer):
    """A function that came, went or measures differently; the five dimensions before and after."""

    kind: Literal["added", "removed", "changed"]
    path: str
    name: str
    line: int | None
    moved_from: str | None
    before: dict[str, int] | None
    after: dict[str, int] | None
    score_before: float | None
    score_after: float | None


class MetricChange(schemas.Answer):
    """A score now and at the base."""

    score: float
    base: float


class Compared(schemas.Answer):
    """What changed since a base, and whether the gate passes: it fails on new problems only."""

    passed: bool
    summary: str
    base: str
    base_commit: str
    quality_signal: int
    base_signal: int
    change: int
    metrics: dict[str, MetricChange]
    problems: list[GateProblemShown]
    changes: list[FunctionChange]
    total_changes: int


@router.post("/scan", status_code=202)
async def start_scan(hub: HubOf, channel_id: str) -> ScanStarted:
    """Begin to scan the channel's directory; `quality.scanned` or `quality.failed` says how it ended."""
    return ScanStarted(status=await hub.quality.start_scan(channel_id))


@router.get("/scan")
async def get_scan(hub: HubOf, channel_id: str) -> ScanState:
    """How far the scan is, if one goes on."""
    await hub.channels.get(channel_id)
    running = hub.quality.running(channel_id)
    return ScanState(running=False) if running is None else ScanState(running=True, **running.wire())


@router.delete("/scan", status_code=204)
async def cancel_scan(hub: HubOf, channel_id: str) -> None:
    """End the scan that goes on, if one does."""
    await hub.quality.cancel(channel_id)


@router.get("/snapshot")
async def get_snapshot(hub: HubOf, channel_id: str) -> SnapshotShown:
    """The newest scan of the branch that is checked out, else the newest of all (`branch_mismatch`)."""
    return SnapshotShown(**(await hub.quality.snapshot(channel_id)).wire())


@router.get("/metrics")
async def list_metrics(hub: HubOf, channel_id: str) -> schemas.Items[NamedMetric]:
    """The six metrics with their reasons, the worst first."""
    metrics = (await hub.quality.snapshot(channel_id)).snapshot.summary["metrics"]
    ordered = sorted(metrics.items(), key=lambda item: item[1]["score"])
    return items(ordered, None, lambda item: NamedMetric(name=item[0], **item[1]))


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of a channel's snapshot, and the page of them that the query names."""

    hub: Hub
    channel_id: str
    limit: int
    cursor: str | None

    async def page(self, part: Part) -> schemas.Items[Any]:
        """The page of one that is in the wanted order already; the cursor is a position."""
        _, checked = slice_page(range(0), self.limit, self.cursor)
        assert checked is None
        offset = int(self.cursor or 0)
        found = await self.hub.quality.rows(self.channel_id, part, offset, self.limit)
        after = str(offset + self.limit) if offset + self.limit < found.total else None
        return items(found.items, after, lambda row: row)

    async def page_of(
        self, part: Part, arrange: Callable[[Sequence[Json]], Sequence[Json]]
    ) -> schemas.Items[Any]:
        """The same in an order of one's own, for which all of it is read."""
        everything = (await self.hub.quality.rows(self.channel_id, part)).items
        page, after = slice_page(arrange(everything), self.limit, self.cursor)
        return items(page, after, lambda row: row)


async def lists_of(hub: HubOf, channel_id: str, limit: Limit = PAGE, cursor: Cursor = None) -> Lists:
    return Lists(hub, channel_id, limit, cursor)


ListsOf = Annotated[Lists, Depends(lists_of)]


@router.get("/complexity")
async def list_functions(
    lists: ListsOf,
    sort: Annotated[Sorting, Query(description="What comes first: the most of this.")] = "harm",
    q: Annotated[str | None, Query(max_length=500, description="Part of a path or a name.")] = None,
) -> schemas.Items[FunctionShown]:
    """Every function, the one that harms most first."""
    if sort == "harm" and not q:
        return await lists.page("functions")
    return await lists.page_of("functions", lambda rows: _arranged(rows, sort, q))


def _arranged(rows: Sequence[Json], sort: Sorting, q: str | None) -> Sequence[Json]:
    wanted = (q or "").casefold()
    found = [row for row in rows if wanted in f"{row['path']} {row['name']}".casefold()]
    match sort:
        case "harm":
            return found
        case "path":
            return sorted(found, key=lambda row: (row["path"], row["line"]))
    return sorted(found, key=lambda row: -row[sort])


@router.get("/clones")
async def list_clones(lists: ListsOf) -> schemas.Items[CloneCluster]:
    """Groups of copies, those with most lines first."""
    return await lists.page("clones")


@router.get("/cycles")
async def list_cycles(lists: ListsOf) -> schemas.Items[CycleShown]:
    """Import cycles, the largest first."""
    return await lists.page("cycles")


@router.get("/graph")
async def list_imports(lists: ListsOf) -> schemas.Items[FileImports]:
    """What each file imports of the project, by path."""
    return await lists.page("graph")


@router.get("/unused")
async def list_unused(lists: ListsOf) -> schemas.Items[UnusedShown]:
    """Functions that nothing refers to, by path."""
    return await lists.page("unused")


@router.get("/files")
async def list_files(
    hub: HubOf,
    channel_id: str,
    limit: Annotated[int, Query(ge=1, le=MOST_FILES, description="How many at most.")] = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[MeasuredFile]:
    """The files by path with size and harm, for a treemap; many at once are allowed here."""
    return await Lists(hub, channel_id, limit, cursor).page("files")


@router.get("/history")
async def list_history(
    hub: HubOf,
    channel_id: str,
    branch: Annotated[str | None, Query(description="Of this branch only.")] = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[TrendPoint]:
    """The scans of the channel, newest first."""
    page = await hub.quality.history(channel_id, branch, limit, cursor)
    return items(page.items, page.next_cursor, trend_point)


@router.get("/source")
async def read_source(
    hub: HubOf,
    channel_id: str,
    path: Annotated[str, Query(description="A file of the snapshot.")],
    line: Annotated[int, Query(ge=1, description="The first line.")] = 1,
    end_line: Annotated[int | None, Query(ge=1, description="The last line.")] = None,
) -> SourceShown:
    """Lines of a file, such as a member of a group of copies."""
    found = await hub.quality.source(channel_id, path, line, end_line or line + 199)
    return SourceShown(**found.wire())


@router.post("/compare")
async def compare(hub: HubOf, request: Request, channel_id: str, body: Comparison) -> Compared:
    """Compare the directory with a base, function by function; answers when it is done."""
    gate = await while_connected(request, lambda: hub.quality.compare(channel_id, body.base, body.rules))
    return Compared(**gate.wire())
