"""Several ways of searching make one ranking, and its parts say why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from manyhands.memory.fusion import Evidence, Weights, diverse, fuse

ALONE = Weights(before=(), after=(), section=0)


def numbers(*values: float) -> NDArray[np.float32]:
    return np.array(values, dtype=np.float32)


def evidence(sections: list[int], **found: Any) -> Evidence:
    return Evidence(sections=np.array(sections, dtype=np.int32), **found)


def test_words_and_vectors_are_brought_to_one_scale() -> None:
    given_ = evidence([0, 1, 2], lexical=numbers(40, 20, 0), vector=numbers(-0.2, 0.2, 0.6))
    ranking = fuse(given_, ALONE)
    assert ranking.score.tolist() == pytest.approx([1.0, 0.5 + 0.7 / 3, 0.7], rel=1e-5)


def test_a_weak_likeness_is_not_made_to_look_like_a_sure_one() -> None:
    ranking = fuse(evidence([0, 1], vector=numbers(0.1, 0.05)), ALONE)
    assert ranking.vector.tolist() == pytest.approx([0.14, 0.07])


def test_without_vectors_words_alone_rank() -> None:
    assert fuse(evidence([0, 1], lexical=numbers(1, 2)), ALONE).best(5) == [1, 0]


def test_what_has_nothing_to_do_with_the_question_is_not_among_the_best() -> None:
    assert fuse(evidence([0, 1], lexical=numbers(0, 2))).best(5) == [1]
    assert fuse(evidence([0, 1])).best(5) == []
    assert fuse(evidence([])).best(5) == []


def test_a_chunk_gains_from_its_neighbours_of_the_same_section_only() -> None:
    weights = Weights(section=0)
    ranking = fuse(evidence([0, 0, 1, 1], lexical=numbers(0, 1, 0, 0)), weights)
    assert ranking.score.tolist() == pytest.approx([0.3, 1, 0, 0])


def test_a_section_gains_from_its_best_chunk() -> None:
    weights = Weights(before=(), after=())
    ranking = fuse(evidence([0, 0, 0, 4], lexical=numbers(1, 0, 0, 0)), weights)
    assert ranking.score.tolist() == pytest.approx([1.5, 0.5, 0.5, 0])


def test_headings_and_labels_count_as_words() -> None:
    ranking = fuse(evidence([0, 1], heading=numbers(0.5, 0), label=numbers(0, 1)))
    assert ranking.lexical.tolist() == pytest.approx([1.0, 0.6])


def test_of_two_that_match_alike_the_newer_comes_first_if_recency_counts() -> None:
    found = evidence([0, 1, 2], lexical=numbers(1, 1, 0), age_days=numbers(300, 0, 0))
    assert fuse(found).best(3) == [0, 1]
    assert fuse(found, Weights(recency=0.5)).best(3) == [1, 0]
    assert fuse(found, Weights(recency=0.5)).parts(1).recency > 0


def test_chunks_that_are_not_allowed_are_not_among_the_best() -> None:
    ranking = fuse(evidence([0, 1], lexical=numbers(1, 2)))
    assert ranking.best(2, np.array([True, False])) == [0]


def test_a_repetition_comes_later_if_diversity_counts() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    score = numbers(1.0, 0.9, 0.8)
    assert diverse([0, 1, 2], score, vectors, 0.0) == [0, 1, 2]
    assert diverse([0, 1, 2], score, vectors, 0.5) == [0, 2, 1]
    assert diverse([], score, vectors, 0.5) == []


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.floats(0, 50, width=32), st.floats(-1, 1, width=32)), max_size=12
    )
)
def test_the_parts_of_a_score_add_up_to_it(rows: list[tuple[int, float, float]]) -> None:
    sections = np.cumsum([step for step, _, _ in rows]).tolist()
    lexical = numbers(*(words for _, words, _ in rows))
    vector = numbers(*(near for _, _, near in rows))
    age = np.arange(len(rows), dtype=np.float32)
    ranking = fuse(evidence(sections, lexical=lexical, vector=vector, age_days=age), Weights(recency=0.3))
    for row in ranking.best(len(rows)):
        parts = ranking.parts(row)
        assert parts.lexical + parts.vector + parts.recency == pytest.approx(
            float(ranking.score[row]), abs=1e-4
        )
