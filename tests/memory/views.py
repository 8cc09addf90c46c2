"""Views of files that are given as text, without a database."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from manyhands.embedding import embed
from manyhands.memory.answers import Place, answer
from manyhands.memory.chunking import split
from manyhands.memory.postings import words_of
from manyhands.memory.segments import Segment, SegmentTables
from manyhands.memory.types import FileFacts, Hit
from manyhands.memory.view import Part, View
from manyhands.memory.words import meaning

TEXTS: dict[str, str] = {}
"""What was put into views, by the path that is shown: a view has no texts."""


def parts(files: Mapping[str, str], *, learned: bool = False, first: int = 1) -> list[Part]:
    """One segment with these files; `first` is the number of the first."""
    TEXTS.update(files)
    tables = SegmentTables()
    chunks = {name: split(text) for name, text in files.items()}
    facts = {name: FileFacts(number, f"/{name}", name, "", 0.0) for number, name in enumerate(files, first)}
    tables.add([(facts[name], words_of(name, chunks[name])) for name in files])
    if not learned:
        return [Part(Segment(tables))]
    texts = [meaning(chunk.text) for of_file in chunks.values() for chunk in of_file]
    matrix = embed(texts) if texts else np.zeros((0, 256), dtype=np.float32)
    return [Part(Segment(tables, matrix, [one.id for one in facts.values()]))]


def made_view(files: Mapping[str, str], *, learned: bool = False) -> View:
    return View(parts(files, learned=learned))


def search(view: View, question: str, *, top_k: int = 5, budget_chars: int | None = None) -> list[Hit]:
    """The hits of a view for a question."""
    vector = embed([meaning(question)])[0]
    ranking = view.rank(question, view.closeness(vector))
    places = []
    for row in range(view.size):
        file, number = view.place(row)
        places.append(Place(file.shown, split(TEXTS[file.shown])[number], int(view.sections[row])))
    return answer(ranking.best(100), ranking, places, question, top_k=top_k, budget_chars=budget_chars)
