"""Where a text that was not found was probably meant to be. Pure."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Sequence
from dataclasses import dataclass

LINES_COMPARED = 20_000
LINE_COMPARED = 200
LINES_SHOWN = 15
LINE_SHOWN = 300
SIMILAR = 0.6
CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Nearest:
    """Lines of the text, from the one that is `first`, counted from 0."""

    first: int
    lines: Sequence[str]
    white_space_only: bool


def nearest_lines(text: str, wanted: str) -> Nearest | None:
    """The lines that are most like the wanted ones; nothing when none are."""
    lines, asked = text.split("\n"), wanted.strip("\n").split("\n")
    if not wanted.strip():
        return None
    return _by_characters(lines, asked) or _by_similarity(lines, asked)


def numbered(found: Nearest) -> str:
    """With line numbers in front, bounded."""
    shown = [
        f"{found.first + index + 1}\t{_bounded(line.rstrip())}"
        for index, line in enumerate(found.lines[:LINES_SHOWN])
    ]
    if len(found.lines) > LINES_SHOWN:
        shown.append(f"[… {len(found.lines) - LINES_SHOWN} more lines]")
    return "\n".join(shown)


def _bounded(line: str) -> str:
    return line if len(line) <= LINE_SHOWN else f"{line[:LINE_SHOWN]}…"


def _by_characters(lines: Sequence[str], asked: Sequence[str]) -> Nearest | None:
    """The same but for white space and empty lines; the outer lines may be parts of lines."""
    numbers = [number for number, line in enumerate(lines) if line.strip()]
    there = [_squeezed(lines[number]) for number in numbers]
    want = [_squeezed(line) for line in asked if line.strip()]
    for start in range(len(there) - len(want) + 1):
        if _same(there, want, start):
            first, last = numbers[start], numbers[start + len(want) - 1]
            return Nearest(first, lines[first : last + 1], white_space_only=True)
    return None


def _same(there: Sequence[str], want: Sequence[str], start: int) -> bool:
    if len(want) == 1:
        return want[0] in there[start]
    end = start + len(want) - 1
    return (
        there[start].endswith(want[0])
        and there[end].startswith(want[-1])
        and there[start + 1 : end] == want[1:-1]
    )


def _squeezed(line: str) -> str:
    return "".join(line.split())


def _by_similarity(lines: Sequence[str], asked: Sequence[str]) -> Nearest | None:
    """Lines like the longest of the wanted ones, with what stands around them compared too."""
    anchor = max(range(len(asked)), key=lambda index: len(asked[index].strip()))
    like = _Likeness(asked[anchor])
    scored = ((like(line), index) for index, line in enumerate(lines[:LINES_COMPARED]))
    best = heapq.nlargest(CANDIDATES, (found for found in scored if found[0] >= SIMILAR))
    if not best:
        return None
    starts = [max(0, index - anchor) for _, index in best]
    likenesses = [_Likeness(line) for line in asked[:LINES_SHOWN]]

    def fit(start: int) -> float:
        there = lines[start : start + len(likenesses)]
        return sum(likeness(line) for likeness, line in zip(likenesses, there, strict=False))

    first = max(starts, key=fit)
    return Nearest(first, lines[first : first + len(asked)], white_space_only=False)


class _Likeness:
    """How much a line is like a given one, from 0 to 1; below what counts as similar it is 0."""

    def __init__(self, line: str) -> None:
        self._matcher = difflib.SequenceMatcher(autojunk=False)
        self._matcher.set_seq2(line.strip()[:LINE_COMPARED])

    def __call__(self, line: str) -> float:
        matcher = self._matcher
        matcher.set_seq1(line.strip()[:LINE_COMPARED])
        if matcher.real_quick_ratio() < SIMILAR or matcher.quick_ratio() < SIMILAR:
            return 0.0
        ratio = matcher.ratio()
        return ratio if ratio >= SIMILAR else 0.0
