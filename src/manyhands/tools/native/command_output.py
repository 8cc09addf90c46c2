"""What a command writes: head and tail of it kept, all of it counted, and told as it comes."""

from __future__ import annotations

import asyncio
import codecs
from collections import deque
from collections.abc import Callable

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 768 * 1024
REPORT_PAUSE_S = 0.12
REPORT_CHARS = 1000

Report = Callable[[int, str], None]
"""Told how many bytes there were so far, and the latest text."""


class KeptOutput:
    """The first and the last bytes of a stream: however much comes, memory stays bounded."""

    def __init__(self, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self.size = 0
        self._head = bytearray()
        self._head_limit = head
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._tail_limit = tail

    def feed(self, data: bytes) -> None:
        self.size += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data[-self._tail_limit :])
        self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            self._tail_size -= len(self._tail.popleft())

    def text(self) -> str:
        """What was kept, with a note where something is missing."""
        tail = b"".join(self._tail)[-self._tail_limit :]
        missing = self.size - len(self._head) - len(tail)
        if missing == 0:
            return (bytes(self._head) + tail).decode(errors="replace")
        head = bytes(self._head).decode(errors="ignore")
        rest = tail.decode(errors="ignore")
        return f"{head}\n[… {missing} of {self.size} bytes of output left out …]\n{rest}"


class LiveOutput:
    """Tells of output while it comes: the first at once, then in portions, so that nobody drowns in it."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._size = 0
        self._fresh = ""
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, data: bytes) -> None:
        self._size += len(data)
        self._fresh = (self._fresh + self._decoder.decode(data))[-REPORT_CHARS:]
        if self._timer is None:
            self._tell()

    def _tell(self) -> None:
        self._timer = None
        if self._fresh:
            fresh, self._fresh = self._fresh, ""
            self._timer = asyncio.get_running_loop().call_later(REPORT_PAUSE_S, self._tell)
            self._report(self._size, fresh)

    def close(self) -> None:
        """Tell the rest."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._fresh:
            self._report(self._size, self._fresh)
            self._fresh = ""
