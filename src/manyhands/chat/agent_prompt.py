"""The prompt of a command agent, which remembers nothing: what was said before, and what is asked. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from manyhands.chat.recovery import heard
from manyhands.chat.types import Message

MOST_HISTORY = 20_000


def compose_prompt(messages: Sequence[Message], run_id: str, system_prompt: str | None) -> str:
    """From a conversation, the run's own messages last."""
    own = [message for message in messages if message.run_id == run_id and message.role == "user"]
    earlier = [message for message in messages if message.run_id != run_id]
    parts = [system_prompt or "", _history(earlier), *map(_asked, own)]
    return "\n\n".join(part for part in parts if part)


def _asked(message: Message) -> str:
    names = ", ".join(str(reference.get("name")) for reference in message.attachments)
    note = f"\n[Attached, and not readable from here: {names}]" if names else ""
    return heard(message) + note


def _history(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    room = MOST_HISTORY
    for message in reversed(messages):
        if message.role not in ("user", "assistant") or not message.content.strip():
            continue
        who = "You" if message.role == "assistant" else "They"
        line = f"{who}: {heard(message)}"
        room -= len(line)
        if room < 0:
            lines.append("(earlier messages are left out)")
            break
        lines.append(line)
    if not lines:
        return ""
    return "\n".join(["What was said before in this conversation:", *reversed(lines), "", "Now:"])
