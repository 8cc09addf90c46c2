"""Inserts that say what happens to a row that is there already, in the words of the connection's database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table


def conflict_insert(conn: Connection, table: Table) -> Any:
    """An insert with `on_conflict_do_nothing` and `on_conflict_do_update`, which both databases have."""
    if conn.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)
