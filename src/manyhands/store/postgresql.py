"""PostgreSQL through SQLAlchemy's async engine on psycopg."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Self, TypeVar

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import create_async_engine

from manyhands.errors import UnavailableError
from manyhands.store.engine import Work
from manyhands.store.urls import psycopg_url

T = TypeVar("T")
log = logging.getLogger(__name__)

POOL = 8
POSTED_GROUP = 256
CONNECT_TIMEOUT_S = 10
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
        self._wake = anyio.Event()
        self._closing = False
        self._group: TaskGroup | None = None

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
        # What was posted is still written, also when whoever closes us is being cancelled.
        self._group.cancel_scope.shield = True
        self._group.cancel_scope.deadline = anyio.current_time() + CLOSE_TIMEOUT_S
        await self._group.__aexit__(None, None, None)
        with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
            await self._engine.dispose()

    async def write(self, work: Work[T]) -> T:
        self._check_open()
        try:
            async with self._engine.begin() as conn:
                return await conn.run_sync(work)
        except OperationalError as error:
            raise _unavailable(error) from error

    def post(self, work: Work[object]) -> None:
        self._check_open()
        self._posted.append(work)
        self._wake.set()

    async def read(self, work: Work[T]) -> T:
        self._check_open()
        try:
            async with self._engine.connect() as conn:
                await conn.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
                return await conn.run_sync(work)
        except OperationalError as error:
            raise _unavailable(error) from error

    def _check_open(self) -> None:
        if self._closing:
            raise UnavailableError("The database is closed.", hint="Start the hub again.")

    async def size(self) -> int:
        async with self._engine.connect() as conn:
            return int((await conn.execute(text("SELECT pg_database_size(current_database())"))).scalar_one())

    async def _write_posted(self) -> None:
        while True:
            while self._posted:
                batch, self._posted = self._posted[:POSTED_GROUP], self._posted[POSTED_GROUP:]
                await self._write_batch(batch)
            if self._closing:
                return
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


def _unavailable(error: OperationalError) -> UnavailableError:
    reason = str(error.orig).strip().splitlines()[0]
    return UnavailableError(
        f"PostgreSQL does not answer: {reason}.", hint="Check the database URL and that it runs."
    )
