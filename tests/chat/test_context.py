"""A conversation is kept inside a model's context by dropping the least important first."""

from __future__ import annotations

from manyhands.chat.context import (
    KEEP_RECENT,
    SUMMARY_HEAD,
    Summary,
    borders,
    estimate,
    shorten_old_results,
    summed,
    turn_tokens,
    unread,
)
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


def test_text_that_is_attached_counts_in_full_and_pictures_do_not() -> None:
    text = Turn("user", attachments=[Attachment("a.md", "text/markdown", b"words " * 10_000)])
    picture = Turn("user", attachments=[Attachment("a.png", "image/png", b"words " * 10_000)])
    program = Turn("user", attachments=[Attachment("a", "application/octet-stream", b"\0" * 60_000)])
    assert turn_tokens(text) > 15_000
    assert turn_tokens(picture) == turn_tokens(program) < 2_000


def test_a_summary_stands_for_what_was_before_the_last_question_or_before_the_last_round() -> None:
    turns = [Turn("user", "1"), Turn("assistant", "2"), Turn("user", "3"), Turn("assistant"), Turn("tool")]
    assert borders(turns) == [2, 3]
    assert borders([Turn("user", "only")]) == []


def test_what_the_person_said_last_is_never_summed_up() -> None:
    turns = [Turn("user", "1"), Turn("assistant", "2"), Turn("user", "3"), Turn("assistant"), Turn("tool")]
    assert [turn.text for turn in summed(turns, Summary(2, "so far"))][1:] == ["3", "", ""]
    assert [turn.text for turn in summed(turns, Summary(3, "so far"))][1:] == ["3", "", ""]
    assert summed(turns, Summary(3, "so far"))[0] == Turn("user", SUMMARY_HEAD + "so far")


def test_what_came_after_the_last_reply_has_not_been_read() -> None:
    assert unread([Turn("user"), Turn("assistant"), Turn("tool"), Turn("tool")]) == 2
    assert unread([Turn("user")]) == 1
