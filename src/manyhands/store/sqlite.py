"""SQLite as a server database: WAL, one writer thread that groups commits, read-only readers.

Begin-immediate on every writing transaction: one that reads first and writes later fails at once when another
connection writes in between, whatever the busy timeout.

A row that somebody waits for need not take the way through the writer thread and back, which costs more than
the row itself: when nobody else is writing, it can be committed at once on the caller's thread (without a
disk flush, which only checkpoints need, and those stay with the writer).
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import QueuePool

from manyhands.errors import UnavailableError

if TYPE_CHECKING:
    from manyhands.store.engine import Work

T = TypeVar("T")
log = logging.getLogger(__name__)

READERS = 4
GROUP = 256
POST_DELAY_S = 0.01
BUSY_TIMEOUT_MS = 15_000
CLOSE_TIMEOUT_S = 30


class _Job:
    """A unit of work and who waits for it."""

    __slots__ = ("error", "future", "loop", "result", "work")

    def __init__(
        self, work: Work[Any], loop: asyncio.AbstractEventLoop | None, future: asyncio.Future[Any] | None
    ) -> None:
        self.work, self.loop, self.future = work, loop, future
        self.result: Any = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        """On the waiter's loop: hand over the outcome."""
        if self.future is None or self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class SqliteStore:
    """One file, one writer, several readers."""

    dialect = "sqlite"

    def __init__(self, path: str) -> None:
        self._path = path
        self._closed = False
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._posted: deque[_Job] = deque()
        self._post_planned = False
        self._writer = threading.Thread(target=self._write_loop, name="manyhands-writer", daemon=True)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="manyhands-reader")
        self._write_engine = _engine(path, read_only=False)
        self._read_engine = _engine(path, read_only=True)
        self._quick_engine = _engine(path, read_only=False, quick=True)
        self._quick: Connection | None = None

    async def __aenter__(self) -> Self:
        try:
            await asyncio.get_running_loop().run_in_executor(self._readers, self._create)
        except BaseException:
            self._readers.shutdown(wait=False)
            self._write_engine.dispose()
            raise
        self._writer.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._close)

    def _close(self) -> None:
        self._jobs.put(None)
        self._writer.join(CLOSE_TIMEOUT_S)
        self._readers.shutdown(wait=True, cancel_futures=True)
        self._read_engine.dispose()
        if self._quick is not None:
            self._quick.close()
        self._quick_engine.dispose()
        self._write_engine.dispose()

    def _create(self) -> None:
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        try:
            with self._write_engine.connect() as conn:
                conn.connection.driver_connection.execute("PRAGMA journal_mode=WAL")  # type: ignore[union-attr]
        except DatabaseError as error:
            raise _unusable(self._path, error) from error
        os.chmod(self._path, 0o600)

    async def write(self, work: Work[T]) -> T:
        self._check_open()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(work, loop, future))
        return await future

    async def write_now(self, work: Work[T]) -> T:
        self._check_open()
        try:
            return self._commit_now(work)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise _explain(self._path, error) from error
        return await self.write(work)

    def _commit_now(self, work: Work[T]) -> T:
        """One transaction here and now; raises when another one is being written."""
        if self._quick is None:
            self._quick = self._quick_engine.connect()
        driver: Any = self._quick.connection.driver_connection
        driver.execute("BEGIN IMMEDIATE")
        try:
            result = work(self._quick)
            driver.execute("COMMIT")
        except BaseException:
            if driver.in_transaction:
                driver.execute("ROLLBACK")
            raise
        return result

    def post(self, work: Work[object]) -> None:
        """It shares the next commit, or has its own a little later: a commit costs more than a row."""
        self._check_open()
        self._posted.append(_Job(work, None, None))
        if not self._post_planned:
            self._post_planned = True
            asyncio.get_running_loop().call_later(POST_DELAY_S, self._write_posted)

    def _write_posted(self) -> None:
        self._post_planned = False
        if self._posted:
            self._jobs.put(_Job(_nothing, None, None))

    async def flush(self) -> None:
        await self.write(_nothing)

    async def read(self, work: Work[T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._run_read, work)

    def _check_open(self) -> None:
        if self._closed:
            raise UnavailableError("The database is closed.", hint="Start the hub again.")

    def _run_read(self, work: Work[T]) -> T:
        try:
            with self._read_engine.connect() as conn:
                return work(conn)
        except DatabaseError as error:
            raise _explain(self._path, error) from error

    async def size(self) -> int:
        return await anyio.to_thread.run_sync(_size_of, self._path)

    def _write_loop(self) -> None:
        with self._write_engine.connect() as conn:
            open_to_jobs = True
            while open_to_jobs or self._posted:
                group, open_to_jobs = self._take_group(open_to_jobs)
                if len(group) == 1:
                    self._commit_alone(conn, group[0])
                elif group:
                    self._commit_group(conn, group)
                _settle(group)

    def _take_group(self, open_to_jobs: bool) -> tuple[list[_Job], bool]:
        """Everything that waits to be written, and whether more can come; waits for the first job."""
        group: list[_Job] = []
        while open_to_jobs and len(group) < GROUP:
            try:
                job = self._jobs.get(block=not group)
            except queue.Empty:
                break
            if job is None:
                open_to_jobs = False
            else:
                group.append(job)
        posted = [self._posted.popleft() for _ in range(len(self._posted))]
        return posted + group, open_to_jobs

    def _commit_group(self, conn: Connection, group: list[_Job]) -> None:
        """One transaction for all; when one fails, one for each, so that nobody pays for another."""
        try:
            with conn.begin():
                for job in group:
                    job.result = job.work(conn)
        except Exception:  # noqa: BLE001 - border: each job is told its own outcome
            for job in group:
                self._commit_alone(conn, job)

    def _commit_alone(self, conn: Connection, job: _Job) -> None:
        job.result = job.error = None
        try:
            with conn.begin():
                job.result = job.work(conn)
        except BaseException as error:  # noqa: BLE001 - border: the waiter raises it
            job.error = _explain(self._path, error)


def _nothing(conn: Connection) -> None:
    """A job whose commit is all that is wanted."""


def _settle(group: list[_Job]) -> None:
    waiting: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in group:
        if job.loop is not None:
            waiting.setdefault(job.loop, []).append(job)
        elif job.error is not None:
            log.error("a posted write failed", exc_info=job.error)
    for loop, jobs in waiting.items():
        _call(loop, lambda jobs=jobs: [job.settle() for job in jobs])  # type: ignore[misc]


def _call(loop: asyncio.AbstractEventLoop, settle: Callable[[], object]) -> None:
    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:  # the loop is gone, and whoever waited with it
        log.debug("a write finished after its loop was closed")


def _engine(path: str, *, read_only: bool, quick: bool = False) -> Engine:
    """`quick`: never waits for another writer, and leaves checkpoints to the others."""

    def connect() -> sqlite3.Connection:
        mode = "ro" if read_only else "rwc"
        uri = f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode={mode}"
        conn = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
        conn.execute(f"PRAGMA busy_timeout={0 if quick else BUSY_TIMEOUT_MS}")
        conn.execute("PRAGMA foreign_keys=ON")
        conn.execute("PRAGMA synchronous=NORMAL")
        if read_only:
            conn.execute("PRAGMA query_only=ON")
        if quick:
            conn.execute("PRAGMA wal_autocheckpoint=0")
        return conn

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, pool_size=READERS, max_overflow=0
    )
    begin = "BEGIN" if read_only else "BEGIN IMMEDIATE"  # a reader sees one state, however much it reads
    event.listen(engine, "begin", lambda conn: conn.connection.driver_connection.execute(begin))
    return engine


def _size_of(path: str) -> int:
    return sum(os.path.getsize(name) for name in (path, f"{path}-wal") if os.path.exists(name))


def _is_fault(error: BaseException) -> bool:
    """Whether the database failed (full, locked, broken), not the work."""
    # What goes straight to the driver raises the driver's own errors.
    if isinstance(error, OperationalError | sqlite3.OperationalError):
        return True
    return type(error) in (DatabaseError, sqlite3.DatabaseError)


def _explain(path: str, error: BaseException) -> BaseException:
    return _unusable(path, error) if _is_fault(error) else error


def _unusable(path: str, error: BaseException) -> UnavailableError:
    reason = str(getattr(error, "orig", error))
    hint = (
        "Free some disk space; nothing stored is lost."
        if "full" in reason
        else "Check the file and its directory."
    )
    fault = UnavailableError(f"The database {path} cannot be used: {reason}.", hint=hint)
    fault.__cause__ = error
    return fault
