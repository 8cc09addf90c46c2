"""One question, from its words to its hits. All of it blocks: it runs in a thread, or on a connection.

Owns which texts are fetched: those of the best chunks and of what stands around them, never all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from manyhands.memory import store as rows
from manyhands.memory.answers import answer
from manyhands.memory.fusion import Ranking, Weights, diverse
from manyhands.memory.indexing import FILE
from manyhands.memory.lexical import Scores
from manyhands.memory.roots import scope_name
from manyhands.memory.segments import Matrix
from manyhands.memory.types import Chunk, FileFacts, Hit, Query
from manyhands.memory.view import View
from manyhands.memory.walking import current_mark

Ask = Callable[[str], Scores]
"""Makes the vector of a question, without waiting for anybody."""

CANDIDATES = 4
"""So many chunks are looked at for each hit: some do not fit, some are shown with others."""
LEAST_CANDIDATES = 100
MOST_AHEAD = 32
"""Texts are fetched for as many candidates at a time as hits are wanted, but not for more than this."""
SPARE = 3
"""And for so many more: some are shown with others, and asking the database twice costs more."""
AROUND = 3
"""Neighbours on both sides whose texts come along."""


@dataclass(frozen=True)
class Found:
    """The best chunks of a view, best first."""

    ranking: Ranking
    rows: list[int]


@dataclass(frozen=True)
class Outcome:
    """Hits, and what came between."""

    hits: list[Hit]
    changed: list[FileFacts]
    """Files of hits that are not what they were when they were read."""
    vanished: bool
    """A file was replaced between the ranking and now."""
    moved: bool
    """Another hub of the same database wrote to the collections before the hits were read."""
    fit: float = 1.0
    """How well the best chunk fits the question."""


def find(view: View, query: Query, closeness: Scores | None, now: float) -> Found:
    """Rank and choose."""
    weights = Weights(recency=query.recency, diversity=query.diversity)
    ranking = view.rank(query.text, closeness, now=now if query.recency else None, weights=weights)
    most = max(query.top_k * CANDIDATES, LEAST_CANDIDATES)
    return Found(ranking, ranking.best(most, _allowed(view, query)))


def spread(found: Found, vectors: Matrix | None, diversity: float) -> Found:
    """The same chunks, those that repeat others later."""
    if vectors is None:
        return found
    return Found(found.ranking, diverse(found.rows, found.ranking.score, vectors, diversity))


def rank_here(view: View, query: Query, ask: Ask | None, now: float) -> tuple[Found, bool]:
    """Ranked where neither the vectors nor the question's own have to be waited for.

    Also whether meaning had a part in it.
    """
    closeness = None
    if ask is not None and view.dimensions is not None and not query.by_words:
        closeness = view.closeness(ask(query.text))
    found = find(view, query, closeness, now)
    if query.diversity > 0 and found.rows:
        found = spread(found, view.vectors_of(found.rows), query.diversity)
    return found, closeness is not None


def _changed(view: View, found: Found, hits: Sequence[Hit], marks: Mapping[int, str]) -> list[FileFacts]:
    """The files of hits that are other ones now, or gone."""
    shown = {hit.path for hit in hits}
    files = [view.files[number] for number in np.unique(view.file_of[found.rows]).tolist()]
    return [file for file in files if file.shown in shown and _has_changed(file, marks)]


def _has_changed(file: FileFacts, marks: Mapping[int, str]) -> bool:
    return file.kind == FILE and current_mark(file.path) != marks.get(file.id, file.mark)


def _allowed(view: View, query: Query) -> NDArray[np.bool_] | None:
    if not query.paths and query.since is None and query.until is None:
        return None
    from pathspec import GitIgnoreSpec

    wanted = GitIgnoreSpec.from_lines(query.paths) if query.paths else None

    def is_wanted(file: FileFacts) -> bool:
        if query.since is not None and file.modified < query.since:
            return False
        if query.until is not None and file.modified > query.until:
            return False
        return wanted is None or wanted.match_file(file.shown.lstrip("/"))

    return view.allowed(is_wanted)


class _Place:
    """A chunk of a view whose text is fetched when it is looked at."""

    __slots__ = ("_places", "_row", "file", "section")

    def __init__(self, places: LazyPlaces, row: int, file: FileFacts, section: int) -> None:
        self._places = places
        self._row = row
        self.file = file
        self.section = section

    @property
    def path(self) -> str:
        return self.file.shown

    @property
    def scope(self) -> str:
        return scope_name(self.file.collection)

    @property
    def chunk(self) -> Chunk:
        return self._places.chunk(self._row)


class LazyPlaces(Sequence[_Place]):
    """All chunks of a view in their order; texts come from the database, some at a time."""

    def __init__(
        self, view: View, conn: Connection, candidates: Sequence[int], ahead: int, known: Mapping[str, int]
    ) -> None:
        self._view = view
        self._known = known
        self._ahead = ahead
        self._conn = conn
        self._left = iter(candidates)
        self._chunks: dict[int, Chunk] = {}
        self.vanished = self.moved = False

    def __len__(self) -> int:
        return self._view.size

    @overload
    def __getitem__(self, row: int) -> _Place: ...
    @overload
    def __getitem__(self, row: slice) -> list[_Place]: ...
    def __getitem__(self, row: int | slice) -> _Place | list[_Place]:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        file, _ = self._view.place(row)
        return _Place(self, row, file, int(self._view.sections[row]))

    def chunk(self, row: int) -> Chunk:
        if row not in self._chunks:
            self._fetch(row)
        return self._chunks[row]

    def _fetch(self, row: int) -> None:
        wanted = {near for one in (row, *self._next()) for near in self._around(one)} - self._chunks.keys()
        places = {(file.id, number): one for one in wanted for file, number in [self._view.place(one)]}
        found, revisions = rows.chunks_of(self._conn, list(_runs(sorted(places))), list(self._known))
        self.moved |= list(revisions) != list(self._known.values())
        for place, one in places.items():
            if place not in found:
                self.vanished = True
            self._chunks[one] = found.get(place, _NOTHING)

    def _next(self) -> Iterator[int]:
        for _, row in zip(range(self._ahead), self._left, strict=False):
            yield row

    def _around(self, row: int) -> range:
        """The row and its neighbours of the same section."""
        begin = max(row - AROUND, 0)
        near = self._view.sections[begin : row + AROUND + 1].tolist()
        same = [begin + at for at, section in enumerate(near) if section == near[row - begin]]
        return range(same[0], same[-1] + 1)


_NOTHING = Chunk("", 0, 0)


def _runs(places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Chunks that follow each other, as one run each."""
    begin: tuple[int, int] | None = None
    before: tuple[int, int] | None = None
    for place in places:
        if begin is None or before is None or place != (before[0], before[1] + 1):
            if begin is not None and before is not None:
                yield (*begin, before[1])
            begin = place
        before = place
    if begin is not None and before is not None:
        yield (*begin, before[1])


def read_hits(
    conn: Connection,
    view: View,
    found: Found,
    query: Query,
    marks: Mapping[int, str],
    known: Mapping[str, int],
) -> Outcome:
    """The hits with their texts; their files are looked at, too.

    `known`: the last change of each collection that others may write to, as the view has it.
    """
    places = LazyPlaces(view, conn, found.rows, min(query.top_k + SPARE, MOST_AHEAD), known)
    hits = answer(
        found.rows, found.ranking, places, query.text, top_k=query.top_k, budget_chars=query.budget_chars
    )
    shown = [replace(hit, score=round(hit.score, 4)) for hit in hits if hit.text]
    moved = places.moved
    if not found.rows and known:  # there may be something by now
        moved = rows.revisions(conn, list(known)) != known
    return Outcome(shown, _changed(view, found, shown, marks), places.vanished, moved, found.ranking.fit)
