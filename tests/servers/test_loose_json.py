"""What people paste is read if it can be, and the error names the place if not."""

from __future__ import annotations

import pytest

from manyhands.errors import InvalidError
from manyhands.servers.loose_json import MAX_CHARS, read_document


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": "http://x//y"}}',
        '\ufeff{"a": {"b": "http://x//y"}}',
        '{\n  // a comment\n  "a": {"b": "http://x//y",}, /* more */\n}',
        '"a": {"b": "http://x//y"},',
    ],
)
def test_comments_trailing_commas_and_missing_braces_are_tolerated(text: str) -> None:
    assert read_document(text, "f").value == {"a": {"b": "http://x//y"}}


def test_keys_that_occur_twice_are_found() -> None:
    assert read_document('{"a": 1, "b": {"c": 1, "c": 2}, "a": 2}', "f").doubles == ("c", "a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json: it is empty"),
        ('{"a": 1\n "b": 2}', r"f.json: not valid JSON \(line 2, column 2"),
        ("extensions:\n  time:\n", "YAML is not read"),
        ("[mcp_servers.time]\ncommand = ", "f.json: not valid TOML"),
        ("[" * 100_000, "nested too deeply"),
        (" " * (MAX_CHARS + 1), "no list of servers"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InvalidError, match=message):
        read_document(text, "f.json")
