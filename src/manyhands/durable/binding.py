"""Everything that touches DBOS, in one place. Imported late: it is heavy.

DBOS is one per process and lives on the loop that launches it. What is bent here, and why:
its calls made within a workflow count as steps, so ours are made outside of its context; it takes the loop's
default executor for itself, so the loop gets a new one at the end; it logs to the console, so that its
logger is ours before it starts.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
from dbos import DBOS, DBOSConfig, WorkflowStatus
from dbos._context import DBOSContext, _dbos_context_var
from dbos._error import DBOSWorkflowCancelledError

from manyhands.durable.records import Records
from manyhands.durable.serialization import NAME, JsonSerializer
from manyhands.durable.types import Failure, Order, State, Work
from manyhands.errors import ConflictError
from manyhands.store.urls import is_sqlite, sqlite_path

APPLICATION = "manyhands"
VERSION = "1"
"""Ours, not a hash of the source: an upgrade goes on with what an older hub began."""
WORKFLOW = "manyhands.work"
THREADS = 8
CONNECTIONS = 8
LISTEN_S = 0.5
FOREVER_S = 86_400.0
LATEST_ENDED_S = 20.0

_one_per_process = threading.Lock()
Dispatch = Callable[[str, str, Any], Awaitable[Any]]
"""Called with the kind of work, its id and its payload."""
Began = Callable[[Order, str], None]
"""Called with work that is stored, and the token that says that it is this process's."""
Step = Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[Any]]


class Cancelled(Exception):
    """Raised by a dispatch whose work was cancelled, which is on record already."""


@dataclass(frozen=True)
class Bound:
    """DBOS while it runs."""

    dbos: DBOS
    records: Records

    def steps(self, work_id: str, owner: str) -> Step:
        """How work that began here records its steps: it has a place among them, like what DBOS calls."""
        context = DBOSContext()
        context.start_workflow(work_id, {"name": WORKFLOW, "operationType": "workflow"})
        context.owner_xid = owner

        async def step(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
            with _within(context):
                return await record_step(name, work)

        return step

    async def cancel(self, work_ids: Sequence[str]) -> None:
        with _outside():
            await DBOS.cancel_workflows_async(list(work_ids))

    async def find(self, work_ids: Sequence[str]) -> dict[str, Work]:
        with _outside():
            found = await DBOS.list_workflows_async(workflow_ids=list(work_ids), load_input=False)
        return {status.workflow_id: _to_work(status) for status in found}

    async def below(self, prefix: str) -> list[Work]:
        with _outside():
            found = await DBOS.list_workflows_async(workflow_id_prefix=prefix, load_input=False)
        return [_to_work(status) for status in found]

    async def cancelled_among(self, work_ids: Sequence[str]) -> list[str]:
        with _outside():
            found = await DBOS.list_workflows_async(
                workflow_ids=list(work_ids), status="CANCELLED", load_input=False, load_output=False
            )
        return [status.workflow_id for status in found]

    async def recover(self, executor_ids: Sequence[str]) -> None:
        """Make what these left open run here or wherever there is room; doing it twice does no harm."""
        await anyio.to_thread.run_sync(DBOS._recover_pending_workflows, list(executor_ids))

    async def forget(self, work_ids: Sequence[str]) -> None:
        with _outside():
            await DBOS.delete_workflows_async(list(work_ids))

    async def ended_before(self, moment: str, limit: int) -> list[str]:
        with _outside():
            found = await DBOS.list_workflows_async(
                completed_before=moment, limit=limit, load_input=False, load_output=False
            )
        return [status.workflow_id for status in found]


async def record_step(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
    """A step of the work that DBOS has called here."""

    async def call() -> Any:
        return await work()

    return await DBOS.run_step_async({"name": name}, call)


@asynccontextmanager
async def bound(url: str, executor_id: str, dispatch: Dispatch, began: Began) -> AsyncIterator[Bound]:
    """DBOS on this loop, from launch to the end of its threads."""
    if not _one_per_process.acquire(blocking=False):
        raise ConflictError(
            "Another hub of this program does durable work already.",
            hint="Let one hub of a process run schedules and workflows, or start a daemon.",
        )
    try:
        with _own_logger():
            _register(dispatch)
            instance = await _launch(url, executor_id)
            records = Records(instance, _head(executor_id), began)
            try:
                await records.open()
                yield Bound(instance, records)
            finally:
                await records.close()
                await _end(instance)
    finally:
        _one_per_process.release()


def _register(dispatch: Dispatch) -> None:
    """What DBOS calls for work that it found open; what begins here is not called by it."""

    @DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)
    async def work(kind: str, payload: Any) -> Any:
        work_id = DBOS.workflow_id
        assert work_id is not None, "only the engine calls this"
        try:
            return await dispatch(kind, work_id, payload)
        except Cancelled as error:
            raise DBOSWorkflowCancelledError(f"{work_id} was cancelled.") from error


def _head(executor_id: str) -> dict[str, Any]:
    """What a row of work that begins has, whatever the work is."""
    return {
        "status": "PENDING",
        "name": WORKFLOW,
        "executor_id": executor_id,
        "application_name": APPLICATION,
        "application_version": VERSION,
        "application_id": "",
        "recovery_attempts": 1,
        "priority": 0,
        "serialization": NAME,
    }


async def _launch(url: str, executor_id: str) -> DBOS:
    loop = asyncio.get_running_loop()

    def launch() -> DBOS:
        _prepare(url)
        instance = DBOS(config=_config(url, executor_id))
        # `launch` takes over the loop of its own thread; it is called in another one, for it blocks.
        instance._background_event_loop._main_loop = loop
        DBOS.launch()
        return instance

    try:
        return await anyio.to_thread.run_sync(launch)
    except BaseException:
        await anyio.to_thread.run_sync(lambda: DBOS.destroy(destroy_registry=True))
        raise


def _config(url: str, executor_id: str) -> DBOSConfig:
    return {
        "name": APPLICATION,
        "system_database_url": url,
        "application_version": VERSION,
        "executor_id": executor_id,
        "serializer": JsonSerializer(),
        "max_executor_threads": THREADS,
        "sys_db_pool_size": CONNECTIONS,
        "use_listen_notify": False,
        "notification_listener_polling_interval_sec": LISTEN_S,
        "scheduler_polling_interval_sec": FOREVER_S,
        "enable_otlp": False,
        "log_level": "WARNING",
    }


def _prepare(url: str) -> None:
    """A journal that lets others read while one writes; SQLite remembers it in the file."""
    if is_sqlite(url):
        connection = sqlite3.connect(sqlite_path(url))
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        finally:
            connection.close()


async def _end(instance: DBOS) -> None:
    """Everything stops without a mark on its record, so that it goes on later."""
    with anyio.CancelScope(shield=True):
        tasks = set(instance._workflow_tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=LATEST_ENDED_S)
        await anyio.to_thread.run_sync(lambda: DBOS.destroy(destroy_registry=True))
        # DBOS has put its own, which is shut down now, into the loop.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="asyncio"))


def _outside() -> AbstractContextManager[None]:
    """Away from the workflow that this is called in, if any."""
    return _within(None)


@contextmanager
def _within(context: DBOSContext | None) -> Iterator[None]:
    token = _dbos_context_var.set(context)
    try:
        yield
    finally:
        _dbos_context_var.reset(token)


@contextmanager
def _own_logger() -> Iterator[None]:
    """Its words go where ours go. With a handler of its own it leaves the console alone."""
    logger = logging.getLogger("dbos")
    silent = logging.NullHandler()
    logger.addHandler(silent)
    logger.addFilter(_is_news)
    try:
        yield
    finally:
        logger.removeFilter(_is_news)
        logger.removeHandler(silent)


def _is_news(record: logging.LogRecord) -> bool:
    """Not that work was cancelled or stopped: whoever did that knows."""
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if error is not None and "Cancelled" in type(error).__name__:
        return False
    words = record.getMessage()
    return not any(part in words for part in ("was cancelled during execution", "Asyncio task cancelled"))


def _to_work(status: WorkflowStatus) -> Work:
    state: State = "running"
    if status.status == "SUCCESS":
        failed = (status.output or {}).get("error")
        if failed is None:
            return Work(status.workflow_id, "finished", (status.output or {}).get("value"))
        return Work(status.workflow_id, "failed", failure=Failure(**failed))
    if status.status in ("ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"):
        return Work(status.workflow_id, "failed", failure=Failure("error", str(status.error)))
    if status.status == "CANCELLED":
        state = "cancelled"
    return Work(status.workflow_id, state)
