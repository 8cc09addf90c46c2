"""Which calls of one server may run side by side: all, those that only read, or none.

First come, first served, so that a call that must be alone is not put off for ever by others that need not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from manyhands.servers.types import Parallel
from manyhands.tools.types import ToolDefinition


class _Lane:
    """One server's calls: several that share, or one alone."""

    def __init__(self) -> None:
        self.sharing = 0
        self.alone = False
        self.queue: deque[tuple[bool, anyio.Event]] = deque()

    async def enter(self, shared: bool) -> None:
        if not self.queue and self._free(shared):
            self._take(shared)
            return
        place = (shared, anyio.Event())
        self.queue.append(place)
        try:
            await place[1].wait()
        except BaseException:
            if place[1].is_set():
                self.leave(shared)
            else:
                self.queue.remove(place)
                self._admit()
            raise

    def leave(self, shared: bool) -> None:
        if shared:
            self.sharing -= 1
        else:
            self.alone = False
        self._admit()

    def _admit(self) -> None:
        while self.queue and self._free(self.queue[0][0]):
            shared, admitted = self.queue.popleft()
            self._take(shared)
            admitted.set()

    def _free(self, shared: bool) -> bool:
        return not self.alone and (shared or self.sharing == 0)

    def _take(self, shared: bool) -> None:
        if shared:
            self.sharing += 1
        else:
            self.alone = True

    @property
    def idle(self) -> bool:
        return not (self.sharing or self.alone or self.queue)


class Lanes:
    """The lanes of every server."""

    def __init__(self) -> None:
        self._lanes: dict[int | None, _Lane] = {}

    @asynccontextmanager
    async def enter(self, parallel: Parallel, definition: ToolDefinition) -> AsyncIterator[None]:
        """Wait until the call may run, and hold its place while it does."""
        lane = self._lanes.setdefault(definition.server_id, _Lane())
        shared = parallel == "all" or (parallel == "read_only" and definition.annotations.concurrency_safe)
        await lane.enter(shared)
        try:
            yield
        finally:
            lane.leave(shared)
            if lane.idle and self._lanes.get(definition.server_id) is lane:
                del self._lanes[definition.server_id]
