"""Whole databases on the move: a copy of a SQLite file while it is in use, and rows as JSON lines.

Blocking, with connections of its own: a backup must disturb neither the writer nor the event loop.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    Table,
    create_engine,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from manyhands.errors import InvalidError, UnavailableError
from manyhands.store.columns import Moment
from manyhands.store.migrate import upgrade
from manyhands.store.tables import metadata
from manyhands.store.urls import is_sqlite, psycopg_url, sqlite_path

BATCH = 500
_PAGES_AT_ONCE = 2000


def copy_sqlite(source: Path, target: Path) -> None:
    """A consistent copy of a database that others are writing to."""
    try:
        with (
            closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as original,
            closing(sqlite3.connect(target)) as copy,
        ):
            original.backup(copy, pages=_PAGES_AT_ONCE, sleep=0.01)
    except sqlite3.Error as error:
        raise UnavailableError(
            f"The database {source} could not be copied: {error}.",
            hint="Check that it is there and undamaged.",
        ) from error


def check_sqlite(path: Path) -> None:
    """Refuse a file that is damaged."""
    try:
        with closing(sqlite3.connect(path)) as database:
            verdict = str(database.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        verdict = str(error)
    if verdict != "ok":
        raise InvalidError(f"The saved database is damaged: {verdict}.", hint="Try another backup.")


def dump_tables(url: str, directory: Path) -> None:
    """Every table of ours as `NAME.jsonl`, all of them as they were at one moment.

    What can be made again from elsewhere is left out.
    """
    with _engine(url) as engine, engine.connect() as conn:
        if not is_sqlite(url):
            conn.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        for table in metadata.sorted_tables:
            if table.info.get("derived"):
                continue
            with (directory / f"{table.name}.jsonl").open("w", encoding="utf-8") as file:
                for row in _rows(conn, table):
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")


def load_tables(directory: Path, url: str) -> None:
    """Fill an empty database, all of it or none."""
    upgrade(url, None)
    with _engine(url) as engine, engine.begin() as conn:
        for table in metadata.sorted_tables:
            path = directory / f"{table.name}.jsonl"
            if path.exists():
                _load(conn, table, path)
        if conn.dialect.name == "postgresql":
            _continue_numbers(conn)


def has_rows(url: str) -> bool:
    """Whether anything of ours is in the database."""
    with _engine(url) as engine, engine.connect() as conn:
        known = set(inspect(conn).get_table_names())
        tables = [table for table in metadata.sorted_tables if table.name in known]
        return any(conn.execute(select(table).limit(1)).first() is not None for table in tables)


def _rows(conn: Connection, table: Table) -> Iterator[dict[str, Any]]:
    query = select(table).order_by(*table.primary_key.columns)
    for row in conn.execution_options(yield_per=BATCH).execute(query):
        yield {name: _written(value) for name, value in row._mapping.items()}


def _written(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _load(conn: Connection, table: Table, path: Path) -> None:
    moments = [column.name for column in table.columns if isinstance(column.type, Moment)]
    with path.open(encoding="utf-8") as file:
        while lines := list(islice(file, BATCH)):
            rows = [json.loads(line) for line in lines]
            for row in rows:
                row |= {name: datetime.fromisoformat(row[name]) for name in moments if row.get(name)}
            conn.execute(insert(table), rows)


def _continue_numbers(conn: Connection) -> None:
    """Rows came with their numbers; the counters of PostgreSQL must go on behind them."""
    for table in metadata.sorted_tables:
        for column in table.columns:
            if _counts_up(column, table):
                last = conn.execute(select(func.max(column))).scalar() or 0
                counter = func.pg_get_serial_sequence(table.name, column.name)
                conn.execute(select(func.setval(counter, last + 1, False)))


def _counts_up(column: Column[Any], table: Table) -> bool:
    return column is table.autoincrement_column


@contextmanager
def _engine(url: str) -> Iterator[Engine]:
    address = (
        URL.create("sqlite", database=sqlite_path(url)) if is_sqlite(url) else make_url(psycopg_url(url))
    )
    engine = create_engine(address, poolclass=NullPool)
    try:
        yield engine
    except OperationalError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise UnavailableError(f"The database does not answer: {reason}.", hint="Check its URL.") from error
    finally:
        engine.dispose()
