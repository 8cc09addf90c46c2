"""What command agents write: plain text here, JSON lines in `agent_streams.py`. Pure; bytes in, words out."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

LONGEST = 400_000
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


@dataclass(frozen=True, slots=True)
class Report:
    """What is known at the end."""

    text: str
    usage: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None
    failed: str | None = None
    """Why the agent itself says that it failed."""


class AgentOutput(Protocol):
    """Reads standard output."""

    def feed(self, data: bytes) -> str:
        """What there is to show of it now."""
        ...

    def report(self) -> Report: ...


class PlainOutput:
    """Words as they are; colours are for whoever watches and not for the record."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = KeptText()

    def feed(self, data: bytes) -> str:
        text = self._decoder.decode(data)
        self._kept.add(text)
        return text

    def report(self) -> Report:
        return Report(plain_text(self._kept.text + self._decoder.decode(b"", True)).strip())


class KeptText:
    """The last part of a long text."""

    def __init__(self, limit: int = LONGEST) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._size = 0
        self._cut = 0

    def add(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)
        if self._size > 2 * self._limit:
            whole = "".join(self._parts)
            self._cut += len(whole) - self._limit
            self._parts, self._size = [whole[-self._limit :]], self._limit

    @property
    def text(self) -> str:
        whole = "".join(self._parts)
        cut = self._cut + max(0, len(whole) - self._limit)
        return f"[… {cut:,} characters before this]\n{whole[-self._limit :]}" if cut else whole


def plain_text(text: str) -> str:
    """Without colours; a line that was written over is what it was at last."""
    lines = _ANSI.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)
