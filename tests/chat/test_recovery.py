"""A stored conversation becomes turns again, and a cut run knows what it still has to do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from manyhands.chat.recovery import drop_orphans, remaining, since_summary, to_turn, tool_names
from manyhands.chat.types import AskedCall, Message, Role
from manyhands.models.types import ToolRequest, Turn

CALLS = (AskedCall("a", "read_file", "{}", "call_1"), AskedCall("b", "write_file", "{}", "call_2"))


def message(
    role: Role, content: str = "", calls: tuple[AskedCall, ...] = (), answers: str | None = None
) -> Message:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Message(
        "m", "ch", role, content, at, run_id="r", iteration=2, tool_calls=calls, tool_call_id=answers
    )


def test_calls_without_a_result_remain_to_be_done() -> None:
    left = remaining(
        [message("user", "go"), message("assistant", calls=CALLS), message("tool", "x", answers="a")]
    )
    assert left is not None
    assert [call.id for call in left.calls] == ["b"]
    assert left.iteration == 2


def test_nothing_remains_when_the_model_is_to_be_asked_next() -> None:
    done = [message("assistant", calls=CALLS), message("tool", answers="a"), message("tool", answers="b")]
    assert remaining(done) is None
    assert remaining([message("user", "go")]) is None
    assert remaining([*done, message("assistant", "answer")]) is None


def test_messages_become_turns_with_the_names_of_their_tools() -> None:
    history = [
        message("assistant", calls=CALLS),
        message("tool", "text", answers="a"),
        message("system", "note"),
    ]
    names = tool_names(history)
    turns = [to_turn(item, tool=names.get(item.tool_call_id or "")) for item in history]
    assert turns[0] is not None
    assert turns[0].calls == (ToolRequest("a", "read_file", "{}"), ToolRequest("b", "write_file", "{}"))
    assert turns[1] == Turn("tool", "text", call_id="a", tool="read_file")
    assert turns[2] is None


def test_calls_without_results_and_results_without_calls_are_not_sent() -> None:
    turns = [
        Turn("user", "go"),
        Turn("tool", "lost", call_id="x"),
        Turn("assistant", calls=[ToolRequest("a", "t", "{}"), ToolRequest("b", "t", "{}")]),
        Turn("tool", "kept", call_id="a"),
        Turn("assistant", calls=[ToolRequest("c", "t", "{}")]),
    ]
    sent = drop_orphans(turns)
    assert [turn.text for turn in sent] == ["go", "", "kept"]
    assert [call.id for call in sent[1].calls] == ["a"]


def test_a_conversation_is_read_from_its_last_summary_on_with_what_the_person_said_last() -> None:
    said = [replace(message("user" if n % 2 else "assistant", f"{n}"), id=f"m{n}") for n in range(1, 7)]
    first = replace(message("system", "old"), id="s1", covers="m2")
    last = replace(message("system", "new"), id="s2", covers="m4")
    cut = since_summary([*said[:4], first, *said[4:], last])
    assert [one.content for one in cut] == ["new", "5", "6"]
    everything = replace(message("system", "all"), id="s3", covers="m6")
    assert [one.content for one in since_summary([*said, everything])] == ["all", "5"]
    assert since_summary(said) == said


def test_a_summary_is_shown_to_the_model_and_other_notes_are_not() -> None:
    summary = to_turn(replace(message("system", "so far"), covers="m1"))
    assert summary is not None
    assert summary.text.endswith("so far")
    assert to_turn(message("system", "stopped")) is None
