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
    scope: str = "project"
    """What kind of memory it is from: a project's, a channel's, or the global one."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and what kind of answer is wanted."""

    text: str
    top_k: int = 5
    budget_chars: int | None = None
    paths: tuple[str, ...] = ()
    """Patterns as in `.gitignore` of the files that are wanted; none means all."""
    since: float | None = None
    until: float | None = None
    """Only files that were changed from then, until then, in seconds since 1970."""
    recency: float = 0.0
    diversity: float = 0.0
    by_words: bool = False
    """Leave vectors out."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file that is in the index, without its text."""

    id: int
    path: str
    """Where it is; for a conversation, which one."""
    shown: str
    """Its path as people and models read it: below its project where that can be."""
    mark: str
    """By which a change of the file is seen without reading it."""
    modified: float
    """When it was changed, in seconds since 1970."""
    kind: str = "file"
    collection: str = ""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What bringing a memory up to date did. A changed file's old chunks count as removed."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks_added: int = 0
    chunks_removed: int = 0
    embedded: int = 0
    """Chunks that got a vector."""
    waiting: int = 0
    """Chunks that still have none."""
    problems: tuple[tuple[str, str], ...] = ()
    """Files that could not be read as they are, and why."""
    notes: tuple[str, ...] = ()

    def __add__(self, other: IndexReport) -> IndexReport:
        return IndexReport(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    @property
    def did_something(self) -> bool:
        return bool(self.added or self.changed or self.removed or self.embedded)
