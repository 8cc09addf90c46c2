"""A run as a person sees it: its words as they come, its calls while they run, and how it ended.

It is told events and writes to a page. It asks nothing and sends nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from manyhands.cli.call_line import Call, asked_call, call_line
from manyhands.cli.client import Json
from manyhands.cli.output import human_duration, plural
from manyhands.cli.page import Page, Rows
from manyhands.cli.progress import FIRST_FRAME_S, FRAMES
from manyhands.cli.terminal import fit, many_lines, one_line, paint, uncoloured, width_of
from manyhands.cli.tool_call import progress_text
from manyhands.cli.wrapping import wrapped

MOST_ROWS = 12
SAVED = "model"
PAUSE_S = 1.0
"""Words that stop for longer than this look as if they had ended."""
ENDINGS = {
    "completed": ("✓", "green"),
    "cancelled": ("■ stopped", "yellow"),
    "max_iterations": ("■ limit reached", "yellow"),
    "failed": ("✗ failed", "red"),
}

_FAINT = re.compile(r"\x1b\[2m.*?\x1b\[0m\n?")


class RunView:
    """Shows one run after the other on a page."""

    def __init__(
        self, page: Page, *, stop_hint: str = "Ctrl-C stops", now: Callable[[], float] = time.monotonic
    ) -> None:
        self.page = page
        self.below: Callable[[], Rows] = Rows
        """Rows of somebody else, below those of the run."""
        self._stop_hint = stop_hint
        self._now = now
        self._block = ""
        self._model: str | None = None
        """The model that answered, by the name that its provider has for it."""
        self.begin()

    def begin(self) -> None:
        """A run begins."""
        self._calls: dict[str, Call] = {}
        self._said = ""
        """The model's words of this iteration, as far as they are written."""
        self._status = "starting"
        self._is_lost = False
        self._news_at = self._began = self._now()

    # --- what happens

    def event(self, type: str, data: Json) -> None:
        """Show what an event of the run changes."""
        self._news_at = self._now()
        match type:
            case "run.queued":
                self._status = "waiting for its turn"
            case "run.started":
                self._status = "thinking"
            case "run.delta":
                self._say(str(data["text"]))
            case "run.thinking":
                self._status = f"thinking: {one_line(str(data['text']))}"
            case "run.restarted":
                self._restart(str(data.get("reason") or "the model's answer broke off"))
            case "run.notice":
                self._remark(str(data["text"]))
            case "run.compacting":
                self._status = "summing up the conversation to make room"
            case "message.created":
                self._message(data)
            case "tool.started" | "tool.progress" | "tool.finished":
                self._tool(type, data)
            case "approval.requested" | "approval.resolved":
                self._asked(type, data)
        self.tick()

    def lost(self, is_lost: bool) -> None:
        """The daemon is gone, or back."""
        self._is_lost = is_lost
        self._remark("The daemon is gone; waiting for it …" if is_lost else "The daemon is back.")
        self.tick()

    def break_off(self) -> None:
        """Nothing more is known of the run."""
        self.begin()
        self.hide()

    def _message(self, message: Json) -> None:
        if message["role"] == "assistant":
            self._complete(str(message["content"]))
            self._model = message["model"]
            for asked in message["tool_calls"]:
                call = asked_call(asked, self._now())
                self._calls[call.id] = call
        elif message["role"] == "tool":
            self._settle(message)

    def _settle(self, message: Json) -> None:
        """A result is with the model: a call without a record, such as a search for tools, ended with it."""
        self._status = "thinking"
        for call in self._calls.values():
            if call.asked_id == message["tool_call_id"] and call.state != "ended":
                call.state, call.result = "ended", str(message["content"])
                call.status = "error" if message["is_error"] else "success"
        self._commit_calls()

    def _tool(self, type: str, data: Json) -> None:
        call = self._calls.get(str(data["id"]))
        if call is None:
            return
        if type == "tool.started":
            call.started(data, self._now())
        elif type == "tool.progress":
            call.detail = progress_text(data)
        else:
            call.ended(data)
            self._commit_calls()

    def _asked(self, type: str, data: Json) -> None:
        call = self._calls.get(str(data.get("call_id")))
        if call is not None and call.state in ("asked", "waiting"):
            call.state = "waiting" if type == "approval.requested" else "asked"

    # --- words

    def _say(self, text: str) -> None:
        self._begin("text")
        self._said += text
        self.page.write(self._harmless(text))

    def _complete(self, whole: str) -> None:
        """Write what is missing of the words: pieces may be dropped on the way to a slow reader."""
        if whole.startswith(self._said):
            rest = whole[len(self._said) :]
        elif " ".join(whole.split()) in _kept(self._said):
            rest = ""
        else:
            self._remark("Some of this was lost on the way; here is all of it:")
            rest = whole
        if rest.strip():
            self._say(rest)
        self._said = ""

    def _restart(self, reason: str) -> None:
        self._said = ""
        self._remark(f"Asking again: {reason}")

    def _harmless(self, text: str) -> str:
        """A terminal must not obey what a stranger wrote; a file or pipe gets it as it is."""
        return many_lines(uncoloured(text).replace("\r", "")) if self.page.width is not None else text

    def _remark(self, text: str) -> None:
        self._begin("remark")
        for row in wrapped(one_line(text), self.page.width or 10_000):
            self.page.line(paint(row, "dim"))

    def say(self, text: str) -> None:
        """Lines of somebody else, between those of the run."""
        text = self._broken(text)
        if self._block == "text" and self._said:
            self.page.insert(f"\n{text}\n")
        else:
            self._begin("other")
            self.page.line(text)

    def _broken(self, text: str) -> str:
        """Between words where it can be told: styles take no room."""
        width = self.page.width or 10_000
        lines = [[line] if "\x1b" in line else wrapped(line, width) for line in text.split("\n")]
        return "\n".join(row for rows in lines for row in rows)

    def said(self, text: str) -> None:
        """What the person said, to which all that follows is the answer."""
        self.page.line(text)
        self._block = "said"

    def complain(self, text: str) -> None:
        """What went wrong."""
        first, *others = wrapped(f"error: {one_line(text)}", self.page.width or 10_000)
        first = paint("error:", "red", "bold") + first.removeprefix("error:")
        self.say("\n".join([first, *others]))

    def rest(self) -> None:
        """The person's turn: an empty line, and nothing that changes by itself."""
        self.page.line()
        self._block = ""

    def _begin(self, block: str) -> None:
        """An empty line between what is of different kinds."""
        if self._block not in ("", block):
            self.page.line()
        self._block = block

    # --- calls

    def _commit_calls(self) -> None:
        """Calls stay on the page in the order in which they were asked for, each when it has ended."""
        for call in list(self._calls.values()):
            if call.state != "ended":
                return
            self._begin("calls")
            del self._calls[call.id]
            self.page.line(call_line(call, self.page.width))

    def tick(self) -> None:
        """Show how long it takes."""
        if self.page.is_live:
            self.page.show(self.below().under(self._rows()))

    def _rows(self) -> list[str]:
        width, now = self.page.width or 80, self._now()
        calls = [call_line(call, width, now) for call in self._calls.values()]
        if len(calls) > MOST_ROWS:
            hidden = len(calls) - MOST_ROWS + 1
            calls = [*calls[: MOST_ROWS - 1], paint(f"   … and {plural(hidden, 'call')} more", "dim")]
        return [*calls, *self._status_row(width, now)]

    def _status_row(self, width: int, now: float) -> list[str]:
        silence = now - self._news_at
        if not self._calls and silence < (PAUSE_S if self._said else FIRST_FRAME_S):
            return []
        elapsed = now - self._began
        frame = FRAMES[int(elapsed * 10) % len(FRAMES)]
        status = plural(len(self._calls), "call") if self._calls else self._status
        status = "waiting for the daemon" if self._is_lost else status
        text = fit(f"{status} · {human_duration(round(elapsed, 1))} · {self._stop_hint}", width - 2)
        return [f"{paint(frame, 'cyan')} {paint(text, 'dim')}"]

    # --- the end

    def hide(self) -> None:
        """Leave the page to somebody else; the next event shows the rows again."""
        if self.page.is_live:
            self.page.show(Rows())

    def finish(self, run: Json) -> None:
        """The last line: model, time, iterations, tokens, cost."""
        for call in self._calls.values():
            call.state, call.status = "ended", "cancelled"
        self._commit_calls()
        if run["status"] == "max_iterations":
            self._begin("ending")
            self.page.line(paint(self._harmless(run["text"]), "yellow"))
        self._begin("closing")
        self.page.line(closing_line({**run, "model": self._model or _name(run["model"])}, self.page.width))
        self.hide()


def _name(model: str | None) -> str | None:
    """The id of a saved model says nothing to a person."""
    return None if model is None or model.startswith(f"{SAVED}_") else model


def _kept(said: str) -> str:
    """What a program said, without its colours and without the faint lines that tell what it does."""
    return " ".join(uncoloured(_FAINT.sub("", said)).split())


def closing_line(run: Json, width: int | None = None) -> str:
    """How a run ended and what it took."""
    sign, look = ENDINGS.get(run["status"], (run["status"], "dim"))
    text = " · ".join(facts(run))
    text = text if width is None else fit(text, width - width_of(sign) - 1)
    return f"{paint(sign, look)} {paint(text, 'dim')}"


def facts(run: Json) -> list[str]:
    """Model, time, iterations, tokens, cost: as far as they are known."""
    usage: dict[str, Any] = run.get("usage") or {}
    tokens = f"{usage.get('input', 0):,} tokens in, {usage.get('output', 0):,} out"
    return [
        *([one_line(str(run["model"]))] if run.get("model") else []),
        *([human_duration(seconds(run))] if run.get("ended_at") else []),
        plural(run["iterations"], "iteration"),
        *([tokens] if usage else []),
        *([cost_text(run["cost"])] if run.get("cost") is not None else []),
    ]


def seconds(run: Json) -> float:
    """How long it took, from its start to its end."""
    from datetime import datetime

    begin, end = run.get("started_at") or run["created_at"], run["ended_at"]
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def cost_text(cost: float) -> str:
    """US dollars; small sums with enough digits to say something."""
    return f"${cost:.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"
