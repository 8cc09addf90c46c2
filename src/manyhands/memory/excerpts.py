"""A part of a file around a line, for whoever wants to read on where a hit was found. Blocking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manyhands.memory.reading import read_text
from manyhands.memory.types import Chunk

AROUND = 40
MOST_LINES = 400
MOST_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a file as it is now."""

    path: str
    line_start: int
    line_end: int
    lines: int
    text: str
    changed: bool
    """Whether the file is another one than the one that was indexed."""
    problem: str | None = None


def read_excerpt(path: str, shown: str, digest: str, line: int, around: int, largest: int) -> Excerpt:
    """The lines around one; all that is wrong with the file is in the answer."""
    content = read_text(path, largest)
    if content is None:
        return Excerpt(shown, 0, 0, 0, "", True, "The file is gone.")
    if content.text is None:
        return Excerpt(shown, 0, 0, 0, "", content.digest != digest, content.problem)
    return cut_excerpt(shown, content.text, line, around, changed=content.digest != digest)


def cut_excerpt(shown: str, text: str, line: int, around: int, *, changed: bool = False) -> Excerpt:
    """The lines around one of a text."""
    lines = text.split("\n")
    around = min(around, MOST_LINES // 2)
    middle = min(max(line, 1), len(lines))
    first, last = max(middle - around, 1), min(middle + around, len(lines))
    kept = "\n".join(lines[first - 1 : last])[:MOST_CHARS]
    return Excerpt(shown, first, last, len(lines), kept, changed)


def joined(chunks: Sequence[Chunk]) -> str:
    """The text of a document that is kept nowhere else, with its lines where they were."""
    lines: list[str] = []
    for chunk in chunks:
        lines += [""] * (chunk.line_start - 1 - len(lines))
        lines = lines[: chunk.line_start - 1] + chunk.text.split("\n")
    return "\n".join(lines)
