"""Answers keep to their budget, show verbatim source, and are readable where there is room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.memory.answers import Place, answer, best_part
from manyhands.memory.chunking import split
from manyhands.memory.fusion import Ranking, Scores
from manyhands.memory.types import HIT_CHARS, Hit


def ranked(count: int) -> Ranking:
    import numpy as np

    score: Scores = np.arange(count, 0, -1, dtype=np.float32)
    nothing = np.zeros_like(score)
    return Ranking(score, score, nothing, nothing)


def hits_of(
    text: str, *rows: int, top_k: int = 5, budget_chars: int | None = None, question: str = ""
) -> list[Hit]:
    places = [Place("notes.md", chunk, chunk.section) for chunk in split(text)]
    return answer(rows, ranked(len(places)), places, question, top_k=top_k, budget_chars=budget_chars)


NOTES = "# A\n\none\n\ntwo\n\nthree\n\n# B\n\nfour"


def test_a_hit_says_where_it_stands_and_why_it_was_found() -> None:
    (hit,) = hits_of(NOTES, 3)
    assert (hit.path, hit.line_start, hit.line_end, hit.heading, hit.text) == (
        "notes.md",
        11,
        11,
        "B",
        "four",
    )
    assert hit.score == hit.parts.lexical == 1.0


def test_where_there_is_room_a_short_chunk_is_shown_with_what_stands_around_it() -> None:
    (hit,) = hits_of(NOTES, 1)
    assert (hit.text, hit.line_start, hit.line_end) == ("one\n\ntwo\n\nthree", 3, 7)


def test_what_is_shown_with_one_hit_is_not_a_hit_again() -> None:
    assert [hit.text for hit in hits_of(NOTES, 1, 0, 2, 3)] == ["one\n\ntwo\n\nthree", "four"]


def test_many_hits_on_little_room_are_bare() -> None:
    assert [hit.text for hit in hits_of(NOTES, 1, 0, top_k=50, budget_chars=100)] == ["two", "one"]


def test_no_more_hits_than_were_asked_for() -> None:
    assert len(hits_of(NOTES, 0, 3, top_k=1)) == 1


def test_one_that_does_not_fit_gives_way_to_a_shorter_one() -> None:
    text = "# A\n\n" + "long " * 30 + "\n\n# B\n\nshort"
    assert [hit.text for hit in hits_of(text, 0, 1, top_k=10, budget_chars=20)] == ["short"]


@pytest.mark.parametrize("size", [400, 40_000])
def test_of_a_long_block_of_code_the_part_that_was_asked_for_is_shown(size: int) -> None:
    lines = [f"value_{number} = {number}" for number in range(size)]
    lines[size * 3 // 4] = "harbour = open_harbour()"
    (hit,) = hits_of("\n".join(["# A", "```", *lines, "```"]), 0, question="where is the harbour opened?")
    assert "harbour = open_harbour()" in hit.text
    assert len(hit.text) <= HIT_CHARS
    assert hit.text.split("\n")[0] == lines[hit.line_start - 3]
    assert hit.text.split("\n")[-1] == lines[hit.line_end - 3]


def test_a_long_text_without_any_asked_word_is_shown_from_its_beginning() -> None:
    assert best_part("word " * 1000, frozenset(), 1200)[0] == 0


PARAGRAPHS = st.lists(
    st.sampled_from(["one", "two " * 60, "# A", "```\n" + "x\n" * 900 + "```", "é" * 1500]), max_size=8
)


@given(PARAGRAPHS, st.integers(1, 60), st.integers(0, 3000))
def test_an_answer_is_verbatim_and_never_longer_than_its_budget(
    blocks: list[str], top_k: int, budget: int
) -> None:
    text = "\n\n".join(blocks)
    rows = range(len(split(text)))
    hits = hits_of(text, *rows, top_k=top_k, budget_chars=budget, question="two x")
    assert len("\n".join(hit.text for hit in hits)) <= budget
    assert len(hits) <= top_k
    lines = text.split("\n")
    for hit in hits:
        assert len(hit.text) <= HIT_CHARS
        assert hit.text in "\n".join(lines[hit.line_start - 1 : hit.line_end])
