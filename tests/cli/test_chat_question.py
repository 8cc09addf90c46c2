"""A permission that is asked for in the line."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.cli.chat_question import Question, can_be_asked_here

APPROVAL: dict[str, Any] = {"id": "a", "kind": "tool", "title": "Run it?", "detail": {"arguments": {}}}


def answered(*lines: str) -> Any:
    """The answer to the last line; the ones before gave none."""
    question = Question(APPROVAL)
    *before, last = [(question.press("text", line), question.press("enter", ""))[1] for line in lines]
    assert before == [None] * len(before)
    return last


@pytest.mark.parametrize(
    ("line", "scope"),
    [("y", "once"), ("Yes", "once"), ("s", "session"), ("t", "tool"), ("always", "tool"), ("v", "server")],
)
def test_a_yes_says_for_how_long(line: str, scope: str) -> None:
    assert answered(line) == {"decision": "approve", "scope": scope}


@pytest.mark.parametrize("line", ["", "yup", "y e s", "yes please do", "sure", "n"])
def test_what_is_no_choice_is_no_answer(line: str) -> None:
    assert answered(line) is None


@pytest.mark.parametrize(
    ("lines", "reason"), [(["n", "too late"], "too late"), (["no too late"], "too late"), (["n", ""], None)]
)
def test_a_no_may_have_a_reason(lines: list[str], reason: str | None) -> None:
    expected = {"decision": "reject", "scope": "once"} | ({"reason": reason} if reason else {})
    assert answered(*lines) == expected


def test_a_letter_alone_says_nothing_yet() -> None:
    assert Question(APPROVAL).press("text", "y") is None


def test_forms_are_asked_elsewhere() -> None:
    assert can_be_asked_here(APPROVAL)
    assert not can_be_asked_here(APPROVAL | {"kind": "elicitation"})
    assert not can_be_asked_here(APPROVAL | {"detail": {"directory": "/x"}})
