"""What the terminal is given to show."""

from __future__ import annotations

import io

import pytest

from manyhands.cli.terminal import fit, has_colour, many_lines, one_line, paint, width_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_escape_sequences_of_strangers_become_visible_text() -> None:
    assert many_lines("\x1b[2Jhello\nthere\r\n\x9b1m") == "\\x1b[2Jhello\nthere\n\\x9b1m"


def test_characters_that_hide_or_turn_text_around_become_visible() -> None:
    assert one_line("safe\u202egpj.exe") == "safe\\u202egpj.exe"
    assert one_line("a\u200bb\U000e0041") == "a\\u200bb\\U000e0041"


def test_one_line_is_one_line() -> None:
    assert one_line("first\n  second\tthird ") == "first second third"


def test_letters_of_other_scripts_and_emoji_stay() -> None:
    assert one_line("naïve 東京 👩‍💻 ❤️") == "naïve 東京 👩‍💻 ❤️"


def test_wide_letters_take_two_columns() -> None:
    assert width_of("東京") == 4
    assert width_of("e\u0301") == 1


@pytest.mark.parametrize(
    ("text", "width", "cut"), [("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("東京都", 5, "東京…")]
)
def test_text_is_cut_to_the_width_with_an_ellipsis(text: str, width: int, cut: str) -> None:
    assert fit(text, width) == cut
    assert width_of(cut) <= width


def test_colour_appears_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert paint("x", "red", stream=Terminal()) == "\x1b[31mx\x1b[0m"
    assert paint("x", "red", stream=io.StringIO()) == "x"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert not has_colour(Terminal())
