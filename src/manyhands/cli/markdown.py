"""How a model's answer looks on a terminal: its Markdown set with rich, block by block, while it comes.

Rich is imported with the first words, or ahead of them by `warm`. No word of the text is left out: HTML is
shown as it is written, a link with its address.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from manyhands.cli.markdown_rich import set_tokens
from manyhands.cli.terminal import has_colour
from manyhands.cli.wrapping import wrapped

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
MARKED = re.compile(r"[*_`#~|\[<>\\]|^\s*(?:[-+]|\d+[.)])\s|^\s*(?:-{3,}|={3,})\s*$", re.MULTILINE)
"""A text without any of this looks the same as plain text."""


class MarkdownSetting:
    """A block stays as soon as the next one has begun."""

    gap: Sequence[str] = ("",)

    def split(self, text: str) -> tuple[str, str]:
        at = last_break(text)
        return text[:at], text[at:]

    def rows(self, text: str, width: int) -> list[str]:
        text = text.lstrip("\n").rstrip()
        return _set(text, max(width, 10)) if MARKED.search(text) else wrapped(text, width)


def last_break(text: str) -> int:
    """Where the last block begins that may still go on: after an empty line, not in code or a list."""
    fence, at, place, was_empty = "", 0, 0, False
    for line in text.splitlines(keepends=True):
        if not fence and was_empty and line.strip() and not line[0].isspace():
            at = place
        if found := FENCE.match(line):
            if not fence:
                fence = found[1]
            elif found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
        was_empty = not line.strip()
        place += len(line)
    return at


def warm() -> None:
    """Import what is needed, in the time that the model takes for its first words."""
    threading.Thread(target=_set, args=("*", 10), name="markdown", daemon=True).start()


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def _set(text: str, width: int) -> list[str]:
    tokens = _parser().parse(text)
    _keep_breaks(tokens)
    return set_tokens(text, tokens, width, colour=has_colour(sys.stdout))


def _keep_breaks(tokens: list[Token]) -> None:
    """Models break a line where they mean it."""
    for token in tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"
