"""PostgreSQL through SQLAlchemy's async engine on psycopg."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.ext.asyncio import create_async_engine

from manyhands.errors import UnavailableError
from manyhands.store.urls import psycopg_url

if TYPE_CHECKING:
    from manyhands.store.engine import Work

T = TypeVar("T")
log = logging.getLogger(__name__)

POOL = 8
POSTED_GROUP = 256
CONNECT_TIMEOUT_S = 10
WORK_TIMEOUT_S = 60
CLOSE_TIMEOUT_S = 30


class PostgresStore:
    """A database on a server, shared by many machines."""

    dialect = "postgresql"

    def __init__(self, url: str) -> None:
        self._engine = create_async_engine(
            psycopg_url(url),
            pool_size=POOL,
            max_overflow=POOL,
            pool_pre_ping=True,
            connect_args={"connect_timeout": CONNECT_TIMEOUT_S},
        )
        self._posted: list[Work[object]] = []
        self._underway = self._written = 0
        self._batch_done = anyio.Event()
        self._wake = anyio.Event()
        self._closing = False
        self._group: TaskGroup | None = None
        # What was posted is still written when whoever owns us is being cancelled.
        self._writing = anyio.CancelScope(shield=True)

    async def __aenter__(self) -> Self:
        try:
            async with self._engine.connect() as conn:
                await conn.execute(text("SELECT 1"))
        except OperationalError as error:
            await self._engine.dispose()
            raise _unavailable(error) from error
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(self._write_posted)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        self._wake.set()
        assert self._group is not None
        self._writing.deadline = anyio.current_time() + CLOSE_TIMEOUT_S
        try:
            await self._group.__aexit__(None, None, None)
        finally:
            with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
                await self._engine.dispose()

    async def write(self, work: Work[T]) -> T:
        self._check_open()
        # Shielded: the driver, cancelled in the middle, breaks its connection and raises something else.
        with anyio.move_on_after(WORK_TIMEOUT_S, shield=True), _explained():
            async with self._engine.begin() as conn:
                return await conn.run_sync(work)
        raise _too_slow()

    async def write_now(self, work: Work[T]) -> T:
        return await self.write(work)

    async def write_soon(self, work: Work[T]) -> T:
        return await self.write(work)

    def post(self, work: Work[object]) -> None:
        self._check_open()
        self._posted.append(work)
        self._wake.set()

    async def flush(self) -> None:
        wanted = self._written + self._underway + len(self._posted)
        while self._written < wanted:
            await self._batch_done.wait()

    async def read(self, work: Work[T]) -> T:
        self._check_open()
        with anyio.move_on_after(WORK_TIMEOUT_S, shield=True), _explained():
            async with self._engine.connect() as conn:
                await conn.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
                return await conn.run_sync(work)
        raise _too_slow()

    def _check_open(self) -> None:
        if self._closing:
            raise UnavailableError("The database is closed.", hint="Start the hub again.")

    async def size(self) -> int:
        async with self._engine.connect() as conn:
            return int((await conn.execute(text("SELECT pg_database_size(current_database())"))).scalar_one())

    async def _write_posted(self) -> None:
        with self._writing:
            while self._posted or not self._closing:
                batch, self._posted = self._posted[:POSTED_GROUP], self._posted[POSTED_GROUP:]
                if batch:
                    self._underway = len(batch)
                    await self._write_batch(batch)
                    self._written, self._underway = self._written + len(batch), 0
                    self._batch_done.set()
                    self._batch_done = anyio.Event()
                else:
                    self._wake = anyio.Event()
                    await self._wake.wait()

    async def _write_batch(self, batch: list[Work[object]]) -> None:
        try:
            async with self._engine.begin() as conn:
                for work in batch:
                    await conn.run_sync(work)
        except Exception:  # border: a posted write has no caller to tell
            if len(batch) == 1:
                log.exception("a posted write failed")
                return
            for work in batch:
                await self._write_batch([work])


@contextmanager
def _explained() -> Iterator[None]:
    """Our errors for the database's, and a cancellation for what the driver made of one."""
    try:
        yield
    except DBAPIError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, anyio.get_cancelled_exc_class()):
            cause = cause.__cause__ or cause.__context__
        if cause is not None:
            raise cause from error
        if isinstance(error, OperationalError):
            raise _unavailable(error) from error
        raise


def _too_slow() -> UnavailableError:
    return UnavailableError(
        f"PostgreSQL did not finish within {WORK_TIMEOUT_S} s.", hint="Look at what keeps it busy."
    )


def _unavailable(error: OperationalError) -> UnavailableError:
    reason = str(error.orig).strip().splitlines()[0]
    return UnavailableError(
        f"PostgreSQL does not answer: {reason}.", hint="Check the database URL and that it runs."
    )
