"""Words of a model for a listener that wants them less often than they come.

A window draws a few dozen times a second, a hidden one not at all; a model may speak two hundred times. What
is said within one pause goes out as one event. Everything else goes out at once, and never overtakes.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio

from manyhands.events import Event

LONGEST_MS = 10_000
_WORDS = frozenset({"run.delta", "run.thinking"})
_PLACE = ("run_id", "iteration")


class Pacing:
    """The events of one listener on their way out. Without a wish of its own it gets each as it comes."""

    def __init__(self, send: Callable[[Event], Awaitable[None]]) -> None:
        self._send = send
        self._pause_s = 0.0
        self._held: list[Event] = []
        self._holds = anyio.Event()
        self._hurry = anyio.Event()
        self._sending = anyio.Lock()

    def hear(self, text: str) -> None:
        """`{"pause_ms": …}` is what a listener may wish for; the rest is passed over."""
        try:
            said = json.loads(text)
        except ValueError:
            return
        wished = said.get("pause_ms") if isinstance(said, dict) else None
        if isinstance(wished, int) and 0 <= wished <= LONGEST_MS:
            self._pause_s = wished / 1000
            self._hurry.set()

    async def tell(self, event: Event) -> None:
        if self._pause_s and event.type in _WORDS:
            self._hold(event)
            return
        await self._let_go()
        await self._send(event)

    async def run(self) -> None:
        """Let go of what is held, again and again."""
        while True:
            await self._holds.wait()
            self._holds, self._hurry = anyio.Event(), anyio.Event()
            with anyio.move_on_after(self._pause_s):
                await self._hurry.wait()
            await self._let_go()

    def _hold(self, event: Event) -> None:
        joined = _joined(self._held[-1], event) if self._held else None
        if joined is not None:
            self._held[-1] = joined
        else:
            self._held.append(event)
            self._holds.set()

    async def _let_go(self) -> None:
        async with self._sending:
            held, self._held = self._held, []
            for event in held:
                await self._send(event)


def _joined(first: Event, second: Event) -> Event | None:
    """Both as one, if the second goes on where the first ends."""
    before, after = first.data, second.data
    if first.type != second.type or any(before.get(name) != after.get(name) for name in _PLACE):
        return None
    begins, goes_on = before.get("offset"), after.get("offset")
    if begins is None or goes_on is None:  # a speaker that does not count its characters
        is_next = begins is goes_on
    else:
        is_next = begins + len(before["text"]) == goes_on
    if not is_next:
        return None
    return replace(second, data=before | {"text": before["text"] + after["text"]})
