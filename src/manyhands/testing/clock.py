"""A clock that stands still until a test moves it."""

from __future__ import annotations

import heapq
from datetime import UTC, datetime, timedelta
from itertools import count

import anyio
import anyio.lowlevel

START = datetime(2030, 1, 1, tzinfo=UTC)


class FakeClock:
    """`Clock` for tests: `advance` wakes whoever sleeps until then, in the order of their times."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed = 0.0
        self._numbers = count()
        self._sleepers: list[tuple[float, int, anyio.Event]] = []
        self._slept = anyio.Event()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await anyio.lowlevel.checkpoint()
            return
        sleeper = (self._elapsed + seconds, next(self._numbers), anyio.Event())
        heapq.heappush(self._sleepers, sleeper)
        self._slept.set()
        try:
            await sleeper[2].wait()
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)
                heapq.heapify(self._sleepers)

    async def someone_sleeps(self) -> None:
        """Wait until at least one task sleeps on this clock."""
        while not self._sleepers:
            self._slept = anyio.Event()
            await self._slept.wait()

    def next_wake(self) -> float:
        """Seconds from now until the first sleeper wakes."""
        return self._sleepers[0][0] - self._elapsed

    def advance(self, seconds: float) -> None:
        """Move on; tasks whose time has come are woken and run at the test's next await."""
        self._elapsed += seconds
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            heapq.heappop(self._sleepers)[2].set()
