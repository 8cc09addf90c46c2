"""Finding tools by what one wants to do: by words (BM25 with synonyms), by meaning once vectors are there.

The index is built once for a set of definitions and knows words only; `learn` adds meaning. A word of a
request counts for a tool by its best match among the tool's words: itself, a synonym, a word with a near
vector. To that comes how near the whole request is to the tool's first sentence. Near copies of a tool do not
crowd out the others: the one whose words fit best stands for its kind, the rest lose with each place.

Imports numpy: import this module late.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from manyhands.english import stem
from manyhands.tools.searched_text import SearchedText, kinds, searched_text
from manyhands.tools.types import ToolDefinition
from manyhands.tools.wording import asked_words, spoken, synonyms, without_values

if TYPE_CHECKING:
    from manyhands.embedding import Embed, Matrix

K1 = 1.2
B = 0.5
SYNONYM = 0.6
NEAR = 0.3
"""Words whose vectors are less alike than this have nothing to do with each other."""
NEIGHBOURS = 10
UNKNOWN_WORTH = 2.0
"""What a word counts that no tool has; names of people and places are such."""
MEANING = 0.4
FLOOR = 0.1
"""What fits less is not shown, unless it has one of the very words."""
COPY = 0.75
"""What is left of the score of each further tool of a kind."""
CONSIDERED = 300
# Which tool of a kind stands first: the one that has the very words, and no others in its name.
BY_WORDS, BY_MEANING, UNASKED, DEPRECATED = 0.5, 0.2, 0.01, 1.0
EXACT = 1000.0

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that was found, with how well it fits."""

    definition: ToolDefinition
    score: float


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an index knows once it has learned."""

    embed: Embed
    terms: Matrix
    tools: Matrix


@dataclass(frozen=True, slots=True)
class Fit:
    """How the tools fit a request; each has one number for each tool."""

    words: Floats
    exact: Floats
    meaning: Floats
    unasked: Floats


class ToolIndex:
    """An index over some tools."""

    def __init__(self, definitions: Iterable[ToolDefinition]) -> None:
        # By name, so that of equal scores the lower number comes first.
        self.definitions: Sequence[ToolDefinition] = sorted(definitions, key=lambda one: one.full_name)
        texts = [searched_text(definition) for definition in self.definitions]
        self._gists = [text.gist for text in texts]
        self._surfaces = _commonest_surfaces(texts)
        self._terms: Mapping[str, int] = {term: n for n, term in enumerate(self._surfaces)}
        self._postings = _postings(texts, self._terms)
        self._rarity = np.array(
            [_rarity(len(texts), len(rows)) for rows, _ in self._postings], dtype=np.float32
        )
        self._name_terms = _padded([[self._terms[term] for term in text.name] for text in texts])
        self._deprecated = np.array([text.deprecated for text in texts], dtype=np.float32)
        self._kinds = kinds(self.definitions)
        self._named = {definition.full_name.lower(): n for n, definition in enumerate(self.definitions)}
        self._meaning: Meaning | None = None

    @property
    def learned(self) -> bool:
        """Whether it finds by meaning, too."""
        return self._meaning is not None

    def learn(self, embed: Embed) -> None:
        """From now on find by meaning, too. It may take a while, and others may search meanwhile."""
        if self.definitions:
            self._meaning = Meaning(embed, embed(list(self._surfaces.values())), embed(self._gists))

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """The tools that fit best, best first; none when nothing fits."""
        plain = without_values(query)
        words = asked_words(plain)
        if not words or not self.definitions:
            return []
        fit = self._fit(plain, words)
        score = fit.words + MEANING * fit.meaning
        first = (
            fit.exact
            + BY_WORDS * fit.words
            + BY_MEANING * fit.meaning
            - UNASKED * fit.unasked
            - DEPRECATED * self._deprecated
        )
        named = self._named.get(query.strip().lower())
        if named is not None:
            score[named] += EXACT
            first[named] += EXACT
        fits = (score >= FLOOR) | (fit.exact > 0)
        best = sorted(self._spread(np.where(fits, score, 0), first), key=lambda one: (-one[0], one[1]))[
            :limit
        ]
        return [Hit(self.definitions[number], value) for value, number in best]

    def _fit(self, query: str, words: Sequence[str]) -> Fit:
        meaning, size = self._meaning, len(self.definitions)
        likeness, whole = None, np.zeros(size, dtype=np.float32)
        if meaning is not None:
            vectors = meaning.embed([spoken(query), *words])
            likeness, whole = vectors[1:] @ meaning.terms.T, meaning.tools @ vectors[0]
        covered = np.zeros(len(self._surfaces) + 1, dtype=np.float32)
        by_words, exact = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        mass = 0.0
        for number, word in enumerate(words):
            near, own = self._matches(word, None if likeness is None else likeness[number])
            worth = self._worth(near, own)
            mass += worth
            by_words += self._score_word(near, worth)
            if own is not None:
                rows, parts = self._postings[own]
                exact[rows] += self._rarity[own] * parts
            for term, weight in near.items():
                covered[term] = max(covered[term], weight)
        if likeness is not None:
            covered[:-1] = np.maximum(covered[:-1], likeness.max(axis=0))
        return Fit(by_words / mass, exact / mass, whole, self._unasked(covered))

    def _matches(self, word: str, likeness: Floats | None) -> tuple[dict[int, float], int | None]:
        """The terms that a word may mean, each with how much it counts; and the term that it is."""
        near: dict[int, float] = {}
        if likeness is not None:
            closest = likeness.argpartition(-min(NEIGHBOURS, len(likeness)))[-NEIGHBOURS:]
            for term in closest.tolist():
                if (strength := float(likeness[term] - NEAR) / (1 - NEAR)) > 0:
                    near[term] = strength
        stemmed = stem(word)
        for other in synonyms(stemmed):
            if (term := self._terms.get(other)) is not None:
                near[term] = max(SYNONYM, near.get(term, 0.0))
        own = self._terms.get(stemmed)
        if own is not None:
            near[own] = 1.0
        return near, own

    def _worth(self, near: Mapping[int, float], own: int | None) -> float:
        if own is not None:
            return float(self._rarity[own])
        meant = [float(self._rarity[term]) for term, weight in near.items() if weight >= SYNONYM]
        return max(meant, default=UNKNOWN_WORTH)

    def _score_word(self, near: Mapping[int, float], worth: float) -> Floats:
        """Only the best match counts; a rare synonym of a common word is worth no more than a common one."""
        found = np.zeros(len(self.definitions), dtype=np.float32)
        most = max(worth, UNKNOWN_WORTH)
        for term, weight in near.items():
            rows, parts = self._postings[term]
            value = weight * min(float(self._rarity[term]), most)
            found[rows] = np.maximum(found[rows], value * parts)
        return found

    def _unasked(self, covered: Floats) -> Floats:
        """How much each tool's name says that nobody asked for."""
        rarity = np.append(self._rarity, np.float32(0))
        missing = (1 - covered) * rarity
        found: Floats = missing[self._name_terms].sum(axis=1)
        return found

    def _spread(self, score: Floats, first: Floats) -> list[tuple[float, int]]:
        """Scores such that near copies do not stand in a row."""
        considered = score.argsort(kind="stable")[::-1][:CONSIDERED] if len(score) > CONSIDERED else None
        members: dict[int, list[int]] = defaultdict(list)
        for number in range(len(score)) if considered is None else considered.tolist():
            if score[number] > 0:
                members[self._kinds[number]].append(number)
        found = []
        for same in members.values():
            same.sort(key=lambda number: (-first[number], number))
            top = float(score[same[0]])
            found += [(top * COPY**place, number) for place, number in enumerate(same)]
        return found


def _commonest_surfaces(texts: Sequence[SearchedText]) -> dict[str, str]:
    """The stems of all texts in order, each with the whole word that most tools have for it."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for stemmed, word in text.surfaces.items():
            counted[stemmed][word] += 1
    return {stemmed: max(words, key=lambda w: (words[w], w)) for stemmed, words in sorted(counted.items())}


def _postings(texts: Sequence[SearchedText], terms: Mapping[str, int]) -> list[tuple[Numbers, Floats]]:
    """For each term the tools that have it, with how much it says of each (BM25 without rarity)."""
    lengths = [sum(text.counts.values()) for text in texts]
    average = (sum(lengths) / len(lengths) if lengths else 0.0) or 1.0
    found: list[tuple[list[int], list[float]]] = [([], []) for _ in terms]
    for number, text in enumerate(texts):
        norm = K1 * (1 - B + B * lengths[number] / average)
        for term, weight in text.counts.items():
            rows, parts = found[terms[term]]
            rows.append(number)
            parts.append(weight / (weight + norm))
    return [(np.array(rows, dtype=np.int64), np.array(parts, dtype=np.float32)) for rows, parts in found]


def _padded(rows: Sequence[Sequence[int]]) -> Numbers:
    """As a table; the missing places are -1, the last of whatever is looked up with it."""
    table = np.full((len(rows), max(map(len, rows), default=0)), -1, dtype=np.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table


def _rarity(total: int, holding: int) -> float:
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))
