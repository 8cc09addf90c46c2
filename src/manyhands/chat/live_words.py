"""What the models of running runs have said in their present iteration, for whoever opens a window late.

The words themselves live in events that nobody keeps; here they are added up until the reply is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from manyhands.chat.types import Message, Run
from manyhands.events import Event, EventBus
from manyhands.ids import new_id

_OVER = frozenset({"run.iteration", "run.finished", "run.restarted"})


@dataclass
class _Words:
    iteration: int
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)


class LiveWords:
    """Follows the bus; `of(run_id)` is what has been said so far."""

    def __init__(self, bus: EventBus) -> None:
        self._runs: dict[str, _Words] = {}
        bus.observe(self._follow, "run.")

    def of(self, run_id: str) -> dict[str, Any] | None:
        """`{iteration, text, thinking}` while a reply is under way, else nothing."""
        words = self._runs.get(run_id)
        if words is None:
            return None
        return {
            "iteration": words.iteration,
            "text": "".join(words.text),
            "thinking": "".join(words.thinking),
        }

    def left_by(self, run: Run, at: datetime) -> Message | None:
        """What a model had said when it was stopped, as a message: it stays in the conversation."""
        words = self.of(run.id)
        if words is None or not words["text"].strip():
            return None
        return Message(
            id=new_id("msg"),
            channel_id=run.channel_id,
            role="assistant",
            content=words["text"],
            at=at,
            author_id=run.model or "hub",
            run_id=run.id,
            iteration=words["iteration"],
            finish_reason="stopped",
        )

    def _follow(self, event: Event) -> None:
        if event.type in _OVER:
            self._runs.pop(str(event.data.get("run_id") or event.data.get("id")), None)
        elif event.type in ("run.delta", "run.thinking"):
            data = event.data
            words = self._runs.get(data["run_id"])
            if words is None or words.iteration != data["iteration"]:
                words = self._runs[data["run_id"]] = _Words(data["iteration"])
            (words.text if event.type == "run.delta" else words.thinking).append(data["text"])
