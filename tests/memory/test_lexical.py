"""Chunks are found by their words, rare ones first."""

from __future__ import annotations

from collections import Counter

import numpy as np

from manyhands.memory.lexical import Postings, Rows, Scores, score, share, without_frequent


class Words:
    """A lexicon of chunks that are given by their terms."""

    def __init__(self, chunks: list[list[str]]) -> None:
        self._chunks = [Counter(terms) for terms in chunks]
        self.lengths: Scores = np.array([len(terms) for terms in chunks], dtype=np.float32)
        self.count = len(chunks)
        self.mean_length = float(self.lengths.mean()) if chunks else 0.0

    def postings(self, term: str) -> Postings | None:
        rows = self.rows(term)
        counts = np.array([self._chunks[row][term] for row in rows], dtype=np.float32)
        return Postings(rows, counts) if len(rows) else None

    def rows(self, term: str) -> Rows:
        return np.array([row for row, terms in enumerate(self._chunks) if term in terms], dtype=np.int32)


WORDS = Words(
    [
        ["boat", "red", "sail"],
        ["boat", "boat", "harbour"],
        ["boat", "price", *["talk"] * 30],
        ["boat"],
        ["weather", "price"],
    ]
)


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    found = score(["boat", "sail"], WORDS)
    assert int(np.argmax(found)) == 0


def test_a_short_chunk_beats_a_long_one_with_the_same_word() -> None:
    found = score(["price"], WORDS)
    assert found[4] > found[2] > 0
    assert found[0] == found[1] == found[3] == 0


def test_words_that_stand_nearly_everywhere_are_dropped_from_long_questions() -> None:
    assert without_frequent(["boat", "sail", "harbour"], WORDS) == ["sail", "harbour"]
    assert without_frequent(["boat", "sail"], WORDS) == ["boat", "sail"]


def test_a_question_of_frequent_words_alone_is_still_answered() -> None:
    words = Words([["a", "b", "c"]] * 4)
    assert without_frequent(["a", "b", "c"], words) == ["a", "b", "c"]
    assert without_frequent(["a", "b", "unknown"], words) == ["a", "b", "unknown"]
    assert (score(["a", "b", "c"], words) > 0).all()


def test_unknown_words_find_nothing() -> None:
    assert not score(["unknown"], WORDS).any()
    assert not score([], WORDS).any()


def test_an_index_without_chunks_answers_with_nothing() -> None:
    assert len(score(["boat"], Words([]))) == 0


def test_a_share_says_how_many_of_the_asked_terms_a_chunk_has() -> None:
    assert share(["boat", "sail"], WORDS.rows, 5).tolist() == [1.0, 0.5, 0.5, 0.5, 0.0]
