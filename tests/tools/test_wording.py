"""Requests and names are taken apart into words that can be compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.english import stem
from manyhands.tools.wording import asked_words, spoken, synonyms, without_values


@pytest.mark.parametrize("name", ["create_issue", "createIssue", "CREATE-ISSUE", "create issue"])
def test_names_are_taken_apart_however_they_are_written(name: str) -> None:
    assert spoken(name) == "create issue"


def test_words_that_say_nothing_are_left_out_unless_there_are_no_others() -> None:
    assert asked_words("Please tell me about the weather, the weather!") == ["weather"]
    assert asked_words("what is it") == ["what", "is", "it"]
    assert asked_words("") == []


def test_words_of_the_same_meaning_know_each_other() -> None:
    assert stem("delete") in synonyms(stem("removes"))
    assert stem("reset") in synonyms(stem("undo"))
    assert stem("file") not in synonyms(stem("file"))
    assert synonyms("zebra") == frozenset()


@pytest.mark.parametrize(
    ("request_text", "sort"),
    [
        ("open ~/notes/today.md", "file"),
        ("summarise https://a.example/x?y=1", "url"),
        ("go to a-site.org", "url"),
        ("call me at 5pm", "time"),
        ("is 14:30 fine", "time"),
        ("write to ada@lovelace.example", "email"),
    ],
)
def test_a_value_counts_as_what_it_is(request_text: str, sort: str) -> None:
    assert sort in asked_words(without_values(request_text))


def test_names_of_tools_are_no_values() -> None:
    assert without_values("mcp__mail__send_email files.read") == "mcp__mail__send_email files.read"


@given(st.text())
def test_any_text_can_be_taken_apart(text: str) -> None:
    assert all(stem(word) for word in asked_words(without_values(text)))
