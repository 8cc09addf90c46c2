"""Pure rules that keep a conversation inside a model's context: how large it is, what gives way first.

Old tool results give way first (their head stays, and where the rest can be read); after that the oldest
turns are to be
replaced by a summary. The person's last message and everything after it always stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from manyhands.models.types import ModelRequest, Turn

CHARS_PER_TOKEN = 3.6
IMAGE_TOKENS = 1_500
FULL = 0.85
"""Share of the context that a request may fill; the rest is for the answer."""
KEEP_RECENT = 6
STUB = 400


def estimate(request: ModelRequest) -> int:
    """About how many tokens a request has."""
    import json

    tools = sum(
        len(tool.name) + len(tool.description) + len(json.dumps(dict(tool.schema))) for tool in request.tools
    )
    return int((len(request.system) + tools) / CHARS_PER_TOKEN) + sum(
        turn_tokens(turn) for turn in request.turns
    )


def turn_tokens(turn: Turn) -> int:
    text = len(turn.text) + sum(len(call.name) + len(call.arguments) for call in turn.calls)
    return int(text / CHARS_PER_TOKEN) + 8 + IMAGE_TOKENS * len(turn.attachments)


def room(context: int) -> int:
    """Tokens that a request may have."""
    return int(context * FULL)


def shorten_old_results(turns: Sequence[Turn]) -> list[Turn]:
    """The same turns with long tool results before the recent ones cut to their heads."""
    border = max(0, len(turns) - KEEP_RECENT)
    return [_stub(turn) if index < border else turn for index, turn in enumerate(turns)]


def split_for_summary(turns: Sequence[Turn]) -> tuple[Sequence[Turn], Sequence[Turn]]:
    """Old turns to be summed up, and those that stay: from the person's last message on."""
    last_user = max((index for index, turn in enumerate(turns) if turn.role == "user"), default=0)
    return turns[:last_user], turns[last_user:]


def _stub(turn: Turn) -> Turn:
    if turn.role != "tool" or len(turn.text) <= 2 * STUB:
        return turn
    left = len(turn.text) - STUB
    return replace(
        turn,
        text=f"{turn.text[:STUB]}\n[… {left:,} more characters were dropped to save room]",
        attachments=(),
    )
