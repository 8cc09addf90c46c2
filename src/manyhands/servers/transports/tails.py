"""The last words of a server: bounded tails of what it wrote where nobody parses it.

Memory is bounded whatever arrives; what is passed on live is bounded, too, and says what it left out.
"""

from __future__ import annotations

import codecs
import logging
import time
from collections import deque
from collections.abc import Callable

from manyhands.secrets import BytePieces

log = logging.getLogger(__name__)

STDERR_KEPT = 64 * 1024
_LIVE_PER_SECOND = 256 * 1024


class ByteTail:
    """The last `limit` bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: deque[bytes] = deque()
        self._size = 0

    def append(self, piece: bytes) -> None:
        """Add to the end; the oldest goes."""
        piece = piece[-self._limit :]
        self._pieces.append(piece)
        self._size += len(piece)
        while self._size - len(self._pieces[0]) >= self._limit:
            self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        """What is kept; bytes that are no UTF-8 are marked."""
        return b"".join(self._pieces)[-self._limit :].decode("utf-8", "replace")


class ErrorOutput:
    """What a server writes to stderr: its last 64 KiB, and all of it, live, to whoever listens."""

    def __init__(self, listener: Callable[[str], None] | None, clean: BytePieces) -> None:
        """`clean` takes secrets out before anything is cut."""
        self._tail = ByteTail(STDERR_KEPT)
        self._clean = clean
        self._listener = listener
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._second = 0
        self._passed = 0
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take what arrived."""
        data = self._clean.feed(data)
        self._tail.append(data)
        if self._listener is not None and self._within_budget(len(data)):
            self._tell(self._decoder.decode(data))

    def text(self) -> str:
        """The last of it, with what may go on."""
        return self._tail.text() + self._clean.rest.decode("utf-8", "replace")

    def _within_budget(self, size: int) -> bool:
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._passed = second, 0
            if self._dropped:
                self._tell(f"\n[{self._dropped} bytes of a flood left out]\n")
                self._dropped = 0
        self._passed += size
        if self._passed <= _LIVE_PER_SECOND:
            return True
        self._dropped += size
        return False

    def _tell(self, text: str) -> None:
        if self._listener is None:
            return
        try:
            self._listener(text)
        except Exception:  # a listener's fault must not end the connection it listens to
            log.exception("A listener to a server's stderr failed; it hears no more.")
            self._listener = None
