"""A secret that comes in pieces is hidden like one that comes at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.secrets import HIDDEN, Redactor
from manyhands.secrets.kinds import secrets_in

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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"it is {SHORT[:-1]}", f"it is {HIDDEN}"),
        ("it is words", "it is words"),
        (f"a {SHORT[:9]}… b", f"a {HIDDEN}… b"),
        (f"a {SHORT[:9]} [… 3 more] b", f"a {HIDDEN} [… 3 more] b"),
        (f"a …{SHORT[3:]} b", f"a …{HIDDEN} b"),
        (f"[… 9 characters before this]\n{SHORT[3:]} b", f"[… 9 characters before this]\n{HIDDEN} b"),
        (f"'{SHORT[:9]}...{SHORT[-8:]}'", f"'{HIDDEN}...{HIDDEN}'"),
        ("mha_" + "x" * 30, HIDDEN),
        ("mha_ is how one begins … mine", "mha_ is how one begins … mine"),
    ],
)
def test_most_of_a_secret_is_hidden_where_a_text_was_cut(text: str, told: str) -> None:
    assert guarding(SHORT).hide_cut(text) == told


def test_a_text_that_only_begins_like_a_secret_is_told_in_full() -> None:
    pieces = guarding("github_pat_0123456789abcdef0123").hidden_pieces()
    assert pieces.feed("it is on github") + pieces.rest == "it is on github"


def test_lines_stay_where_they_were() -> None:
    key = "-----BEGIN KEY-----\n" + "ab12" * 8 + "\n" + "cd34" * 8 + "\n-----END KEY-----"
    hidden = guarding(key).hide(f"a\n{key}\nb\n-----BEGIN KEY-----")
    assert hidden.split("\n")[5:] == ["b", "-----BEGIN KEY-----"]
    assert "ab12" not in hidden


@pytest.mark.parametrize("sign", '-a .…=@:/\\"')
def test_a_long_run_of_one_sign_stays_as_it_is(sign: str) -> None:
    """A pattern that goes back and forth in it would not end within the test's time."""
    known, text = guarding(SHORT), sign * 200_000
    assert known.redact(text) == known.hide_cut(text) == text
    assert secrets_in("SETTINGS", f"x{text}") == set()


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    data = guarding(SHORT).hidden_bytes()
    assert data.feed(b"\xff\x00" + SHORT.encode() + b"\xc3") + data.rest == (
        b"\xff\x00" + HIDDEN.encode() + b"\xc3"
    )
