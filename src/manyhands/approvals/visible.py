"""What a person sees before they decide: exact, bounded, with nothing hidden in it. Pure.

Characters that cannot be seen, that reorder the text around them or that control a terminal are written as
`⟨U+202E⟩`; what is too long loses its middle and says its true size.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

TITLE_LIMIT = 300
STRING_LIMIT = 8_000
ARGUMENTS_LIMIT = 20_000
TOTAL_LIMIT = 200_000
DEPTH_LIMIT = 24

_STAYS = frozenset("\n\t ")
_OPENING = "⟨"  # spelled out too, so that no text can pretend that something was spelled out
# Blank or meant to change their neighbours, although their category says letter, sign or mark.
_BLANK = frozenset(
    [
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
        *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
    ]
)
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as it is shown, with the true size of what it stands for."""

    text: str
    size: int
    cut: bool


def reveal(text: str) -> str:
    """The text with everything hidden spelled out; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown_character(character) for character in text)


def bounded(text: str, limit: int) -> Shown:
    """Head and tail of a text that is too long, revealed, with what was left out counted."""
    size = len(text)
    if size <= limit:
        return Shown(reveal(text), size, False)
    head, tail = limit * 2 // 3, limit // 3
    gap = f"\n… {size - head - tail} of {size} characters not shown …\n"
    return Shown(reveal(text[:head]) + gap + reveal(text[size - tail :]), size, True)


def show_arguments(arguments: Any) -> Shown:
    """Arguments as the exact JSON that will be sent."""
    text = json.dumps(arguments, ensure_ascii=False, indent=2, default=str)
    return bounded(text, ARGUMENTS_LIMIT)


def show_detail(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Everything a question carries, made visible and bounded.

    `arguments` stay a structure and come a second time as the exact text, with its true size.
    """
    shown = {str(key): value for key, value in _Budget(TOTAL_LIMIT).show(dict(detail), 0).items()}
    if "arguments" in detail:
        exact = show_arguments(detail["arguments"])
        shown |= {
            "arguments_text": exact.text,
            "arguments_size": exact.size,
            "arguments_cut": exact.cut,
        }
    return shown


class _Budget:
    """Shows a structure until so many characters are spent; strings after that give only their size."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def show(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._string(value)
        if value is None or isinstance(value, bool | int | float):
            self._left -= 8
            return value
        if depth >= DEPTH_LIMIT:
            return "… nested too deeply to show …"
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, list | tuple):
            return self._list(value, depth)
        return self._string(str(value))

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for number, (key, item) in enumerate(value.items()):
            if self._left <= 0:
                shown["…"] = f"{len(value) - number} more entries not shown"
                break
            shown[self._string(str(key))] = self.show(item, depth + 1)
        return shown

    def _list(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        shown: list[Any] = []
        for number, item in enumerate(value):
            if self._left <= 0:
                shown.append(f"… {len(value) - number} more items not shown …")
                break
            shown.append(self.show(item, depth + 1))
        return shown

    def _string(self, text: str) -> str:
        shown = bounded(text, min(STRING_LIMIT, max(self._left, 30))).text
        self._left -= len(shown)
        return shown


@lru_cache(maxsize=4096)
def _shown_character(character: str) -> str:
    code = ord(character)
    hidden = code in _BLANK or unicodedata.category(character) in _HIDDEN_CATEGORIES
    if character == _OPENING or (hidden and character not in _STAYS):
        return f"⟨U+{code:04X}⟩"
    return character
