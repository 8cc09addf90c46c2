"""Search by words: BM25 over postings, without the words that stand everywhere. Pure.

Owns the numbers, not where postings are kept: whoever keeps them hands them over as `Postings`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]
Rows = NDArray[np.int32]

K1 = 1.2
B = 0.5
LONG = 3
"""Questions of so many words can do without those that stand everywhere."""
FREQUENT = 0.25
"""A word in more than this part of all chunks says little, and its postings are the longest."""


@dataclass(frozen=True)
class Postings:
    """The chunks that a term occurs in, by number, each once, and how often."""

    rows: Rows
    counts: Scores


class Lexicon(Protocol):
    """What is known of the words of all chunks."""

    @property
    def lengths(self) -> Scores:
        """The number of terms of each chunk."""
        ...

    @property
    def count(self) -> int:
        """How many chunks there are."""
        ...

    @property
    def mean_length(self) -> float: ...

    def postings(self, term: str) -> Postings | None: ...


class LookedUp:
    """A lexicon for one question: each term is looked up once."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lengths = lexicon.lengths
        self.count = lexicon.count
        self.mean_length = lexicon.mean_length
        self._look_up = lexicon.postings
        self._known: dict[str, Postings | None] = {}

    def postings(self, term: str) -> Postings | None:
        if term not in self._known:
            self._known[term] = self._look_up(term)
        return self._known[term]


def without_frequent(asked: Sequence[str], lexicon: Lexicon) -> list[str]:
    """A long question without the terms that stand nearly everywhere, unless nothing would be left."""
    if len(asked) < LONG:
        return list(asked)
    most = FREQUENT * lexicon.count
    found = {term: lexicon.postings(term) for term in asked}
    rare = [term for term, postings in found.items() if postings is None or len(postings.rows) <= most]
    return rare if any(found[term] for term in rare) else list(asked)


def score(asked: Sequence[str], lexicon: Lexicon) -> Scores:
    """How well each chunk answers the terms of a question."""
    lengths = lexicon.lengths
    total = np.zeros(len(lengths), dtype=np.float32)
    mean = lexicon.mean_length or 1.0
    for term in without_frequent(asked, lexicon):
        if (postings := lexicon.postings(term)) is not None:
            damping = K1 * (1 - B + B * lengths[postings.rows] / mean)
            saturated = postings.counts * (K1 + 1) / (postings.counts + damping)
            total[postings.rows] += _rarity(len(postings.rows), lexicon.count) * saturated
    return total


def covered(asked: Sequence[str], lexicon: Lexicon, scores: Scores) -> float:
    """How much of a question's words the best chunk has; those that stand nowhere count most. 1 is all."""
    found = [lexicon.postings(term) for term in asked]
    most = sum(_rarity(0 if one is None else len(one.rows), lexicon.count) for one in found)
    return float(scores.max()) / most if most and len(scores) else 0.0


def share(asked: Sequence[str], places: Callable[[str], Rows | None], size: int) -> Scores:
    """Which part of the asked terms each place has; `places` says where a term stands."""
    found = np.zeros(size, dtype=np.float32)
    for term in asked:
        if (rows := places(term)) is not None:
            found[rows] += 1 / len(asked)
    return found


def _rarity(occurrences: int, chunks: int) -> float:
    return math.log(1 + (chunks - occurrences + 0.5) / (occurrences + 0.5))
