"""What an edit changed, as a unified diff. Pure.

Only the surroundings of each place are compared, so that it is as quick in a large file as in a small one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

CONTEXT = 3
LINE_LIMIT = 500

Kind = Literal["replace", "delete", "insert", "equal"]
Opcode = tuple[Kind, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Change:
    """A text in which pieces of one length, in order and apart, are replaced by a new piece."""

    before: str
    starts: Sequence[int]
    length: int
    new: str

    @property
    def after(self) -> str:
        return self.between(0, len(self.before), self.starts)

    def between(self, start: int, end: int, places: Sequence[int]) -> str:
        """A part of the text with these places in it replaced."""
        pieces, position = [], start
        for place in places:
            pieces += [self.before[position:place], self.new]
            position = place + self.length
        return "".join([*pieces, self.before[position:end]])


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff, cut when it is long, with the true numbers of lines."""

    text: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class _Window:
    """Whole lines around places that are close to each other."""

    start: int
    end: int
    places: Sequence[int]


def unified_diff(change: Change, name: str, limit: int) -> Diff:
    """The difference that a change makes, at most about `limit` characters of it."""
    out = [f"--- {name}", f"+++ {name}"]
    size, added, removed, cut = 0, 0, 0, False
    for line in _lines_of_diff(change):
        added += line[0] == "+"
        removed += line[0] == "-"
        cut = cut or size + len(line) > limit
        if not cut:
            out.append(line)
            size += len(line) + 1
    if cut:
        out.append("[… the rest of the difference is left out]")
    shown = "\n".join(out).encode(errors="surrogateescape").decode(errors="replace")
    return Diff(shown, added, removed)


def _lines_of_diff(change: Change) -> Iterator[str]:
    counted_to = line = shift = 0
    for window in _windows(change):
        line += change.before.count("\n", counted_to, window.start)
        counted_to = window.start
        old = _lines(change.before[window.start : window.end])
        new = _lines(change.between(window.start, window.end, window.places))
        for hunk in _Matcher(old, new).get_grouped_opcodes(CONTEXT):
            yield from _hunk(hunk, old, new, line, line + shift)
        shift += len(new) - len(old)


class _Matcher(difflib.SequenceMatcher[str]):
    """Leaves the change where it was made: lines that are the same at both ends are never shifted past it."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        self._head = _same_at_start(old, new)
        tail = _same_at_start(old[self._head :][::-1], new[self._head :][::-1])
        self._ends = len(old) - tail, len(new) - tail, tail
        super().__init__(None, old[self._head : len(old) - tail], new[self._head : len(new) - tail])

    def get_opcodes(self) -> list[Opcode]:
        head, (old_end, new_end, tail) = self._head, self._ends
        opcodes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
        opcodes += [
            (kind, head + old_first, head + old_last, head + new_first, head + new_last)
            for kind, old_first, old_last, new_first, new_last in super().get_opcodes()
        ]
        if tail:
            opcodes.append(("equal", old_end, old_end + tail, new_end, new_end + tail))
        return opcodes


def _same_at_start(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        count += 1
    return count


def _windows(change: Change) -> Iterator[_Window]:
    text, places = change.before, list(change.starts[:1])
    start, end = _around(text, places[0], places[0] + change.length)
    for place in change.starts[1:]:
        first, last = _around(text, place, place + change.length)
        if first <= end:
            end = last
            places.append(place)
        else:
            yield _Window(start, end, places)
            start, end, places = first, last, [place]
    yield _Window(start, end, places)


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """The lines that hold a piece of text, with the context before and after them."""
    first = text.rfind("\n", 0, start) + 1
    for _ in range(CONTEXT):
        first = text.rfind("\n", 0, max(first - 1, 0)) + 1
    last = end
    for _ in range(CONTEXT + 1):
        found = text.find("\n", last)
        if found < 0:
            return first, len(text)
        last = found + 1
    return first, last


def _hunk(
    opcodes: Sequence[tuple[str, int, int, int, int]],
    old: Sequence[str],
    new: Sequence[str],
    old_base: int,
    new_base: int,
) -> Iterator[str]:
    (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = opcodes[0], opcodes[-1]
    yield f"@@ -{_range(old_base, old_start, old_end)} +{_range(new_base, new_start, new_end)} @@"
    for kind, old_first, old_last, new_first, new_last in opcodes:
        if kind == "equal":
            yield from (_line(" ", line) for line in old[old_first:old_last])
        else:
            yield from (_line("-", line) for line in old[old_first:old_last])
            yield from (_line("+", line) for line in new[new_first:new_last])


def _range(base: int, start: int, end: int) -> str:
    """As `diff -u` counts: from 1, and an empty range is said to stand after a line."""
    count = end - start
    first = base + start + (1 if count else 0)
    return str(first) if count == 1 else f"{first},{count}"


def _line(sign: str, line: str) -> str:
    text = line.rstrip("\r\n")
    if len(text) > LINE_LIMIT:
        text = f"{text[:LINE_LIMIT]} [… this line has {len(text)} characters]"
    return f"{sign}{text}" if line.endswith("\n") else f"{sign}{text}\n\\ No newline at end of file"


def _lines(text: str) -> list[str]:
    """Split at `\\n` alone: other characters that Python takes for line ends are none in a file."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
