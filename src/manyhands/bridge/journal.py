"""What the bridge writes down: lines in a file that never holds a token or what was said."""

from __future__ import annotations

import contextlib
import os
import time

MAX_BYTES = 5_000_000


class Journal:
    """Appends lines to a file; without one it stays silent. Several bridges may share it."""

    def __init__(self, path: str | None) -> None:
        self._descriptor: int | None = None
        if path is None:
            return
        try:
            os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
            if os.path.exists(path) and os.path.getsize(path) > MAX_BYTES:
                os.replace(path, f"{path}.1")
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError:
            pass  # a bridge without a log is better than none

    def write(self, line: str) -> None:
        if self._descriptor is None:
            return
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with contextlib.suppress(OSError):
            os.write(self._descriptor, f"{at} {os.getpid()} {line}\n".encode("utf-8", "replace"))
