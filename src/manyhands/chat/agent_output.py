"""What command agents write: plain text, or Claude Code's stream of JSON lines. Pure; bytes in, words out."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

LONGEST = 400_000
LONGEST_LINE = 8_000_000
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


class ClaudeOutput:
    """`--output-format stream-json`: one JSON object for each line."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._said = KeptText()
        self._result: Mapping[str, Any] | None = None
        self._streams = False

    def feed(self, data: bytes) -> str:
        *lines, rest = data.split(b"\n")
        shown = []
        for line in lines:
            shown.append(self._take(bytes(self._line + line)))
            self._line.clear()
        self._line += rest[: LONGEST_LINE - len(self._line)]
        text = "".join(shown)
        self._said.add(text)
        return text

    def _take(self, line: bytes) -> str:
        if not line.strip():
            return ""
        try:
            event = json.loads(line)
        except ValueError:
            return line.decode(errors="replace") + "\n"
        if not isinstance(event, dict):
            return ""
        match event.get("type"):
            case "stream_event":
                return self._streamed(event.get("event"))
            case "assistant":
                return "" if self._streams else _blocks(event.get("message"))
            case "result":
                self._result = event
        return ""

    def _streamed(self, event: object) -> str:
        delta = event.get("delta") if isinstance(event, dict) else None
        if isinstance(delta, dict) and delta.get("type") == "text_delta":
            self._streams = True
            return str(delta.get("text") or "")
        return ""

    def report(self) -> Report:
        if self._line.strip():
            self._said.add(self._take(bytes(self._line)))
            self._line.clear()
        result = self._result
        if result is None:
            return Report(self._said.text.strip())
        text = str(result.get("result") or self._said.text).strip()
        cost = result.get("total_cost_usd")
        failed = (text or str(result.get("subtype"))) if result.get("is_error") else None
        return Report(
            text, _usage(result.get("usage")), float(cost) if isinstance(cost, int | float) else None, failed
        )


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
        return f"[{cut:,} characters before this]\n{whole[-self._limit :]}" if cut else whole


def output_of(arguments: Sequence[str]) -> AgentOutput:
    """The reader for a command that is started with these arguments."""
    return ClaudeOutput() if any("stream-json" in argument for argument in arguments) else PlainOutput()


def plain_text(text: str) -> str:
    """Without colours; a line that was written over is what it was at last."""
    lines = _ANSI.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _blocks(message: object) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    texts = [
        str(block.get("text") or "")
        for block in (content if isinstance(content, list) else [])
        if isinstance(block, dict) and block.get("type") == "text"
    ]
    return "".join(f"{text}\n\n" for text in texts if text)


def _usage(usage: object) -> dict[str, int]:
    if not isinstance(usage, dict):
        return {}
    numbers = {name: value for name, value in usage.items() if isinstance(value, int)}
    cached = numbers.get("cache_read_input_tokens", 0)
    fresh = numbers.get("input_tokens", 0) + numbers.get("cache_creation_input_tokens", 0)
    return {"input": fresh + cached, "output": numbers.get("output_tokens", 0), "cached": cached}
