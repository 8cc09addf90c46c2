"""Memory: search over the notes of a project, what it holds, and keeping it up to date.

A collection is a project's directory, the global memory, or a channel without a directory. A question is
asked of the caller's own collection and of the global one, never of another.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus
from sqlalchemy import Connection

from manyhands.chat.service import ChannelService, clean_directory
from manyhands.chat.types import Channel, Message
from manyhands.clock import Clock, rfc3339
from manyhands.errors import InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.home import Home
from manyhands.imports import import_aside
from manyhands.memory import store as rows
from manyhands.memory.conversations import CONVERSATION
from manyhands.memory.excerpts import AROUND, Excerpt, cut_excerpt, joined, read_excerpt
from manyhands.memory.keeping import Keeper, Sources, report_json
from manyhands.memory.learning import Learner
from manyhands.memory.records import Records
from manyhands.memory.roots import CHANNEL, GLOBAL, directory_of, scope_name
from manyhands.memory.store import Collection
from manyhands.memory.types import Hit, IndexReport, Query
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.secrets import SecretStore
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store

if TYPE_CHECKING:
    from manyhands.memory.finding import Finder
    from manyhands.memory.vector_store import VectorStore

ATTEMPTS = 4
LONGEST_QUESTION = 4000


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """What a caller may search: its own collection and the global one."""

    own: str | None
    channel_id: str | None = None

    @property
    def collections(self) -> tuple[str, ...]:
        return (GLOBAL,) if self.own is None else (self.own, GLOBAL)


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, how they were found, and what they were looked for in."""

    hits: Sequence[Hit]
    mode: str
    files: int
    chunks: int
    stale: int
    indexing: bool
    notes: tuple[str, ...] = ()

    def wire(self) -> dict[str, Any]:
        """As the API and the tools show it."""
        return {
            "results": [hit_json(hit) for hit in self.hits],
            "mode": self.mode,
            "index": {
                "files": self.files,
                "chunks": self.chunks,
                "stale": self.stale,
                "indexing": self.indexing,
            },
            "notes": list(self.notes),
        }


class MemoryService:
    """The use cases of memory."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        settings: CurrentSettings,
        secrets: SecretStore,
        home: Home,
        channels: ChannelService,
        said: Callable[[str], Awaitable[Sequence[Message]]],
    ) -> None:
        """`said`: all messages of a channel, oldest first."""
        self._records = Records(store)
        self._store = store
        self._hide = secrets.redactor.hide
        self._clock = clock
        self._settings = settings
        self._home = home
        self._channels = channels
        self._marks: dict[int, str] = {}
        self._learner = Learner(self._records, clock, settings, secrets, self._vector_store)
        sources = Sources(self._channels_of, said)
        warm = self._warm_collection
        self._keeper = Keeper(
            self._records,
            bus,
            clock,
            settings,
            self._learner,
            self._marks,
            home.memory,
            sources,
            warm,
            secrets.redactor.hide,
        )
        self._choosing = anyio.Lock()
        self._vectors: VectorStore | None = None
        self._finder: Finder | None = None
        self._counted: tuple[object, list[Collection]] | None = None

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Keep what is used up to date in the background; only a daemon does this. Until cancelled."""
        await self._keeper.run(task_status=task_status)

    # --- scopes

    async def scope(self, channel: Channel | None = None, dir_path: str | None = None) -> MemoryScope:
        """What is searched for a channel, or for a directory; without either the global memory alone."""
        if channel is not None:
            return MemoryScope(channel.dir_path or f"{CHANNEL}{channel.id}", channel.id)
        if dir_path is None:
            return MemoryScope(None)
        return MemoryScope(await anyio.to_thread.run_sync(clean_directory, dir_path))

    async def _channels_of(self, collection: str) -> Sequence[Channel]:
        if collection.startswith(CHANNEL):
            try:
                return [await self._channels.get(collection.removeprefix(CHANNEL))]
            except NotFoundError:
                return []
        return [one for one in await self._channels.with_directories() if one.dir_path == collection]

    # --- search

    async def search(self, scope: MemoryScope, query: Query) -> SearchAnswer:
        """The passages that answer a question best."""
        if len(query.text) > LONGEST_QUESTION:
            raise InvalidError(
                f"A question has at most {LONGEST_QUESTION:,} characters.", hint="Ask for less at once."
            )
        notes = await self._keeper.make_ready(scope.collections)
        finder = await self._found_finder()
        for attempt in range(ATTEMPTS):
            known = await self._known(scope.collections)
            learning = self._keeper.is_learning(scope.collections)
            answer = await finder.search(known, query, learning=learning, last=attempt + 1 == ATTEMPTS)
            if answer.moved:
                self._counted = None
            elif answer.changed:
                await self._keeper.reread(scope.collections, answer.changed)
            elif not answer.vanished:
                break
        mode = "hybrid" if answer.by_meaning else "lexical"
        notes += self._notes(query, answer.unlearned, learning=learning)
        if answer.weak and answer.hits:
            notes.append("Nothing fits this question well: these are the nearest passages.")
        return self._answer(answer.hits, mode, known, notes)

    def _notes(self, query: Query, unlearned: int, *, learning: bool) -> list[str]:
        if query.by_words:
            return []
        if self._learner.note:
            return [self._learner.note]
        if learning or unlearned:
            return ["Some files have no vectors yet: they are found by their words alone until they do."]
        return []

    def _answer(
        self, hits: Sequence[Hit], mode: str, known: Sequence[Collection], notes: Sequence[str]
    ) -> SearchAnswer:
        states = [self._keeper.state(one.id) for one in known]
        return SearchAnswer(
            hits,
            mode,
            sum(one.files for one in known),
            sum(one.chunks for one in known),
            sum(state.stale for state in states),
            any(state.phase != "idle" for state in states),
            tuple(notes),
        )

    async def _known(self, collections: Sequence[str]) -> list[Collection]:
        """What is counted of them, read when we have written something."""
        key = (self._records.writes, tuple(collections))
        if self._counted is None or self._counted[0] != key:
            found = await self._records.read(partial(rows.select_collections, wanted=key[1]))
            self._counted = (key, found)
        return self._counted[1]

    async def warm(self, scope: MemoryScope) -> None:
        """Get ready for questions, so that the first one does not wait."""
        finder = await self._found_finder()
        await finder.warm(await self._known(scope.collections))

    async def _warm_collection(self, collection: str) -> None:
        await self.warm(MemoryScope(None if collection == GLOBAL else collection))

    async def _vector_store(self) -> VectorStore:
        async with self._choosing:
            if self._vectors is None:
                module = await import_aside("manyhands.memory.vector_store")
                self._vectors = await module.choose_vectors(self._store)
            return self._vectors

    async def _found_finder(self) -> Finder:
        if self._finder is None:
            vectors = await self._vector_store()
            module = await import_aside("manyhands.memory.finding")
            if self._finder is None:
                self._finder = module.Finder(
                    self._records, self._clock, self._learner, vectors, self._marks, self._home.run
                )
        return self._finder

    # --- indexing

    async def index(self, scope: MemoryScope, *, again: bool = False) -> IndexReport:
        """Bring the memory of a scope up to date; returns when that is done. `again`: make all of it anew."""
        report = IndexReport()
        for collection in scope.collections:
            report += await self._keeper.index(collection, again=again)
            if again and self._finder is not None:
                self._finder.forget(collection)
        return report

    async def forget(self, scope: MemoryScope) -> None:
        """Drop what is kept of a scope's own collection; files are never touched."""
        if scope.own is not None:
            await self._keeper.drop(scope.own)
            if self._finder is not None:
                self._finder.forget(scope.own)

    # --- what there is

    async def status(self, scope: MemoryScope | None = None) -> dict[str, Any]:
        """What is indexed, what is going on, and who makes vectors; without a scope all that there is."""
        embedder = await self._learner.embedder()
        wanted = None if scope is None else scope.collections
        model = None if embedder is None else embedder.name
        found = await self._records.read(partial(self._counts, wanted=wanted, model=model))
        known = {one[0].id: one for one in found}
        listed = [known.get(name, (_nothing(name), 0, 0)) for name in wanted or known]
        vectors = await self._vector_store()
        return {
            "collections": [self._collection_json(*one) for one in listed],
            "embedder": {
                "name": self._settings.current.memory_embedder,
                "kept_in": vectors.name,
                "note": vectors.note,
                "problem": self._learner.problem,
                "retry_in_s": self._retry_in(),
            },
        }

    def _retry_in(self) -> float | None:
        at = self._learner.retry_at
        return None if at is None else round(max(at - self._clock.monotonic(), 0), 1)

    def _counts(
        self, conn: Connection, wanted: Sequence[str] | None, model: str | None
    ) -> list[tuple[Collection, int, int]]:
        return [
            (one, rows.count_problems(conn, one.id), rows.count_embedded(conn, one.id, model))
            for one in rows.select_collections(conn, wanted)
        ]

    def _collection_json(self, collection: Collection, problems: int, embedded: int) -> dict[str, Any]:
        state = self._keeper.state(collection.id)
        roots = self._keeper.roots(collection.id)
        return {
            "scope": scope_name(collection.id),
            "directory": directory_of(collection.id),
            "channel_id": collection.id.removeprefix(CHANNEL) if collection.id.startswith(CHANNEL) else None,
            "roots": [] if roots is None else list(roots.places),
            "files": collection.files,
            "chunks": collection.chunks,
            "embedded": embedded,
            "stale": state.stale,
            "problems": problems,
            "state": state.phase,
            "done": state.done,
            "total": state.total,
            "watched": state.watched,
            "watch_problem": state.watch_problem,
            "indexed_at": None if collection.indexed_at is None else rfc3339(collection.indexed_at),
        }

    async def files(
        self,
        scope: MemoryScope,
        *,
        only_problems: bool = False,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[dict[str, Any]]:
        """The files of a scope by their path, each with what is wrong with it."""
        if cursor is not None and not cursor.rpartition(" ")[2].isdecimal():
            raise InvalidError(
                f"The cursor {cursor!r} is not one of ours.", hint="Send back `next_cursor` as it came."
            )
        found = await self._records.read(
            lambda conn: rows.files_page(conn, scope.collections, limit + 1, cursor, only_problems)
        )
        page, more = cut_page(found, limit)
        after = f"{page[-1].shown} {page[-1].id}" if more else None
        return Page([_file_json(row) for row in page], after)

    async def excerpt(
        self, scope: MemoryScope, path: str, line: int = 1, around: int = AROUND, of: str | None = None
    ) -> Excerpt:
        """The lines of an indexed file around one of them, as the file is now. `of`: in which memory."""
        among = [one for one in scope.collections if of is None or scope_name(one) == of]
        row = await self._records.read(lambda conn: rows.find_file(conn, among, path))
        if row is None:
            raise NotFoundError(
                f"There is no file {path!r} in this memory.", hint="GET /api/memory/files lists them."
            )
        if row.kind == CONVERSATION:
            chunks = await self._records.read(partial(rows.texts_of, file_id=row.id))
            return cut_excerpt(row.shown, joined(chunks), line, around)
        largest = self._settings.current.memory_file_bytes
        found = await anyio.to_thread.run_sync(
            read_excerpt, row.path, row.shown, row.digest, line, around, largest
        )
        return replace(found, text=self._hide(found.text))


def hit_json(hit: Hit) -> dict[str, Any]:
    """A hit as the API and the tools show it."""
    parts = {name: round(getattr(hit.parts, name), 4) for name in ("lexical", "vector", "recency")}
    return {
        "path": hit.path,
        "line_start": hit.line_start,
        "line_end": hit.line_end,
        "heading": hit.heading,
        "text": hit.text,
        "score": hit.score,
        "parts": parts,
        "scope": hit.scope,
    }


def index_json(scope: MemoryScope, report: IndexReport) -> dict[str, Any]:
    """What indexing did, as the API and the tools show it."""
    return report_json(scope.own or GLOBAL, report)


def _nothing(collection: str) -> Collection:
    from datetime import UTC, datetime

    return Collection(collection, 0, 0, 0, datetime.fromtimestamp(0, UTC), None)


def _file_json(row: Any) -> dict[str, Any]:
    return {
        "path": row.shown,
        "scope": scope_name(row.collection),
        "kind": row.kind,
        "size": row.size,
        "chunks": row.chunks,
        "modified_at": rfc3339(row.modified_at),
        "problem": row.problem,
    }
