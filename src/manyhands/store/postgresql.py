"""PostgreSQL through psycopg, on a few threads.

A unit of work is a plain function, and a thread that waits for the server costs half of what the loop pays
for waiting with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio
from anyio.abc import TaskGroup
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DisconnectionError, OperationalError

from manyhands.errors import UnavailableError
from manyhands.store.urls import psycopg_url
from manyhands.system import is_readable

if TYPE_CHECKING:
    from manyhands.store.engine import Work

T = TypeVar("T")
_Posted = tuple["Work[object]", Callable[[], None] | None]
"""Work that nobody waits for, and whom to tell that it failed."""
log = logging.getLogger(__name__)

POOL = 8
ASKING = 4
POSTED_GROUP = 256
POST_DELAY_S = 0.01
CONNECT_TIMEOUT_S = 10
WORK_TIMEOUT_S = 60
CLOSE_TIMEOUT_S = 30
CONNECT = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    # A thread that waits for a server behind a broken network is freed.
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": WORK_TIMEOUT_S * 1000,
}


class PostgresStore:
    """A database on a server, shared by many machines."""

    dialect = "postgresql"
    file: str | None = None

    def __init__(self, url: str) -> None:
        self._engine = _engine(url, POOL)
        self._reading = self._engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        # One statement sees one moment by itself: a transaction around it is two ways to the server more.
        self._asking = _engine(url, ASKING, isolation_level="AUTOCOMMIT")
        event.listen(self._asking, "connect", _make_read_only)
        self._threads = ThreadPoolExecutor(POOL, thread_name_prefix="manyhands-database")
        self._posted: list[_Posted] = []
        self._underway = self._written = 0
        self._batch_done = anyio.Event()
        self._wake = anyio.Event()
        self._hurry = anyio.Event()
        self._closing = False
        self._group: TaskGroup | None = None
        # What was posted is still written when whoever owns us is being cancelled.
        self._writing = anyio.CancelScope(shield=True)

    async def __aenter__(self) -> Self:
        try:
            await self._in_thread(partial(_run_read, self._reading, _look))
        except BaseException:
            await self._close()
            raise
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(self._write_posted)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        self._wake.set()
        self._hurry.set()
        assert self._group is not None
        self._writing.deadline = anyio.current_time() + CLOSE_TIMEOUT_S
        try:
            await self._group.__aexit__(None, None, None)
        finally:
            await self._close()

    async def _close(self) -> None:
        with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
            await anyio.to_thread.run_sync(self._end_threads, abandon_on_cancel=True)

    def _end_threads(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._engine.dispose()
        self._asking.dispose()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        # Shielded: what a thread has begun is not undone by going away.
        with anyio.move_on_after(WORK_TIMEOUT_S, shield=True), _explained():
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        raise _too_slow()

    async def write(self, work: Work[T]) -> T:
        self._check_open()
        return await self._in_thread(partial(self._run_write, work))

    def _run_write(self, work: Work[T]) -> T:
        with self._engine.begin() as conn:
            return work(conn)

    async def write_now(self, work: Work[T]) -> T:
        return await self.write(work)

    async def write_row(self, work: Work[T]) -> T:
        return await self.write(work)

    async def write_soon(self, work: Work[T]) -> T:
        return await self.write(work)

    async def read_now(self, work: Work[T]) -> T:
        self._check_open()
        return await self._in_thread(partial(_run_read, self._asking, work))

    def post(self, work: Work[object], lost: Callable[[], None] | None = None) -> None:
        self._check_open()
        self._posted.append((work, lost))
        self._wake.set()

    async def flush(self) -> None:
        wanted = self._written + self._underway + len(self._posted)
        while self._written < wanted:
            self._hurry.set()
            await self._batch_done.wait()

    async def read(self, work: Work[T]) -> T:
        self._check_open()
        return await self._in_thread(partial(_run_read, self._reading, work))

    def _check_open(self) -> None:
        if self._closing:
            raise UnavailableError("The database is closed.", hint="Start the hub again.")

    async def size(self) -> int:
        return await self.read(_size)

    async def _write_posted(self) -> None:
        with self._writing:
            while self._posted or not self._closing:
                if not self._posted:
                    await self._gather()
                    continue
                batch, self._posted = self._posted[:POSTED_GROUP], self._posted[POSTED_GROUP:]
                self._underway = len(batch)
                await self._write_batch(batch)
                self._written, self._underway = self._written + len(batch), 0
                self._batch_done.set()
                self._batch_done = anyio.Event()

    async def _gather(self) -> None:
        """Wait for something, and a little for what comes with it: a commit costs more than a row."""
        self._wake, self._hurry = anyio.Event(), anyio.Event()
        await self._wake.wait()
        with anyio.move_on_after(POST_DELAY_S):
            await self._hurry.wait()

    async def _write_batch(self, batch: Sequence[_Posted]) -> None:
        try:
            await self._in_thread(partial(self._run_write, partial(_all_of, [work for work, _ in batch])))
        except Exception:  # border: a posted write has no caller to tell
            if len(batch) > 1:
                for one in batch:
                    await self._write_batch([one])
                return
            log.exception("a posted write failed")
            _, lost = batch[0]
            if lost is not None:
                lost()


def _engine(url: str, size: int, **more: Any) -> Engine:
    """The connection that was used last is used next: its process is awake and has its plans."""
    engine = create_engine(
        psycopg_url(url),
        pool_size=size,
        max_overflow=0,
        pool_use_lifo=True,
        connect_args=CONNECT,
        **more,
    )
    event.listen(engine, "checkout", _make_sure_of)
    return engine


def _make_sure_of(connection: Any, record: object, fairy: object) -> None:
    """A server that speaks unasked says that it hangs up. A question each time would tell no more."""
    if is_readable(connection.fileno()):
        raise DisconnectionError("the server has hung up")


def _make_read_only(connection: Any, record: object) -> None:
    """Without transactions of ours it is the session that must know."""
    connection.autocommit = True
    connection.execute("SET default_transaction_read_only = on")


def _run_read(engine: Engine, work: Work[T]) -> T:
    with engine.connect() as conn:
        return work(conn)


def _all_of(batch: Sequence[Work[object]], conn: Connection) -> None:
    for work in batch:
        work(conn)


def _look(conn: Connection) -> None:
    conn.execute(text("SELECT 1"))


def _size(conn: Connection) -> int:
    return int(conn.execute(text("SELECT pg_database_size(current_database())")).scalar_one())


@contextmanager
def _explained() -> Iterator[None]:
    """Our errors for the database's."""
    try:
        yield
    except OperationalError as error:
        raise _unavailable(error) from error


def _too_slow() -> UnavailableError:
    return UnavailableError(
        f"PostgreSQL did not finish within {WORK_TIMEOUT_S} s.", hint="Look at what keeps it busy."
    )


def _unavailable(error: OperationalError) -> UnavailableError:
    reason = str(error.orig).strip().splitlines()[0]
    return UnavailableError(
        f"PostgreSQL does not answer: {reason}.", hint="Check the database URL and that it runs."
    )
