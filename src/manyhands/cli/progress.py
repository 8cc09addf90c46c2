"""Shows that something goes on and for how long: a spinner on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from manyhands.cli.output import human_duration
from manyhands.cli.terminal import columns, fit, is_terminal, one_line, paint_error

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FIRST_FRAME_S = 0.25
FRAME_S = 0.1
FIRST_LINE_S = 1.0
LINE_S = 15.0


class Progress:
    """`with Progress("connecting time") as progress: …`; shows nothing of what is over at once."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._detail = ""
        self._began = time.monotonic()
        self._live = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        self._over = threading.Event()
        self._resume = threading.Event()
        self._resume.set()
        self._drawing = threading.Lock()
        self._drawn = False
        self._thread = threading.Thread(target=self._show, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._resume.set()
        self._thread.join()
        self._clear()

    def title(self, text: str) -> None:
        """What goes on now."""
        self._title = text
        self._detail = ""

    def detail(self, text: str) -> None:
        """The latest news."""
        self._detail = one_line(text)

    def pause(self) -> None:
        """Leave the terminal to someone else until `resume`."""
        self._resume.clear()
        self._clear()

    def resume(self) -> None:
        """Go on showing."""
        self._resume.set()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The terminal is somebody else's meanwhile."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def _show(self) -> None:
        wait, every = (FIRST_FRAME_S, FRAME_S) if self._live else (FIRST_LINE_S, LINE_S)
        frame = 0
        while not self._over.wait(wait):
            self._resume.wait()
            self._draw(FRAMES[frame % len(FRAMES)])
            frame += 1
            wait = every

    def _draw(self, frame: str) -> None:
        elapsed = human_duration(round(time.monotonic() - self._began, 1))
        text = f"{self._title} … {elapsed}" + (f"  {self._detail}" if self._detail else "")
        with self._drawing:
            if self._over.is_set() or not self._resume.is_set():
                return
            if not self._live:
                sys.stderr.write(text + "\n")
            else:
                line = fit(text, (columns(sys.stderr) or 80) - 3)
                sys.stderr.write(f"\r\x1b[K{paint_error(frame, 'cyan')} {line}")
                self._drawn = True
            sys.stderr.flush()

    def _clear(self) -> None:
        with self._drawing:
            if self._drawn:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
                self._drawn = False
