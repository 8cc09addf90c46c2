"""Gives chunks their vectors, and questions theirs, by the embedder that the settings name.

An embedder that fails is left alone for a while; meanwhile search goes by words, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import anyio
from sqlalchemy import Connection, select

from manyhands.clock import Clock
from manyhands.errors import ManyhandsError, UnavailableError
from manyhands.memory import store as rows
from manyhands.memory.embedders import Embedder, make_embedder
from manyhands.memory.records import Records
from manyhands.memory.types import Chunk
from manyhands.settings import CurrentSettings
from manyhands.store.tables import memory_files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from manyhands.memory.indexing import Tell
    from manyhands.memory.segments import Matrix
    from manyhands.memory.vector_store import VectorStore
    from manyhands.secrets import SecretStore

RETRY_S = 30.0
LONGEST_RETRY_S = 600.0


@dataclass(frozen=True, slots=True)
class Learned:
    """How far a pass came."""

    embedded: int = 0
    waiting: int = 0
    notes: tuple[str, ...] = ()


class Vectors(Protocol):
    """Who knows where vectors are kept."""

    async def __call__(self) -> VectorStore: ...


class Learner:
    """The one embedder of a hub, and what is known of its health."""

    def __init__(
        self,
        records: Records,
        clock: Clock,
        settings: CurrentSettings,
        secrets: SecretStore,
        vectors: Vectors,
    ) -> None:
        self._records = records
        self._clock = clock
        self._settings = settings
        self._secrets = secrets
        self._vectors = vectors
        self._made: tuple[object, Embedder | None] | None = None
        self._dimensions: dict[str, int] = {}
        self._underway: set[anyio.CancelScope] = set()
        """Passes that end when another embedder is chosen: the last one may not answer for long."""
        self._failures = 0
        self.problem: str | None = None
        self.retry_at: float | None = None
        """When it may be asked again, by the monotonic clock."""

    async def embedder(self) -> Embedder | None:
        """The one to use now; another one begins without the failures of the last."""
        current = self._settings.current
        key = (current.memory_embedder, current.memory_embedder_url, current.memory_embedder_key)
        if self._made is None or self._made[0] != key:
            self._worked()
            for scope in self._underway:
                scope.cancel()
        elif self._made[1] is not None or self.problem is None or self.resting:
            return self._made[1]
        try:
            self._made = (key, await make_embedder(current, self._secrets))
        except ManyhandsError as error:
            self._made = (key, None)
            self._failed(error)
        return self._made[1]

    @property
    def resting(self) -> bool:
        """Whether it failed a moment ago and is not asked now."""
        return self.retry_at is not None and self._clock.monotonic() < self.retry_at

    @property
    def note(self) -> str | None:
        """Why search goes by words alone."""
        if self.problem is None:
            return None
        return f"{self.problem} Until then search goes by words alone."

    # --- questions

    async def ask(self, question: str) -> NDArray[np.float32] | None:
        """The vector of a question; nothing when there is none to be had now."""
        embedder = await self.embedder()
        if embedder is None or self.resting:
            return None
        try:
            vector = await embedder.ask(question)
            await self._check(embedder.name, len(vector))
        except UnavailableError as error:
            if await self.embedder() is embedder:  # else it is no business of the next one
                self._failed(error)
            return None
        self._worked()
        return vector

    # --- chunks

    async def learn(self, collection: str, tell: Tell) -> Learned:
        """Give a vector to each chunk of a collection that has none of the present model."""
        while True:
            embedder = await self.embedder()
            with anyio.CancelScope() as scope:
                self._underway.add(scope)
                try:
                    return await self._learn(collection, embedder, tell)
                finally:
                    self._underway.discard(scope)

    async def _learn(self, collection: str, embedder: Embedder | None, tell: Tell) -> Learned:
        if embedder is None:
            return Learned(notes=(self.note,) if self.note else ())
        vectors = await self._vectors()
        missing = await self._records.read(
            lambda conn: vectors.missing(conn, collection, embedder.name, None)
        )
        total = sum(chunks for _, chunks in missing)
        if not total:
            return Learned()
        if self.resting:
            return Learned(0, total, (self.note,) if self.note else ())
        done = 0
        tell("embedding", 0, total)
        for files in _batches(missing, embedder.batch):
            try:
                await self._learn_some(collection, embedder, vectors, [number for number, _ in files])
            except UnavailableError as error:
                self._failed(error)
                return Learned(done, total - done, (self.note,) if self.note else ())
            done += sum(chunks for _, chunks in files)
            tell("embedding", done, total)
        self._worked()
        return Learned(done)

    async def _learn_some(
        self, collection: str, embedder: Embedder, vectors: VectorStore, files: Sequence[int]
    ) -> None:
        chunks = await self._records.read(lambda conn: [rows.texts_of(conn, number) for number in files])
        matrix = await self._embed(embedder, [chunk for of_file in chunks for chunk in of_file])
        if matrix is None:
            return
        made, at = dict[int, "Matrix"](), 0
        for number, of_file in zip(files, chunks, strict=True):
            if of_file:
                made[number] = matrix[at : at + len(of_file)]
            at += len(of_file)
        put = partial(_put, collection=collection, model=embedder.name, vectors=vectors, files=made)
        await self._records.write(put)

    async def _embed(self, embedder: Embedder, chunks: Sequence[Chunk]) -> Matrix | None:
        import numpy as np

        passages = [embedder.passage(chunk) for chunk in chunks]
        parts = [
            await embedder.embed(passages[at : at + embedder.batch])
            for at in range(0, len(passages), embedder.batch)
        ]
        for part in parts:
            await self._check(embedder.name, part.shape[1])
        return np.concatenate(parts) if parts else None

    async def _check(self, model: str, dimensions: int) -> None:
        """Refuse vectors that cannot be compared with those that are kept."""
        known = self._dimensions.get(model)
        if known is None:
            from manyhands.memory.vector_store import dimensions_of

            known = await self._records.read(partial(dimensions_of, model=model)) or dimensions
            self._dimensions[model] = known
        if known != dimensions:
            raise UnavailableError(
                f"{model} answers with vectors of {dimensions} numbers, and those kept have {known}.",
                hint="If the model behind that name is another one now, index with `again`.",
            )

    def start_over(self) -> None:
        """Forget what is known of models: somebody said that all is to be made again."""
        self._dimensions.clear()
        self._worked()

    # --- health

    def _failed(self, error: ManyhandsError) -> None:
        self._failures += 1
        wait = min(RETRY_S * 2 ** (self._failures - 1), LONGEST_RETRY_S)
        self.problem = str(error)
        self.retry_at = self._clock.monotonic() + wait

    def _worked(self) -> None:
        self._failures = 0
        self.problem = self.retry_at = None


def _put(
    conn: Connection, collection: str, model: str, vectors: VectorStore, files: Mapping[int, Matrix]
) -> None:
    """Those of each file that did not change or go meanwhile, and does not before this is written."""
    there: set[int] = set()
    for some in rows.in_parts(list(files)):
        query = select(memory_files.c.id).where(memory_files.c.id.in_(some))
        there.update(conn.execute(query.with_for_update(read=True, key_share=True)).scalars())
    if there:
        vectors.put(conn, model, {number: made for number, made in files.items() if number in there})
        rows.changed(conn, collection)


def _batches(files: Sequence[tuple[int, int]], most: int) -> Iterator[Sequence[tuple[int, int]]]:
    """Whole files, together with at most so many chunks unless it is one alone."""
    batch, size = list[tuple[int, int]](), 0
    for file in files:
        if batch and size + file[1] > most:
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file[1]
    if batch:
        yield batch
