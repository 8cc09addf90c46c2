"""The copies of collections that questions are asked of: read when they are first needed, and kept fresh.

What changed is read alone and put beside the rest; when that has become much, all of it is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import numpy as np
from sqlalchemy import Connection, select

from manyhands.memory import store as rows
from manyhands.memory.postings import FileWords
from manyhands.memory.records import Records
from manyhands.memory.segments import Matrix, Segment, SegmentTables, new_matrix
from manyhands.memory.store import Collection
from manyhands.memory.types import FileFacts
from manyhands.memory.vector_store import VectorStore
from manyhands.memory.view import Part, View
from manyhands.store.tables import memory_vectors
from manyhands.system import return_memory

MOST_PARTS = 12
TOO_MUCH = 0.3
"""When so great a share of all files is gone or came later, everything is read again."""
AT_ONCE = 200
"""Files that are read at a time."""
VECTORS_AT_ONCE = 2000
"""They are large, and on PostgreSQL the loop waits while they are taken apart."""
MANY = 5000
"""Making a segment of more chunks leaves much that is worth giving back."""
MOST_SHELVES = 8
"""Collections that are kept in memory; who was not asked for longest goes."""


@dataclass
class _Shelf:
    """The copy of one collection."""

    revision: int = -1
    model: str | None = None
    with_vectors: bool = False
    copied: bool = False
    """Vectors of this model have been read once: from then on questions are asked of the copy."""
    parts: list[Part] = field(default_factory=list)
    reading: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def there(self) -> set[int]:
        return {file.id for part in self.parts for file in part.segment.files if file.id not in part.gone}

    @property
    def unlearned(self) -> set[int]:
        return {
            file.id
            for part in self.parts
            for file in part.segment.files
            if file.id not in part.gone and file.id not in part.segment.learned
        }


class Shelves:
    """All copies of this process."""

    def __init__(self, records: Records, folder: Path) -> None:
        self._records = records
        self._folder = folder
        self._shelves: dict[str, _Shelf] = {}
        self._views: dict[tuple[str, ...], tuple[object, View]] = {}

    async def view(
        self, collections: Sequence[Collection], model: str | None, vectors: VectorStore | None
    ) -> View:
        """What these collections hold now. `vectors`: where from; nothing if they are not to be read now."""
        parts: list[Part] = []
        states: list[object] = []
        for collection in collections:
            shelf = self._shelf(collection.id)
            async with shelf.reading:
                await self._refresh(shelf, collection, model, vectors)
            parts += shelf.parts
            states.append((shelf.revision, shelf.model, shelf.with_vectors, len(shelf.parts)))
        names = tuple(collection.id for collection in collections)
        state, view = self._views.pop(names, (None, None))
        if view is None or state != states:
            view = await anyio.to_thread.run_sync(View, parts)
        self._views[names] = (states, view)
        while len(self._views) > MOST_SHELVES:
            self._views.pop(next(iter(self._views)))
        return view

    def has_copies(self, collections: Sequence[Collection], model: str | None) -> bool:
        """Whether the vectors of all of them have been read."""
        found = [self._shelves.get(collection.id) for collection in collections]
        return all(shelf is not None and shelf.copied and shelf.model == model for shelf in found)

    def size_with(self, collections: Sequence[Collection]) -> int:
        """How many chunks there would be if these were read, too."""
        names = {collection.id for collection in collections}
        others = [shelf for name, shelf in self._shelves.items() if name not in names]
        held = sum(part.segment.size for shelf in others for part in shelf.parts)
        return held + sum(collection.chunks for collection in collections)

    def forget(self, collection: str) -> None:
        """Let go of a copy."""
        self._shelves.pop(collection, None)
        self._views = {names: one for names, one in self._views.items() if collection not in names}

    def _shelf(self, collection: str) -> _Shelf:
        shelf = self._shelves.pop(collection, None) or _Shelf()
        self._shelves[collection] = shelf
        while len(self._shelves) > MOST_SHELVES:
            self.forget(next(iter(self._shelves)))
        return shelf

    async def _refresh(
        self, shelf: _Shelf, collection: Collection, model: str | None, vectors: VectorStore | None
    ) -> None:
        if shelf.model != model:  # vectors of two models are never side by side
            shelf.parts, shelf.revision, shelf.model = [], -1, model
            shelf.with_vectors = shelf.copied = False
        wanted = vectors is not None
        if shelf.revision == collection.revision and (shelf.with_vectors or not wanted):
            return
        if vectors is not None and not shelf.copied and shelf.parts:
            shelf.parts = [await self._with_vectors(part, model, vectors) for part in shelf.parts]
        numbers = await self._records.read(partial(rows.file_numbers, collection=collection.id))
        there = shelf.there
        learned = await self._newly_learned(shelf, model) if wanted else set()
        gone, new = (there - numbers) | (learned & there), (numbers - there) | (learned & numbers)
        spoiled = sum(len(part.gone) for part in shelf.parts) + len(gone) + len(new)
        if spoiled > TOO_MUCH * max(len(numbers), 1) or len(shelf.parts) >= MOST_PARTS:
            shelf.parts = [Part(await self._segment(numbers, model, vectors))]
        elif gone or new:
            kept = [Part(part.segment, part.gone | (gone & _ids(part.segment))) for part in shelf.parts]
            added = [Part(await self._segment(new, model, vectors))] if new else []
            shelf.parts = [*kept, *added]
        shelf.revision = collection.revision
        shelf.with_vectors = wanted
        shelf.copied |= wanted

    async def _newly_learned(self, shelf: _Shelf, model: str | None) -> set[int]:
        """Files of the copy that were read without vectors and have some now."""
        waiting = sorted(shelf.unlearned)

        def look(conn: Connection) -> set[int]:
            table = memory_vectors
            found: set[int] = set()
            for some in rows.in_parts(waiting):
                query = select(table.c.file_id).where(table.c.model == model, table.c.file_id.in_(some))
                found.update(conn.execute(query).scalars())
            return found

        return await self._records.read(look) if waiting else set()

    async def _segment(
        self, numbers: Iterable[int], model: str | None, vectors: VectorStore | None
    ) -> Segment:
        """These files, read some at a time: a large memory must not stand there twice."""
        tables = SegmentTables()
        for some in _some(sorted(numbers)):
            found = await self._records.read(partial(rows.file_words, file_ids=some))
            await anyio.to_thread.run_sync(_add, tables, found)
        matrix, learned = await self._matrix(tables.files, tables.sizes, model, vectors)
        return await anyio.to_thread.run_sync(_made, Segment, tables, matrix, learned)

    async def _with_vectors(self, part: Part, model: str | None, vectors: VectorStore) -> Part:
        segment = part.segment
        matrix, learned = await self._matrix(segment.files, segment.sizes, model, vectors)
        made = await anyio.to_thread.run_sync(_made, segment.with_vectors, matrix, learned)
        return Part(made, part.gone)

    async def _matrix(
        self,
        files: Sequence[FileFacts],
        chunks: Sequence[int],
        model: str | None,
        vectors: VectorStore | None,
    ) -> tuple[Matrix | None, set[int]]:
        """Their vectors, and which files have some; nothing where none are wanted."""
        if vectors is None or model is None:
            return None, set()
        bases = dict(zip((file.id for file in files), _starts(chunks), strict=True))
        sizes, total = dict(zip(bases, chunks, strict=True)), sum(chunks)
        learned = {number for number, size in sizes.items() if not size}
        matrix: Matrix | None = None

        def fill(conn: Connection, some: Sequence[int]) -> None:
            nonlocal matrix
            for number, found in vectors.load(conn, some, model):
                if matrix is None:
                    matrix = new_matrix(total, found.shape[1], self._folder)
                if found.shape == (sizes[number], matrix.shape[1]):
                    matrix[bases[number] : bases[number] + sizes[number]] = found
                    learned.add(number)

        for some in _heaps(sizes):
            await self._records.read(partial(fill, some=some))
        return matrix, learned


def _add(tables: SegmentTables, found: Sequence[tuple[FileFacts, bytes]]) -> None:
    tables.add([(facts, FileWords.unpack(packed)) for facts, packed in found])


def _made(make: Callable[..., Segment], *parts: Any) -> Segment:
    segment = make(*parts)
    if segment.size > MANY:
        return_memory()
    return segment


def _ids(segment: Segment) -> frozenset[int]:
    return frozenset(file.id for file in segment.files)


def _starts(sizes: Sequence[int]) -> list[int]:
    return [int(start) for start in np.cumsum([0, *sizes])[:-1]]


def _heaps(sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Files with so many chunks together that their vectors are read at a time."""
    heap, weight = list[int](), 0
    for number in sorted(sizes):
        heap.append(number)
        weight += sizes[number]
        if weight >= VECTORS_AT_ONCE:
            yield heap
            heap, weight = [], 0
    if heap:
        yield heap


def _some(values: Sequence[int]) -> Iterable[Sequence[int]]:
    return (values[at : at + AT_ONCE] for at in range(0, len(values), AT_ONCE))
