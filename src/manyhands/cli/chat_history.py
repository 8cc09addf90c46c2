"""What a person said before, for the arrow keys; kept in a file that only they can read."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

LENGTH = 1000


class History:
    """`step` walks through the messages that begin with what is written, and back to it."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._said = _read(file) if file else []
        self._at: int | None = None
        """Where the walk is; none goes on."""
        self._written = ""

    def add(self, message: str) -> None:
        self.leave()
        if self._said[-1:] != [message]:
            self._said.append(message)
            self._keep(message)

    def leave(self) -> None:
        """What is written now is no longer what was recalled."""
        self._at = None

    def step(self, by: int, written: str) -> str | None:
        """The next message in that direction; nothing when there is none."""
        if self._at is None:
            self._at, self._written = len(self._said), written
        at = self._at + by
        while 0 <= at < len(self._said):
            if self._said[at].startswith(self._written) and self._said[at] != written:
                self._at = at
                return self._said[at]
            at += by
        if by > 0 and self._at < len(self._said):
            self._at = None
            return self._written
        return None

    def _keep(self, message: str) -> None:
        """Each at once: two chats may go on, and neither may lose what the other one was told."""
        if self._file is None:
            return
        with suppress(OSError):
            descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                file.write(json.dumps(message) + "\n")


def _read(file: Path) -> list[str]:
    """The messages, oldest first; a file that grew long is cut."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        if len(lines) > 2 * LENGTH:
            lines = lines[-LENGTH:]
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    said = []
    for line in lines:
        with suppress(ValueError):
            said.append(str(json.loads(line)))
    return said
