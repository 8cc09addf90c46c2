"""Where data lives: SQLite through one writer thread and read-only readers, PostgreSQL through a few threads.

A unit of work is a plain function that takes a SQLAlchemy connection; the store decides where it runs and may
run it again when the transaction it shared with others broke. The store owns transactions and connections; it
knows no table.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from manyhands.errors import InvalidError
from manyhands.store.urls import is_sqlite, scheme_of, sqlite_path

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy import Connection

    from manyhands.store.postgresql import PostgresStore
    from manyhands.store.sqlite import SqliteStore

T = TypeVar("T")
Work = Callable[["Connection"], T]


class Store(Protocol):
    """The same for both databases."""

    dialect: str
    file: str | None
    """Where it is, for a database that is a file."""

    async def write(self, work: Work[T]) -> T:
        """Run it in a transaction of its own; when this returns, it is committed."""
        ...

    async def write_now(self, work: Work[T]) -> T:
        """Like `write`, for a few small rows that somebody waits for; it may overtake posted work."""
        ...

    async def write_row(self, work: Work[T]) -> T:
        """Like `write_now`, for one statement: it may be committed by itself, without a transaction."""
        ...

    async def write_soon(self, work: Work[T]) -> T:
        """Like `write_now`, where many such rows come at once and share a commit."""
        ...

    def post(self, work: Work[object], lost: Callable[[], None] | None = None) -> None:
        """Run it like `write`, in order with other posted work, without waiting; a failure is logged.

        `lost`: called when it has failed, maybe in another thread.
        """
        ...

    async def flush(self) -> None:
        """Wait until all work posted so far is committed."""
        ...

    async def read(self, work: Work[T]) -> T:
        """Run it on a connection that cannot write."""
        ...

    async def read_now(self, work: Work[T]) -> T:
        """Like `read`, for one statement that finds a row or two by an index; two may see two moments."""
        ...

    async def size(self) -> int:
        """Bytes on disk."""
        ...


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Store]:
    """Open the database at `url`, bring its schema up to date, and close it at the end."""
    store = _make(url)
    async with store:
        await _migrate(url, store)
        yield store


def _make(url: str) -> SqliteStore | PostgresStore:
    scheme = scheme_of(url)
    if is_sqlite(url):
        from manyhands.store.sqlite import SqliteStore

        return SqliteStore(sqlite_path(url))
    if scheme in ("postgresql", "postgres"):
        from manyhands.store.postgresql import PostgresStore

        return PostgresStore(url)
    raise InvalidError(
        f"The database URL begins with {scheme!r}.",
        hint="Use sqlite:///PATH or postgresql://USER@HOST/NAME.",
    )


async def _migrate(url: str, store: Store) -> None:
    from manyhands.store.schema import current_revision, head_revision

    revision = await store.read(current_revision)
    if revision is None:
        from manyhands.store.migrate import create

        await store.write(create)
    elif revision != head_revision():
        import anyio

        from manyhands.store.migrate import upgrade

        await anyio.to_thread.run_sync(upgrade, url, revision)
