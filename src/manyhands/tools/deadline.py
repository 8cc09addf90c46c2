"""The one owner of a call's time: when it is over, what moves that moment, and what is said then.

`Deadline` is pure arithmetic. `Race` holds it against the running call by moving a cancel scope's deadline.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class Deadline:
    """When a call ends. Progress gives it its whole time again, up to a cap; pauses count for neither."""

    __slots__ = ("_began", "_due", "_end", "_last_progress", "_paused_at", "_pauses", "cap_ms", "timeout_ms")

    def __init__(self, timeout_ms: int, cap_ms: int, now: float) -> None:
        self.timeout_ms = timeout_ms
        self.cap_ms = max(cap_ms, timeout_ms)
        self._began = now
        self._due = now + timeout_ms / 1000
        self._end = now + self.cap_ms / 1000
        self._last_progress: float | None = None
        self._paused_at = 0.0
        self._pauses = 0

    @property
    def due(self) -> float:
        """The moment at which the call is over, unless something moves it."""
        return math.inf if self._pauses else min(self._due, self._end)

    def progressed(self, now: float) -> None:
        self._last_progress = now
        self._due = (self._paused_at if self._pauses else now) + self.timeout_ms / 1000

    def pause(self, now: float) -> None:
        if self._pauses == 0:
            self._paused_at = now
        self._pauses += 1

    def resume(self, now: float) -> None:
        self._pauses -= 1
        if self._pauses == 0:
            stood_still = now - self._paused_at
            self._began += stood_still
            self._due += stood_still
            self._end += stood_still

    def text(self, now: float) -> str:
        """What a model is told; both numbers when the cap was what ended it."""
        first = f"Tool execution timed out after {self.timeout_ms}ms"
        if self._last_progress is None:
            return first
        if self._end <= self._due:
            return (
                f"{first}\nIts progress had extended that to the hard cap of {self.cap_ms}ms"
                " (the setting tool_timeout_max)."
            )
        ran = round((now - self._began) * 1000)
        return (
            f"{first}\nThat long after its last progress; it ran for {ran}ms in all"
            f" (the hard cap is {self.cap_ms}ms)."
        )


class Race:
    """A running call against its deadline."""

    __slots__ = ("_deadline", "began", "scope")

    def __init__(self, timeout_ms: int, cap_ms: int) -> None:
        self.began = asyncio.get_running_loop().time()  # as anyio's, which first asks which loop it is
        self._deadline = Deadline(timeout_ms, cap_ms, self.began)
        self.scope = anyio.CancelScope(deadline=self._deadline.due)

    def progressed(self, now: float) -> None:
        self._deadline.progressed(now)
        self.scope.deadline = self._deadline.due

    @contextmanager
    def pause(self) -> Iterator[None]:
        """The time stands still while this is open; it may be opened several times at once."""
        self._deadline.pause(anyio.current_time())
        self.scope.deadline = self._deadline.due
        try:
            yield
        finally:
            self._deadline.resume(anyio.current_time())
            self.scope.deadline = self._deadline.due

    def text(self) -> str:
        return self._deadline.text(anyio.current_time())
