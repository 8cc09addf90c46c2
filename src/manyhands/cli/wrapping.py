"""Text broken into rows between its words."""

from __future__ import annotations

from collections.abc import Iterator

from manyhands.cli.terminal import width_of


def wrapped(text: str, width: int, *, cut_words: bool = True) -> list[str]:
    """The rows of a text, broken between words; the last one may go on.

    Without `cut_words` a word that is wider stays whole, so that it can be copied.
    """
    lines = text.split("\n")
    return [row for line in lines for row in _rows(line.expandtabs(4), max(width, 10), cut_words=cut_words)]


def _rows(line: str, width: int, *, cut_words: bool) -> Iterator[str]:
    while width_of(line) > width:
        fits = _fitting(line, width)
        if not line[:fits].strip():  # no room for so much indentation
            line = line.lstrip(" ")
            continue
        space = line.rfind(" ", 0, fits + 1)
        if not line[: max(space, 0)].strip():
            space = -1 if cut_words else line.find(" ", fits)
            if space < 0 and not cut_words:
                break
        at = fits if space < 0 else space
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
