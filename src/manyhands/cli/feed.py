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

News = tuple[str, Any]
"""`event` with its envelope, `key` with its name, `interrupt`."""


class Feed:
    """`with Feed(api) as feed: news = feed.get(1.0)`."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._following = ExitStack()
        self._seq: int | None = None

    def __enter__(self) -> Self:
        self._following.enter_context(self._api.follow(self._tell))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._following.close()

    def put(self, kind: str, what: Any = None) -> None:
        """News of somebody else; also from a signal handler."""
        self._news.put((kind, what))

    def get(self, timeout: float | None) -> News | None:
        """The next news; nothing when there are none in that time."""
        try:
            news = self._news.get(timeout=timeout)
        except queue.Empty:
            return None
        if news[0] == "event":
            if news[1] is ENDED:
                self._take_up()
                return self.get(0)
            self._seq = news[1]["seq"]
        return news

    def _tell(self, event: Json) -> None:
        self._news.put(("event", event))

    def _take_up(self) -> None:
        self._following.close()
        deadline = time.monotonic() + RECONNECT_S
        while True:
            try:
                self._following.enter_context(self._api.follow(self._tell, since=self._seq))
                return
            except UnavailableError as error:
                if time.monotonic() > deadline:
                    raise UnavailableError(
                        "The daemon is gone; what it was doing goes on when it is back.",
                        hint="Start it with `manyhands up`; `manyhands runs list` shows the rest.",
                    ) from error
                time.sleep(RECONNECT_EVERY_S)


class Interrupts:
    """Ctrl-C becomes news; a second one, or one while a question is asked, is an exception as usual."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
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
        self._feed.put("interrupt")


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
