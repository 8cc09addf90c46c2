"""Units of work on their way into SQLite, who waits for them, and those that nobody waits for.

Which connection runs them is not decided here.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyhands.store.engine import Work

log = logging.getLogger(__name__)


class Job:
    """A unit of work, and the loop on which somebody waits for it, if so."""

    __slots__ = ("error", "future", "loop", "lost", "result", "work")

    def __init__(
        self,
        work: Work[Any],
        loop: asyncio.AbstractEventLoop | None = None,
        lost: Callable[[], None] | None = None,
    ) -> None:
        self.work, self.loop, self.lost = work, loop, lost
        self.future: asyncio.Future[Any] | None = None if loop is None else loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None

    async def outcome(self) -> Any:
        """Wait for it."""
        assert self.future is not None, "nobody waits for posted work"
        return await self.future

    def settle(self) -> None:
        """On the waiter's loop: hand over the outcome."""
        if self.future is None or self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Posted:
    """Work that nobody waits for, in the order in which it came.

    Only the loop's thread adds to it. Whoever commits takes all of it and holds the lock until that is done,
    so that nothing overtakes it.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._jobs: list[Job] = []

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def add(self, job: Job) -> None:
        self._jobs.append(job)

    def take(self) -> list[Job]:
        taken = self._jobs[:]
        del self._jobs[: len(taken)]
        return taken

    def give_back(self, jobs: list[Job]) -> None:
        self._jobs[:0] = jobs


def settle(jobs: Iterable[Job]) -> None:
    """From any thread: tell those who wait, each loop once."""
    waiting: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in jobs:
        if job.loop is not None:
            waiting.setdefault(job.loop, []).append(job)
        elif job.error is not None:
            log.error("a posted write failed", exc_info=job.error)
            if job.lost is not None:
                job.lost()
    for loop, theirs in waiting.items():
        _call(loop, lambda theirs=theirs: [job.settle() for job in theirs])  # type: ignore[misc]


def _call(loop: asyncio.AbstractEventLoop, settle: Callable[[], object]) -> None:
    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:  # the loop is gone, and whoever waited with it
        log.debug("a write finished after its loop was closed")
