"""The records of work that begins and ends in this process: whatever comes together shares a commit.

DBOS writes each beginning and each end in a transaction of its own, on a thread for each. Here one thread
writes them, in DBOS's tables and in its words, so that whatever else it does (find, cancel, recover) sees
no difference. What came while a commit was on its way goes into the next one.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from math import inf
from time import monotonic
from typing import Any, TypeVar
from uuid import uuid4

import anyio
from dbos import DBOS
from dbos._schemas.system_database import SystemSchema
from sqlalchemy import Connection, MetaData, bindparam, select, update
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from manyhands.durable.serialization import encode
from manyhands.durable.types import Order
from manyhands.errors import UnavailableError

log = logging.getLogger(__name__)

AGAIN_S = 0.25
SLOWEST_S = 5.0
BEGIN_S = 5.0
"""How long whoever begins work waits for a database that does not take it."""
CLOSE_S = 10.0
CHECKPOINT_EVERY = 100
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class End:
    """How work ended. `owner`: the token with which it began here; whoever took it over has another one."""

    id: str
    owner: str
    answer: str
    """As JSON."""


class _Entry:
    """What somebody wants written, all of it or nothing."""

    __slots__ = ("begins", "ends", "future", "rows")

    def __init__(self, begins: Sequence[Order], rows: Sequence[dict[str, Any]], ends: Sequence[End]) -> None:
        self.begins, self.rows, self.ends = begins, rows, ends
        self.future: asyncio.Future[set[str]] = asyncio.get_running_loop().create_future()

    def settle(self, begun: set[str], error: BaseException | None) -> None:
        if self.future.done():  # whoever waited has gone
            return
        if error is None:
            self.future.set_result(begun)
        else:
            self.future.set_exception(error)


class Records:
    """`head`: what the rows of all work have in common. `began`: is called with each work that is stored."""

    def __init__(self, dbos: DBOS, head: Mapping[str, Any], began: Callable[[Order, str], None]) -> None:
        self._statements = _Statements(dbos)
        # The tables name their schema, which DBOS would put into each statement anew.
        self._engine = dbos._sys_db.engine.execution_options(schema_translate_map=None)
        self._head = head
        self._began = began
        # Not that of whoever happens to write: work that begins has nothing of the work that asked for it.
        self._context = copy_context()
        self._is_file = self._engine.dialect.name == "sqlite"
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="manyhands-records")
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="manyhands-records")
        self._commits = 0
        self._conn: Connection | None = None
        self._waiting: list[_Entry] = []
        self._busy = False
        self._closed = threading.Event()

    async def open(self) -> None:
        """Connect, so that the first work need not."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._with_patience, _nothing, BEGIN_S)

    async def write(self, begins: Sequence[Order], ends: Sequence[End] = ()) -> set[str]:
        """When this returns it is stored; the answer says which of the work was not there before."""
        if not begins and not ends:
            return set()
        if self._closed.is_set():
            raise _ended()
        entry = _Entry(begins, [self._row(order) for order in begins], ends)
        self._waiting.append(entry)
        if not self._busy:
            self._busy = True
            asyncio.get_running_loop().call_soon(self._begin_commit, context=self._context)
        return await entry.future

    def _begin_commit(self) -> None:
        """Everything that came in this turn of the loop, or while another commit was made."""
        entries, self._waiting = self._waiting, []
        self._busy = bool(entries) and not self._closed.is_set()
        if not self._busy:
            for entry in entries:
                entry.settle(set(), _ended())
        else:
            done = asyncio.get_running_loop().run_in_executor(self._thread, self._commit, entries)
            done.add_done_callback(partial(self._end_commit, entries), context=self._context)

    def _end_commit(
        self, entries: Sequence[_Entry], done: asyncio.Future[list[set[str] | BaseException]]
    ) -> None:
        for entry, outcome in zip(entries, done.result(), strict=True):
            if isinstance(outcome, BaseException):
                entry.settle(set(), outcome)
                continue
            given = zip(entry.begins, (row["owner_xid"] for row in entry.rows), strict=True)
            begun = [(order, owner) for order, owner in given if owner in outcome]
            for order, owner in begun:
                self._began(order, owner)
            entry.settle({order.id for order, _ in begun}, None)
        self._commits += 1
        if self._is_file and self._commits % CHECKPOINT_EVERY == 0:
            self._aside.submit(self._checkpoint)
        self._begin_commit()

    def _row(self, order: Order) -> dict[str, Any]:
        token = str(uuid4())
        given = {"args": [order.kind, order.payload], "kwargs": {}}
        return {
            **self._head,
            "workflow_uuid": order.id,
            "inputs": encode(given),
            "creator_xid": token,
            "owner_xid": token,
        }

    # --- in the thread

    def _commit(self, entries: Sequence[_Entry]) -> list[set[str] | BaseException]:
        """For each the tokens that are on record; one that cannot be written takes no other with it."""
        try:
            lasting = any(entry.ends for entry in entries)
            tokens = self._with_patience(lambda conn: self._write(conn, entries), inf if lasting else BEGIN_S)
        except Exception as error:  # noqa: BLE001 - border: whoever waits raises it
            if isinstance(error, UnavailableError):
                return [error] * len(entries)
            if len(entries) == 1:
                return [error]
            return [outcome for entry in entries for outcome in self._commit([entry])]
        return [tokens] * len(entries)

    def _with_patience(self, work: Callable[[Connection], T], patience_s: float) -> T:
        """A database that is away for a moment ends nothing. What was done is tried to be kept for ever."""
        began, wait_s = monotonic(), AGAIN_S
        while True:
            try:
                if self._conn is None:
                    self._conn = self._connect()
                with self._conn.begin():
                    done = work(self._conn)
                    if not self._is_file:  # from here on it may be stored although the answer is lost
                        patience_s = inf
                return done
            except (OperationalError, InterfaceError) as error:
                self._drop_connection()
                if monotonic() - began > patience_s or self._closed.wait(wait_s):
                    raise _unavailable(error) from error
                log.warning("what work began or ended is not written yet, it is tried again: %s", error.orig)
                wait_s = min(2 * wait_s, SLOWEST_S)

    def _write(self, conn: Connection, entries: Sequence[_Entry]) -> set[str]:
        ends = [
            {"the_id": end.id, "the_owner": end.owner, "the_output": end.answer}
            for entry in entries
            for end in entry.ends
        ]
        if ends:
            conn.execute(self._statements.end, ends)
        rows = [row for entry in entries for row in entry.rows]
        if not rows:
            return set()
        added = conn.execute(self._statements.begin, rows).rowcount
        if added == len(rows):
            return {row["creator_xid"] for row in rows}
        # Some were there before, or were added in a commit whose answer was lost.
        ids = [row["workflow_uuid"] for row in rows]
        return set(conn.execute(self._statements.creators, {"the_ids": ids}).scalars())

    def _connect(self) -> Connection:
        """On SQLite as safe as our own tables, which are written with it; the disk is not waited for."""
        conn = self._engine.connect()
        if self._is_file:
            driver: Any = conn.connection.driver_connection
            driver.execute("PRAGMA synchronous=NORMAL")
            driver.execute("PRAGMA wal_autocheckpoint=0")
        return conn

    def _checkpoint(self) -> None:
        try:
            with self._engine.connect() as conn:
                conn.exec_driver_sql("PRAGMA wal_checkpoint")
        except DBAPIError as error:  # the next one does it
            log.debug("no checkpoint: %s", error)

    def _drop_connection(self) -> None:
        if self._conn is not None:
            self._conn.invalidate()
            self._conn.close()
            self._conn = None

    async def close(self) -> None:
        """What is on its way is still written, if the database is there."""
        self._closed.set()
        with anyio.move_on_after(CLOSE_S, shield=True):
            await anyio.to_thread.run_sync(self._close, abandon_on_cancel=True)
        self._begin_commit()

    def _close(self) -> None:
        self._aside.shutdown(wait=True, cancel_futures=True)
        self._thread.shutdown(wait=True)
        if self._conn is not None:
            self._conn.close()
            self._conn = None


class _Statements:
    """Made once: to make one costs as much as to run it."""

    def __init__(self, dbos: DBOS) -> None:
        database = dbos._sys_db
        table = SystemSchema.workflow_status.to_metadata(MetaData(), schema=database.schema)  # type: ignore[arg-type]
        added = database.dialect.insert(table).on_conflict_do_nothing(index_elements=["workflow_uuid"])
        now_ms = database._now_ms_sql()
        self.begin = added.execution_options(preserve_rowcount=True)
        self.creators = select(table.c.creator_xid).where(
            table.c.workflow_uuid.in_(bindparam("the_ids", expanding=True))
        )
        self.end = (
            update(table)
            .where(table.c.workflow_uuid == bindparam("the_id"))
            .where(table.c.status == "PENDING", table.c.owner_xid == bindparam("the_owner"))
            .values(
                status="SUCCESS",
                owner_xid=None,
                output=bindparam("the_output"),
                updated_at=now_ms,
                completed_at=now_ms,
            )
        )


def _nothing(conn: Connection) -> None:
    """To be connected is all that is wanted."""


def _unavailable(error: DBAPIError) -> UnavailableError:
    return UnavailableError(f"Durable work cannot be written: {error.orig}.", hint="Try again later.")


def _ended() -> UnavailableError:
    return UnavailableError("The durable engine has ended.", hint="Try again later.")
