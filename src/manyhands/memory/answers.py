"""From a ranking to an answer: which chunks fit, how much of each is shown, and with what around it. Pure.

The text of a hit is verbatim source, of at most 1,200 characters. A short chunk gets its neighbours where all
hits that were asked for could be as long: many hits on little room are bare, few are easy to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from manyhands.memory.chunking import spans, whole_characters
from manyhands.memory.fusion import Ranking
from manyhands.memory.types import HIT_CHARS, Chunk, Hit
from manyhands.memory.words import terms

READABLE = 500
"""Up to this length a hit is filled with what stands around it."""
PAGE = 20_000
"""Longer texts are searched by pages: the terms of all of it would take a second."""
SEPARATOR = 1
"""What joins two hits counts too."""


@dataclass(frozen=True)
class Passage:
    """A run of chunks of one section, or a part of one chunk."""

    first: int
    last: int
    text: str
    line_start: int
    line_end: int


@dataclass(frozen=True)
class Place:
    """A chunk, the file it is from, and the number of its section with all files counted through."""

    path: str
    chunk: Chunk
    section: int
    scope: str = "project"


class Placed(Protocol):
    """What is needed of a place; its text may come from elsewhere when it is looked at."""

    @property
    def path(self) -> str: ...
    @property
    def chunk(self) -> Chunk: ...
    @property
    def section(self) -> int: ...
    @property
    def scope(self) -> str: ...


def answer(
    rows: Iterable[int],
    ranking: Ranking,
    places: Sequence[Placed],
    question: str,
    *,
    top_k: int = 5,
    budget_chars: int | None = None,
) -> list[Hit]:
    """The hits, best first; one that does not fit into what is left gives way to a shorter one."""
    asked = frozenset(terms(question))
    room = READABLE if budget_chars is None else min(READABLE, budget_chars // max(top_k, 1) - SEPARATOR)
    left = top_k * (HIT_CHARS + SEPARATOR) if budget_chars is None else budget_chars
    shown: set[int] = set()
    hits: list[Hit] = []
    for row in rows:
        if len(hits) >= top_k or left <= 0:
            break
        if row in shown or min(len(places[row].chunk.text), HIT_CHARS) > left:
            continue
        passage = _passage(row, places, asked, room, shown)
        if len(passage.text) <= left:
            shown.update(range(passage.first, passage.last + 1))
            hits.append(_hit(row, passage, ranking, places))
            left -= len(passage.text) + SEPARATOR
    return hits


def _hit(row: int, passage: Passage, ranking: Ranking, places: Sequence[Placed]) -> Hit:
    place = places[row]
    heading = " > ".join(place.chunk.headings)
    score = float(ranking.score[row])
    lines = (passage.line_start, passage.line_end)
    return Hit(place.path, *lines, heading, passage.text, score, ranking.parts(row), place.scope)


def _passage(
    row: int, places: Sequence[Placed], asked: frozenset[str], room: int, shown: set[int]
) -> Passage:
    chunk = places[row].chunk
    if len(chunk.text) > HIT_CHARS:
        start, end = best_part(chunk.text, asked, HIT_CHARS)
        line = chunk.line_start + chunk.text.count("\n", 0, start)
        text = chunk.text[start:end]
        return Passage(row, row, text, line, line + text.count("\n"))
    return _grown(row, places, room, shown)


def _grown(row: int, places: Sequence[Placed], room: int, shown: set[int]) -> Passage:
    """The chunk with as many neighbours as there is room for: the next, the one before, and so on."""
    first = last = row
    size = len(places[row].chunk.text)
    while True:
        after = _joining(last + 1, last + 1, places, row, shown)
        before = _joining(first - 1, first, places, row, shown)
        if after is not None and size + after <= room:
            last, size = last + 1, size + after
        elif before is not None and size + before <= room:
            first, size = first - 1, size + before
        else:
            break
    text = places[first].chunk.text + "".join(
        place.chunk.gap + place.chunk.text for place in places[first + 1 : last + 1]
    )
    return Passage(first, last, text, places[first].chunk.line_start, places[last].chunk.line_end)


def _joining(row: int, gap: int, places: Sequence[Placed], hit: int, shown: set[int]) -> int | None:
    """How many characters a neighbour adds with what separates it; nothing if it cannot be joined."""
    if not 0 <= row < len(places) or row in shown or places[row].section != places[hit].section:
        return None
    return len(places[row].chunk.text) + len(places[gap].chunk.gap)


def best_part(text: str, asked: frozenset[str], most: int) -> tuple[int, int]:
    """The part of a long text that has most of the asked terms, cut at ends of lines where that can be."""
    if len(text) > PAGE:
        begin, end = _best_page(text, asked)
        start, end = best_part(text[begin:end], asked, most)
        return begin + start, begin + end
    pieces = spans(text, most // 4)
    found = [asked.intersection(terms(text[start:end])) for start, end in pieces]
    windows = [_window(pieces, number, most) for number in range(len(pieces))]
    best = max(range(len(pieces)), key=lambda number: _worth(found, number, windows[number]))
    start, end = pieces[best][0], pieces[windows[best] - 1][1]
    end = start + len(text[start:end].rstrip())
    return start, start + whole_characters(text[start:], end - start)


def _best_page(text: str, asked: frozenset[str]) -> tuple[int, int]:
    """Where in a very long text to look closely: where most of the asked terms begin some word.

    A page reaches into the next one, so that none is torn at its end; it begins where a line does, if it can.
    """
    small = text.lower()
    begins = [
        term[: max(len(term) - 1, 3)] for term in asked
    ]  # a stem may end in a letter that the word has not
    pages = range(0, len(text) - PAGE // 2, PAGE // 2)
    best = max(pages, key=lambda at: sum(small.find(begin, at, at + PAGE) >= 0 for begin in begins))
    line = text.rfind("\n", max(best - HIT_CHARS, 0), best) + 1
    begin = line if line or not best else whole_characters(text, best)
    return begin, whole_characters(text, begin + PAGE)


def _window(pieces: Sequence[tuple[int, int]], first: int, most: int) -> int:
    """The number after the last piece that fits behind the first one."""
    end = first + 1
    while end < len(pieces) and pieces[end][1] - pieces[first][0] <= most:
        end += 1
    return end


def _worth(found: Sequence[frozenset[str]], first: int, end: int) -> tuple[int, int]:
    within = found[first:end]
    return len(frozenset().union(*within)), sum(map(len, within))
