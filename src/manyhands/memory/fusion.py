"""One ranking from many: words, vectors, what stands around a chunk, its headings and label, its age. Pure.

All is arrays with one number for each chunk; chunks of a file follow each other in the order of the file, so
that the neighbours of a chunk are the numbers beside its own, and a section is a run of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyhands.memory.types import Parts

Scores = NDArray[np.float32]

SURE = 0.5
"""A best cosine below this is no match to be sure of, and is not made to look like one."""


@dataclass(frozen=True)
class Weights:
    """How much each thing counts; the best match of words is 1."""

    vector: float = 0.7
    before: tuple[float, ...] = (0.5, 0.2)
    """What the chunk before passes on, and the one before that: an answer follows its question."""
    after: tuple[float, ...] = (0.3, 0.2)
    section: float = 0.5
    """What the best chunk of a section passes on to all of it."""
    heading: float = 2.0
    label: float = 0.6
    recency: float = 0.0
    half_life_days: float = 30.0
    diversity: float = 0.0


@dataclass(frozen=True)
class Evidence:
    """What was found out about each chunk for one question; what is unknown is left out."""

    sections: NDArray[np.int32]
    """The number of each chunk's section, all files counted through; never falling."""
    lexical: Scores | None = None
    vector: Scores | None = None
    heading: Scores | None = None
    label: Scores | None = None
    age_days: Scores | None = None


@dataclass(frozen=True)
class Ranking:
    """The score of each chunk, and the parts that it is the sum of."""

    score: Scores
    lexical: Scores
    vector: Scores
    recency: Scores
    fit: float = 1.0
    """How well the best chunk fits the question; below 1 it may have nothing to do with it."""

    def parts(self, row: int) -> Parts:
        return Parts(float(self.lexical[row]), float(self.vector[row]), float(self.recency[row]))

    def best(self, most: int, allowed: NDArray[np.bool_] | None = None) -> list[int]:
        """The numbers of the best chunks that have anything to do with the question, best first."""
        score = self.score if allowed is None else np.where(allowed, self.score, 0)
        most = min(most, len(score))
        if most < 1:
            return []
        some = np.argpartition(-score, most - 1)[:most]
        rows = some[np.lexsort((some, -score[some]))]
        return [int(row) for row in rows if score[row] > 0]


def fuse(evidence: Evidence, weights: Weights = Weights()) -> Ranking:  # noqa: B008 - it is frozen
    """The ranking of all chunks."""
    nothing = np.zeros(len(evidence.sections), dtype=np.float32)
    lexical = _with_surroundings(_scaled(evidence.lexical, nothing), evidence.sections, weights)
    if evidence.heading is not None:
        lexical += weights.heading * evidence.heading
    if evidence.label is not None:
        lexical += weights.label * evidence.label
    vector = _scaled(evidence.vector, nothing, least=SURE) * np.float32(weights.vector)
    vector = _with_surroundings(vector, evidence.sections, weights)
    found = lexical + vector
    recency = _recency(evidence, found, weights)
    return Ranking(found + recency, lexical, vector, recency)


def diverse(rows: Sequence[int], score: Scores, vectors: NDArray[np.float32], diversity: float) -> list[int]:
    """The same chunks in an order in which one that repeats an earlier one comes later.

    `vectors`: those of these chunks, in the same order.
    """
    left = list(rows)
    if not left or diversity <= 0:
        return left
    top = max(float(score[row]) for row in left) or 1.0
    worth = np.array([float(score[row]) / top for row in left])
    alike = vectors @ vectors.T
    seen = np.zeros(len(left))
    order: list[int] = []
    for _ in left:
        value = (1 - diversity) * worth - diversity * seen
        value[order] = -np.inf
        chosen = int(np.argmax(value))
        order.append(chosen)
        seen = np.maximum(seen, alike[chosen])
    return [left[number] for number in order]


def _scaled(scores: Scores | None, nothing: Scores, least: float = 0.0) -> Scores:
    """Scores from 0 to 1, where 1 is the best: BM25 and cosines have no scale in common."""
    if scores is None or not len(scores):
        return nothing.copy()
    positive = np.maximum(scores, 0)
    best = max(float(positive.max()), least)
    return np.asarray(positive / best, dtype=np.float32) if best > 0 else nothing.copy()


def _with_surroundings(scores: Scores, sections: NDArray[np.int32], weights: Weights) -> Scores:
    total = scores.copy()
    for distance, weight in enumerate(weights.before, 1):
        same = sections[distance:] == sections[:-distance]
        total[distance:] += np.float32(weight) * scores[:-distance] * same
    for distance, weight in enumerate(weights.after, 1):
        same = sections[distance:] == sections[:-distance]
        total[:-distance] += np.float32(weight) * scores[distance:] * same
    if weights.section and len(scores):
        total += np.float32(weights.section) * _best_of_section(scores, sections)
    return total


def _best_of_section(scores: Scores, sections: NDArray[np.int32]) -> Scores:
    starts = np.flatnonzero(np.diff(sections, prepend=sections[0] - 1))
    sizes = np.diff(starts, append=len(scores))
    return np.repeat(np.maximum.reduceat(scores, starts), sizes)


def _recency(evidence: Evidence, found: Scores, weights: Weights) -> Scores:
    """New chunks gain, but only as far as they match: what is new is not thereby an answer."""
    if evidence.age_days is None or weights.recency <= 0:
        return np.zeros_like(found)
    freshness = np.exp2(-np.maximum(evidence.age_days, 0) / weights.half_life_days)
    return np.asarray(weights.recency * found * freshness, dtype=np.float32)
