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
PASTE_PAUSE_S = 2.0
"""What is pasted may come in pieces."""
PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
PASTE_BEGINS, PASTE_ENDS = "\x1b[200~", "\x1b[201~"
SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|[\r\n\x7fbfd])")
KEYS = {
    "enter": ("\r", "\n"),
    "newline": ("\x1b\r", "\x1b\n"),
    "tab": ("\t",),
    "backspace": ("\x7f", "\x08"),
    "delete": ("\x1b[3~",),
    "clear": ("\x15",),
    "rest": ("\x0b",),
    "word": ("\x17", "\x1b\x7f"),
    "left": ("\x1b[D", "\x1bOD", "\x02"),
    "right": ("\x1b[C", "\x1bOC", "\x06"),
    "word_left": ("\x1b[1;5D", "\x1b[1;3D", "\x1bb"),
    "word_right": ("\x1b[1;5C", "\x1b[1;3C", "\x1bf"),
    "first": ("\x1b[H", "\x1bOH", "\x1b[1~", "\x01"),
    "last": ("\x1b[F", "\x1bOF", "\x1b[4~", "\x05"),
    "up": ("\x1b[A", "\x1bOA", "\x10"),
    "down": ("\x1b[B", "\x1bOB", "\x0e"),
    "redraw": ("\x0c",),
    "end": ("\x04",),
}
NAMES = {sequence: name for name, sequences in KEYS.items() for sequence in sequences}


class Keyboard:
    """Tells of keys: `text` with what was typed or pasted, else one of `KEYS`, `escape`, `resumed`."""

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
        mode[0] &= ~termios.ICRNL  # a pasted line may end with both
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
            pause = _pause(pending)
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


def _pause(pending: str) -> float | None:
    """How long to wait for the rest of a key."""
    if not pending:
        return None
    return PASTE_PAUSE_S if pending.startswith(PASTE_BEGINS) else ESCAPE_PAUSE_S


def split_key(pending: str, *, is_whole: bool) -> tuple[str, str, str]:
    """The first key with its text, and what is left; no key for what nobody needs."""
    if pending.startswith(PASTE_BEGINS):
        return _split_paste(pending, is_whole=is_whole)
    if sequence := SEQUENCE.match(pending):
        return NAMES.get(sequence[0], ""), "", pending[sequence.end() :]
    if pending[0] == "\x1b":
        return ("escape", "", pending[1:]) if is_whole else ("partial", "", pending)
    if not pending[0].isprintable():
        return NAMES.get(pending[0], ""), "", pending[1:]
    end = next((at for at, sign in enumerate(pending) if not sign.isprintable()), len(pending))
    return "text", pending[:end], pending[end:]


def _split_paste(pending: str, *, is_whole: bool) -> tuple[str, str, str]:
    at = pending.find(PASTE_ENDS)
    if at < 0 and not is_whole:
        return "partial", "", pending
    text, _, rest = pending.removeprefix(PASTE_BEGINS).partition(PASTE_ENDS)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "text", "".join(sign for sign in text if sign.isprintable() or sign in "\n\t"), rest


def _write(sequence: str) -> None:
    sys.stdout.write(sequence)
    sys.stdout.flush()
