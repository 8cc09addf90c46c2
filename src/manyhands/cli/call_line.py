"""A tool call on one line: whose tool, short arguments, the head of its result, how long it took."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from manyhands.cli.client import Json
from manyhands.cli.output import human_duration
from manyhands.cli.progress import FRAMES
from manyhands.cli.terminal import fit, one_line, paint, width_of

PLUG, OURS = "🔌", "🔧"
NATIVE = "native"
PLAIN_ARGUMENTS, PLAIN_RESULT = 120, 200
"""Columns where there is no terminal to fit into."""
LEAST = 12

State = Literal["asked", "waiting", "running", "ended"]


@dataclass
class Call:
    """One call as far as it is known."""

    id: str
    tool: str
    server: str | None
    arguments: str
    began: float
    state: State = "asked"
    detail: str = ""
    status: str = "pending"
    result: str = ""
    duration_ms: int | None = None
    asked_id: str = ""
    """The model's own id of the call."""

    def started(self, record: Json, now: float) -> None:
        self._known(record)
        self.state, self.began = "running", now

    def ended(self, record: Json) -> None:
        self._known(record)
        self.state, self.status = "ended", str(record["status"])
        self.result = str(record.get("error") or record.get("result") or "")
        self.duration_ms = record.get("duration_ms")

    def _known(self, record: Json) -> None:
        self.tool = str(record["tool"])
        server = record.get("server")
        self.server = None if server in (NATIVE, "", None) else str(server)
        self.arguments = arguments_text(record.get("arguments") or {})


def asked_call(asked: Json, now: float) -> Call:
    """A call as the model asked for it: the tool's full name, and arguments that may be no JSON at all."""
    name = str(asked["name"])
    server, _, tool = name.removeprefix("mcp__").partition("__")
    try:
        arguments = json.loads(asked.get("arguments") or "{}")
    except ValueError:
        arguments = None
    text = arguments_text(arguments) if isinstance(arguments, dict) else str(asked.get("arguments"))
    if not name.startswith("mcp__") or not tool:
        server, tool = "", name
    return Call(str(asked["call_id"]), tool, server or None, one_line(text), now, asked_id=str(asked["id"]))


def recorded_call(record: Json) -> Call:
    """A call of the log."""
    call = Call(str(record["id"]), "", None, "", 0.0)
    call.ended(record)
    return call


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """`timezone=Asia/Tokyo, days=3`."""
    return one_line(", ".join(f"{name}={_value(value)}" for name, value in arguments.items()))


def _value(value: Any) -> str:
    is_plain = isinstance(value, str) and value != "" and not any(sign in value for sign in ' ",\n')
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def call_line(call: Call, width: int | None, now: float = 0.0) -> str:
    """The line, no wider than `width`."""
    mark = PLUG if call.server else OURS
    name = one_line(f"{call.server}: {call.tool}" if call.server else call.tool)
    sign, said, time, look = _outcome(call, now)
    took = f"({time})" if time else ""
    arguments, text = call.arguments, one_line(said)
    if width is None:
        arguments, text = fit(arguments, PLAIN_ARGUMENTS), fit(text, PLAIN_RESULT)
    else:
        room = _room(width, mark, sign, took)
        if room < LEAST:
            took = ""
            room = _room(width, mark, sign)
        name = fit(name, max(room, 1))
        arguments, text = _shared(arguments, text, room - width_of(name))
    parts = [
        paint(name, "bold"),
        arguments,
        paint(sign, look),
        paint(text, "dim" if call.status == "success" else look),
        paint(took, "dim"),
    ]
    return " ".join([mark, *filter(None, parts)])


def _outcome(call: Call, now: float) -> tuple[str, str, str, str]:
    """A sign, what there is to say, how long it took, and how the sign looks."""
    if call.state == "ended":
        took = "" if call.duration_ms is None else human_duration(call.duration_ms / 1000)
        if call.status == "success":
            return "→", call.result, took, "green"
        return f"✗ {call.status}", call.result, took, "red"
    if call.state == "waiting":
        return "?", "waits for your answer", "", "yellow"
    if call.state == "asked":
        return "…", "", "", "dim"
    elapsed = max(now - call.began, 0.0)
    frame = FRAMES[int(elapsed * 10) % len(FRAMES)]
    return frame, call.detail, human_duration(round(elapsed, 1)) if elapsed >= 1 else "", "cyan"


def _room(width: int, *parts: str) -> int:
    """What is left beside these."""
    return width - sum(width_of(part) + 1 for part in parts if part)


def _shared(arguments: str, text: str, room: int) -> tuple[str, str]:
    """Both cut to the room that there is: neither takes more than half of it while the other needs it."""
    room -= sum(1 for part in (arguments, text) if part)
    if width_of(arguments) + width_of(text) <= room:
        return arguments, text
    if room < LEAST:
        return "", ""
    if room < 2 * LEAST and arguments and text:
        return "", fit(text, room + 1)
    arguments = fit(arguments, max(room // 2, room - width_of(text)))
    return arguments, fit(text, room - width_of(arguments))
