"""Lines are found as if each were searched alone, and quicker."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.tools.native.line_search import LINE_SHOWN, FoundLine, LineSearch, decode

PATTERNS = [
    "foo",
    "^foo",
    "foo$",
    "^$",
    "o+",
    r"\s+foo",
    r"foo\s+bar",
    "foo[^x]*bar",
    "(?s)foo.*bar",
    r"\bfoo\b",
    "(?=foo)f",
    "(?!foo)o",
    r"(?<=\s)bar",
    r"\Afoo",
    r"bar\Z",
    "x*",
    "foo|^bar",
    r"x\s*+$",
    r"(?>\s*)x",
    r"(o)\1",
]


@given(pattern=st.sampled_from(PATTERNS), text=st.text("fobarx \n", max_size=40))
def test_it_finds_what_a_search_line_by_line_finds(pattern: str, text: str) -> None:
    found = [line.number for line in LineSearch(pattern, ignore_case=False).lines(text, 1000)]
    lines = text.removesuffix("\n").split("\n") if text else []
    assert found == [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]


def test_upper_and_lower_case_can_be_the_same() -> None:
    assert LineSearch("straße", ignore_case=True).lines("STRAßE\n", 9) == [FoundLine(1, "STRAßE")]
    assert LineSearch("straße", ignore_case=False).lines("STRAßE\n", 9) == []


def test_it_stops_at_as_many_as_are_wanted() -> None:
    assert len(LineSearch("x", ignore_case=False).lines("x\n" * 100, 7)) == 7


def test_neighbours_are_shown_once_and_marked() -> None:
    text = "a\nb\nX\nc\nX\nd\ne\nf\n"
    found = LineSearch("X", ignore_case=False).lines(text, 9, context=1)
    assert [(line.number, line.match) for line in found] == [
        (2, False),
        (3, True),
        (4, False),
        (5, True),
        (6, False),
    ]


def test_the_end_of_the_file_is_no_neighbour() -> None:
    found = LineSearch("X", ignore_case=False).lines("a\nX\n", 9, context=3)
    assert [line.text for line in found] == ["a", "X"]


@pytest.mark.parametrize("where", [0, 5000, 9994])
def test_of_a_long_line_the_part_with_the_match_is_shown(where: int) -> None:
    line = "." * where + "needle" + "." * (9994 - where)
    (found,) = LineSearch("needle", ignore_case=False).lines(line, 9)
    assert "needle" in found.text
    assert len(found.text) <= LINE_SHOWN + 2


def test_files_of_several_encodings_are_text() -> None:
    assert decode("grün\r\nblau".encode()) == "grün\nblau"
    assert decode("grün".encode("utf-8-sig")) == "grün"
    assert decode("grün".encode("utf-16")) == "grün"
    assert decode(b"gr\xfcn") == "gr�n"
    assert decode(b"\x7fELF\0\1") is None


def test_bytes_without_a_plain_text_need_no_search() -> None:
    assert not LineSearch("needle", ignore_case=False).may_be_in(b"hay")
    assert LineSearch("needle", ignore_case=False).may_be_in("hay".encode("utf-16"))
    assert LineSearch("n.edle", ignore_case=False).may_be_in(b"hay")
    assert LineSearch("needle", ignore_case=True).may_be_in(b"NEEDLE")
