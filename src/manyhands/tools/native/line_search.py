"""Finds the lines of a text that a regular expression matches. Of the standard library alone: the search
worker imports it.

The whole text is searched at once, which is many times quicker than line by line, and yet a match never spans
lines: what it finds across them is looked at again within the line.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LINE_SHOWN = 400

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What looks at its surroundings, or gives nothing back, may say no in the whole text and yes in the line.
_DEPENDS_ON_LINE = re.compile(r"\(\?<?[=!]|\(\?>|\(\?\(|[*+?}]\+|\\[AZ]")
_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]|()]+")


class FoundLine(NamedTuple):
    """A line with its number, counted from 1. `match` is false for a line shown for its neighbours' sake."""

    number: int
    text: str
    match: bool = True


class LineSearch:
    """One pattern, ready to be looked for. Raises `re.error` when it is none."""

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        flags = re.MULTILINE | (re.IGNORECASE if ignore_case else re.NOFLAG)
        self._regex = re.compile(pattern, flags)
        self._by_line = _DEPENDS_ON_LINE.search(pattern) is not None
        self._literal = pattern.encode() if _PLAIN.fullmatch(pattern) and not ignore_case else None

    def may_be_in(self, data: bytes) -> bool:
        """Whether it is worth while to decode these bytes and search."""
        if self._literal is None or data.startswith(_UTF16):
            return True
        return self._literal in data

    def lines(self, text: str, most: int, context: int = 0) -> list[FoundLine]:
        """Up to so many lines that match, long ones cut, each with so many neighbours."""
        found = []
        for number, line, column in self._found(text):
            found.append(FoundLine(number, _around(line, column)))
            if len(found) == most:
                break
        return _with_neighbours(found, text.split("\n"), context) if context and found else found

    def _found(self, text: str) -> Iterator[tuple[int, str, int]]:
        return self._line_by_line(text) if self._by_line else self._at_once(text)

    def _line_by_line(self, text: str) -> Iterator[tuple[int, str, int]]:
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            if found := self._regex.search(line):
                yield number, line, found.start()

    def _at_once(self, text: str) -> Iterator[tuple[int, str, int]]:
        position, number, counted = 0, 1, 0
        while position < len(text) and (found := self._regex.search(text, position)):
            start = text.rfind("\n", 0, found.start()) + 1
            if start == len(text):  # behind the last line
                return
            end = text.find("\n", found.start())
            end = len(text) if end < 0 else end
            number, counted = number + text.count("\n", counted, start), start
            column: int | None = found.start() - start
            if found.end() > end:
                inside = self._regex.search(text[start:end])
                column = inside.start() if inside else None
            if column is not None:
                yield number, text[start:end], column
            position = end + 1


def is_binary(data: bytes) -> bool:
    """Whether these bytes, or only the first of a file, are no text."""
    return b"\0" in data and not data.startswith(_UTF16)


def decode(data: bytes) -> str | None:
    """The text of a file, with `\\n` between its lines; nothing for what is no text."""
    if is_binary(data):
        return None
    if data.startswith(_UTF16):
        text = data.decode("utf-16", "replace")
    else:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    return text.replace("\r\n", "\n") if "\r" in text else text


def _around(line: str, column: int) -> str:
    """A line that can be shown: of a long one the part with the match."""
    if len(line) <= LINE_SHOWN:
        return line
    start = max(0, min(column - LINE_SHOWN // 4, len(line) - LINE_SHOWN))
    shown = line[start : start + LINE_SHOWN]
    return f"{'…' if start else ''}{shown}{'…' if start + LINE_SHOWN < len(line) else ''}"


def _with_neighbours(found: Sequence[FoundLine], lines: Sequence[str], context: int) -> list[FoundLine]:
    matches = {line.number: line for line in found}
    last = len(lines) - (lines[-1] == "")
    wanted = {
        near
        for number in matches
        for near in range(max(1, number - context), min(last, number + context) + 1)
    }
    return [
        matches.get(number) or FoundLine(number, _around(lines[number - 1], 0), match=False)
        for number in sorted(wanted)
    ]
