"""Files into chunks: a paragraph, an item of a list or a block of code each, under its headings. Pure.

A chunk is verbatim source. It is short, so that an answer holds many; what stands around it is taken into
account when it is ranked, and added to the answer where there is room. Reading files is not done here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from manyhands.memory.types import HIT_CHARS, Chunk
from manyhands.memory.words import label

_FENCE = re.compile(r" {0,3}(?:[-*+] +|\d+[.)] +)?(?P<mark>`{3,}|~{3,})")
_ORG_BEGIN = re.compile(r"\s*#\+begin_(?P<kind>\w+)", re.IGNORECASE)
_HASHES = re.compile(r" {0,3}(?P<marks>#{1,6})\s+(?P<title>.*?)(?:\s+#+)?\s*$")
_STARS = re.compile(r"(?P<marks>\*+)\s+(?P<title>.*?)\s*$")
_UNDERLINE = re.compile(r" {0,3}(?P<mark>[=\-~^\"'`#*+.:_])(?P=mark){2,}\s*$")
_ITEM = re.compile(r" {0,3}(?:[-*+•]|\d{1,9}[.)])\s+\S")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+|(?<=[。！？])")
LONGEST_HEADING = 1000
MOST_OPEN = 1_000_000
"""A block of code that nobody closed is one up to the end of its file, but not a longer one than this."""
MOST_INDENTED = 20_000
"""Indented lines of a plain text are cut after all: they may be no code."""
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_SKIN = range(0x1F3FB, 0x1F400)
_FLAGS = range(0x1F1E6, 0x1F200)


@dataclass
class _Block:
    """Lines that belong together: from, and up to but without."""

    begin: int
    end: int
    most: int | None = HIT_CHARS
    """The longest piece that it may be cut into; nothing if it may not be cut."""


@dataclass
class _Outline:
    """The headings above the line that is read, and the section that it stands in."""

    path: list[tuple[int, str]] = field(default_factory=list)
    section: int = 0
    underlines: list[str] = field(default_factory=list)

    def enter(self, level: int, title: str) -> None:
        self.path = [above for above in self.path if above[0] < level] + [(level, title)]
        self.section += 1

    def titles(self) -> tuple[str, ...]:
        return tuple(title for _, title in self.path)

    def level_of(self, mark: str) -> int:
        if mark not in self.underlines:
            self.underlines.append(mark)
        return self.underlines.index(mark) + 1


def split(text: str, suffix: str = ".md") -> list[Chunk]:
    """The chunks of a file, in its order; the suffix of its name says how headings are written."""
    lines = text.split("\n")
    outline, chunks, pending = _Outline(), list[Chunk](), list[_Block]()
    at = 0
    while at < len(lines):
        heading = _heading(lines, at, suffix, outline)
        if heading is None:
            block = _block(lines, at, suffix, outline)
            if block.begin < block.end:
                pending.append(block)
            at = max(block.end, at + 1)
            continue
        chunks += _chunks(lines, pending, outline)
        pending = []
        level, title, size = heading
        outline.enter(level, title)
        at += size
        if _is_bare(lines, at, suffix, outline):
            pending.append(_Block(at - size, at))
    return chunks + _chunks(lines, pending, outline)


def _heading(lines: Sequence[str], at: int, suffix: str, outline: _Outline) -> tuple[int, str, int] | None:
    """The level, the title and the number of lines of the heading that begins here."""
    if len(lines[at]) > LONGEST_HEADING:
        return None
    if suffix == ".org":
        found = _STARS.match(lines[at])
        return (len(found["marks"]), found["title"], 1) if found else None
    if suffix != ".rst" and (found := _HASHES.match(lines[at])):
        return len(found["marks"]), found["title"], 1
    return _underlined(lines, at, suffix, outline)


def _underlined(lines: Sequence[str], at: int, suffix: str, outline: _Outline) -> tuple[int, str, int] | None:
    title = lines[at].strip()
    above = at > 0 and lines[at - 1].strip() and not _UNDERLINE.match(lines[at - 1])
    if not title or at + 1 >= len(lines) or above or _UNDERLINE.match(title) or _ITEM.match(lines[at]):
        return None
    found = _UNDERLINE.match(lines[at + 1])
    if not found or (suffix != ".rst" and found["mark"] not in "=-"):
        return None
    if suffix == ".rst":
        return (
            (outline.level_of(found["mark"]), title, 2) if len(lines[at + 1].rstrip()) >= len(title) else None
        )
    return (1 if found["mark"] == "=" else 2), title, 2


def _is_bare(lines: Sequence[str], at: int, suffix: str, outline: _Outline) -> bool:
    """A heading with nothing under it is itself what is to be found."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at >= len(lines) or _heading(lines, at, suffix, replace(outline)) is not None


def _block(lines: Sequence[str], at: int, suffix: str, outline: _Outline) -> _Block:
    """The block that begins at this line; an empty one at an empty line."""
    if not lines[at].strip():
        return _Block(at, at)
    if at == 0 and lines[0].rstrip() == "---" and (end := _closing(lines, 1, r"(?:---|\.\.\.)\s*$")):
        return _Block(0, end, None)
    if found := _FENCE.match(lines[at]):
        mark = found["mark"]
        closing = rf"\s*{re.escape(mark[0])}{{{len(mark)},}}\s*$"
        return _fenced(lines, at, closing)
    if found := _ORG_BEGIN.match(lines[at]):
        closing = rf"(?i)\s*#\+end_{re.escape(found['kind'])}\s*$"
        return _fenced(lines, at, closing)
    if _is_indented(lines[at]):
        return _Block(at, _end_of_indented(lines, at), MOST_INDENTED if suffix == ".txt" else None)
    return _Block(at, _end_of_paragraph(lines, at, suffix, outline))


def _fenced(lines: Sequence[str], at: int, closing: str) -> _Block:
    """A block up to the line that closes it, or all that is left."""
    end = _closing(lines, at + 1, closing)
    return _Block(at, len(lines), MOST_OPEN) if end is None else _Block(at, end, None)


def _closing(lines: Sequence[str], at: int, pattern: str) -> int | None:
    """The line after the next one that matches."""
    matches = re.compile(pattern).match
    return next((number + 1 for number in range(at, len(lines)) if matches(lines[number])), None)


def _is_indented(line: str) -> bool:
    return line.startswith(("    ", "\t")) and bool(line.strip())


def _end_of_indented(lines: Sequence[str], at: int) -> int:
    """Empty lines within indented code belong to it, those after it do not."""
    end = at + 1
    for number in range(at + 1, len(lines)):
        if _is_indented(lines[number]):
            end = number + 1
        elif lines[number].strip():
            break
    return end


def _end_of_paragraph(lines: Sequence[str], at: int, suffix: str, outline: _Outline) -> int:
    for number in range(at + 1, len(lines)):
        line = lines[number]
        opens = _FENCE.match(line) or _ITEM.match(line) or _ORG_BEGIN.match(line)
        if not line.strip() or opens or label(line + "\n")[:1].isupper():
            return number
        if suffix != ".rst" and not _UNDERLINE.match(line) and _heading(lines, number, suffix, outline):
            return number
    return len(lines)


def _chunks(lines: Sequence[str], blocks: Sequence[_Block], outline: _Outline) -> list[Chunk]:
    """The chunks of one section."""
    found: list[Chunk] = []
    before: int | None = None
    for block in blocks:
        gap = "" if before is None else _between(lines, before, block.begin)
        found += _pieces(lines, block, gap, outline)
        before = block.end
    return found


def _between(lines: Sequence[str], end: int, begin: int) -> str:
    """What stands between two blocks, with the end of the line that the first one leaves."""
    return ("\r" if lines[end - 1].endswith("\r") else "") + "\n".join(["", *lines[end:begin], ""])


def _pieces(lines: Sequence[str], block: _Block, gap: str, outline: _Outline) -> Iterator[Chunk]:
    text = "\n".join(lines[block.begin : block.end])
    line = block.begin + 1
    for start, end in spans(text, len(text) if block.most is None else block.most):
        piece = text[start:end]
        body = piece.rstrip() if end < len(text) else piece.rstrip("\r")
        if body.strip():
            yield Chunk(body, line, line + body.count("\n"), outline.titles(), outline.section, gap)
            gap = ""
        gap += piece[len(body) :] if body.strip() else piece
        line += piece.count("\n")


def spans(text: str, most: int) -> list[tuple[int, int]]:
    """A text in parts of at most so many characters, cut after a line, a sentence, a word, else anywhere."""
    found: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > most:
        end = start + _cut(text[start : start + most + 1], most)
        found.append((start, end))
        start = end
    return [*found, (start, len(text))]


def _cut(window: str, most: int) -> int:
    """Where to end a part that may not reach the end of the window; not in its first half if that can be."""
    least = most // 2
    if (end := window.rfind("\n", least, most)) >= 0:
        return end + 1
    if ends := [match.end() for match in _SENTENCE.finditer(window) if least <= match.end() <= most]:
        return ends[-1]
    if (end := window.rfind(" ", least, most)) >= 0:
        return end + 1
    return whole_characters(window, most)


def whole_characters(text: str, end: int) -> int:
    """The last place up to `end` where no accent, joined picture or flag is torn from what it belongs to."""
    at = min(end, len(text))
    while 0 < at < len(text) and _belongs_together(text, at):
        at -= 1
    return at or min(end, len(text))


def _belongs_together(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if unicodedata.combining(after) or after in _JOINERS or before == "\u200d" or ord(after) in _SKIN:
        return True
    return (ord(before) in _FLAGS and ord(after) in _FLAGS) or (before == "\r" and after == "\n")
