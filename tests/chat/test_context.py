"""A conversation is kept inside a model's context by dropping the least important first."""

from __future__ import annotations

from manyhands.chat.context import KEEP_RECENT, estimate, shorten_old_results, split_for_summary
from manyhands.models.types import Attachment, ModelRequest, ToolRequest, ToolSpec, Turn


def test_everything_that_is_sent_counts() -> None:
    empty = estimate(ModelRequest("", []))
    parts = [
        ModelRequest("s" * 4000, []),
        ModelRequest("", [Turn("user", "u" * 4000)]),
        ModelRequest("", [], [ToolSpec("name", "d" * 4000, {})]),
        ModelRequest("", [Turn("assistant", calls=[ToolRequest("1", "t", "a" * 4000)])]),
        ModelRequest("", [Turn("user", attachments=[Attachment("p", "image/png", b"")])]),
    ]
    assert all(estimate(part) > empty + 900 for part in parts)


def test_old_tool_results_are_shortened_and_recent_ones_stay() -> None:
    turns = [
        Turn("user", "x" * 5000),
        Turn("tool", "old" * 2000),
        *[Turn("tool", "new" * 2000)] * KEEP_RECENT,
    ]
    shorter = shorten_old_results(turns)
    assert shorter[0] == turns[0]
    assert len(shorter[1].text) < 600
    assert "dropped to save room" in shorter[1].text
    assert shorter[2:] == turns[2:]


def test_what_the_person_said_last_and_everything_after_it_is_never_summed_up() -> None:
    turns = [
        Turn("user", "1"),
        Turn("assistant", "2"),
        Turn("user", "3"),
        Turn("assistant", "4"),
        Turn("tool", "5"),
    ]
    old, recent = split_for_summary(turns)
    assert [turn.text for turn in old] == ["1", "2"]
    assert [turn.text for turn in recent] == ["3", "4", "5"]
