"""The documentation as data: pages, sections, code blocks, links and anchors. It knows nothing of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\s*\Z")


@dataclass(frozen=True)
class Block:
    """A fenced block. `runs`: nothing before it says that it cannot be run as it stands."""

    language: str
    text: str
    runs: bool


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def prose(self) -> str:
        """The text without its fenced blocks, whose `#` and brackets mean something else."""
        return _FENCE.sub("", self.text)

    @cached_property
    def blocks(self) -> list[Block]:
        return [
            Block(found[1], found[2], _NOT_RUN.search(self.text, 0, found.start()) is None)
            for found in _FENCE.finditer(self.text)
        ]

    @cached_property
    def sections(self) -> dict[str, str]:
        """What stands under each heading, up to the next one of any level, with its fenced blocks."""
        plain = _FENCE.sub(lambda found: re.sub(r"^#", "\0", found[0], flags=re.MULTILINE), self.text)
        found = list(_HEADING.finditer(plain))
        ends = [*(heading.start() for heading in found[1:]), len(plain)]
        return {
            heading[2]: plain[heading.end() : end].replace("\0", "#")
            for heading, end in zip(found, ends, strict=True)
        }

    @cached_property
    def anchors(self) -> set[str]:
        """As GitHub makes them from headings."""
        return {slug(heading[2]) for heading in _HEADING.finditer(self.prose)}

    @property
    def links(self) -> Iterator[str]:
        return (found[1] for found in _LINK.finditer(self.prose))

    def rows(self, heading: str) -> dict[str, list[str]]:
        """The tables of a section: the name in the first cell (in backticks) to the other cells."""
        found = {}
        for line in self.sections[heading].splitlines():
            cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for name in re.findall(r"`([^`]+)`", cells[0]) if cells else ():
                found[name] = cells[1:]
        return found


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def read_pages(root: Path) -> dict[str, Page]:
    """Every page of the documentation by its path from the root."""
    paths = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    return {path.relative_to(root).as_posix(): Page(path) for path in sorted(paths)}


def broken_links(page: Page) -> list[str]:
    """Links to files and headings that are not there."""
    broken = []
    for link in page.links:
        target, _, anchor = link.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        path = (page.path.parent / target).resolve() if target else page.path
        if not path.exists() or (anchor and anchor not in Page(path).anchors):
            broken.append(link)
    return broken
