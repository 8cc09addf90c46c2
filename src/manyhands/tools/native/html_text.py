"""A web page as text that reads well: headings, lists, links and tables as Markdown, scripts gone."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from manyhands.tools.native.html_tokens import Token, tokens

_SKIPPED = frozenset({"svg", "head", "iframe", "object", "select"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_APART = _HEADINGS | {"p", "table", "pre", "blockquote"}
_LINE_NAMES = """
    address article aside dd details div dl dt fieldset figcaption figure footer form header hr li main nav ol
    section summary tr ul
"""
_LINES = frozenset(_LINE_NAMES.split())
DEEPEST_LIST = 8


def html_to_text(html: str, base_url: str = "") -> tuple[str, str | None]:
    """The text and the title of a page; broken markup is read as far as it goes."""
    reader = _Reader(base_url)
    for token in tokens(html):
        reader.read(token)
    return reader.page.text(), " ".join(reader.title.split()) or None


class _Page:
    """Text as it grows: white space is folded, breaks between blocks are made once."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._breaks = 0
        self._at_start = True

    def break_line(self, lines: int) -> None:
        self._breaks = max(self._breaks, lines)

    def begin_block(self) -> int:
        """Make the breaks that are due; the answer is where the next text will stand."""
        if self._breaks and self._parts:
            self._parts.append("\n" * self._breaks)
            self._at_start = True
        self._breaks = 0
        return len(self._parts)

    def write(self, text: str, *, exact: bool = False) -> None:
        if not exact:
            text = re.sub(r"\s+", " ", text)
            if not text.strip() and (self._breaks or self._at_start):
                return
        self.begin_block()
        self._parts.append(text.lstrip() if self._at_start and not exact else text)
        self._at_start = text.endswith("\n")

    def take_back(self, start: int) -> str:
        """The text from there on, folded, which is no longer part of the page."""
        taken = " ".join("".join(self._parts[start:]).split())
        del self._parts[start:]
        return taken

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in "".join(self._parts).split("\n")).strip()


class _Reader:
    """Walks the tags and writes the page."""

    def __init__(self, base_url: str) -> None:
        self.title = ""
        self.page = _Page()
        self._base = base_url
        self._skipping = ""
        self._in_title = False
        self._pre = 0
        self._link: tuple[str, int] | None = None
        self._lists: list[int | None] = []

    def read(self, token: Token) -> None:
        if token.tag == "title":
            self._in_title = not token.closes
        elif not token.tag:
            self._write(token.text)
        elif self._skipping:
            if token.closes and token.tag == self._skipping:
                self._skipping = ""
        elif token.tag in _SKIPPED:
            self._skipping = "" if token.closes else token.tag
        elif token.closes:
            self._close(token.tag)
            self._break_around(token.tag)
        else:
            self._break_around(token.tag)
            self._open(token)

    def _write(self, text: str) -> None:
        if self._in_title:
            self.title += text
        elif not self._skipping:
            self.page.write(text, exact=self._pre > 0)

    def _break_around(self, tag: str) -> None:
        if tag in _APART:
            self.page.break_line(2)
        elif tag in _LINES or tag == "br":
            self.page.break_line(1)

    def _open(self, token: Token) -> None:
        tag = token.tag
        if tag in _HEADINGS:
            self.page.write("#" * int(tag[1]) + " ", exact=True)
        elif tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self.page.write(self._bullet(), exact=True)
        elif tag == "hr":
            self.page.write("---")
        elif tag == "pre":
            self._pre += 1
            self.page.write("```\n", exact=True)
        elif tag in ("td", "th"):
            self.page.write("| ", exact=True)
        elif tag == "a" and token.attributes.get("href"):
            self._link = (token.attributes["href"].strip(), self.page.begin_block())
        elif tag == "img" and token.attributes.get("alt"):
            self.page.write(f"[image: {token.attributes['alt'].strip()}]")

    def _close(self, tag: str) -> None:
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self.page.write("\n```", exact=True)
        elif tag in ("td", "th"):
            self.page.write(" ", exact=True)
        elif tag == "a" and self._link:
            self._end_link(*self._link)
            self._link = None

    def _end_link(self, href: str, start: int) -> None:
        label = self.page.take_back(start)
        try:
            target = urljoin(self._base, href)
        except ValueError:
            target = ""
        dead = not target or href.startswith(("#", "javascript:"))
        if label:
            self.page.write(label if dead else f"[{label}]({target})", exact=True)

    def _bullet(self) -> str:
        indent = "  " * min(max(len(self._lists) - 1, 0), DEEPEST_LIST)
        number = self._lists[-1] if self._lists else None
        if number is None:
            return f"{indent}- "
        self._lists[-1] = number + 1
        return f"{indent}{number + 1}. "
