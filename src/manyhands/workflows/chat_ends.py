"""Waiting for the end of a conversation's run, by its event."""

from __future__ import annotations

from typing import Protocol

import anyio

from manyhands.chat.types import Run
from manyhands.events import Event, EventBus

LOOK_S = 5.0


class _Runs(Protocol):
    async def get(self, run_id: str) -> Run: ...


class ChatEnds:
    """Who waits for which run."""

    def __init__(self, bus: EventBus, runs: _Runs) -> None:
        self._runs = runs
        self._waiting: dict[str, anyio.Event] = {}
        bus.observe(self._follow, "run.finished")

    def _follow(self, event: Event) -> None:
        if event.type == "run.finished" and (waiter := self._waiting.get(event.data["id"])):
            waiter.set()

    async def wait(self, run_id: str) -> None:
        """Until it has ended; a run of another daemon is looked at now and then."""
        waiter = self._waiting.setdefault(run_id, anyio.Event())
        try:
            while not (await self._runs.get(run_id)).status.ended:
                with anyio.move_on_after(LOOK_S):
                    await waiter.wait()
        finally:
            self._waiting.pop(run_id, None)
