"""A project's chunks are searched by words at once, and by meaning once they have vectors."""

from __future__ import annotations

import numpy as np
import pytest

from manyhands.embedding import embed
from manyhands.memory.chunking import split
from manyhands.memory.fusion import Weights
from manyhands.memory.snapshot import Snapshot
from manyhands.memory.types import Hit
from manyhands.memory.words import meaning

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


def snapshot(*, learned: bool) -> Snapshot:
    found = Snapshot({path: split(text) for path, text in FILES.items()})
    if learned:
        found.learn(embed([meaning(text) for text in found.texts]))
    return found


def ask(question: str, *, learned: bool = True, weights: Weights | None = None) -> Hit:
    vector = embed([meaning(question)])[0] if learned else None
    found = snapshot(learned=learned)
    return found.search(question, vector, top_k=50, budget_chars=2000, weights=weights or Weights())[0]


@pytest.mark.parametrize("learned", [False, True])
def test_a_thing_is_found_by_its_words(learned: bool) -> None:
    assert ask("Who bought a boat?", learned=learned).text == "Ana: I bought a sailing boat!"


def test_keyword_search_answers_before_any_vector_exists() -> None:
    found = snapshot(learned=False)
    assert found.mode == "lexical"
    assert found.search("tomatoes")[0].path == "garden.md"


def test_a_thing_is_found_by_meaning() -> None:
    hit = ask("what did the doctor say")
    assert hit.text == "The physician advised against lifting pots."
    assert hit.parts.vector > 0
    assert not snapshot(learned=False).search("doctor")


def test_an_answer_is_found_by_the_question_before_it() -> None:
    texts = [
        hit.text for hit in snapshot(learned=False).search("Where was the summer spent?", budget_chars=130)
    ]
    assert "Bo: At the lake, with my sister." in texts[:2]


def test_a_chunk_is_found_by_the_names_of_its_file_and_headings() -> None:
    assert ask("queue").path == "decisions/queue.md"
    assert ask("what happened in june").path == "talk.md"


def test_who_speaks_counts_more_than_who_is_spoken_to() -> None:
    hits = snapshot(learned=False).search("Ana", top_k=50, budget_chars=2000)
    assert hits[0].text.startswith("Ana:")


@pytest.mark.parametrize("question", ["", "?!", "the"])
def test_a_question_without_words_finds_nothing_and_breaks_nothing(question: str) -> None:
    found = snapshot(learned=True)
    assert isinstance(found.search(question, embed([meaning(question)])[0]), list)


def test_no_files_answer_with_nothing() -> None:
    empty = Snapshot({})
    empty.learn(np.zeros((0, 256), dtype=np.float32))
    assert empty.search("boat", embed(["boat"])[0]) == []


def test_neighbours_are_of_the_same_file() -> None:
    found = Snapshot({"a.md": split("boat"), "b.md": split("car")})
    assert [hit.text for hit in found.search("boat")] == ["boat"]
