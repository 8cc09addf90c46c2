"""Where a run is written: lines that stay, and on a terminal rows below them that change until they stay too.

It knows nothing of runs. Text of strangers comes in harmless already.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Protocol, TextIO

from manyhands.cli.terminal import columns, is_terminal, width_of

CLEAR_BELOW = "\x1b[J"


class Page(Protocol):
    """Something to write on."""

    is_live: bool
    """Whether rows that change are shown, so that it is worth to make them."""

    def write(self, text: str) -> None:
        """More of a text that comes in pieces."""
        ...

    def line(self, text: str = "") -> None:
        """A line of its own, which stays."""
        ...

    def show(self, rows: Sequence[str]) -> None:
        """The rows at the bottom, each no wider than the page, in place of those that were there."""
        ...

    def renew(self) -> None:
        """Somebody else wrote meanwhile: what is below begins anew here."""
        ...

    @property
    def width(self) -> int | None:
        """How many columns there are; nothing where that does not matter."""
        ...


def new_page() -> Page:
    """The page for standard output as it is now."""
    if is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb":
        return LivePage(sys.stdout)
    return PlainPage(sys.stdout)


class SilentPage:
    """For whoever wants only the end of it."""

    is_live = False
    width = None

    def write(self, text: str) -> None: ...

    def line(self, text: str = "") -> None: ...

    def show(self, rows: Sequence[str]) -> None: ...

    def renew(self) -> None: ...


class PlainPage:
    """A file, a pipe, a terminal that cannot move its cursor: what is written stays."""

    is_live = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._in_line = False

    @property
    def width(self) -> int | None:
        return columns(self._stream)

    def write(self, text: str) -> None:
        if text:
            self._stream.write(text)
            self._stream.flush()
            self._in_line = not text.endswith("\n")

    def line(self, text: str = "") -> None:
        self.write(("\n" if self._in_line else "") + text + "\n")

    def show(self, rows: Sequence[str]) -> None: ...

    def renew(self) -> None: ...


class LivePage:
    """A terminal. What is written appears with the rows that are shown next, all of it at once.

    A row of text stays as soon as the next one has begun; the last one is redrawn.
    """

    is_live = True

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn = 0
        self._done: list[str] = []
        """Rows that stay from the next time on."""
        self._open = ""
        """The end of the text that comes in pieces: its last row."""
        self._shown: list[str] = []

    @property
    def width(self) -> int:
        # The last column stays free: a terminal that is filled to the edge may begin a new line by itself.
        return (columns(self._stream) or 80) - 1

    def write(self, text: str) -> None:
        *done, self._open = wrapped(self._open + text, self.width)
        self._done += done

    def line(self, text: str = "") -> None:
        self._done += [*([self._open] if self._open else []), text]
        self._open = ""

    def show(self, rows: Sequence[str]) -> None:
        below = [*([self._open] if self._open else []), *rows]
        if self._done or below != self._shown:
            self._draw(below)

    def renew(self) -> None:
        self._drawn = 0
        self._draw(self._shown)

    def _draw(self, below: list[str]) -> None:
        up = f"\x1b[{self._drawn - 1}A" if self._drawn > 1 else ""
        clear = f"\r{up}{CLEAR_BELOW}" if self._drawn else ""
        self._stream.write(clear + "".join(f"{row}\n" for row in self._done) + "\n".join(below))
        self._stream.flush()
        self._done, self._shown, self._drawn = [], below, len(below)


def wrapped(text: str, width: int) -> list[str]:
    """The rows of a text, broken between words; the last one may go on."""
    return [row for line in text.split("\n") for row in _rows(line.expandtabs(4), max(width, 10))]


def _rows(line: str, width: int) -> Iterator[str]:
    while width_of(line) > width:
        fits = _fitting(line, width)
        space = line.rfind(" ", 0, fits + 1)
        # A break inside the indentation would make an empty row.
        at = space if space > 0 and line[:space].strip() else fits
        yield line[:at].rstrip()
        line = line[at:].lstrip(" ") if at == space else line[at:]
    yield line


def _fitting(line: str, width: int) -> int:
    """How many characters fit."""
    if line.isascii():
        return width
    used = 0
    for at, character in enumerate(line):
        used += width_of(character)
        if used > width:
            return max(at, 1)
    return len(line)
