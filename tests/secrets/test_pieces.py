"""A secret that comes in pieces is hidden like one that comes at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.secrets import HIDDEN, Redactor

SHORT, LONG = "words-of-mine", "k" * 70 + "ey"


def guarding(*values: str) -> Redactor:
    made = Redactor()
    made.guard(*values)
    return made


@pytest.mark.requirement("L28")
@given(
    st.lists(
        st.sampled_from([SHORT, LONG, "mha_" + "x" * 43, "words-", "é", "k", "\n", "of mine"]), max_size=8
    ),
    st.integers(1, 9),
)
def test_pieces_give_what_the_whole_gives(parts: list[str], size: int) -> None:
    known, whole = guarding(SHORT, LONG), " ".join(parts) + " ."
    texts, data = known.hidden_pieces(), known.hidden_bytes()
    told = "".join(texts.feed(whole[start : start + size]) for start in range(0, len(whole), size))
    assert told + texts.rest == known.hide(whole)
    raw = whole.encode()
    pieces = [data.feed(raw[start : start + size]) for start in range(0, len(raw), size)]
    assert b"".join(pieces) + data.rest == known.hide(whole).encode()


def test_what_cannot_be_a_secret_is_told_at_once() -> None:
    pieces = guarding(SHORT).hidden_pieces()
    assert [pieces.feed(text) for text in ("hello", " wor", "ld", " words-of-", "yours")] == [
        "hello",
        " ",
        "world",
        " ",
        "words-of-yours",
    ]


def test_most_of_a_secret_is_hidden_when_no_more_comes() -> None:
    assert guarding(SHORT).hide_cut(f"it is {SHORT[:-1]}") == f"it is {HIDDEN}"
    assert guarding(SHORT).hide_cut("it is words") == "it is words"


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    data = guarding(SHORT).hidden_bytes()
    assert data.feed(b"\xff\x00" + SHORT.encode() + b"\xc3") + data.rest == (
        b"\xff\x00" + HIDDEN.encode() + b"\xc3"
    )
