"""A test ends with what it began with: asyncio tasks, threads and processes that it leaves behind fail it.

Processes are ours when they descend from the test session or carry its mark in their environment, so that a
grandchild whose parent has died is found too. The tests' PostgreSQL and browser are not: they live
longer than a test, and start and end helpers as they like.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

import psutil
import pytest

T = TypeVar("T")
MARK = "MANYHANDS_TEST_SESSION"
# How long what is ending may take to end.
GRACE = 5.0
# Threads that an event loop, a store or the durable engine keeps for its next call; they end with it. Of a
# store that is left open its writer is found, of an engine its queues.
POOLED = (
    "AnyIO worker thread",
    "asyncio_",
    "dbos-executor-",
    "manyhands-reader",
    "manyhands-database",
    "manyhands-records",
)


LONG_LIVED = frozenset({"postgres", "chromium", "chrome", "chrome_crashpad", "headless_shell"})


def mark_session() -> None:
    """Let every process that is started from here on be known as ours."""
    os.environ[MARK] = str(os.getpid())


@pytest.fixture(autouse=True)
def nothing_stays_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test that leaves a task, a thread or a process."""
    threads, pids = set(threading.enumerate()), set(psutil.pids())
    if "anyio_backend" in request.fixturenames:
        request.getfixturevalue("no_task_stays_behind")
    yield
    processes = _end(lambda: _new_processes(pids))
    left = [_describe(process) for process in processes]
    _kill(processes)
    left += [f"thread {thread.name!r}" for thread in _end(lambda: _new_threads(threads))]
    if left:
        pytest.fail(f"left behind: {', '.join(left)}", pytrace=False)


@pytest.fixture
async def no_task_stays_behind(anyio_backend: object) -> AsyncIterator[None]:
    """Set up before the test's own fixtures and taken down after them, in the test's event loop."""
    before = asyncio.all_tasks()
    yield
    deadline = time.monotonic() + GRACE
    while (left := _new_tasks(before)) and time.monotonic() < deadline:
        await asyncio.wait(left, timeout=0.05)
    if left:
        names = ", ".join(f"task {task.get_name()!r} in {task.get_coro()!r}" for task in left)
        pytest.fail(f"left behind: {names}", pytrace=False)


def _end(look: Callable[[], Sequence[T]]) -> Sequence[T]:
    """Wait for it; what has not ended then."""
    deadline = time.monotonic() + GRACE
    while (left := look()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _new_tasks(before: set[asyncio.Task[object]]) -> set[asyncio.Task[object]]:
    found = asyncio.all_tasks() - before
    # The plugin runs each fixture and test in a task of its own, this one too.
    return {
        task for task in found if not getattr(task.get_coro(), "__qualname__", "").startswith("TestRunner.")
    }


def _new_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    found = (thread for thread in threading.enumerate() if thread not in before)
    return [thread for thread in found if not thread.name.startswith(POOLED)]


def _new_processes(before: set[int]) -> list[psutil.Process]:
    found = []
    for pid in set(psutil.pids()) - before:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            if _is_ours(process):
                found.append(process)
    return found


def _is_ours(process: psutil.Process) -> bool:
    if process.status() == psutil.STATUS_ZOMBIE or process.name() in LONG_LIVED:
        return False
    me = os.getpid()
    if any(parent.pid == me for parent in process.parents()):
        return True
    if not (environment := process.environ()):  # between fork and exec it has none to be read
        time.sleep(0.05)
        environment = process.environ()
    return environment.get(MARK) == str(me)


def _describe(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return f"process {process.pid} ({' '.join(process.cmdline())[:200]})"
    return f"process {process.pid}"


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
