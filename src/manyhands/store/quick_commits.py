"""Commits on the loop's own thread, for a few rows that somebody waits for.

The way through the writer thread and back costs more than such a row, and while both threads run they fight
for the interpreter. Here nothing is waited for: neither another writer nor the disk, which only checkpoints
need, and those are the writer's. What cannot be done at once, or fails, is the writer's too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DatabaseError

from manyhands.store.jobs import Job, Posted


class QuickCommits:
    """One connection that writes if nobody else does."""

    def __init__(self, engine: Engine, posted: Posted) -> None:
        self._engine = engine
        self._posted = posted
        self._conn: Connection | None = None
        self.made = 0

    def commit(self, jobs: Sequence[Job], *, posted: bool = True) -> bool:
        """One transaction for these, and for what is posted: whether it was made; else nothing changed."""
        if not self._posted.lock.acquire(blocking=False):
            return False
        taken = self._posted.take() if posted else []
        made = False
        try:
            made = self._commit([*taken, *jobs])
        finally:
            if not made:
                self._posted.give_back(taken)
            self._posted.lock.release()
        return made

    def commit_alone(self, job: Job) -> bool:
        """One statement, which is a transaction by itself; what is posted stays."""
        if not self._posted.lock.acquire(blocking=False):
            return False
        try:
            job.result = job.work(self._connected())
        except Exception:  # noqa: BLE001 - border: the writer does it again and tells whose fault it is
            return False
        finally:
            self._posted.lock.release()
        self.made += 1
        return True

    def _connected(self) -> Connection:
        self._conn = self._conn or self._engine.connect()
        return self._conn

    def _commit(self, jobs: Sequence[Job]) -> bool:
        try:
            conn = self._connected()
        except DatabaseError:
            return False
        driver: Any = conn.connection.driver_connection
        try:
            driver.execute("BEGIN IMMEDIATE")
            for job in jobs:
                job.result = job.work(conn)
            driver.execute("COMMIT")
        except Exception:  # noqa: BLE001 - border: the writer does it again and tells whose fault it is
            return False
        finally:
            if driver.in_transaction:
                driver.execute("ROLLBACK")
        self.made += 1
        return True

    def close(self) -> None:
        if self._conn is not None:
            self._conn.close()
        self._engine.dispose()
