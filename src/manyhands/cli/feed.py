"""What whoever attends a run has to hear of, in one queue: the hub's events, keys, Ctrl-C.

A stream of events that breaks is taken up again where it broke.
"""

from __future__ import annotations

import queue
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

from manyhands.cli.client import ENDED, Api, Json
from manyhands.errors import UnavailableError

RECONNECT_S = 20.0
RECONNECT_EVERY_S = 0.25
LOOK_S = 0.5
"""A signal that comes just before a wait begins does not end the wait, so that none may be long."""

Told = tuple[str, Any]
"""`event` with its envelope, `key` with its name and text, `interrupt`, `lost` and `found` (the daemon)."""


class News:
    """What was told and not heard yet. Anybody may tell, also a signal handler."""

    def __init__(self) -> None:
        self._told: queue.SimpleQueue[Told] = queue.SimpleQueue()

    def put(self, kind: str, what: Any = None) -> None:
        self._told.put((kind, what))

    def get(self, timeout: float) -> Told | None:
        """The next news; nothing when there are none in that time."""
        try:
            return self._told.get(timeout=timeout)
        except queue.Empty:
            return None


class Feed:
    """`with Feed(api) as feed: told = feed.get(1.0)`."""

    def __init__(self, api: Api, news: News | None = None) -> None:
        self._api = api
        self._news = news or News()
        self._following = ExitStack()
        self._source = object()
        """Stands for the stream that is followed: one that was left may still tell something."""
        self._seq: int | None = None
        self._lost_at: float | None = None

    def __enter__(self) -> Self:
        self._follow()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._following.close()

    def put(self, kind: str, what: Any = None) -> None:
        """News of somebody else."""
        self._news.put(kind, what)

    def get(self, timeout: float) -> Told | None:
        """The next news; nothing when there are none in that time."""
        if self._lost_at is not None and self._take_up(self._lost_at):
            return "found", None
        told = self._news.get(timeout if self._lost_at is None else min(timeout, RECONNECT_EVERY_S))
        if told is None or told[0] != "event":
            return told
        source, event = told[1]
        if source is not self._source:
            return self.get(0)
        if event is ENDED:
            self._following.close()
            self._lost_at = time.monotonic()
            return "lost", None
        self._seq = event["seq"]
        return "event", event

    def _follow(self) -> None:
        self._source = source = object()

        def tell(event: Json) -> None:
            self._news.put("event", (source, event))

        self._following.enter_context(self._api.follow(tell, since=self._seq))

    def _take_up(self, lost_at: float) -> bool:
        """Go on where it broke; the answer says whether the daemon is there."""
        try:
            self._follow()
        except UnavailableError as error:
            if time.monotonic() > lost_at + RECONNECT_S:
                raise UnavailableError(
                    "The daemon is gone; what it was doing goes on when it is back.",
                    hint="Start it with `manyhands up`; `manyhands runs list` shows the rest.",
                ) from error
            return False
        if self._seq is None:  # nothing was heard before, so that nobody knows what was missed
            self._news.put("event", (self._source, {"type": "gap", "data": {}, "seq": None}))
        self._lost_at = None
        return True


class Interrupts:
    """Ctrl-C becomes news; a second one, or one while a question is asked, is an exception as usual."""

    def __init__(self, news: News | Feed) -> None:
        self._news = news
        self._before: Any = None
        self.count = 0
        self.raises = False

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.raises or self.count > 1:
            raise KeyboardInterrupt
        self._news.put("interrupt")


@contextmanager
def unwinding() -> Iterator[None]:
    """An end that the system asks for, such as a closed terminal, still stops runs and puts things back."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
