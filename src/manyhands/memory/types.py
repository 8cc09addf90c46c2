"""What memory is made of: chunks of files, and the hits of a search."""

from __future__ import annotations

from dataclasses import dataclass

HIT_CHARS = 1200
"""The longest text of a hit, and of a chunk that is not one block of code."""


@dataclass(frozen=True)
class Chunk:
    """A passage of a file as it stands there, and where that is."""

    text: str
    line_start: int
    line_end: int
    headings: tuple[str, ...] = ()
    section: int = 0
    """The number of its section in the file, from 0: what stands under one heading."""
    gap: str = ""
    """What stands between the chunk before it in the same section and this one: spaces and ends of lines."""


@dataclass(frozen=True)
class Parts:
    """What each way of searching gave to a score; their sum is the score."""

    lexical: float = 0.0
    vector: float = 0.0
    recency: float = 0.0


@dataclass(frozen=True)
class Hit:
    """A passage that was found, and why."""

    path: str
    line_start: int
    line_end: int
    heading: str
    text: str
    score: float
    parts: Parts
