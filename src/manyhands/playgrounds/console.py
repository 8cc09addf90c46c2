"""What pages write to their consoles, kept in memory: the last lines of each page that was opened.

It comes from pages that nobody vouches for: everything is bounded, and nothing of it is more than text.
"""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from manyhands.clock import Clock
from manyhands.errors import InvalidError, TooLargeError, TooManyError
from manyhands.playgrounds.types import ConsoleEntry, Key, Level

MOST_LINES = 500
MOST_PAGES = 100
LONGEST_LINE = 4000
LARGEST_POST = 64 * 1024
POSTS_A_SECOND = 30

_LEVELS: tuple[str, ...] = get_args(Level)


@dataclass(slots=True)
class _Lines:
    entries: deque[ConsoleEntry] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    second: int = 0
    posts: int = 0


class Consoles:
    """The consoles of all pages."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pages: OrderedDict[Key, _Lines] = OrderedDict()
        self._last_id = 0

    def read(self, key: Key) -> Sequence[ConsoleEntry]:
        """Oldest first."""
        lines = self._pages.get(key)
        return tuple(lines.entries) if lines else ()

    def clear(self, key: Key) -> None:
        self._pages.pop(key, None)

    def take(self, key: Key, body: bytes) -> int:
        """Keep what a page has posted; how many lines it was."""
        if len(body) > LARGEST_POST:
            raise TooLargeError(f"More than {LARGEST_POST} bytes at once.", hint="Post less.")
        lines = self._lines(key)
        self._check_rate(lines)
        said = _entries(body)
        for one in said:
            self._add(lines, *one)
        return len(said)

    def add(self, key: Key, level: Level, text: str) -> None:
        """Say something in a page's console that the page cannot say itself."""
        self._add(self._lines(key), level, text)

    def _add(self, lines: _Lines, level: Level, text: str) -> None:
        self._last_id += 1
        lines.entries.append(ConsoleEntry(self._last_id, level, text, self._clock.now()))

    def _lines(self, key: Key) -> _Lines:
        lines = self._pages.setdefault(key, _Lines())
        self._pages.move_to_end(key)
        if len(self._pages) > MOST_PAGES:
            self._pages.popitem(last=False)
        return lines

    def _check_rate(self, lines: _Lines) -> None:
        second = int(self._clock.monotonic())
        if second != lines.second:
            lines.second, lines.posts = second, 0
        lines.posts += 1
        if lines.posts > POSTS_A_SECOND:
            raise TooManyError("The page writes too much.", hint="Write less often.")


def _entries(body: bytes) -> list[tuple[Level, str]]:
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, list):
        raise InvalidError("This is no list of lines.", hint='Post [{"level": "log", "text": "…"}].')
    return [_entry(one) for one in said[:MOST_LINES] if isinstance(one, Mapping)]


def _entry(said: Mapping[str, Any]) -> tuple[Level, str]:
    level = said.get("level")
    text = str(said.get("text", ""))
    # What no database and no terminal can take.
    clean = text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    cut = clean if len(clean) <= LONGEST_LINE else f"{clean[:LONGEST_LINE]}… ({len(clean):,} characters)"
    known: Level = level if level in _LEVELS else "log"
    return known, cut


def as_text(entries: Sequence[ConsoleEntry]) -> str:
    """As a file that an agent reads."""
    return "\n".join(f"{entry.at:%H:%M:%S} {entry.level}: {entry.text}" for entry in entries)
