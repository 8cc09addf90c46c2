"""Keys as they are pressed, while a run is shown: the terminal hands out each at once and echoes none.

The terminal is put back as it was whenever the context is left, and for as long as a question is asked.
"""

from __future__ import annotations

import codecs
import os
import re
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

ESCAPE_PAUSE_S = 0.05
"""What follows an Esc faster than this is part of a key's sequence, not another key."""
PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
PASTED = re.compile(r"\x1b\[200~(.*?)(?:\x1b\[201~|$)", re.DOTALL)
SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.)")
NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x15": "clear",
    "\x17": "word",
    "\x04": "end",
    "\x1b[A": "up",
    "\x1bOA": "up",
}


class Keyboard:
    """Tells of keys: `text` with what was typed or pasted, else one of `NAMES`, `escape`, `resumed`."""

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        self._tell = tell
        self._descriptor = sys.stdin.fileno()
        self._before: list[Any] = []
        self._reader: threading.Thread | None = None
        self._wake_read = self._wake_write = -1
        self._resumed: Any = None

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._descriptor)
        self._wake_read, self._wake_write = os.pipe()
        self._resumed = signal.signal(signal.SIGCONT, self._resume)
        self.listen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rest()
        signal.signal(signal.SIGCONT, self._resumed)
        os.close(self._wake_read)
        os.close(self._wake_write)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The terminal is somebody else's meanwhile."""
        self._rest()
        try:
            yield
        finally:
            self.listen()

    def listen(self) -> None:
        """Take the terminal, again after the process was suspended."""
        mode = termios.tcgetattr(self._descriptor)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, mode)
        _write(PASTE_ON)
        if self._reader is None:
            self._reader = threading.Thread(target=self._read, name="keyboard", daemon=True)
            self._reader.start()

    def _resume(self, number: int, frame: FrameType | None) -> None:
        """Whoever had the terminal meanwhile may have left it otherwise."""
        if self._reader is not None:
            self.listen()
            self._tell("resumed", "")

    def _rest(self) -> None:
        """Stop reading and put the terminal back; what was typed since stays for whoever reads next."""
        if self._reader is not None:
            os.write(self._wake_write, b"x")
            self._reader.join()
            os.read(self._wake_read, 1)
            self._reader = None
        _write(PASTE_OFF)
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        pending = ""
        while True:
            # An Esc alone is a key only when nothing follows it.
            pause = ESCAPE_PAUSE_S if pending else None
            ready, _, _ = select.select([self._descriptor, self._wake_read], [], [], pause)
            if self._wake_read in ready:
                return
            if ready:
                chunk = os.read(self._descriptor, 4096)
                if not chunk:
                    self._tell("end", "")
                    return
                pending += decoder.decode(chunk)
            pending = self._told(pending, is_whole=not ready)

    def _told(self, pending: str, *, is_whole: bool) -> str:
        """Tell of the keys; what may be the beginning of one is kept."""
        while pending:
            key, text, rest = split_key(pending, is_whole=is_whole)
            if key == "partial":
                return pending
            if key:
                self._tell(key, text)
            pending = rest
        return ""


def split_key(pending: str, *, is_whole: bool) -> tuple[str, str, str]:
    """The first key with its text, and what is left; no key for what nobody needs."""
    if pending[0] == "\x1b":
        return _split_escape(pending, is_whole=is_whole)
    if pending[0] in NAMES:
        return NAMES[pending[0]], "", pending[1:]
    if not pending[0].isprintable() and pending[0] != "\t":
        return "", "", pending[1:]
    end = next(
        (at for at, sign in enumerate(pending) if not sign.isprintable() and sign != "\t"), len(pending)
    )
    return "text", pending[:end], pending[end:]


def _split_escape(pending: str, *, is_whole: bool) -> tuple[str, str, str]:
    if pasted := PASTED.match(pending):
        if not is_whole and not pasted[0].endswith("\x1b[201~"):
            return "partial", "", pending
        return "text", pasted[1].replace("\r\n", "\n").replace("\r", "\n"), pending[pasted.end() :]
    if sequence := SEQUENCE.match(pending):
        return NAMES.get(sequence[0], ""), "", pending[sequence.end() :]
    if not is_whole:
        return "partial", "", pending
    return "escape", "", pending[1:]


def _write(sequence: str) -> None:
    sys.stdout.write(sequence)
    sys.stdout.flush()
