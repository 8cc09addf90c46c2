"""Where a run is written: lines that stay, and on a terminal rows below them that change until they stay too.

It knows nothing of runs. Text of strangers comes in harmless already.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TextIO

from manyhands.cli.terminal import columns, is_terminal, width_of
from manyhands.cli.wrapping import wrapped

CLEAR_BELOW = "\x1b[J"
STYLES = re.compile(r"\x1b\[[0-9;]*m")
SPARE_ROWS = 2
"""Rows of the screen that are never drawn anew: a cursor cannot go back above the top."""


@dataclass(frozen=True)
class Rows:
    """What is shown at the bottom, and where in it the cursor is: row and column; at its end when nowhere."""

    rows: Sequence[str] = ()
    cursor: tuple[int, int] | None = None

    def under(self, above: Sequence[str]) -> Rows:
        """The same, below others."""
        cursor = None if self.cursor is None else (self.cursor[0] + len(above), self.cursor[1])
        return Rows([*above, *self.rows], cursor)


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

    def insert(self, text: str) -> None:
        """Lines that stay, above the end of a text that still goes on."""
        ...

    def show(self, rows: Rows) -> None:
        """The rows at the bottom, each no wider than the page, in place of those that were there."""
        ...

    def renew(self) -> None:
        """Somebody else wrote meanwhile: what is below begins anew here."""
        ...

    @property
    def width(self) -> int | None:
        """How many columns there are; nothing where that does not matter."""
        ...


class Setting(Protocol):
    """How a text that comes in pieces becomes rows."""

    gap: Sequence[str]
    """Rows between what is done and what follows it."""

    def split(self, text: str) -> tuple[str, str]:
        """What looks the same whatever comes next, and the rest. The first ends where a row ends."""
        ...

    def rows(self, text: str, width: int) -> list[str]: ...


class PlainSetting:
    """The text as it is, broken between words."""

    gap: Sequence[str] = ()

    def split(self, text: str) -> tuple[str, str]:
        done, line_break, rest = text.rpartition("\n")
        return done + line_break, rest

    def rows(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)


def new_page() -> Page:
    """The page for standard output as it is now."""
    if is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb":
        from manyhands.cli.markdown import MarkdownSetting

        return LivePage(sys.stdout, MarkdownSetting())
    return PlainPage(sys.stdout)


class SilentPage:
    """For whoever wants only the end of it."""

    is_live = False
    width = None

    def write(self, text: str) -> None: ...

    def line(self, text: str = "") -> None: ...

    def insert(self, text: str) -> None: ...

    def show(self, rows: Rows) -> None: ...

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

    def insert(self, text: str) -> None:
        self.line(text)

    def show(self, rows: Rows) -> None: ...

    def renew(self) -> None: ...


class LivePage:
    """A terminal. What is written appears with the rows that are shown next, all of it at once.

    The end of a text, as far as what comes next may change its look, is drawn anew with the rows.
    """

    is_live = True

    def __init__(self, stream: TextIO, setting: Setting | None = None) -> None:
        self._stream = stream
        self._setting = setting or PlainSetting()
        self._done: list[str] = []
        """Rows that stay from the next time on."""
        self._text = ""
        """The end of the text that comes in pieces."""
        self._kept = 0
        """How many of its rows stay already, since the screen has no room for more."""
        self._shown = Rows()
        self._drawn_width = 0

    @property
    def width(self) -> int:
        # The last column stays free: a terminal that is filled to the edge may begin a new line by itself.
        return (columns(self._stream) or 80) - 1

    def write(self, text: str) -> None:
        done, self._text = self._setting.split(self._text + text)
        if done:
            rows = self._setting.rows(done.removesuffix("\n"), self.width)
            self._done += [*rows[self._kept :], *self._setting.gap]
            self._kept = 0

    def line(self, text: str = "") -> None:
        self._done += [*self._open(), *text.split("\n")]
        self._text, self._kept = "", 0

    def insert(self, text: str) -> None:
        rows = self._open()[:-1]
        self._done += [*rows, *text.split("\n")]
        self._kept += len(rows)

    def show(self, rows: Rows) -> None:
        """Only what fits on the screen can be drawn anew: earlier rows of the text stay as they are."""
        room = shutil.get_terminal_size().lines - SPARE_ROWS
        rows = Rows(rows.rows[-room:], rows.cursor) if len(rows.rows) > room else rows
        text = self._open()
        if (excess := len(text) - max(room - len(rows.rows), 1)) > 0:
            self._done += text[:excess]
            self._kept += excess
        below = rows.under(text[max(excess, 0) :])
        if self._done or below != self._shown or self._drawn_width != self.width:
            self._draw(below)

    def renew(self) -> None:
        below, self._shown = self._shown, Rows()
        self._draw(below)

    def _open(self) -> list[str]:
        return self._setting.rows(self._text, self.width)[self._kept :] if self._text else []

    def _draw(self, below: Rows) -> None:
        width = self.width
        text = "".join(f"{row}\n" for row in self._done) + "\n".join(below.rows)
        self._stream.write(self._back(width) + text + _move(below))
        self._stream.flush()
        self._done, self._shown, self._drawn_width = [], below, width

    def _back(self, width: int) -> str:
        """To the beginning of what was drawn; a terminal that became narrower has broken rows in two."""
        if not self._shown.rows:
            return ""
        widths = [width_of(STYLES.sub("", row)) for row in self._shown.rows]
        row, column = self._shown.cursor or (len(widths) - 1, widths[-1])
        up = sum(max(-(-one // (width + 1)), 1) for one in widths[:row]) + column // (width + 1)
        return "\r" + (f"\x1b[{up}A" if up else "") + CLEAR_BELOW


def _move(below: Rows) -> str:
    """From the end of what was drawn to where the cursor belongs."""
    if below.cursor is None or not below.rows:
        return ""
    row, column = below.cursor
    up = len(below.rows) - 1 - row
    return (f"\x1b[{up}A" if up else "") + "\r" + (f"\x1b[{column}C" if column else "")
