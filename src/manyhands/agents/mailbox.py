"""What waits for one agent, in order, and whoever listens for it.

In memory only: what is here is in the database already, and is read from there at the next start.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

import anyio

from manyhands.agents.types import AgentMessage
from manyhands.clock import Clock

REDELIVER_S = 30.0
REMEMBERED = 1000


@dataclass(slots=True)
class Mailbox:
    """Messages that their receiver has not confirmed, oldest first.

    `turn` keeps the order of a sender's messages while they are being stored. `delivered` is what was
    confirmed and not yet read, as far as it is remembered.
    """

    waiting: OrderedDict[str, AgentMessage] = field(default_factory=OrderedDict)
    delivered: OrderedDict[str, AgentMessage] = field(default_factory=OrderedDict)
    size: int = 0
    listeners: set[Deliveries] = field(default_factory=set)
    turn: anyio.Lock = field(default_factory=anyio.Lock)

    def put(self, message: AgentMessage) -> None:
        if message.id not in self.waiting:
            self.waiting[message.id] = message
            self.size += len(message.content.encode())
            for listener in self.listeners:
                listener.offer(message)

    def take(self, message_id: str) -> AgentMessage | None:
        """It need not be delivered any more."""
        message = self.waiting.pop(message_id, None)
        if message is not None:
            self.size -= len(message.content.encode())
            for listener in self.listeners:
                listener.forget(message_id)
        return message

    def note_delivered(self, message: AgentMessage) -> None:
        self.delivered[message.id] = message
        if len(self.delivered) > REMEMBERED:
            self.delivered.popitem(last=False)

    def close(self) -> None:
        """Whoever listens comes to an end."""
        for listener in self.listeners:
            listener.close()

    @property
    def idle(self) -> bool:
        return not (self.waiting or self.listeners or self.delivered or self.turn.locked())


class Deliveries:
    """Every message that waits, and every one that comes, again and again until it is confirmed."""

    def __init__(self, box: Mailbox, clock: Clock) -> None:
        self._box = box
        self._clock = clock
        self._due: deque[AgentMessage] = deque(box.waiting.values())
        self._sent: OrderedDict[str, float] = OrderedDict()
        self._wake = anyio.Event()
        self._closed = False

    def __aiter__(self) -> Deliveries:
        return self

    async def __anext__(self) -> AgentMessage:
        while not self._closed:
            if self._due:
                message = self._due.popleft()
                if message.id in self._box.waiting:
                    self._sent[message.id] = self._clock.monotonic()
                    return message
            else:
                await self._wait()
        raise StopAsyncIteration

    def offer(self, message: AgentMessage) -> None:
        self._due.append(message)
        self._wake.set()

    def forget(self, message_id: str) -> None:
        self._sent.pop(message_id, None)

    def close(self) -> None:
        self._closed = True
        self._wake.set()

    async def _wait(self) -> None:
        """For something new, or for the time to say again what nobody has confirmed."""
        self._wake = anyio.Event()
        if not self._sent:
            await self._wake.wait()
            return
        async with anyio.create_task_group() as race:
            race.start_soon(self._wake_after, self._overdue_in())
            await self._wake.wait()
            race.cancel_scope.cancel()
        if not self._due and self._overdue_in() <= 0:
            self._due.extend(one for one in self._box.waiting.values() if one.id in self._sent)
            self._sent.clear()

    def _overdue_in(self) -> float:
        oldest = next(iter(self._sent.values()), self._clock.monotonic())
        return oldest + REDELIVER_S - self._clock.monotonic()

    async def _wake_after(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._wake.set()
