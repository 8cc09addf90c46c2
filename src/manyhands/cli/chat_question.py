"""A question whether a tool may run, answered where messages are written, while all else goes on."""

from __future__ import annotations

from manyhands.cli.asking import SCOPES
from manyhands.cli.chat_line import ChatLine
from manyhands.cli.client import Json
from manyhands.cli.page import Rows
from manyhands.cli.terminal import paint
from manyhands.cli.wrapping import wrapped

CHOICES = "Allow? [y]es, this [s]ession, always the [t]ool, always the ser[v]er, [n]o"
WHY = "Why not? (the model reads it; Enter gives no reason)"
WORDS = {"yes": "y", "once": "y", "session": "s", "tool": "t", "always": "t", "server": "v", "no": "n"}


class Question:
    """Takes keys until there is an answer. A letter alone says nothing: Enter does."""

    def __init__(self, approval: Json) -> None:
        self.approval = approval
        self._line = ChatLine(sign="?")
        self._asks_why = False

    def press(self, key: str, text: str) -> Json | None:
        """The answer, when this key gave it."""
        if key in ("up", "down", "tab", "newline"):
            return None
        said = self._line.press(key, text) or ""
        if key != "enter":
            return None
        return _refusal(said) if self._asks_why else self._choice(said)

    def _choice(self, said: str) -> Json | None:
        word, _, reason = said.partition(" ")
        choice = WORDS.get(word.lower(), word.lower())
        if choice in SCOPES and not reason:
            return {"decision": "approve", "scope": SCOPES[choice]}
        if choice == "n" and reason:
            return _refusal(reason)
        self._asks_why = choice == "n"
        return None

    def rows(self, width: int) -> Rows:
        asked = wrapped(WHY if self._asks_why else CHOICES, width - 2)
        return self._line.rows(width).under([f"  {paint(row, 'yellow')}" for row in asked])


def can_be_asked_here(approval: Json) -> bool:
    """Whether it is a plain permission; forms and addresses need more than a line."""
    return approval["kind"] == "tool" and "arguments" in (approval.get("detail") or {})


def _refusal(reason: str) -> Json:
    return {
        "decision": "reject",
        "scope": "once",
        **({"reason": reason.strip()} if reason.strip() else {}),
    }
