"""Text broken into rows between its words."""

from __future__ import annotations

from collections.abc import Iterator

from manyhands.cli.terminal import width_of


def wrapped(text: str, width: int) -> list[str]:
    """The rows of a text, broken between words; the last one may go on."""
    return [row for line in text.split("\n") for row in _rows(line.expandtabs(4), max(width, 10))]


def _rows(line: str, width: int) -> Iterator[str]:
    while width_of(line) > width:
        fits = _fitting(line, width)
        if not line[:fits].strip():  # no room for so much indentation
            line = line.lstrip(" ")
            continue
        space = line.rfind(" ", 0, fits + 1)
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
