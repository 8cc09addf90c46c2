"""The copies of collections that questions are asked of: read when they are first needed, and kept fresh.

What changed is read alone and put beside the rest; when that has become much, all of it is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

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
        self._view: tuple[tuple[object, ...], View] | None = None

    async def view(
        self, collections: Sequence[Collection], model: str | None, vectors: VectorStore | None
    ) -> View:
        """What these collections hold now. `vectors`: where from; nothing if they are not to be read now."""
        parts: list[Part] = []
        key: list[object] = []
        for collection in collections:
            shelf = self._shelf(collection.id)
            async with shelf.reading:
                await self._refresh(shelf, collection, model, vectors)
            parts += shelf.parts
            key.append((collection.id, shelf.revision, shelf.model, shelf.with_vectors, len(shelf.parts)))
        if self._view is None or self._view[0] != tuple(key):
            self._view = (tuple(key), await anyio.to_thread.run_sync(View, parts))
        return self._view[1]

    def forget(self, collection: str) -> None:
        """Let go of a copy."""
        self._shelves.pop(collection, None)
        self._view = None

    def _shelf(self, collection: str) -> _Shelf:
        shelf = self._shelves.pop(collection, None) or _Shelf()
        self._shelves[collection] = shelf
        while len(self._shelves) > MOST_SHELVES:
            self._shelves.pop(next(iter(self._shelves)))
        return shelf

    async def _refresh(
        self, shelf: _Shelf, collection: Collection, model: str | None, vectors: VectorStore | None
    ) -> None:
        if shelf.model != model:  # vectors of two models are never side by side
            shelf.parts, shelf.revision, shelf.model, shelf.with_vectors = [], -1, model, False
        wanted = vectors is not None
        if shelf.revision == collection.revision and (shelf.with_vectors or not wanted):
            return
        numbers = await self._records.read(partial(rows.file_numbers, collection=collection.id))
        there = shelf.there
        learned = await self._newly_learned(shelf, model) if vectors and vectors.in_memory else set()
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
        matrix, learned = None, set[int]()
        if vectors is not None and vectors.in_memory and model is not None:
            matrix, learned = await self._matrix(tables, model, vectors)
        return await anyio.to_thread.run_sync(_made, tables, matrix, learned)

    async def _matrix(
        self, tables: SegmentTables, model: str, vectors: VectorStore
    ) -> tuple[Matrix | None, set[int]]:
        bases = dict(zip((file.id for file in tables.files), _starts(tables.sizes), strict=True))
        sizes = dict(zip(bases, tables.sizes, strict=True))
        learned = {number for number, size in sizes.items() if not size}
        matrix: Matrix | None = None

        def fill(conn: Connection, some: Sequence[int]) -> None:
            nonlocal matrix
            for number, found in vectors.load(conn, some, model):
                if matrix is None:
                    matrix = new_matrix(tables.size, found.shape[1], self._folder)
                if found.shape == (sizes[number], matrix.shape[1]):
                    matrix[bases[number] : bases[number] + sizes[number]] = found
                    learned.add(number)

        for some in _some(sorted(bases)):
            await self._records.read(partial(fill, some=some))
        return matrix, learned


def _add(tables: SegmentTables, found: Sequence[tuple[FileFacts, bytes]]) -> None:
    tables.add([(facts, FileWords.unpack(packed)) for facts, packed in found])


def _made(tables: SegmentTables, matrix: Matrix | None, learned: set[int]) -> Segment:
    segment = Segment(tables, matrix, learned)
    if segment.size > MANY:
        return_memory()
    return segment


def _ids(segment: Segment) -> frozenset[int]:
    return frozenset(file.id for file in segment.files)


def _starts(sizes: Sequence[int]) -> list[int]:
    return [int(start) for start in np.cumsum([0, *sizes])[:-1]]


def _some(values: Sequence[int]) -> Iterable[Sequence[int]]:
    return (values[at : at + AT_ONCE] for at in range(0, len(values), AT_ONCE))
