"""The line that a person writes, at rest and while a run is shown: cursor, history, completion, many rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from manyhands.cli.chat_history import History
from manyhands.cli.page import Rows
from manyhands.cli.terminal import fit, one_line, paint, width_of

SIGN = "›"
INDENT = 2
MOST_ROWS = 10
WORD_BEFORE = re.compile(r"\S*\s*$")
WORD_AFTER = re.compile(r"\s*\S*")


@dataclass
class ChatLine:
    """What is written, and where in it the cursor is."""

    history: History = field(default_factory=History)
    complete: Callable[[str], Sequence[str]] = lambda text: ()
    sign: str = SIGN
    text: str = ""
    at: int = 0
    hints: Sequence[str] = ()
    """What the last Tab could mean."""

    def put(self, text: str) -> None:
        """Write this instead."""
        self.text, self.at = text, len(text)

    def press(self, key: str, text: str = "") -> str | None:
        """Take a key; the answer is a message that is ready."""
        self.hints = ()
        match key:
            case "text":
                self._replace(self.at, self.at, text)
            case "newline":
                self._replace(self.at, self.at, "\n")
            case "tab":
                self._complete()
            case "enter":
                return self._send()
            case "up" | "down":
                self._move_row(-1 if key == "up" else 1)
            case _:
                self._edit(key)
        return None

    def _send(self) -> str | None:
        message = self.text.strip()
        self.put("")
        if message:
            self.history.add(message)
        return message or None

    def _edit(self, key: str) -> None:
        match key:
            case "backspace":
                self._replace(max(self.at - 1, 0), self.at)
            case "delete" | "end":
                self._replace(self.at, self.at + 1)
            case "word":
                self._replace(self._word_before(), self.at)
            case "clear":
                self._replace(self._row_begins(), self.at)
            case "rest":
                self._replace(self.at, self._row_ends())
            case _:
                self.at = self._place(key)

    def _place(self, key: str) -> int:
        """Where a key puts the cursor."""
        match key:
            case "left":
                return max(self.at - 1, 0)
            case "right":
                return min(self.at + 1, len(self.text))
            case "word_left":
                return self._word_before()
            case "word_right":
                found = WORD_AFTER.match(self.text, self.at)
                return found.end() if found else self.at
            case "first":
                return self._row_begins()
            case "last":
                return self._row_ends()
        return self.at

    def _replace(self, begin: int, end: int, text: str = "") -> None:
        self.text = self.text[:begin] + text + self.text[end:]
        self.at = begin + len(text)
        self.history.leave()

    def _word_before(self) -> int:
        found = WORD_BEFORE.search(self.text[: self.at])
        return found.start() if found else 0

    def _row_begins(self) -> int:
        return self.text.rfind("\n", 0, self.at) + 1

    def _row_ends(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def _move_row(self, step: int) -> None:
        """To the line above or below; beyond the first and the last one is what was said before."""
        begin, end = self._row_begins(), self._row_ends()
        column = self.at - begin
        if step < 0 and begin:
            above = self.text.rfind("\n", 0, begin - 1) + 1
            self.at = min(above + column, begin - 1)
        elif step > 0 and end < len(self.text):
            below = self.text.find("\n", end + 1)
            self.at = min(end + 1 + column, len(self.text) if below < 0 else below)
        elif (recalled := self.history.step(step, self.text)) is not None:
            self.put(recalled)

    def _complete(self) -> None:
        before = self.text[: self.at]
        found = self.complete(before)
        if not found:
            return
        common = _common_beginning(found)
        if len(common) > len(before):
            self._replace(0, self.at, common)
        elif len(found) > 1:
            self.hints = found

    def rows(self, width: int) -> Rows:
        """All of it, or the rows round the cursor."""
        laid, cursor = _laid_out(self.text, self.at, max(width - INDENT, 10))
        first = min(max(cursor[0] - MOST_ROWS + 1, 0), max(len(laid) - MOST_ROWS, 0))
        shown = laid[first : first + MOST_ROWS]
        signs = [paint(self.sign, "cyan"), *[" "] * (len(shown) - 1)]
        rows = [f"{sign} {row}" for sign, row in zip(signs, shown, strict=True)]
        if self.hints:
            words = [hint.rpartition(" ")[2] for hint in self.hints]
            rows.append(paint(fit("  ".join(map(one_line, words)), width - INDENT), "dim"))
        return Rows(rows, (cursor[0] - first, cursor[1] + INDENT))


def _common_beginning(texts: Sequence[str]) -> str:
    """A text that all of them begin with."""
    first, last = min(texts), max(texts)
    same = (at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(same, min(len(first), len(last)))]


def _laid_out(text: str, at: int, width: int) -> tuple[list[str], tuple[int, int]]:
    """The text on rows of this width, and where the cursor is then."""
    rows, column, cursor = [""], 0, (0, 0)
    for place, sign in enumerate(text):
        shown = "    " if sign == "\t" else "" if sign == "\n" else sign
        size = width_of(shown)
        if sign != "\n" and column + size > width:
            rows.append("")
            column = 0
        if place == at:
            cursor = (len(rows) - 1, column)
        if sign == "\n":
            rows.append("")
            column = 0
        else:
            rows[-1] += shown
            column += size
    return rows, cursor if at < len(text) else (len(rows) - 1, column)
