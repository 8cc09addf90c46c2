"""Command agents that tell what they do as JSON lines: one reader for each that is known. Pure.

What they say is shown and kept; which tools they use is shown while it goes on, in a faint line.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from manyhands.chat.agent_output import AgentOutput, KeptText, PlainOutput, Report

LONGEST_LINE = 8_000_000
LONGEST_NOTE = 200

Event = Mapping[str, Any]


class JsonLines(ABC):
    """One JSON object for each line; what is none is shown as it is."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._said = KeptText()
        self._usage: dict[str, int] = {}
        self._cost: float | None = None
        self._failed: str | None = None

    def feed(self, data: bytes) -> str:
        *lines, rest = data.split(b"\n")
        shown = []
        for line in lines:
            shown.append(self._take(bytes(self._line + line)))
            self._line.clear()
        self._line += rest[: LONGEST_LINE - len(self._line)]
        return "".join(shown)

    def report(self) -> Report:
        if self._line.strip():
            self._take(bytes(self._line))
            self._line.clear()
        return Report(self._said.text.strip(), self._usage, self._cost, self._failed)

    def _take(self, line: bytes) -> str:
        if not line.strip():
            return ""
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return self._say(line.decode(errors="replace") + "\n")
        return self._event(event) if isinstance(event, dict) else ""

    @abstractmethod
    def _event(self, event: Event) -> str:
        """What there is to show of it."""

    def _say(self, text: str) -> str:
        self._said.add(text)
        return text

    def _count(self, fresh: object, output: object, cached: object = 0) -> None:
        """Tokens, beside those counted before."""
        read = _whole(cached)
        for name, more in (("input", _whole(fresh) + read), ("output", _whole(output)), ("cached", read)):
            self._usage[name] = self._usage.get(name, 0) + more


class ClaudeOutput(JsonLines):
    """`claude -p --output-format stream-json`, with or without `--include-partial-messages`."""

    def __init__(self) -> None:
        super().__init__()
        self._streams = False
        self._result: str | None = None

    def _event(self, event: Event) -> str:
        match event.get("type"):
            case "stream_event":
                return self._streamed(_mapping(event.get("event")))
            case "assistant":
                return "".join(map(self._block, _mappings(_mapping(event.get("message")).get("content"))))
            case "result":
                self._end(event)
        return ""

    def _streamed(self, event: Event) -> str:
        delta = _mapping(event.get("delta"))
        if delta.get("type") == "text_delta":
            self._streams = True
            return self._say(str(delta.get("text") or ""))
        return self._say("\n\n") if event.get("type") == "message_stop" and self._streams else ""

    def _block(self, block: Event) -> str:
        if block.get("type") == "tool_use":
            return note(block.get("name"), block.get("input"))
        text = str(block.get("text") or "") if block.get("type") == "text" else ""
        return self._say(f"{text}\n\n") if text and not self._streams else ""

    def _end(self, result: Event) -> None:
        usage = _mapping(result.get("usage"))
        fresh = _whole(usage.get("input_tokens")) + _whole(usage.get("cache_creation_input_tokens"))
        if usage:
            self._count(fresh, usage.get("output_tokens"), usage.get("cache_read_input_tokens"))
        cost = result.get("total_cost_usd")
        self._cost = float(cost) if isinstance(cost, int | float) else None
        self._result = str(result.get("result") or "").strip() or None
        if result.get("is_error"):
            self._failed = self._result or str(result.get("subtype"))

    def report(self) -> Report:
        whole = super().report()
        return Report(self._result or whole.text, whole.usage, whole.cost, whole.failed)


class CodexOutput(JsonLines):
    """`codex exec --json`."""

    def _event(self, event: Event) -> str:
        item = _mapping(event.get("item"))
        match event.get("type"), item.get("type"):
            case "item.completed", "agent_message":
                return self._say(f"{item.get('text') or ''}\n\n")
            case "item.started", "command_execution":
                return note("$", item.get("command"))
            case "item.started", "mcp_tool_call":
                return note(f"{item.get('server')}.{item.get('tool')}", item.get("arguments"))
            case "item.completed", "file_change":
                paths = [str(change.get("path")) for change in _mappings(item.get("changes"))]
                return note("changed", ", ".join(paths))
            case "turn.completed", _:
                usage = _mapping(event.get("usage"))
                cached = _whole(usage.get("cached_input_tokens"))
                fresh = _whole(usage.get("input_tokens")) - cached
                self._count(fresh, usage.get("output_tokens"), cached)
            case "turn.failed", _:
                self._failed = str(_mapping(event.get("error")).get("message") or "the turn failed")
        return ""


class OpencodeOutput(JsonLines):
    """`opencode run --format json`."""

    def _event(self, event: Event) -> str:
        part = _mapping(event.get("part"))
        match event.get("type"):
            case "text":
                return self._say(f"{part.get('text') or ''}\n\n")
            case "tool_use":
                return note(part.get("tool"), _mapping(part.get("state")).get("input"))
            case "step_finish":
                tokens = _mapping(part.get("tokens"))
                cached = _mapping(tokens.get("cache")).get("read")
                self._count(tokens.get("input"), tokens.get("output"), cached)
                cost = part.get("cost")
                self._cost = (
                    (self._cost or 0.0) + float(cost) if isinstance(cost, int | float) else self._cost
                )
            case "error":
                error = _mapping(event.get("error"))
                self._failed = str(
                    _mapping(error.get("data")).get("message") or error.get("name") or "failed"
                )
        return ""


class GooseOutput(JsonLines):
    """`goose run --output-format stream-json`: the words of a message come in pieces under its id."""

    def __init__(self) -> None:
        super().__init__()
        self._message: object = None

    def _event(self, event: Event) -> str:
        message = _mapping(event.get("message"))
        match event.get("type"):
            case "message" if message.get("role") == "assistant":
                return "".join(
                    self._block(block, message.get("id")) for block in _mappings(message.get("content"))
                )
            case "complete":
                self._count(event.get("input_tokens"), event.get("output_tokens"))
            case "error":
                self._failed = str(event.get("error") or "failed")
        return ""

    def _block(self, block: Event, message_id: object) -> str:
        if block.get("type") == "toolRequest":
            self._message = None
            call = _mapping(_mapping(block.get("toolCall")).get("value"))
            return note(call.get("name"), call.get("arguments"))
        text = str(block.get("text") or "") if block.get("type") == "text" else ""
        if not text:
            return ""
        apart = "\n\n" if self._said.text and self._message != message_id else ""
        self._message = message_id
        return self._say(apart + text)


def output_of(name: str, arguments: Sequence[str]) -> AgentOutput:
    """The reader for a program that is started with these arguments."""
    if name == "codex" and "--json" in arguments:
        return CodexOutput()
    if name == "opencode" and "json" in _after("--format", arguments):
        return OpencodeOutput()
    if "stream-json" in _after("--output-format", arguments):
        return GooseOutput() if name == "goose" else ClaudeOutput()
    return PlainOutput()


def _after(option: str, arguments: Sequence[str]) -> list[str]:
    """The values of an option, in both ways of writing it."""
    apart = [value for word, value in pairwise(arguments) if word == option]
    return [*apart, *(word.partition("=")[2] for word in arguments if word.startswith(f"{option}="))]


def note(what: object, about: object) -> str:
    """A faint line that says what the agent does."""
    told = about if isinstance(about, str) else json.dumps(about, ensure_ascii=False) if about else ""
    line = " ".join(f"{what or 'tool'} {told}".split())
    cut = line if len(line) <= LONGEST_NOTE else f"{line[:LONGEST_NOTE]}…"
    return f"\x1b[2m· {cut}\x1b[0m\n"


def _mapping(value: object) -> Event:
    return value if isinstance(value, dict) else {}


def _mappings(value: object) -> list[Event]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
