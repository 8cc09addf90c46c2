"""A command in a real (pseudo) terminal: what it shows, and what is typed into it."""

from __future__ import annotations

import codecs
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

ENOUGH_S = 120.0
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """The other end of the terminal."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self.seen = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._looked = 0

    @property
    def text(self) -> str:
        """What was shown, without colours and cursor movements."""
        return ESCAPES.sub("", self.seen).replace("\r\n", "\n")

    def expect(self, text: str) -> None:
        """Read until the text is shown, after what was expected before."""
        deadline = time.monotonic() + ENOUGH_S
        while (at := ESCAPES.sub("", self.seen).find(text, self._looked)) < 0:
            assert time.monotonic() < deadline, f"{text!r} is not in {self.seen!r}"
            assert self._read(), f"it ended without {text!r}: {self.seen!r}"
        self._looked = at + len(text)

    def type(self, line: str) -> None:
        os.write(self._descriptor, f"{line}\n".encode())

    def press(self, keys: str) -> None:
        """Keys as they are, without Enter."""
        os.write(self._descriptor, keys.encode())

    @property
    def is_as_usual(self) -> bool:
        """Whether it echoes what is typed and hands it out line by line."""
        mode: int = termios.tcgetattr(self._descriptor)[3]
        return bool(mode & termios.ICANON and mode & termios.ECHO)

    def interrupt(self) -> int:
        """Ctrl-C, again each second: one that comes just before a read has begun does not end the read."""
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=1)
        return self.end()

    def end(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        return self.process.wait(timeout=ENOUGH_S)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], ENOUGH_S)
        try:
            chunk = os.read(self._descriptor, 65536) if ready else b""
        except OSError:  # the other side is closed
            return False
        self.seen += self._decoder.decode(chunk)
        return bool(chunk)


def _be_controlled() -> None:
    """The terminal is the process's own: Ctrl-C in it is a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def terminal(
    argv: Sequence[str], env: Mapping[str, str], columns: int = 80, *, has_colour: bool = True
) -> Iterator[Terminal]:
    """Run a command in a terminal of its own."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    wanted = {name: value for name, value in env.items() if name not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        argv,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={"TERM": "xterm-256color", **wanted, **({} if has_colour else {"NO_COLOR": "1"})},
        start_new_session=True,
        preexec_fn=_be_controlled,  # noqa: PLW1509 (one system call, no lock)
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait(timeout=ENOUGH_S)
        os.close(ours)
