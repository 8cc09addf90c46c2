"""Files side by side in the form in which they are searched. Texts are not here.

A segment is never changed once it is made; a file that went is masked by whoever looks.

Rows are chunks; those of a file follow each other. Vectors of many chunks are in a file that is mapped into
the memory of the process, not copied into it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyhands.memory.postings import FileWords, TermIndex
from manyhands.memory.types import FileFacts

Matrix = NDArray[np.float32]

SMALL = 1 << 22
"""A matrix of fewer bytes is held in memory."""
PART = 16_384
PREFIX, SUFFIX = "memory-", ".vectors"


class Segment:
    """Some files, one after the other. `matrix` has a row for each chunk, zeros where there is no vector."""

    def __init__(
        self, tables: SegmentTables, matrix: Matrix | None = None, learned: Iterable[int] = ()
    ) -> None:
        self.files = tables.files
        self.sizes = tables.sizes
        sizes = np.array(tables.sizes, dtype=np.int64)
        self.bases = np.cumsum(sizes) - sizes
        self.size = int(sizes.sum())
        self.file_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self.section_count = tables.section_count
        self.sections = _joined(tables.sections)
        self.lengths = _joined(tables.lengths).astype(np.float32)
        self.words = TermIndex(
            _taken(tables.keys, np.uint64), _taken(tables.rows), _taken(tables.counts, np.uint8)
        )
        self.headings = TermIndex(_taken(tables.heading_keys, np.uint64), _taken(tables.heading_sections))
        self.labels = TermIndex(_taken(tables.label_keys, np.uint64), _taken(tables.label_rows))
        self._take(matrix, learned)

    def with_vectors(self, matrix: Matrix | None, learned: Iterable[int]) -> Segment:
        """The same files with these vectors: their words need not be read again."""
        other = copy(self)
        other._take(matrix, learned)
        return other

    def _take(self, matrix: Matrix | None, learned: Iterable[int]) -> None:
        self.vectors = matrix
        self.filled = np.zeros(0, dtype=bool) if matrix is None else _filled(matrix)
        self.learned = frozenset(learned)

    @property
    def nbytes(self) -> int:
        """The bytes that it takes besides its vectors."""
        tables = (self.sections, self.lengths, self.file_of, self.bases, self.filled)
        terms = (self.words, self.headings, self.labels)
        return sum(int(table.nbytes) for table in tables) + sum(index.nbytes for index in terms)


class SegmentTables:
    """What a segment is made of, collected some files at a time."""

    def __init__(self) -> None:
        self.files: list[FileFacts] = []
        self.sizes: list[int] = []
        self.size = 0
        self.section_count = 0
        self.sections: list[NDArray[Any]] = []
        self.lengths: list[NDArray[Any]] = []
        self.keys: list[NDArray[Any]] = []
        self.rows: list[NDArray[Any]] = []
        self.counts: list[NDArray[Any]] = []
        self.heading_keys: list[NDArray[Any]] = []
        self.heading_sections: list[NDArray[Any]] = []
        self.label_keys: list[NDArray[Any]] = []
        self.label_rows: list[NDArray[Any]] = []

    def add(self, files: Sequence[tuple[FileFacts, FileWords]]) -> None:
        """Some more files, as one piece each: many small tables would leave the memory full of holes."""
        if not files:
            return
        words = [one for _, one in files]
        sizes = np.array([len(one.sections) for one in words], dtype=np.int64)
        last = [int(one.sections[-1]) + 1 if len(one.sections) else 0 for one in words]
        counts = np.array(last, dtype=np.int64)
        bases, steps = np.cumsum(sizes) - sizes + self.size, np.cumsum(counts) - counts + self.section_count
        self.sections.append(_moved([one.sections for one in words], steps))
        self.lengths.append(_joined([one.lengths for one in words]))
        self.keys.append(_joined([one.keys for one in words], np.uint64))
        self.rows.append(_moved([one.rows for one in words], bases))
        self.counts.append(_joined([one.counts for one in words], np.uint8))
        self.heading_keys.append(_joined([one.heading_keys for one in words], np.uint64))
        self.heading_sections.append(_moved([one.heading_sections for one in words], steps))
        self.label_keys.append(_joined([one.label_keys for one in words], np.uint64))
        self.label_rows.append(_moved([one.label_rows for one in words], bases))
        self.files += [facts for facts, _ in files]
        self.sizes += sizes.tolist()
        self.size += int(sizes.sum())
        self.section_count += int(counts.sum())


def _joined(tables: Sequence[NDArray[Any]], kind: Any = np.int32) -> NDArray[Any]:
    """All of them one after the other."""
    return np.concatenate(tables).astype(kind, copy=False) if tables else np.zeros(0, dtype=kind)


def _taken(tables: list[NDArray[Any]], kind: Any = np.int32) -> NDArray[Any]:
    """The same, and the parts are let go of: twice would be much."""
    whole = _joined(tables, kind)
    tables.clear()
    return whole


def _moved(tables: Sequence[NDArray[Any]], steps: NDArray[np.int64]) -> NDArray[Any]:
    """All of them one after the other, each moved on by its step."""
    return _joined(tables) + np.repeat(steps.astype(np.int32), [len(table) for table in tables])


def _filled(matrix: Matrix) -> NDArray[np.bool_]:
    """Which rows have a vector: a text without any word has none, nor has a file that still waits."""
    parts = [matrix[at : at + PART].any(axis=1) for at in range(0, len(matrix), PART)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)


def new_matrix(rows: int, dimensions: int, folder: Path | None) -> Matrix:
    """A matrix of zeros: in memory if it is small, else in a file of this folder that is mapped."""
    if folder is None or 4 * rows * dimensions < SMALL:
        return np.zeros((rows, dimensions), dtype=np.float32)
    descriptor, name = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=folder)
    os.close(descriptor)
    try:
        return np.memmap(name, dtype=np.float32, mode="w+", shape=(rows, dimensions))
    finally:
        # Nobody else sees it: its name is gone at once, where systems allow that.
        with suppress(OSError):
            os.unlink(name)


def remove_leftovers(folder: Path) -> None:
    """Delete what a process left that ended where names stay as long as files are open."""
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        with suppress(OSError):
            path.unlink()
