"""Chunks are found by their words, rare ones first."""

from __future__ import annotations

import numpy as np

from manyhands.memory.lexical import CountedWords, score, share, without_frequent

WORDS = CountedWords.of(
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
    words = CountedWords.of([["a", "b", "c"]] * 4)
    assert without_frequent(["a", "b", "c"], words) == ["a", "b", "c"]
    assert without_frequent(["a", "b", "unknown"], words) == ["a", "b", "unknown"]
    assert (score(["a", "b", "c"], words) > 0).all()


def test_unknown_words_find_nothing() -> None:
    assert not score(["unknown"], WORDS).any()
    assert not score([], WORDS).any()


def test_an_index_without_chunks_answers_with_nothing() -> None:
    assert len(score(["boat"], CountedWords.of([]))) == 0


def test_a_share_says_how_many_of_the_asked_terms_a_chunk_has() -> None:
    assert share(["boat", "sail"], WORDS).tolist() == [1.0, 0.5, 0.5, 0.5, 0.0]
