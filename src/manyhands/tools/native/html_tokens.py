"""HTML as a sequence of texts and tags, in time that grows with its length alone. Pure.

The standard library's parser needs quadratic time for some broken pages, and a fetched page is a stranger's.
Here every search that fails ends the page or is never made again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]{0,30})")
_STOP = re.compile(r"[>\"']")
_ATTRIBUTE = re.compile(r"(?:^|[\s\"'/])(href|alt)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
_RAW = {name: re.compile(rf"</{name}", re.IGNORECASE) for name in ("script", "style", "noscript", "template")}
ATTRIBUTES_LIMIT = 8192


@dataclass(frozen=True, slots=True)
class Token:
    """A text (no tag), the beginning of an element, or its end."""

    text: str = ""
    tag: str = ""
    closes: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)


def tokens(html: str) -> Iterator[Token]:
    """Texts with their entities resolved, tags with `href` and `alt`; comments and scripts are left out."""
    reader = _Tokens(html)
    position = 0
    while position < len(html):
        found = html.find("<", position)
        if found < 0:
            yield Token(unescape(html[position:]))
            return
        if found > position:
            yield Token(unescape(html[position:found]))
        token, position = reader.markup(found)
        if token is not None:
            yield token


class _Tokens:
    """Reads one piece of markup at a time, and remembers which quotes have no end."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._unclosed: set[str] = set()

    def markup(self, start: int) -> tuple[Token | None, int]:
        """What stands at a `<`, and where the rest begins."""
        html = self._html
        if html.startswith("<!--", start):
            return None, self._after("-->", start + 4)
        if html.startswith(("<!", "<?"), start):
            return None, self._after(">", start)
        head = _TAG.match(html, start)
        if head is None:
            return Token("<"), start + 1
        end = self._end_of_tag(head.end())
        name, closes = head[2].lower(), bool(head[1])
        attributes = {} if closes else _attributes(html[head.end() : end][:ATTRIBUTES_LIMIT])
        raw = None if closes else _RAW.get(name)
        if raw is not None:
            closing = raw.search(html, end)
            return None, self._after(">", closing.start()) if closing else len(html)
        return Token(tag=name, closes=closes, attributes=attributes), end

    def _after(self, mark: str, start: int) -> int:
        found = self._html.find(mark, start)
        return len(self._html) if found < 0 else found + len(mark)

    def _end_of_tag(self, position: int) -> int:
        """Behind the `>` that is not inside of quotes."""
        while (stop := _STOP.search(self._html, position)) is not None:
            sign = stop[0]
            if sign == ">":
                return stop.end()
            position = stop.end()
            if sign not in self._unclosed:
                closing = self._html.find(sign, position)
                if closing < 0:
                    self._unclosed.add(sign)
                else:
                    position = closing + 1
        return len(self._html)


def _attributes(text: str) -> dict[str, str]:
    return {
        found[1].lower(): unescape(found[2] or found[3] or found[4] or "")
        for found in _ATTRIBUTE.finditer(text)
    }
