"""The SQL of memory: collections, the files in them, their chunks. Vectors are kept by `vector_store.py`.

A file is written whole or not at all, and its collection counts it in the same transaction.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, or_, select, tuple_, update

from manyhands.memory.roots import SUFFIXES
from manyhands.memory.types import Chunk, FileFacts
from manyhands.store.inserts import conflict_insert
from manyhands.store.tables import memory_chunks, memory_collections, memory_files, memory_vectors

SOME = 500
"""So many values are named in one statement."""


@dataclass(frozen=True, slots=True)
class Collection:
    """What is counted of a collection; `revision` grows with every change."""

    id: str
    revision: int
    files: int
    chunks: int
    used_at: datetime
    indexed_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file as it is to be kept. Without words there is nothing of it but its problem."""

    path: str
    shown: str
    kind: str
    digest: str
    size: int
    mark: str
    modified: float
    problem: str | None = None
    chunks: Sequence[Chunk] = ()
    words: bytes | None = None


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What is known of a file, to see whether it changed."""

    id: int
    path: str
    digest: str
    mark: str
    chunks: int
    kind: str
    problem: str | None


# --- collections


def touch_collection(conn: Connection, collection: str, now: datetime) -> None:
    """Make it if it is new; say that it is used.

    One that is made anew does not begin with a number that the one before had: somebody may hold a copy.
    """
    first = int(now.timestamp() * 1000)
    values = {"id": collection, "revision": first, "files": 0, "chunks": 0, "used_at": now}
    statement = conflict_insert(conn, memory_collections).values(values)
    conn.execute(statement.on_conflict_do_update(index_elements=["id"], set_={"used_at": now}))


def select_collections(conn: Connection, wanted: Sequence[str] | None = None) -> list[Collection]:
    query = select(memory_collections).order_by(memory_collections.c.id)
    if wanted is not None:
        query = query.where(memory_collections.c.id.in_(wanted))
    return [Collection(**row._mapping) for row in conn.execute(query)]


def revisions(conn: Connection, collections: Sequence[str]) -> dict[str, int]:
    """The number of the last change of each; on PostgreSQL, where others may have made it."""
    statement = "SELECT id, revision FROM memory_collections WHERE id = ANY(%s)"
    return {row[0]: row[1] for row in conn.exec_driver_sql(statement, (list(collections),))}


def mark_indexed(conn: Connection, collection: str, now: datetime) -> None:
    table = memory_collections
    conn.execute(update(table).where(table.c.id == collection).values(indexed_at=now))


def delete_collection(conn: Connection, collection: str) -> None:
    """With everything in it."""
    conn.execute(delete(memory_collections).where(memory_collections.c.id == collection))


_CHANGED = (
    update(memory_collections)
    .where(memory_collections.c.id == bindparam("name"))
    .values(
        revision=memory_collections.c.revision + 1,
        files=memory_collections.c.files + bindparam("more_files"),
        chunks=memory_collections.c.chunks + bindparam("more_chunks"),
    )
)


def changed(conn: Connection, collection: str, files: int = 0, chunks: int = 0) -> None:
    """Count what came or went, and let everybody who holds a copy know that it is old."""
    conn.execute(_CHANGED, {"name": collection, "more_files": files, "more_chunks": chunks})


# --- files


def put_files(conn: Connection, collection: str, new: Sequence[NewFile]) -> Sequence[int]:
    """Keep files in the place of what was known under their paths, all or none; their numbers."""
    old_files, old_chunks = _remove(conn, collection, [one.path for one in new])
    numbers = conn.execute(_INSERT_FILES, [_row(collection, one) for one in new]).scalars().all()
    _insert_chunks(conn, [(number, one.chunks) for number, one in zip(numbers, new, strict=True)])
    files = sum(one.words is not None for one in new)
    changed(conn, collection, files - old_files, sum(len(one.chunks) for one in new) - old_chunks)
    return numbers


def _row(collection: str, new: NewFile) -> dict[str, Any]:
    return {
        "collection": collection,
        "path": new.path,
        "shown": new.shown,
        "kind": new.kind,
        "digest": new.digest,
        "size": new.size,
        "mark": new.mark,
        "modified_at": datetime.fromtimestamp(new.modified, UTC),
        "chunks": len(new.chunks),
        "problem": new.problem,
        "words": new.words,
    }


_INSERT_FILES = insert(memory_files).returning(memory_files.c.id, sort_by_parameter_order=True)
_CHUNK = ("file_id", "number", "text", "line_start", "line_end", "headings", "section", "gap")
_INSERT_CHUNKS = f"""INSERT INTO memory_chunks ({", ".join(_CHUNK)})
    SELECT file_id, number, text, line_start, line_end, headings::jsonb, section, gap
    FROM unnest(%s::bigint[], %s::int[], %s::text[], %s::int[], %s::int[], %s::text[], %s::int[], %s::text[])
    AS new ({", ".join(_CHUNK)})"""  # noqa: S608 - our names
_INSERT_CHUNK = f"INSERT INTO memory_chunks ({', '.join(_CHUNK)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - our names


def _insert_chunks(conn: Connection, files: Iterable[tuple[int, Sequence[Chunk]]]) -> None:
    """Straight to the driver, all at once: they are many."""
    written = [
        (
            file_id,
            number,
            one.text,
            one.line_start,
            one.line_end,
            json.dumps(one.headings),
            one.section,
            one.gap,
        )
        for file_id, chunks in files
        for number, one in enumerate(chunks)
    ]
    if not written:
        return
    if conn.dialect.name == "sqlite":
        driver: Any = conn.connection.driver_connection
        driver.executemany(_INSERT_CHUNK, written)
    else:
        conn.exec_driver_sql(_INSERT_CHUNKS, tuple(map(list, zip(*written, strict=True))))


def touch_files(conn: Connection, marks: Mapping[int, tuple[str, float]]) -> None:
    """They were written anew with the same content; the mark and the time of each by its number."""
    touched = [
        {"number": number, "new_mark": mark, "at": datetime.fromtimestamp(modified, UTC)}
        for number, (mark, modified) in marks.items()
    ]
    conn.execute(_TOUCH, touched)


_TOUCH = (
    update(memory_files)
    .where(memory_files.c.id == bindparam("number"))
    .values(mark=bindparam("new_mark"), modified_at=bindparam("at"))
)


def remove_files(conn: Connection, collection: str, paths: Sequence[str]) -> int:
    """Forget these files; how many there were."""
    files, chunks = _remove(conn, collection, paths)
    changed(conn, collection, -files, -chunks)
    return files


def _remove(conn: Connection, collection: str, paths: Sequence[str]) -> tuple[int, int]:
    table = memory_files
    files = chunks = 0
    for at in range(0, len(paths), SOME):
        these = (table.c.collection == collection) & table.c.path.in_(paths[at : at + SOME])
        gone = conn.execute(delete(table).where(these).returning(table.c.chunks, table.c.words.is_not(None)))
        for of_file, had_words in gone:
            files += bool(had_words)
            chunks += of_file
    return files, chunks


def remove_some(conn: Connection, collection: str) -> int:
    """Forget some files of a collection; how many there were."""
    table = memory_files
    paths = conn.execute(select(table.c.path).where(table.c.collection == collection).limit(SOME)).scalars()
    some = list(paths)
    if some:
        remove_files(conn, collection, some)
    return len(some)


def known_files(
    conn: Connection, collection: str, kinds: Sequence[str], paths: Sequence[str] | None = None
) -> dict[str, KnownFile]:
    """Every file of a collection by its path, or those of some paths and what may be below them."""
    table = memory_files
    wanted = (table.c.id, table.c.path, table.c.digest, table.c.mark, table.c.chunks, table.c.kind)
    query = select(*wanted, table.c.problem).where(table.c.collection == collection, table.c.kind.in_(kinds))
    if paths is not None:
        above = [path for path in paths if os.path.splitext(path)[1].lower() not in SUFFIXES]
        below = [table.c.path.startswith(path + os.sep, autoescape=True) for path in above]
        query = query.where(or_(table.c.path.in_(paths), *below))
    return {row[1]: KnownFile(*row) for row in conn.execute(query)}


def files_page(
    conn: Connection, collections: Sequence[str], limit: int, after: str | None, only_problems: bool
) -> list[Row[Any]]:
    """Files by their path, without their words."""
    table = memory_files
    columns = [column for column in table.columns if column.name != "words"]
    query = select(*columns).where(table.c.collection.in_(collections))
    if only_problems:
        query = query.where(table.c.problem.is_not(None))
    if after is not None:
        shown, _, number = after.rpartition(" ")
        query = query.where(tuple_(table.c.shown, table.c.id) > tuple_(shown, int(number)))
    return list(conn.execute(query.order_by(table.c.shown, table.c.id).limit(limit)))


def find_file(conn: Connection, collections: Sequence[str], path: str) -> Row[Any] | None:
    """The file of that path, as it is shown or as it is."""
    table = memory_files
    named = (table.c.shown == path) | (table.c.path == path)
    columns = [column for column in table.columns if column.name != "words"]
    query = select(*columns).where(table.c.collection.in_(collections), named).order_by(table.c.id)
    return conn.execute(query.limit(1)).first()


def count_problems(conn: Connection, collection: str) -> int:
    table = memory_files
    query = select(func.count()).where(table.c.collection == collection, table.c.problem.is_not(None))
    return int(conn.execute(query).scalar_one())


def count_embedded(conn: Connection, collection: str, model: str | None) -> int:
    """How many chunks have a vector of this model."""
    files, vectors = memory_files, memory_vectors
    joined = files.join(vectors, (vectors.c.file_id == files.c.id) & (vectors.c.model == (model or "")))
    query = select(func.sum(files.c.chunks)).select_from(joined).where(files.c.collection == collection)
    return int(conn.execute(query).scalar() or 0)


# --- for the copy in memory


def file_numbers(conn: Connection, collection: str) -> set[int]:
    """The numbers of all files that have words."""
    table = memory_files
    query = select(table.c.id).where(table.c.collection == collection, table.c.words.is_not(None))
    return set(conn.execute(query).scalars())


def file_words(conn: Connection, file_ids: Iterable[int]) -> list[tuple[FileFacts, bytes]]:
    """These files in the order of their paths."""
    table = memory_files
    columns = (
        table.c.id,
        table.c.path,
        table.c.shown,
        table.c.mark,
        table.c.modified_at,
        table.c.kind,
        table.c.collection,
        table.c.words,
    )
    found: list[tuple[FileFacts, bytes]] = []
    for some in in_parts(sorted(file_ids)):
        for row in conn.execute(select(*columns).where(table.c.id.in_(some))):
            number, path, shown, mark, modified, kind, collection, words = row
            facts = FileFacts(number, path, shown, mark, modified.timestamp(), kind, collection)
            found.append((facts, words))
    return sorted(found, key=lambda item: item[0].shown)


def in_parts(values: Sequence[int], most: int = SOME) -> Iterable[Sequence[int]]:
    """As many at a time as one statement names."""
    return (values[at : at + most] for at in range(0, len(values), most))


def chunks_of(
    conn: Connection, runs: Sequence[tuple[int, int, int]], collections: Sequence[str] = ()
) -> tuple[dict[tuple[int, int], Chunk], Sequence[int]]:
    """Chunks by the number of their file and their own; a run is a file, its first and its last chunk.

    On PostgreSQL, where others may change them, also the number of the last change of each collection at
    that moment; nothing if no chunk is there.
    """
    if conn.dialect.name == "sqlite":
        return _chunks_directly(conn, runs), ()
    files, first, last = zip(*runs, strict=True) if runs else ((), (), ())
    driver: Any = conn.connection.driver_connection
    # In the driver's own words: they are the same for any number of runs, and nothing has to be compiled.
    given = (list(collections), list(files), list(first), list(last))
    read = driver.execute(_RUNS, given).fetchall()
    found = {
        (file_id, number): Chunk(text, line_start, line_end, tuple(headings), section, gap)
        for _, file_id, number, text, line_start, line_end, headings, section, gap in read
    }
    return found, read[0][0] if read else ()


_RUNS = f"""SELECT
        ARRAY(
            SELECT known.revision FROM unnest(%s::text[]) WITH ORDINALITY AS wanted (id, place)
            JOIN memory_collections known ON known.id = wanted.id ORDER BY wanted.place
        ),
        {", ".join(f"c.{name}" for name in _CHUNK)}
    FROM unnest(%s::bigint[], %s::int[], %s::int[]) AS run (file_id, first, last)
    JOIN memory_chunks c ON c.file_id = run.file_id AND c.number BETWEEN run.first AND run.last"""  # noqa: S608 - our names


def _chunks_directly(conn: Connection, runs: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int], Chunk]:
    """Straight to the driver: a question reads many small runs, and each costs next to nothing there."""
    driver: Any = conn.connection.driver_connection
    found: dict[tuple[int, int], Chunk] = {}
    for run in runs:
        for number, text, first, last, headings, section, gap in driver.execute(_RUN, run):
            found[run[0], number] = Chunk(text, first, last, tuple(json.loads(headings)), section, gap)
    return found


_RUN = (
    "SELECT number, text, line_start, line_end, headings, section, gap FROM memory_chunks "
    "WHERE file_id = ? AND number BETWEEN ? AND ?"
)


def _chunk(row: Row[Any]) -> Chunk:
    return Chunk(row.text, row.line_start, row.line_end, tuple(row.headings), row.section, row.gap)


def texts_of(conn: Connection, file_id: int) -> list[Chunk]:
    """All chunks of a file, in its order."""
    table = memory_chunks
    query = select(table).where(table.c.file_id == file_id).order_by(table.c.number)
    return [_chunk(row) for row in conn.execute(query)]


def problems_by_path(conn: Connection, collection: str) -> Mapping[str, str]:
    """What is wrong with which file."""
    table = memory_files
    query = select(table.c.shown, table.c.problem).where(
        table.c.collection == collection, table.c.problem.is_not(None)
    )
    return {row.shown: row.problem for row in conn.execute(query.order_by(table.c.shown))}
