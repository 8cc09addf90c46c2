"""Where a text is broken."""

from __future__ import annotations

import pytest

from manyhands.cli.terminal import width_of
from manyhands.cli.wrapping import wrapped


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", [""]),
        ("one two three", ["one two", "three"]),
        ("one\n\ntwo", ["one", "", "two"]),
        ("ends here\n", ["ends here", ""]),
        ("abcdefghijklmnop", ["abcdefghijk", "lmnop"]),
        ("            indented", ["indented"]),
        ("日本語日本語日本語", ["日本語日本", "語日本語"]),
        ("\tx", ["    x"]),
    ],
)
def test_a_text_is_broken_between_words(text: str, rows: list[str]) -> None:
    assert wrapped(text, 11) == rows
    assert all(width_of(row) <= 11 for row in rows)


def test_a_word_that_is_to_be_copied_stays_whole() -> None:
    text = "see https://example.com/a for it"
    assert wrapped(text, 11, cut_words=False) == ["see", "https://example.com/a", "for it"]
    assert wrapped("https://example.com/a", 11, cut_words=False) == ["https://example.com/a"]
