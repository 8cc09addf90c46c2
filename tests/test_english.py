"""English words are cut to stems, others are left as they are."""

from __future__ import annotations

import pytest

from manyhands.english import EMPTY, stem


@pytest.mark.parametrize(
    ("one", "other"),
    [("files", "file"), ("directories", "directory"), ("searching", "search"), ("running", "run")],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["Straße", "données", "是", "io"])
def test_words_of_other_languages_and_short_ones_are_left_as_they_are(word: str) -> None:
    assert stem(word) == word


def test_words_that_say_nothing_are_known() -> None:
    assert {"the", "what", "was"} <= EMPTY
    assert "boat" not in EMPTY
