"""Whose turn it is to connect: only so many servers start side by side, and one that hangs delays nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import anyio


class Turns:
    """So many at once. A turn ends when it is given back, or by itself after `longest_s`.

    Starting a server is work for this machine for a few seconds; what takes longer waits for something else,
    and must not keep others from starting.
    """

    def __init__(self, most: int, longest_s: float) -> None:
        self._free = anyio.CapacityLimiter(most)
        self._longest_s = longest_s

    def resize(self, most: int) -> None:
        """Another number at once; nobody's turn is cut short."""
        self._free.total_tokens = most

    async def take(self) -> Callable[[], None]:
        """Wait for a turn; what comes back ends it, and may be called twice."""
        holder = object()
        await self._free.acquire_on_behalf_of(holder)
        timer: asyncio.TimerHandle

        def give_back() -> None:
            nonlocal holder
            timer.cancel()
            if holder is not None:
                self._free.release_on_behalf_of(holder)
                holder = None

        timer = asyncio.get_running_loop().call_later(self._longest_s, give_back)
        return give_back
