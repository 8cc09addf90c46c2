"""What a person decides about is shown exactly, bounded, and with nothing hidden in it."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.approvals.visible import (
    ARGUMENTS_LIMIT,
    STRING_LIMIT,
    TOTAL_LIMIT,
    bounded,
    reveal,
    show_arguments,
    show_detail,
)


@pytest.mark.requirement("L23")
@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\u202e", "⟨U+202E⟩"),  # right-to-left override
        ("\u2066", "⟨U+2066⟩"),  # isolate
        ("\u200b", "⟨U+200B⟩"),  # zero-width space
        ("\u200d", "⟨U+200D⟩"),  # zero-width joiner
        ("\ufeff", "⟨U+FEFF⟩"),  # byte order mark
        ("\U000e0041", "⟨U+E0041⟩"),  # tag letter
        ("\x1b", "⟨U+001B⟩"),  # escape
        ("\r", "⟨U+000D⟩"),
        ("\x00", "⟨U+0000⟩"),
        ("\x85", "⟨U+0085⟩"),
        ("\u2028", "⟨U+2028⟩"),
        ("\u00a0", "⟨U+00A0⟩"),
        ("\u3164", "⟨U+3164⟩"),  # a letter that is blank
        ("\ufe0f", "⟨U+FE0F⟩"),  # variation selector
        ("\ud800", "⟨U+D800⟩"),  # half a surrogate pair
        ("⟨", "⟨U+27E8⟩"),  # nobody can write our own marks
    ],
)
def test_a_hidden_character_is_spelled_out(hidden: str, shown: str) -> None:
    assert reveal(f"a{hidden}b") == f"a{shown}b"


def test_plain_text_stays_as_it_is() -> None:
    text = "rm -rf build/\n\tgrüße, 東京, مرحبا, 👍"
    assert reveal(text) == text


@given(st.text())
def test_the_exact_text_can_be_read_back_from_what_is_shown(text: str) -> None:
    assert re.sub(r"⟨U\+([0-9A-F]+)⟩", lambda m: chr(int(m[1], 16)), reveal(text)) == text


@pytest.mark.requirement("L23")
def test_a_long_text_keeps_head_and_tail_and_says_its_true_size() -> None:
    shown = bounded("H" * 5000 + "M" * 5000 + "T" * 5000, 3000)
    assert shown.cut
    assert shown.size == 15_000
    assert "12000 of 15000 characters not shown" in shown.text
    assert shown.text.startswith("H" * 2000 + "\n")
    assert shown.text.endswith("\n" + "T" * 1000)


@pytest.mark.requirement("L23")
def test_arguments_are_shown_as_the_exact_json_that_will_be_sent() -> None:
    arguments = {"command": "ls \u202e fdp.exe", "n": 1}
    shown = show_arguments(arguments)
    assert json.loads(shown.text.replace("⟨U+202E⟩", "\u202e")) == arguments
    assert "\u202e" not in shown.text


def test_huge_arguments_are_bounded_and_their_size_is_true() -> None:
    arguments = {"content": "x" * 1_000_000}
    detail = show_detail({"tool": "write_file", "arguments": arguments})
    assert len(detail["arguments_text"]) < ARGUMENTS_LIMIT + 100
    assert detail["arguments_size"] == len(json.dumps(arguments, indent=2))
    assert detail["arguments_cut"]
    assert len(detail["arguments"]["content"]) < STRING_LIMIT + 100


def test_keys_are_made_visible_too() -> None:
    assert show_detail({"arguments": {"pa\u200bth": 1}})["arguments"] == {"pa⟨U+200B⟩th": 1}


@pytest.mark.parametrize(
    "value",
    [
        ["x" * 5000] * 1000,
        {f"key{n}": "x" * 5000 for n in range(1000)},
        list(range(1_000_000)),
    ],
)
def test_no_question_can_flood_the_inbox(value: object) -> None:
    shown = json.dumps(show_detail({"value": value}))
    assert len(shown) < 2 * TOTAL_LIMIT
    assert "not shown" in shown


def test_a_structure_without_end_is_cut() -> None:
    nested: list[object] = []
    for _ in range(10_000):
        nested = [nested]
    assert "nested too deeply" in json.dumps(show_detail({"value": nested}))
