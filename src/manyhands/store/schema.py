"""Which revision of the schema a database has, told by a SELECT: Alembic comes in only when it has work."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, text

HEAD = "0001"


def head_revision() -> str:
    """The revision that this program needs; a test keeps it equal to the newest migration."""
    return HEAD


def current_revision(conn: Connection) -> str | None:
    """The revision of this database, or nothing for a new one."""
    if not inspect(conn).has_table("alembic_version"):
        return None
    row = conn.execute(text("SELECT version_num FROM alembic_version")).first()
    return None if row is None else str(row[0])
