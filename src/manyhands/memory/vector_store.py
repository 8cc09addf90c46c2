"""Where vectors are kept: whole files of them as bytes, or one by one in PostgreSQL's own vectors (pgvector).

Both are copied into a matrix and scanned there. As long as there is no such copy, the database scans what
pgvector keeps, exactly, and only the closest come back. Which model made a vector is part of its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, and_, delete, exists, func, insert, select, text
from sqlalchemy.exc import DBAPIError

from manyhands.memory.segments import Matrix
from manyhands.memory.store import in_parts
from manyhands.memory.view import damped
from manyhands.store.engine import Store
from manyhands.store.tables import memory_files, memory_vectors

FILES_AT_ONCE = 50
"""Vectors are large: what one statement brings back stands in memory at once."""
CLOSEST = 1000
"""So many chunks the database says are close; the others count as far."""
_MAKE = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    """CREATE TABLE IF NOT EXISTS memory_pgvectors (
    file_id BIGINT NOT NULL REFERENCES memory_files (id) ON DELETE CASCADE, number INTEGER NOT NULL,
    embedding vector NOT NULL, PRIMARY KEY (file_id, number))""",
)
_LOCK = 822_200_007


class VectorStore(Protocol):
    """The same for both ways; all of it SQL on a connection of somebody else's."""

    name: str
    note: str | None
    """Why it is not the other way, where that would be better."""

    def put(self, conn: Connection, model: str, files: Mapping[int, Matrix]) -> None:
        """Keep the vectors of some files in the place of those that another model made."""
        ...

    def missing(
        self, conn: Connection, collection: str, model: str, limit: int | None
    ) -> list[tuple[int, int]]:
        """Files without vectors of this model, with how many chunks they have."""
        ...

    def load(self, conn: Connection, file_ids: Sequence[int], model: str) -> Iterator[tuple[int, Matrix]]:
        """The vectors of these files, those that have some."""
        ...


class BlobVectors:
    """A row of bytes for each file."""

    name = "matrix"

    def __init__(self, note: str | None = None) -> None:
        self.note = note

    def put(self, conn: Connection, model: str, files: Mapping[int, Matrix]) -> None:
        _mark(conn, model, files, lambda vectors: np.ascontiguousarray(vectors, dtype="<f4").tobytes())

    def missing(
        self, conn: Connection, collection: str, model: str, limit: int | None
    ) -> list[tuple[int, int]]:
        return _missing(conn, collection, model, limit, func.length(memory_vectors.c.data) > 0)

    def load(self, conn: Connection, file_ids: Sequence[int], model: str) -> Iterator[tuple[int, Matrix]]:
        table = memory_vectors
        for some in in_parts(sorted(file_ids), FILES_AT_ONCE):
            query = select(table.c.file_id, table.c.dimensions, table.c.data).where(
                table.c.model == model, table.c.file_id.in_(some), func.length(table.c.data) > 0
            )
            for row in conn.execute(query):
                yield row.file_id, np.frombuffer(row.data, dtype="<f4").reshape(-1, row.dimensions)


class PgVectors:
    """A row for each chunk, of the type that pgvector brings. One model at a time."""

    name = "pgvector"
    note: str | None = None

    def put(self, conn: Connection, model: str, files: Mapping[int, Matrix]) -> None:
        _mark(conn, model, files, lambda _: b"")
        conn.exec_driver_sql("DELETE FROM memory_pgvectors WHERE file_id = ANY(%s)", (list(files),))
        filled = [(file_id, np.flatnonzero(vectors.any(axis=1))) for file_id, vectors in files.items()]
        driver: Any = conn.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(_PUT) as copy:
            copy.write(_COPY_BEGINS)
            for file_id, numbers in filled:
                copy.write(_sent(file_id, numbers, files[file_id][numbers]))
            copy.write(_COPY_ENDS)

    def missing(
        self, conn: Connection, collection: str, model: str, limit: int | None
    ) -> list[tuple[int, int]]:
        return _missing(conn, collection, model, limit, func.length(memory_vectors.c.data) == 0)

    def load(self, conn: Connection, file_ids: Sequence[int], model: str) -> Iterator[tuple[int, Matrix]]:
        for row in conn.execute(text(_LOAD), {"ids": list(file_ids), "model": model}):
            found = np.zeros((row.chunks, row.dimensions), dtype=np.float32)
            if row.data is not None:
                kind = np.dtype(_vector(row.dimensions))
                found[row.numbers] = np.frombuffer(row.data, dtype=kind)["numbers"]
            yield row.file_id, found

    def middle(self, conn: Connection, collections: Sequence[str], model: str) -> NDArray[np.float32] | None:
        """The middle of all vectors."""
        statement = f"SELECT avg(v.embedding)::text AS mean, count(*) AS total {_FROM}"
        found = conn.execute(text(statement), _named(collections, model)).one()
        return None if found.mean is None else damped(_read(found.mean) * found.total, found.total)

    def nearest(
        self, conn: Connection, collections: Sequence[str], model: str, question: Matrix, middle: Matrix
    ) -> list[tuple[int, int, float]]:
        """The closest chunks as seen from the middle: file, number, cosine."""
        statement = (
            "SELECT v.file_id, v.number, "
            "1 - ((v.embedding - CAST(:middle AS vector)) <=> CAST(:asked AS vector)) AS near "
            f"{_FROM} ORDER BY near DESC, v.file_id, v.number LIMIT :most"
        )
        values = _named(collections, model) | {
            "middle": _written(middle),
            "asked": _written(question - middle),
            "most": CLOSEST,
        }
        found = conn.execute(text(statement), values)
        return [(row.file_id, row.number, float(row.near)) for row in found]

    def vectors_of(
        self, conn: Connection, places: Sequence[tuple[int, int]]
    ) -> Mapping[tuple[int, int], Matrix]:
        """The vectors of some chunks."""
        ids = sorted({file_id for file_id, _ in places})
        columns = "file_id, number, embedding::text AS written"
        statement = f"SELECT {columns} FROM memory_pgvectors WHERE file_id = ANY(:ids)"  # noqa: S608 - our names
        wanted = set(places)
        rows = conn.execute(text(statement), {"ids": ids})
        return {
            (row.file_id, row.number): _read(row.written)
            for row in rows
            if (row.file_id, row.number) in wanted
        }


_FROM = (
    "FROM memory_pgvectors v JOIN memory_files f ON f.id = v.file_id "
    "JOIN memory_vectors m ON m.file_id = v.file_id AND m.model = :model "
    "WHERE f.collection = ANY(:collections)"
)


_PUT = "COPY memory_pgvectors (file_id, number, embedding) FROM STDIN (FORMAT BINARY)"
_COPY_BEGINS = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_ENDS = b"\xff\xff"
_LOAD = """
    SELECT m.file_id, f.chunks, m.dimensions, array_agg(v.number ORDER BY v.number) AS numbers,
        string_agg(vector_send(v.embedding), '' ORDER BY v.number) AS data
    FROM memory_vectors m JOIN memory_files f ON f.id = m.file_id
    LEFT JOIN memory_pgvectors v ON v.file_id = m.file_id
    WHERE m.model = :model AND m.file_id = ANY(:ids) GROUP BY m.file_id, f.chunks, m.dimensions"""


def _named(collections: Sequence[str], model: str) -> dict[str, Any]:
    return {"collections": list(collections), "model": model}


def _vector(dimensions: int) -> list[Any]:
    """As the database sends and takes one: two short numbers, then its own, high bytes first."""
    return [("dimensions", ">i2"), ("unused", ">i2"), ("numbers", ">f4", (dimensions,))]


def _sent(file_id: int, numbers: NDArray[np.intp], vectors: Matrix) -> bytes:
    """Rows as COPY takes them: how many fields, then each with its size in front."""
    dimensions = vectors.shape[1]
    head = [("fields", ">i2"), ("id_size", ">i4"), ("id", ">i8"), ("number_size", ">i4"), ("number", ">i4")]
    rows = np.zeros(len(numbers), dtype=[*head, ("vector_size", ">i4"), *_vector(dimensions)])
    rows["fields"], rows["id_size"], rows["id"] = 3, 8, file_id
    rows["number_size"], rows["number"] = 4, numbers
    rows["vector_size"], rows["dimensions"], rows["numbers"] = 4 + 4 * dimensions, dimensions, vectors
    return rows.tobytes()


def _written(vector: NDArray[np.float32]) -> str:
    return "[" + ",".join(["%.8g"] * len(vector)) % tuple(vector.tolist()) + "]"


def _read(written: str) -> NDArray[np.float32]:
    return np.array(written.strip("[]").split(","), dtype=np.float32)


def _mark(conn: Connection, model: str, files: Mapping[int, Matrix], data: Callable[[Matrix], bytes]) -> None:
    """One model for each file: the vectors of another one are not kept beside its own."""
    for some in in_parts(list(files)):
        conn.execute(delete(memory_vectors).where(memory_vectors.c.file_id.in_(some)))
    values = [
        {"file_id": file_id, "model": model, "dimensions": vectors.shape[1], "data": data(vectors)}
        for file_id, vectors in files.items()
    ]
    conn.execute(insert(memory_vectors), values)


def _missing(
    conn: Connection, collection: str, model: str, limit: int | None, kept: Any
) -> list[tuple[int, int]]:
    files, vectors = memory_files, memory_vectors
    has = exists().where(and_(vectors.c.file_id == files.c.id, vectors.c.model == model, kept))
    query = select(files.c.id, files.c.chunks).where(
        files.c.collection == collection, files.c.chunks > 0, ~has
    )
    query = query.order_by(files.c.id)
    return [(row.id, row.chunks) for row in conn.execute(query if limit is None else query.limit(limit))]


def dimensions_of(conn: Connection, model: str) -> int | None:
    """How many numbers the vectors of a model have, by those that are kept."""
    query = select(memory_vectors.c.dimensions).where(memory_vectors.c.model == model).limit(1)
    found = conn.execute(query).scalar()
    return None if found is None else int(found)


async def choose_vectors(store: Store) -> VectorStore:
    """pgvector where the database has it or may be given it, else bytes."""
    if store.dialect != "postgresql":
        return BlobVectors()
    if not await store.read(_has_extension):
        return BlobVectors("PostgreSQL has no pgvector here: install it, and start the hub again.")
    try:
        await store.write(_make)
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0]
        hint = "let an administrator run CREATE EXTENSION vector, and start the hub again"
        return BlobVectors(f"pgvector cannot be used ({reason}): {hint}.")
    return PgVectors()


def _has_extension(conn: Connection) -> bool:
    query = "SELECT exists(SELECT 1 FROM pg_available_extensions WHERE name = 'vector')"
    return bool(conn.execute(text(query)).scalar())


def _make(conn: Connection) -> None:
    # Two that make the same at the same time fail, whatever "if not exists" says.
    conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    for statement in _MAKE:
        conn.execute(text(statement))
