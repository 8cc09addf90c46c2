"""Statements that run several times for every tool call, prepared once.

On SQLite an insert through SQLAlchemy costs three times what the database itself needs, so there they go
straight to the driver, inside the transaction if there is one, and with the same conversion of values. On
PostgreSQL the way to the server costs more than all of that, and they are ordinary statements.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, insert, update
from sqlalchemy.exc import DBAPIError

from manyhands.store.inserts import conflict_insert

Convert = Callable[[Any], Any]


class Insert:
    """Inserts a row with these columns.

    `otherwise`: what is taken over into a row of the same key, if there is one; without it that is an error.
    """

    def __init__(self, table: Table, columns: Sequence[str], otherwise: Sequence[str] | None = None) -> None:
        self._table = table
        self._otherwise = otherwise
        self._text = _insert_text(table, columns, otherwise)
        self._statement: Any = None
        self._values = _Values(table, columns)

    def run(self, conn: Connection, row: Mapping[str, Any]) -> None:
        if conn.dialect.name == "sqlite":
            _execute(conn, self._text, self._values.converted(conn, row))
        else:
            self._statement = self._statement if self._statement is not None else self._statement_for(conn)
            conn.execute(self._statement, row)

    def _statement_for(self, conn: Connection) -> Any:
        if self._otherwise is None:
            return insert(self._table)
        statement, key = conflict_insert(conn, self._table), list(self._table.primary_key)
        if not self._otherwise:
            return statement.on_conflict_do_nothing(index_elements=key)
        new = {name: statement.excluded[name] for name in self._otherwise}
        return statement.on_conflict_do_update(index_elements=key, set_=new)


class Update:
    """Updates these columns of the row with a key."""

    def __init__(self, table: Table, columns: Sequence[str], key: str) -> None:
        sets = ", ".join(f"{name} = ?" for name in columns)
        self._text = f"UPDATE {table.name} SET {sets} WHERE {key} = ?"  # noqa: S608 - our names
        values: dict[str, Any] = {name: bindparam(name) for name in columns}
        self._statement = update(table).where(table.c[key] == bindparam("the_key")).values(values)
        self._values = _Values(table, columns)

    def run(self, conn: Connection, key: Any, row: Mapping[str, Any]) -> int:
        """How many rows there were."""
        if conn.dialect.name == "sqlite":
            values = [*self._values.converted(conn, row), key]
            return int(_execute(conn, self._text, values).rowcount)
        return conn.execute(self._statement, {**row, "the_key": key}).rowcount


def _insert_text(table: Table, columns: Sequence[str], otherwise: Sequence[str] | None) -> str:
    marks = ", ".join("?" * len(columns))
    text = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our names
    if otherwise is None:
        return text
    text += f" ON CONFLICT ({', '.join(column.name for column in table.primary_key)}) DO "
    if not otherwise:
        return text + "NOTHING"
    return text + "UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in otherwise)


class _Values:
    """Turns the values of a row into what the driver takes, as the column types say."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        self._types = [table.c[name].type for name in columns]
        self._columns = columns
        self._converters: list[tuple[int, Convert]] | None = None

    def converted(self, conn: Connection, row: Mapping[str, Any]) -> list[Any]:
        if self._converters is None:
            made = [kind.dialect_impl(conn.dialect).bind_processor(conn.dialect) for kind in self._types]
            self._converters = [(place, convert) for place, convert in enumerate(made) if convert is not None]
        values = [row[name] for name in self._columns]
        for place, convert in self._converters:
            values[place] = convert(values[place])
        return values


def _execute(conn: Connection, text: str, values: Sequence[Any]) -> sqlite3.Cursor:
    """Straight to the driver, but with the errors that every statement raises."""
    driver: Any = conn.connection.driver_connection
    try:
        cursor: sqlite3.Cursor = driver.execute(text, values)
    except sqlite3.Error as error:
        raise DBAPIError.instance(text, tuple(values), error, sqlite3.Error) from error
    return cursor
