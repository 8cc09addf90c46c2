"""Questions to collections: the copy that is searched, how close each chunk is in meaning, the hits.

Imported when the first question comes: it needs numpy. Whether collections are up to date is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from manyhands.clock import Clock
from manyhands.memory.embedders import Embedder, StaticEmbedder
from manyhands.memory.learning import Learner
from manyhands.memory.records import Records
from manyhands.memory.searching import (
    Ask,
    Found,
    Outcome,
    find,
    rank_here,
    read_hits,
    spread,
)
from manyhands.memory.segments import Matrix, remove_leftovers
from manyhands.memory.shelf import Shelves
from manyhands.memory.store import Collection
from manyhands.memory.types import FileFacts, Hit, Query
from manyhands.memory.vector_store import PgVectors, VectorStore
from manyhands.memory.view import View, unit

Scores = NDArray[np.float32]
Rank = Callable[[], tuple[Found, bool]]
"""The best chunks, and whether meaning had a part in it."""

LARGE = 50_000
"""More chunks than this are not ranked in the database's threads: these are several, and each keeps the
memory that it once needed."""


WARM_CHUNKS = 300_000
"""So many chunks at most are read into memory before anybody asks."""


@dataclass(frozen=True)
class Answer:
    """Hits, or the files that have to be read again first."""

    hits: Sequence[Hit]
    by_meaning: bool
    unlearned: int = 0
    """Files that have no vectors yet."""
    changed: Sequence[FileFacts] = ()
    vanished: bool = False
    """A file was replaced while it was searched."""
    moved: bool = False
    """Another hub of the same database wrote to the collections before we had read our hits."""
    weak: bool = False
    """The hits are the nearest that there is, and may have nothing to do with the question."""


class Finder:
    """Searches the copies of collections that this process holds.

    Where the database has vectors of its own, it is asked for the nearest as long as there is no copy.
    """

    def __init__(
        self,
        records: Records,
        clock: Clock,
        learner: Learner,
        vectors: VectorStore,
        marks: dict[int, str],
        folder: Path,
    ) -> None:
        self._records = records
        self._clock = clock
        self._learner = learner
        self._vectors = vectors
        self._marks = marks
        self._shelves = Shelves(records, folder)
        self._middle: tuple[object, Scores | None] = (None, None)
        remove_leftovers(folder)

    def forget(self, collection: str) -> None:
        """Let go of the copy of a collection."""
        self._shelves.forget(collection)

    async def warm(self, collections: Sequence[Collection]) -> None:
        """Have all at hand that a question to them needs, unless that is too much to hold unasked."""
        if self._shelves.size_with(collections) > WARM_CHUNKS:
            return
        embedder = await self._learner.embedder()
        view = await self._shelves.view(
            collections, None if embedder is None else embedder.name, self._vectors
        )
        await anyio.to_thread.run_sync(_try_out, view, embedder)

    async def search(
        self, collections: Sequence[Collection], query: Query, *, learning: bool, last: bool
    ) -> Answer:
        """Ask once. `learning`: vectors are being made, and not read before that is over.

        `last`: answer with what there is, whether or not files have changed.
        """
        embedder = await self._learner.embedder()
        model = None if embedder is None else embedder.name
        in_database = isinstance(self._vectors, PgVectors) and (
            learning or not self._shelves.has_copies(collections, model)
        )
        copied = None if learning or in_database else self._vectors
        view = await self._shelves.view(collections, model, copied)
        now = self._clock.now().timestamp()
        if in_database:
            rank: Rank = _done(await self._rank_by_database(view, collections, query, model, now))
        else:
            rank = partial(rank_here, view, query, await self._asking(embedder, view, query), now)
            if view.size > LARGE:
                rank = _done(await anyio.to_thread.run_sync(rank))
        known = {} if self._records.alone else {one.id: one.revision for one in collections}

        def read(conn: Connection) -> tuple[Outcome, bool]:
            found, by_meaning = rank()
            return read_hits(conn, view, found, query, self._marks, known), by_meaning

        outcome, by_meaning = await self._records.read_apart(read)
        unlearned = 0 if in_database else view.unlearned
        changed = () if last else outcome.changed
        # What is close was found out for these vectors; others have another scale.
        weak = by_meaning and isinstance(embedder, StaticEmbedder) and outcome.fit < 1
        return Answer(outcome.hits, by_meaning, unlearned, changed, outcome.vanished, outcome.moved, weak)

    async def _asking(self, embedder: Embedder | None, view: View, query: Query) -> Ask | None:
        """Who makes the question's vector; nobody if none is to be had, or nothing is there to compare."""
        if isinstance(embedder, StaticEmbedder):
            return embedder.ask_here
        if embedder is None or query.by_words or view.dimensions is None:
            return None
        vector = await self._learner.ask(query.text)
        return None if vector is None else lambda _: vector

    # --- by the database

    async def _rank_by_database(
        self, view: View, collections: Sequence[Collection], query: Query, model: str | None, now: float
    ) -> tuple[Found, bool]:
        assert isinstance(self._vectors, PgVectors)
        close = None
        if model is not None and not query.by_words:
            close = await self._closeness(self._vectors, query.text, view, collections, model)
        found = await anyio.to_thread.run_sync(find, view, query, close, now)
        if query.diversity > 0 and found.rows:
            vectors = await self._vectors_in_database(self._vectors, view, found.rows)
            found = spread(found, vectors, query.diversity)
        return found, close is not None

    async def _closeness(
        self, vectors: PgVectors, question: str, view: View, collections: Sequence[Collection], model: str
    ) -> Scores | None:
        """How close the nearest chunks are to the question; nothing when that cannot be said now."""
        vector = await self._learner.ask(question)
        if vector is None or not vector.any():
            return None
        names = [collection.id for collection in collections]
        key = (model, tuple((collection.id, collection.revision) for collection in collections))
        if self._middle[0] != key:
            middle = await self._records.read(partial(vectors.middle, collections=names, model=model))
            self._middle = (key, middle)
        middle = self._middle[1]
        if middle is None or len(middle) != len(vector):
            return None
        nearest = await self._records.read(
            partial(vectors.nearest, collections=names, model=model, question=vector, middle=middle)
        )
        close = np.zeros(view.size, dtype=np.float32)
        for file_id, number, cosine in nearest:
            if (first := view.first_rows.get(file_id)) is not None:
                close[first + number] = cosine
        return close

    async def _vectors_in_database(
        self, vectors: PgVectors, view: View, chosen: Sequence[int]
    ) -> Matrix | None:
        places = [(file.id, number) for file, number in map(view.place, chosen)]
        known = await self._records.read(partial(vectors.vectors_of, places=places))
        if not known:
            return None
        nothing = np.zeros(len(next(iter(known.values()))), dtype=np.float32)
        return unit(np.array([known.get(place, nothing) for place in places], dtype=np.float32))


def _done(ranked: tuple[Found, bool]) -> Rank:
    return lambda: ranked


def _try_out(view: View, embedder: Embedder | None) -> None:
    """A question that nobody asked: it makes what is made once, and costs no endpoint anything."""
    ask = embedder.ask_here if isinstance(embedder, StaticEmbedder) else None
    rank_here(view, Query("What is known?"), ask, 0)
    if ask is None and view.dimensions is not None:
        view.closeness(np.ones(view.dimensions, dtype=np.float32))
