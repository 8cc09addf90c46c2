"""Which revision of the schema a database has, told by a SELECT: Alembic comes in only when it has work.

Light to import: a daemon looks at its database with this before SQLAlchemy is there.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from manyhands.store.urls import is_sqlite, sqlite_path

if TYPE_CHECKING:
    from sqlalchemy import Connection

HEAD = "0002"


def head_revision() -> str:
    """The revision that this program needs; a test keeps it equal to the newest migration."""
    return HEAD


def current_revision(conn: Connection) -> str | None:
    """The revision of this database, or nothing for a new one."""
    from sqlalchemy import inspect, text

    if not inspect(conn).has_table("alembic_version"):
        return None
    row = conn.execute(text("SELECT version_num FROM alembic_version")).first()
    return None if row is None else str(row[0])


def looks_current(url: str) -> bool:
    """Whether a SQLite database can be opened and needs no migration. Others are not looked at: false."""
    if not is_sqlite(url):
        return False
    import sqlite3
    from pathlib import Path

    try:
        with closing(sqlite3.connect(f"{Path(sqlite_path(url)).as_uri()}?mode=ro", uri=True)) as database:
            row = database.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return False
    return row is not None and row[0] == HEAD
