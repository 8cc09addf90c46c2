"""Questions to collections: the copy that is searched, how close each chunk is in meaning, the hits.

Imported when the first question comes: it needs numpy. Whether collections are up to date is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from manyhands.clock import Clock
from manyhands.memory.embedders import Embedder, StaticEmbedder
from manyhands.memory.learning import Learner
from manyhands.memory.records import Records
from manyhands.memory.searching import Outcome, find, read_hits, search_here, spread
from manyhands.memory.segments import Matrix, remove_leftovers
from manyhands.memory.shelf import Shelves
from manyhands.memory.store import Collection
from manyhands.memory.types import FileFacts, Hit, Query
from manyhands.memory.vector_store import PgVectors, VectorStore
from manyhands.memory.view import View, unit

Scores = NDArray[np.float32]

LARGE = 50_000
"""More chunks than this are not ranked in the database's threads: these are several, and each keeps the
memory that it once needed."""


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


class Finder:
    """Searches the copies of collections that this process holds."""

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

    async def search(
        self, collections: Sequence[Collection], query: Query, *, learning: bool, last: bool
    ) -> Answer:
        """Ask once. `learning`: vectors are being made, and not read before that is over.

        `last`: answer with what there is, whether or not files have changed.
        """
        embedder = await self._learner.embedder()
        model = None if embedder is None else embedder.name
        view = await self._shelves.view(collections, model, None if learning else self._vectors)
        now = self._clock.now().timestamp()
        if view.size <= LARGE and self._is_here(embedder):
            ask = embedder.ask_here if isinstance(embedder, StaticEmbedder) else None
            work = partial(search_here, view=view, query=query, ask=ask, marks=self._marks, now=now)
            outcome, by_meaning = await self._records.read(work)
        else:
            outcome, by_meaning = await self._search_apart(view, collections, query, model, now)
        unlearned = view.unlearned if self._vectors.in_memory else 0
        changed = () if last else outcome.changed
        return Answer(outcome.hits, by_meaning, unlearned, changed, outcome.vanished)

    def _is_here(self, embedder: Embedder | None) -> bool:
        """Whether all can be done on one connection: on PostgreSQL that would hold up the loop."""
        return self._records.alone and (embedder is None or isinstance(embedder, StaticEmbedder))

    async def _search_apart(
        self, view: View, collections: Sequence[Collection], query: Query, model: str | None, now: float
    ) -> tuple[Outcome, bool]:
        close = None
        if model is not None and not query.by_words:
            close = await self._closeness(query.text, view, collections, model)
        found = await anyio.to_thread.run_sync(find, view, query, close, now)
        if query.diversity > 0 and found.rows:
            if isinstance(self._vectors, PgVectors):
                vectors = await self._vectors_in_database(self._vectors, view, found.rows)
            else:
                vectors = view.vectors_of(found.rows)
            found = spread(found, vectors, query.diversity)
        work = partial(read_hits, view=view, found=found, query=query, marks=self._marks)
        return await self._records.read(work), close is not None

    async def _closeness(
        self, question: str, view: View, collections: Sequence[Collection], model: str
    ) -> Scores | None:
        """How close each chunk is to the question; nothing when that cannot be said now."""
        if self._vectors.in_memory and view.dimensions is None:
            return None
        vector = await self._learner.ask(question)
        if vector is None or not vector.any():
            return None
        if isinstance(self._vectors, PgVectors):
            return await self._by_database(self._vectors, vector, view, collections, model)
        return await anyio.to_thread.run_sync(view.closeness, vector)

    async def _by_database(
        self, vectors: PgVectors, vector: Scores, view: View, collections: Sequence[Collection], model: str
    ) -> Scores | None:
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
