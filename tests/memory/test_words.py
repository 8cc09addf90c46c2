"""Words, stems and labels of prose."""

from __future__ import annotations

import pytest

from manyhands.memory.words import label, meaning, telling_words, terms


def test_what_an_apostrophe_shortens_is_not_a_word() -> None:
    assert telling_words("Ana's boat didn’t sink") == ["ana", "boat", "didn", "sink"]


def test_words_that_say_nothing_are_left_out_unless_there_are_no_others() -> None:
    assert telling_words("What is the price of the boat?") == ["price", "boat"]
    assert telling_words("who is it") == ["who", "is", "it"]
    assert terms("who is it") == []


def test_forms_of_a_word_are_one_term() -> None:
    assert set(terms("painted painting paints")) == {"paint"}


def test_vectors_see_each_telling_word_once() -> None:
    assert meaning("The boat, the boat and the sea") == "boat sea"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ana: I sold the boat.", "Ana"),
        ("**Ana Lu:** I sold the boat.", "Ana Lu"),
        ("- Decision: keep the queue", "Decision"),
        ("[12:30] Ana: hello", "Ana"),
        ("See http://example.org for more", ""),
        ("At 12:30 we met", ""),
        ("We sold the boat and what came of it was this: nothing", ""),
    ],
)
def test_a_label_is_the_name_before_a_colon_at_the_beginning(text: str, expected: str) -> None:
    assert label(text) == expected
