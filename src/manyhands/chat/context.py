"""Pure rules that keep a conversation inside a model's context: how large it is, what gives way first.

Old tool results give way first (their head stays); after that the oldest turns are replaced by a summary, if
need be up to the last round of calls. What the person said last always stays.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from manyhands.models.types import Attachment, ModelRequest, ToolSpec, Turn

CHARS_PER_TOKEN = 3.6
BINARY_TOKENS = 1_500
BINARY_PROBE = 8_192
FULL = 0.85
"""Share of the context that a request may fill; the rest is for the answer."""
KEEP_RECENT = 6
STUB = 400
SUMMARY_HEAD = "[Earlier conversation, summed up to save room]\n"


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for the first `count` turns."""

    count: int
    text: str


def estimate(request: ModelRequest) -> int:
    """About how many tokens a request has."""
    fixed = int(len(request.system) / CHARS_PER_TOKEN) + weight(request.tools)
    return fixed + sum(turn_tokens(turn) for turn in request.turns)


def weight(tools: Sequence[ToolSpec]) -> int:
    """About how many tokens these definitions take."""
    text = sum(len(tool.name) + len(tool.description) + len(json.dumps(dict(tool.schema))) for tool in tools)
    return int(text / CHARS_PER_TOKEN)


def turn_tokens(turn: Turn) -> int:
    """About how many tokens a turn has, with what is attached to it."""
    text = len(turn.text) + sum(len(call.name) + len(call.arguments) for call in turn.calls)
    return int(text / CHARS_PER_TOKEN) + 8 + sum(_attached_tokens(one) for one in turn.attachments)


def _attached_tokens(attachment: Attachment) -> int:
    """Text goes out in full; pictures and the like cost about the same whatever their size."""
    known = attachment.mime.startswith(("image/", "audio/", "application/pdf"))
    if known or b"\0" in attachment.data[:BINARY_PROBE]:
        return BINARY_TOKENS
    return int(len(attachment.data) / CHARS_PER_TOKEN)


def room(context: int) -> int:
    """Tokens that a request may have."""
    return int(context * FULL)


def shorten_old_results(turns: Sequence[Turn], keep: int = KEEP_RECENT) -> list[Turn]:
    """The same turns with long tool results before the last `keep` turns cut to their heads."""
    border = max(0, len(turns) - keep)
    return [_stub(turn) if index < border else turn for index, turn in enumerate(turns)]


def unread(turns: Sequence[Turn]) -> int:
    """How many turns at the end the model has not seen yet."""
    seen = max((index for index, turn in enumerate(turns) if turn.role == "assistant"), default=-1)
    return len(turns) - seen - 1


def borders(turns: Sequence[Turn]) -> Sequence[int]:
    """How many turns a summary may stand for: all before the person's last message, or all before the last
    round of calls.
    """
    last_words = max((index for index, turn in enumerate(turns) if turn.role == "user"), default=0)
    last_round = len(turns) - unread(turns) - 1
    return [border for border in (last_words, last_round) if border >= max(1, last_words)]


def summed(turns: Sequence[Turn], summary: Summary | None) -> list[Turn]:
    """The turns with the summary in place of those that it stands for; the person's last words stay."""
    if summary is None:
        return list(turns)
    old, rest = turns[: summary.count], turns[summary.count :]
    spoken = any(turn.role == "user" for turn in rest)
    said = [] if spoken else [turn for turn in old if turn.role == "user"][-1:]
    return [Turn("user", SUMMARY_HEAD + summary.text), *said, *rest]


def _stub(turn: Turn) -> Turn:
    if turn.role != "tool" or len(turn.text) <= 2 * STUB:
        return turn
    left = len(turn.text) - STUB
    return replace(
        turn,
        text=f"{turn.text[:STUB]}\n[… {left:,} more characters were dropped to save room]",
        attachments=(),
    )
