"""The event bus: one strictly growing `seq`, live subscribers, replay of what a client missed.

The bus owns order and delivery. Where durable events are kept is behind `EventLog`; events that live in
memory only (deltas, progress) pass through the same bus and the same numbering.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import anyio

from manyhands.clock import Clock, SystemClock, rfc3339
from manyhands.errors import UnavailableError

log = logging.getLogger(__name__)

EPHEMERAL = frozenset(
    {
        "run.delta",
        "run.thinking",
        "tool.progress",
        "quality.progress",
        "quality.comparing",
        "memory.progress",
        "mcp.log",
        "mcp.stderr",
        "playground.console",
    }
)
Observer = Callable[["Event"], None]
Telling = tuple[str, Callable[[], dict[str, Any]], str | None]
"""An event that is about to be published: its type, what makes its data, its channel."""

RESERVED_BLOCK = 10_000
RING_SIZE = 4096
QUEUE_SIZE = 1024
REPLAY_PAGE = 500
CLOSE_TIMEOUT_S = 10.0
_TORN = "the hub was killed, or its database failed; events before this may be lost"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    seq: int
    type: str
    channel_id: str | None
    data: dict[str, Any]
    at: datetime

    def envelope(self) -> dict[str, Any]:
        """As it goes over the wire."""
        return {
            "seq": self.seq,
            "type": self.type,
            "channel_id": self.channel_id,
            "data": self.data,
            "at": rfc3339(self.at),
        }


class EventLog(Protocol):
    """Where durable events are kept."""

    async def open(self) -> bool:
        """Begin to use it; the answer says whether whoever used it before has closed it."""
        ...

    async def close(self) -> None:
        """Everything appended is kept, and nothing more will be."""
        ...

    def append(self, event: Event) -> None:
        """Keep it; the write may still be on its way when this returns."""
        ...

    def lost(self) -> int:
        """The highest `seq` that could not be kept, or 0."""
        ...

    async def since(self, seq: int, limit: int) -> Sequence[Event]:
        """Kept events after `seq`, in order."""
        ...

    async def flush(self) -> None:
        """Wait until everything appended so far is kept."""
        ...

    async def floor(self) -> int:
        """The highest `seq` that is no longer kept."""
        ...

    async def reserve(self, count: int) -> int:
        """Reserve the next `count` numbers for good and answer with the last one used before them."""
        ...


class EventBus:
    """Publishes events to everyone who listens."""

    def __init__(self, log: EventLog, clock: Clock | None = None) -> None:
        self._log = log
        self._clock = clock or SystemClock()
        self._seq = 0
        self._reserved = 0
        self._coming: list[Telling] = []
        self._ring: deque[Event] = deque(maxlen=RING_SIZE)
        self._subscribers: set[_Queue] = set()
        self._observers: list[tuple[Observer, tuple[str, ...]]] = []
        self._watching: dict[str, list[Observer]] = {}
        """By the type of an event: whom it concerns."""
        self._torn_at = -1
        """The last number of a process that was killed: its last events may never have been kept."""

    async def start(self) -> None:
        """Take numbers above every number given out before, also by a process that was killed."""
        closed = await self._log.open()
        await self._reserve()
        if not closed:
            self._torn_at = self._seq

    async def close(self) -> None:
        """Keep what was published, so that the next start knows that nothing is missing."""
        self._publish_coming()
        with anyio.move_on_after(CLOSE_TIMEOUT_S, shield=True):
            try:
                await self._log.close()
            except UnavailableError as error:  # the next start finds it torn; ending goes on
                log.warning("the last events may not be kept: %s", error)

    async def keep_reserved(self) -> None:
        """Reserve more numbers ahead of need; the daemon calls it now and then."""
        if self._reserved - self._seq < RESERVED_BLOCK:
            self._reserved = await self._log.reserve(2 * RESERVED_BLOCK) + 2 * RESERVED_BLOCK

    async def _reserve(self) -> None:
        self._seq = await self._log.reserve(2 * RESERVED_BLOCK)
        self._reserved = self._seq + 2 * RESERVED_BLOCK

    @property
    def seq(self) -> int:
        """The last number given out."""
        return self._seq

    def observe(self, observer: Observer, *kinds: str) -> None:
        """Call `observer` in the publisher's task; it must not block. `kinds`: how its events are called."""
        self._observers.append((observer, kinds or ("",)))
        self._watching.clear()

    def _watchers(self, type: str) -> list[Observer]:
        found = [observer for observer, kinds in self._observers if type.startswith(kinds)]
        self._watching[type] = found
        return found

    def publish(self, type: str, data: dict[str, Any], *, channel_id: str | None = None) -> Event:
        """Number it, keep it and hand it to everyone who listens, without waiting for anyone."""
        if self._coming:
            self._publish_coming()
        return self._publish(type, data, channel_id)

    def publish_soon(
        self, type: str, make_data: Callable[[], dict[str, Any]], *, channel_id: str | None = None
    ) -> None:
        """Publish at the loop's next turn, so that nobody waits for it, but before anything else."""
        if not self._coming:
            asyncio.get_running_loop().call_soon(self._publish_coming)
        self._coming.append((type, make_data, channel_id))

    def _publish_coming(self) -> None:
        while self._coming:
            kind, make_data, channel_id = self._coming.pop(0)
            try:
                self._publish(kind, make_data(), channel_id)
            except Exception:
                log.exception("%s could not be told", kind)  # and whoever published it has gone on

    def _publish(self, type: str, data: dict[str, Any], channel_id: str | None) -> Event:
        self._seq += 1
        event = Event(self._seq, type, channel_id, data, self._clock.now())
        self._ring.append(event)
        if type not in EPHEMERAL:
            self._log.append(event)
        watching = self._watching.get(type)
        for observer in self._watchers(type) if watching is None else watching:
            observer(event)
        for queue in self._subscribers:
            queue.offer(event)
        return event

    @asynccontextmanager
    async def subscribe(self, since: int | None = None) -> AsyncIterator[AsyncIterator[Event]]:
        """Events from now on, or from after `since`: `async with bus.subscribe() as events: async for …`."""
        self._publish_coming()
        queue = _Queue(self._seq if since is None else since)
        self._subscribers.add(queue)
        try:
            yield self._deliver(queue, replay=since is not None)
        finally:
            self._subscribers.discard(queue)

    async def _deliver(self, queue: _Queue, *, replay: bool) -> AsyncIterator[Event]:
        while True:
            if replay or queue.lagged:
                async for event in self._catch_up(queue):
                    yield event
                replay = False
            event = await queue.next()
            if event.seq > queue.delivered:
                queue.delivered = event.seq
                yield event

    async def _catch_up(self, queue: _Queue) -> AsyncIterator[Event]:
        """What was missed, and a `gap` where something is missing for good."""
        queue.restart()
        if queue.delivered > self._seq or queue.delivered < await self._log.floor():
            queue.delivered = self._seq
            yield self._gap(self._seq, "events before this are no longer kept")
            return
        torn_at = max(self._torn_at, self._log.lost())
        torn = queue.delivered < torn_at and not self._ring_covers(queue.delivered)
        async for event in self._missed(queue):
            if torn and event.seq > torn_at:
                torn = False
                yield self._gap(torn_at, _TORN)
            yield event
        if torn:
            queue.delivered = max(queue.delivered, torn_at)
            yield self._gap(torn_at, _TORN)

    def _gap(self, seq: int, reason: str) -> Event:
        return Event(seq, "gap", None, {"reason": reason}, self._clock.now())

    async def _missed(self, queue: _Queue) -> AsyncIterator[Event]:
        """From memory when it is still there, else from the log."""
        while not self._ring_covers(queue.delivered):
            page = await self._kept_after(queue.delivered)
            if not page:
                break
            for event in page:
                queue.delivered = event.seq
                yield event
        for event in [event for event in self._ring if event.seq > queue.delivered]:
            queue.delivered = event.seq
            yield event

    async def _kept_after(self, seq: int) -> Sequence[Event]:
        page = await self._log.since(seq, REPLAY_PAGE)
        if not page:  # what fell out of memory may still be on its way to the log
            await self._log.flush()
            page = await self._log.since(seq, REPLAY_PAGE)
        return page

    def _ring_covers(self, seq: int) -> bool:
        return seq >= self._seq or (bool(self._ring) and self._ring[0].seq <= seq + 1)


class _Queue:
    """One listener's bounded queue. When it is full, progress is dropped; it catches up on the rest."""

    def __init__(self, delivered: int) -> None:
        self.delivered = delivered
        self.lagged = False
        self._events: deque[Event] = deque()
        self._wake = anyio.Event()

    def offer(self, event: Event) -> None:
        if self.lagged:
            return
        if len(self._events) >= QUEUE_SIZE:
            if event.type in EPHEMERAL:
                return
            self.lagged = True
        else:
            self._events.append(event)
        self._wake.set()

    def restart(self) -> None:
        """Forget what is queued: it is read again from the log."""
        self._events.clear()
        self.lagged = False

    async def next(self) -> Event:
        while not self._events:
            self._wake = anyio.Event()
            await self._wake.wait()
        return self._events.popleft()
