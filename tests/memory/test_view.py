"""A view of some files is searched by words at once, and by meaning once it has vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from manyhands.memory.chunking import split
from manyhands.memory.postings import FileWords, words_of
from manyhands.memory.segments import new_matrix
from manyhands.memory.types import Hit
from manyhands.memory.view import Part, View
from tests.memory.views import made_view, parts, search

FILES = {
    "decisions/queue.md": "# Queue\n\nWe looked at three of them.\n\nIn the end we took the simplest one.",
    "talk.md": (
        "# Monday, 3 June\n\nAna: Where did you spend the summer?\n\nBo: At the lake, with my sister.\n\n"
        "Ana: I bought a sailing boat!\n\nBo: Congratulations, Ana!"
    ),
    "garden.md": (
        "# Garden\n\nThe tomatoes need water twice a day.\n\nThe physician advised against lifting pots."
    ),
}


def ask(question: str, *, learned: bool = True, top_k: int = 5, budget_chars: int | None = None) -> list[Hit]:
    return search(made_view(FILES, learned=learned), question, top_k=top_k, budget_chars=budget_chars)


def best(question: str, *, learned: bool = True) -> Hit:
    return ask(question, learned=learned, top_k=50, budget_chars=2000)[0]


@pytest.mark.parametrize("learned", [False, True])
def test_a_thing_is_found_by_its_words(learned: bool) -> None:
    assert best("Who bought a boat?", learned=learned).text == "Ana: I bought a sailing boat!"


def test_keyword_search_answers_before_any_vector_exists() -> None:
    view = made_view(FILES, learned=False)
    assert view.dimensions is None
    assert view.unlearned == 3
    assert search(view, "tomatoes")[0].path == "garden.md"


def test_a_thing_is_found_by_meaning() -> None:
    hit = best("what did the doctor say")
    assert hit.text == "The physician advised against lifting pots."
    assert hit.parts.vector > 0
    assert not ask("doctor", learned=False)


def test_an_answer_is_found_by_the_question_before_it() -> None:
    texts = [hit.text for hit in ask("Where was the summer spent?", learned=False, budget_chars=130)]
    assert "Bo: At the lake, with my sister." in texts[:2]


def test_a_chunk_is_found_by_the_names_of_its_file_and_headings() -> None:
    assert best("queue").path == "decisions/queue.md"
    assert best("what happened in june").path == "talk.md"


def test_who_speaks_counts_more_than_who_is_spoken_to() -> None:
    assert best("Ana", learned=False).text.startswith("Ana:")


@pytest.mark.parametrize("question", ["", "?!", "the"])
def test_a_question_without_words_finds_nothing_and_breaks_nothing(question: str) -> None:
    assert isinstance(ask(question), list)


def test_no_files_answer_with_nothing() -> None:
    assert search(made_view({}, learned=True), "boat") == []


def test_neighbours_are_of_the_same_file() -> None:
    assert [hit.text for hit in search(made_view({"a.md": "boat", "b.md": "car"}), "boat")] == ["boat"]


def test_files_of_several_parts_rank_as_if_they_were_one() -> None:
    together = made_view(FILES, learned=True)
    apart = View([part for name in FILES for part in parts({name: FILES[name]}, learned=True)])
    for question in ("Who bought a boat?", "what did the doctor say", "queue", "Ana"):
        assert rounded(search(together, question)) == rounded(search(apart, question))


def rounded(hits: list[Hit]) -> list[tuple[str, int, float]]:
    return [(hit.path, hit.line_start, round(hit.score, 3)) for hit in hits]


def test_a_file_that_is_gone_is_not_found_and_does_not_count() -> None:
    (part,) = parts(FILES, learned=True)
    gone = next(file.id for file in part.segment.files if file.shown == "talk.md")
    view = View([Part(part.segment, frozenset({gone}))])
    without = made_view({name: text for name, text in FILES.items() if name != "talk.md"}, learned=True)
    assert view.count == without.count
    assert "talk.md" not in [hit.path for hit in search(view, "Who bought a boat?")]
    assert rounded(search(view, "tomatoes")) == rounded(search(without, "tomatoes"))


def test_a_file_without_vectors_is_found_by_words_beside_those_that_have_some() -> None:
    view = View(
        [*parts({"a.md": "The physician advised rest."}, learned=True), *parts({"b.md": "A boat."}, first=9)]
    )
    assert view.unlearned == 1
    assert [hit.path for hit in search(view, "boat")] == ["b.md"]
    assert [hit.path for hit in search(view, "doctor")] == ["a.md"]


def test_a_place_names_the_file_and_the_number_of_a_row() -> None:
    view = View([*parts({"a.md": "one\n\ntwo"}), *parts({"b.md": "three\n\nfour"}, first=9)])
    assert [(file.shown, number) for file, number in map(view.place, range(4))] == [
        ("a.md", 0),
        ("a.md", 1),
        ("b.md", 0),
        ("b.md", 1),
    ]


def test_a_large_matrix_is_mapped_from_a_file_that_has_no_name(tmp_path: Path) -> None:
    matrix = new_matrix(5000, 256, tmp_path)
    matrix[7] = 1
    assert isinstance(matrix, np.memmap)
    assert float(matrix[7].sum()) == 256
    assert list(tmp_path.iterdir()) == []
    assert not isinstance(new_matrix(10, 256, tmp_path), np.memmap)


def test_the_words_of_a_file_survive_being_packed() -> None:
    chunks = split(FILES["talk.md"])
    words = words_of("talk.md", chunks)
    again = FileWords.unpack(words.pack())
    assert all(np.array_equal(getattr(words, name), getattr(again, name)) for name in vars(words))
    assert len(FileWords.unpack(words_of("empty.md", []).pack()).sections) == 0
