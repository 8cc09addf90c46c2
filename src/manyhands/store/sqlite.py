"""SQLite as a server database: WAL, one writer thread that groups commits, read-only readers.

Begin-immediate on every writing transaction: one that reads first and writes later fails at once when another
connection writes in between, whatever the busy timeout.

Rows that somebody waits for need not take the way through the writer thread: see `quick_commits`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio
from pydantic_core import PydanticSerializationError, to_json
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import QueuePool

from manyhands.errors import UnavailableError
from manyhands.store.jobs import Job, Posted, settle
from manyhands.store.quick_commits import QuickCommits

if TYPE_CHECKING:
    from manyhands.store.engine import Work

T = TypeVar("T")
log = logging.getLogger(__name__)

READERS = 4
GROUP = 256
POST_DELAY_S = 0.01
SOON_S = 0.004
CHECKPOINT_EVERY = 100
BUSY_TIMEOUT_MS = 15_000
CLOSE_TIMEOUT_S = 30


class SqliteStore:
    """One file, one writer, several readers."""

    dialect = "sqlite"

    def __init__(self, path: str) -> None:
        self.file: str | None = path
        self._path = path
        self._closed = False
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._posted = Posted()
        self._post_planned = False
        self._soon: list[Job] = []
        self._checkpointed = 0
        self._writer = threading.Thread(target=self._write_loop, name="manyhands-writer", daemon=True)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="manyhands-reader")
        self._write_engine = _engine(path, read_only=False)
        self._read_engine = _engine(path, read_only=True)
        self._quick_reads = _engine(path, read_only=True, quick=True)
        self._quick = QuickCommits(_engine(path, read_only=False, quick=True), self._posted)

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
        self._commit_soon()
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._close)

    def _close(self) -> None:
        self._jobs.put(None)
        self._writer.join(CLOSE_TIMEOUT_S)
        self._readers.shutdown(wait=True, cancel_futures=True)
        self._read_engine.dispose()
        self._quick_reads.dispose()
        self._quick.close()
        self._write_engine.dispose()

    def _create(self) -> None:
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        try:
            with self._write_engine.connect() as conn:
                conn.connection.driver_connection.execute("PRAGMA journal_mode=WAL")  # type: ignore[union-attr]
        except (DatabaseError, sqlite3.DatabaseError) as error:  # of the engine; of the driver
            raise _unusable(self._path, error) from error
        os.chmod(self._path, 0o600)

    async def write(self, work: Work[T]) -> T:
        self._check_open()
        job = Job(work, asyncio.get_running_loop())
        self._jobs.put(job)
        outcome: T = await job.outcome()
        return outcome

    async def write_now(self, work: Work[T]) -> T:
        self._check_open()
        job = Job(work)
        if self._commit_quickly([job], posted=False):  # whoever waits does not pay for what nobody waits for
            outcome: T = job.result
            return outcome
        return await self.write(work)

    async def write_row(self, work: Work[T]) -> T:
        self._check_open()
        job = Job(work)
        if self._quick.commit_alone(job):
            self._plan_checkpoint()
            outcome: T = job.result
            return outcome
        return await self.write(work)

    async def write_soon(self, work: Work[T]) -> T:
        self._check_open()
        loop = asyncio.get_running_loop()
        job = Job(work, loop)
        if not self._soon:
            loop.call_later(SOON_S, self._commit_soon)
        self._soon.append(job)
        outcome: T = await job.outcome()
        return outcome

    def _commit_soon(self) -> None:
        jobs, self._soon = self._soon, []
        if self._commit_quickly(jobs):
            for job in jobs:
                job.settle()
        else:
            for job in jobs:
                self._jobs.put(job)

    def _commit_quickly(self, jobs: list[Job], *, posted: bool = True) -> bool:
        """Whether it could be done here and now; else it is the writer's."""
        made = self._quick.commit(jobs, posted=posted)
        if made:
            self._plan_checkpoint()
        return made

    def _plan_checkpoint(self) -> None:
        if self._quick.made % CHECKPOINT_EVERY == 0:
            self._jobs.put(Job(_nothing))

    def post(self, work: Work[object], lost: Callable[[], None] | None = None) -> None:
        """It shares the next commit, or has its own a little later: a commit costs more than a row."""
        self._check_open()
        self._posted.add(Job(work, lost=lost))
        if not self._post_planned:
            self._post_planned = True
            asyncio.get_running_loop().call_later(POST_DELAY_S, self._write_posted)

    def _write_posted(self) -> None:
        self._post_planned = False
        if self._posted and not self._commit_quickly([]):
            self._jobs.put(Job(_nothing))

    async def flush(self) -> None:
        await self.write(_nothing)

    async def read(self, work: Work[T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._run_read, work)

    async def read_now(self, work: Work[T]) -> T:
        self._check_open()
        try:
            with self._quick_reads.connect() as conn:
                return work(conn)
        except DatabaseError:
            return await self.read(work)  # which may wait, and says what is wrong

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
                with self._posted.lock:
                    group = self._posted.take() + group
                    self._commit(conn, group)
                settle(group)
                self._checkpoint(conn)

    def _take_group(self, open_to_jobs: bool) -> tuple[list[Job], bool]:
        """Everything that somebody waits for, and whether more can come; waits for the first job."""
        group: list[Job] = []
        while open_to_jobs and len(group) < GROUP:
            try:
                job = self._jobs.get(block=not group)
            except queue.Empty:
                break
            if job is None:
                open_to_jobs = False
            else:
                group.append(job)
        return group, open_to_jobs

    def _commit(self, conn: Connection, group: list[Job]) -> None:
        if len(group) == 1:
            self._commit_alone(conn, group[0])
        elif group:
            self._commit_group(conn, group)

    def _checkpoint(self, conn: Connection) -> None:
        """What the quick commits wrote goes into the file as well; the writer's own does by itself."""
        if self._quick.made - self._checkpointed >= CHECKPOINT_EVERY:
            self._checkpointed = self._quick.made
            conn.connection.driver_connection.execute("PRAGMA wal_checkpoint")  # type: ignore[union-attr]

    def _commit_group(self, conn: Connection, group: list[Job]) -> None:
        """One transaction for all; when one fails, one for each, so that nobody pays for another."""
        try:
            with conn.begin():
                for job in group:
                    job.result = job.work(conn)
        except Exception:  # noqa: BLE001 - border: each job is told its own outcome
            for job in group:
                self._commit_alone(conn, job)

    def _commit_alone(self, conn: Connection, job: Job) -> None:
        job.result = job.error = None
        try:
            with conn.begin():
                job.result = job.work(conn)
        except BaseException as error:  # noqa: BLE001 - border: the waiter raises it
            job.error = _explain(self._path, error)


def _nothing(conn: Connection) -> None:
    """A job whose commit is all that is wanted."""


def _engine(path: str, *, read_only: bool, quick: bool = False) -> Engine:
    """`quick`: never waits for another writer, and leaves transactions and checkpoints to others."""

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
        "sqlite://",
        creator=connect,
        poolclass=QueuePool,
        pool_size=READERS,
        max_overflow=0,
        json_serializer=_json_text,
    )
    begin = "BEGIN" if read_only else "BEGIN IMMEDIATE"  # a reader sees one state, however much it reads
    if not quick:
        event.listen(engine, "begin", lambda conn: conn.connection.driver_connection.execute(begin))
    return engine


def _json_text(value: Any) -> str:
    """JSON as it is stored, made several times for every tool call."""
    try:
        return to_json(value).decode()
    except PydanticSerializationError:  # nested too deeply, or half of a surrogate pair
        return json.dumps(value)


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
        else "Check the file, its directory, and that the disk has room."
    )
    fault = UnavailableError(f"The database {path} cannot be used: {reason}.", hint=hint)
    fault.__cause__ = error
    return fault
