"""What the bytes of a terminal mean."""

from __future__ import annotations

import pytest

from manyhands.cli.keyboard import split_key


def keys(pending: str, *, is_whole: bool = True) -> list[str]:
    """The names of keys; text as it is."""
    found: list[str] = []
    while pending:
        key, text, pending = split_key(pending, is_whole=is_whole)
        if key == "partial":
            return [*found, "…"]
        if key:
            found.append(text if key == "text" else f"<{key}>")
    return found


@pytest.mark.parametrize(
    ("pressed", "meaning"),
    [
        ("hello\r", ["hello", "<enter>"]),
        ("ü日\n", ["ü日", "<enter>"]),
        ("\x1b", ["<escape>"]),
        ("\x1b\x1b", ["<escape>", "<escape>"]),
        ("\x1b[A\x1bOB\x1b[D\x1b[C", ["<up>", "<down>", "<left>", "<right>"]),
        ("\x1b[1;5D\x1bf\x1b\x7f", ["<word_left>", "<word_right>", "<word>"]),
        ("\x1b\r\x1b[3~\t\x04", ["<newline>", "<delete>", "<tab>", "<end>"]),
        ("\x1b[5~\x1b[1;2P\x00a", ["a"]),
        ("\x1b[200~one\r\ntwo\tx\x1b[31m\x1b[201~\r", ["one\ntwo\tx[31m", "<enter>"]),
        ("\x1b[200~cut", ["cut"]),
    ],
)
def test_each_key_has_its_name(pressed: str, meaning: list[str]) -> None:
    assert keys(pressed) == meaning


@pytest.mark.parametrize(
    "begun", ["\x1b", "\x1b[", "\x1b[20", "\x1b[200~one\n", "\x1b[200~one\x1b[20", "\x1b[1;"]
)
def test_what_may_go_on_is_waited_for(begun: str) -> None:
    assert keys(begun, is_whole=False) == ["…"]
