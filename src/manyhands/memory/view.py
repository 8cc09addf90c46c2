"""All chunks that one question is asked of, ranked. Pure, and never changed once it is made.

It answers by words at once. By meaning it answers when it has vectors, or when it is told how close each
chunk is by somebody who has them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyhands.english import stem
from manyhands.memory.fusion import Evidence, Ranking, Weights, fuse
from manyhands.memory.lexical import LookedUp, Postings, Rows, Scores, covered, score, share
from manyhands.memory.postings import TermIndex, key_of
from manyhands.memory.segments import Matrix, Segment
from manyhands.memory.types import FileFacts
from manyhands.memory.words import telling_words

DAY_S = 86_400
WORDS_FIT = 0.35
"""A question fits if the best chunk has so much of its words, or is close, or if half of it is a heading.

Set so that hardly a question that notes answer is called a bad fit, and most about something else are."""
FEW = 8


@dataclass(frozen=True)
class Part:
    """A segment, and which of its files are not there any more."""

    segment: Segment
    gone: frozenset[int] = frozenset()


class View:
    """Segments side by side, without the files that are gone."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = [part for part in parts if part.segment.size]
        self._segments = [part.segment for part in self._parts]
        sizes = [segment.size for segment in self._segments]
        self._starts = [int(start) for start in np.cumsum([0, *sizes])]
        section_starts = np.cumsum([0, *(segment.section_count for segment in self._segments)])
        self._section_starts = [int(start) for start in section_starts]
        self.files: list[FileFacts] = [file for segment in self._segments for file in segment.files]
        counts = np.cumsum([0, *(len(segment.files) for segment in self._segments)])
        file_starts = [int(start) for start in counts[:-1]]
        self.file_of = _side_by_side([one.file_of for one in self._segments], file_starts)
        self.sections = _side_by_side([one.sections for one in self._segments], self._section_starts[:-1])
        self.lengths: Scores = _side_by_side([one.lengths for one in self._segments], kind=np.float32)
        self.there = [file.id not in part.gone for part in self._parts for file in part.segment.files]
        self.alive = None if all(self.there) else np.array(self.there, dtype=bool)[self.file_of]

    def place(self, row: int) -> tuple[FileFacts, int]:
        """The file of a row, and the number of the chunk in it."""
        number = bisect_right(self._starts, row) - 1
        segment, inside = self._segments[number], row - self._starts[number]
        file = int(segment.file_of[inside])
        return segment.files[file], inside - int(segment.bases[file])

    @cached_property
    def first_rows(self) -> dict[int, int]:
        """The first row of each file that is there."""
        return {
            file.id: start + int(base)
            for part, start in zip(self._parts, self._starts, strict=False)
            for file, base in zip(part.segment.files, part.segment.bases, strict=True)
            if file.id not in part.gone
        }

    # --- words

    @property
    def size(self) -> int:
        return self._starts[-1]

    @cached_property
    def count(self) -> int:
        return self.size if self.alive is None else int(self.alive.sum())

    @cached_property
    def mean_length(self) -> float:
        lengths = self.lengths if self.alive is None else self.lengths[self.alive]
        return float(lengths.mean()) if len(lengths) else 0.0

    def postings(self, term: str) -> Postings | None:
        key, rows, counts = key_of(term), list[Rows](), list[NDArray[np.uint8]]()
        for segment, start in zip(self._segments, self._starts, strict=False):
            some, often = segment.words.places(key)
            if often is not None:
                rows.append(some + np.int32(start))
                counts.append(often)
        if not rows:
            return None
        where, how_often = np.concatenate(rows), np.concatenate(counts).astype(np.float32)
        if self.alive is not None:
            there = self.alive[where]
            where, how_often = where[there], how_often[there]
        return Postings(where, how_often) if len(where) else None

    def _places(
        self, of: Callable[[Segment], TermIndex], starts: Sequence[int]
    ) -> Callable[[str], Rows | None]:
        def find(term: str) -> Rows | None:
            key = key_of(term)
            found = [
                of(one).places(key)[0] + np.int32(start)
                for one, start in zip(self._segments, starts, strict=False)
            ]
            return np.concatenate(found) if found else None

        return find

    # --- ranking

    def rank(
        self,
        question: str,
        closeness: Scores | None = None,
        *,
        now: float | None = None,
        weights: Weights = Weights(),  # noqa: B008 - it is frozen
    ) -> Ranking:
        """All chunks, ranked for a question. `now`: what the age of files is counted from, for recency."""
        asked = list(dict.fromkeys(map(stem, telling_words(question))))
        by_section = share(
            asked, self._places(lambda one: one.headings, self._section_starts), self._section_starts[-1]
        )
        labelled = share(asked, self._places(lambda one: one.labels, self._starts), self.size)
        words = LookedUp(self)
        lexical = score(asked, words)
        ranking = fuse(
            Evidence(
                sections=self.sections,
                lexical=lexical,
                vector=closeness,
                heading=by_section[self.sections] if self.size else None,
                label=np.sign(labelled),
                age_days=None if now is None else self._ages(now),
            ),
            weights,
        )
        if self.alive is not None:
            np.multiply(ranking.score, self.alive, out=ranking.score)
        fits = (
            covered(asked, words, lexical) / WORDS_FIT,
            _top(closeness) / self._near,
            _top(by_section) * 2,
        )
        return replace(ranking, fit=max(fits))

    @cached_property
    def _near(self) -> float:
        """How close the best chunk to a question that fits is: of many, some are close by chance."""
        return 0.13 + 0.025 * math.log(max(self.count, 1))

    def _ages(self, now: float) -> Scores:
        ages = np.array([(now - file.modified) / DAY_S for file in self.files], dtype=np.float32)
        return np.asarray(ages[self.file_of])

    def allowed(self, wanted: Callable[[FileFacts], bool]) -> NDArray[np.bool_]:
        """Which rows are of files that are wanted."""
        return np.asarray(np.array([wanted(file) for file in self.files], dtype=bool)[self.file_of])

    # --- vectors

    @cached_property
    def unlearned(self) -> int:
        """How many files have no vectors here."""
        return sum(
            file.id not in part.segment.learned and file.id not in part.gone
            for part in self._parts
            for file in part.segment.files
        )

    @property
    def dimensions(self) -> int | None:
        """How many numbers a vector has; nothing if there are none."""
        return next((one.vectors.shape[1] for one in self._segments if one.vectors is not None), None)

    def closeness(self, vector: NDArray[np.float32]) -> Scores | None:
        """Cosines from the middle of all chunks: what they all have in common tells none of them apart."""
        if self.dimensions != len(vector) or not vector.any():
            return None
        middle, lengths = self._middle
        question = vector - middle
        question = question / (np.linalg.norm(question) or 1)
        found = self._products(question)
        found -= np.float32(middle @ question)
        found /= lengths
        return found

    def vectors_of(self, rows: Sequence[int]) -> Matrix | None:
        """The vectors of these rows, seen from the middle, of length 1."""
        if self.dimensions is None:
            return None
        middle, _ = self._middle
        found = np.array([self._vector(row) - middle for row in rows], dtype=np.float32)
        return unit(found.reshape(len(rows), -1))

    def _vector(self, row: int) -> NDArray[np.float32]:
        number = bisect_right(self._starts, row) - 1
        vectors = self._segments[number].vectors
        if vectors is None:
            return np.zeros(self.dimensions or 0, dtype=np.float32)
        return np.asarray(vectors[row - self._starts[number]])

    @cached_property
    def _middle(self) -> tuple[NDArray[np.float32], Scores]:
        """The mean of all vectors, and how far each row is from it: endlessly, for a row without a vector."""
        total = np.zeros(self.dimensions or 0, dtype=np.float32)
        known = [self._known(number) for number in range(len(self._segments))]
        for segment, there in zip(self._segments, known, strict=True):
            if segment.vectors is not None:
                total += np.einsum("i,ij->j", there.astype(np.float32), segment.vectors)
        middle = damped(total, sum(int(there.sum()) for there in known))
        squares = 1 - 2 * self._products(middle) + np.float32(middle @ middle)
        lengths = np.sqrt(np.maximum(squares, 1e-12)).astype(np.float32)
        if known:
            lengths[~np.concatenate(known)] = np.inf
        return middle, lengths

    def _known(self, number: int) -> NDArray[np.bool_]:
        """Which rows of a segment have a vector and are there."""
        segment = self._segments[number]
        if segment.vectors is None:
            return np.zeros(segment.size, dtype=bool)
        there = segment.filled
        if self.alive is None:
            return there
        return np.asarray(there & self.alive[self._starts[number] : self._starts[number + 1]])

    def _products(self, vector: NDArray[np.float32]) -> Scores:
        found = np.zeros(self.size, dtype=np.float32)
        for segment, start in zip(self._segments, self._starts, strict=False):
            if segment.vectors is not None:
                # Not `@`: that would spread over all cores, and on a busy machine each waits for the others.
                np.vecdot(segment.vectors, vector, out=found[start : start + segment.size])
        return found


def _top(scores: Scores | None) -> float:
    return float(scores.max()) if scores is not None and len(scores) else 0.0


def _side_by_side(
    tables: Sequence[NDArray[Any]], steps: Sequence[int] = (), kind: Any = np.int32
) -> NDArray[Any]:
    if not tables:
        return np.zeros(0, dtype=kind)
    moved = [table + kind(step) for table, step in zip(tables, steps, strict=True)] if len(steps) else tables
    return np.concatenate(moved).astype(kind, copy=False)


def damped(total: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """The middle of some vectors by their sum, nearer to nothing the fewer they are.

    Of one passage the middle is itself, and seen from there it would be nowhere.
    """
    return np.asarray(total / np.float32(count + FEW), dtype=np.float32)


def unit(vectors: Matrix) -> Matrix:
    """The same of length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
