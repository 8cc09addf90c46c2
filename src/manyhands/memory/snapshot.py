"""All chunks of some files in the form in which they are searched. Pure; it is made anew when files change.

It answers by words at once. By meaning it answers when it has been given a vector for each chunk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from manyhands.english import stem
from manyhands.memory.answers import Place, answer
from manyhands.memory.fusion import Evidence, Ranking, Weights, diverse, fuse
from manyhands.memory.lexical import CountedWords, score, share
from manyhands.memory.types import Chunk, Hit
from manyhands.memory.words import label, telling_words, terms

Mode = Literal["hybrid", "lexical"]

CANDIDATES = 4
"""So many chunks are looked at for each hit: some do not fit, some are shown with others."""
LEAST_CANDIDATES = 100


class Snapshot:
    """Chunks with their words, their places and, once learned, their vectors."""

    def __init__(self, files: Mapping[str, Sequence[Chunk]]) -> None:
        self._places = list(_places(files))
        self._words = CountedWords.of(terms(place.chunk.text) for place in self._places)
        self._sections = np.array([place.section for place in self._places], dtype=np.int32)
        self._headings = CountedWords.of(_heading_terms(place) for place in self._places)
        self._labels = CountedWords.of(terms(label(place.chunk.text)) for place in self._places)
        self._vectors: NDArray[np.float32] | None = None
        self._middle = np.zeros(0, dtype=np.float32)

    @property
    def texts(self) -> list[str]:
        """The texts that vectors are wanted for, in the order of the chunks."""
        return [place.chunk.text for place in self._places]

    @property
    def mode(self) -> Mode:
        return "lexical" if self._vectors is None else "hybrid"

    def learn(self, vectors: NDArray[np.float32]) -> None:
        """Take one vector for each chunk; from now on questions need one too."""
        self._middle = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1], dtype=np.float32)
        self._vectors = _unit(vectors - self._middle)

    def rank(
        self,
        question: str,
        vector: NDArray[np.float32] | None = None,
        *,
        age_days: NDArray[np.float32] | None = None,
        weights: Weights = Weights(),  # noqa: B008 - it is frozen
    ) -> Ranking:
        """All chunks, ranked for a question."""
        asked = list(dict.fromkeys(map(stem, telling_words(question))))
        evidence = Evidence(
            sections=self._sections,
            lexical=score(asked, self._words),
            vector=self._closeness(vector),
            heading=share(asked, self._headings),
            label=np.sign(share(asked, self._labels)),
            age_days=age_days,
        )
        return fuse(evidence, weights)

    def search(
        self,
        question: str,
        vector: NDArray[np.float32] | None = None,
        *,
        top_k: int = 5,
        budget_chars: int | None = None,
        weights: Weights = Weights(),  # noqa: B008 - it is frozen
    ) -> list[Hit]:
        """The hits for a question."""
        ranking = self.rank(question, vector, weights=weights)
        rows = ranking.best(max(top_k * CANDIDATES, LEAST_CANDIDATES))
        if self._vectors is not None:
            rows = diverse(rows, ranking.score, self._vectors, weights.diversity)
        return answer(rows, ranking, self._places, question, top_k=top_k, budget_chars=budget_chars)

    def _closeness(self, vector: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        """Cosines from the middle of all chunks: what they all have in common tells none of them apart."""
        if vector is None or self._vectors is None or not vector.any():
            return None
        question = _unit((vector - self._middle).reshape(1, -1))[0]
        return np.asarray(self._vectors @ question, dtype=np.float32)


def _places(files: Mapping[str, Sequence[Chunk]]) -> Iterable[Place]:
    section = 0
    for path, chunks in files.items():
        for number, chunk in enumerate(chunks):
            if number and chunk.section != chunks[number - 1].section:
                section += 1
            yield Place(path, chunk, section)
        section += 1


def _heading_terms(place: Place) -> list[str]:
    """A chunk is also found by the names of its file and of what it stands under."""
    return terms(" ".join((PurePath(place.path).stem, *place.chunk.headings)))


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
