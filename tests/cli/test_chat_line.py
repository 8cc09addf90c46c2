"""The line that a person writes: keys, rows, completion."""

from __future__ import annotations

import pytest

from manyhands.cli.chat_history import History
from manyhands.cli.chat_line import ChatLine
from manyhands.cli.terminal import width_of


def written(line: ChatLine, *keys: str) -> str:
    """The text after these keys, with a bar where the cursor is; what is no key's name is typed."""
    for key in keys:
        line.press(key[1:-1]) if key.startswith("<") else line.press("text", key)
    return f"{line.text[: line.at]}|{line.text[line.at :]}"


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        (["one", "<backspace>", "<backspace>"], "o|"),
        (["<backspace>", "<left>", "<delete>", "<word>"], "|"),
        (["ac", "<left>", "b"], "ab|c"),
        (["abc", "<first>", "<delete>", "<right>"], "b|c"),
        (["one two  ", "<word>"], "one |"),
        (["one two", "<word_left>", "<word_left>"], "|one two"),
        (["one two", "<first>", "<word_right>"], "one| two"),
        (["one two", "<left>", "<left>", "<rest>"], "one t|"),
        (["one two", "<left>", "<clear>"], "|o"),
        (["one", "<newline>", "two", "<up>"], "one|\ntwo"),
        (["one", "<newline>", "two", "<first>", "<up>", "<down>"], "one\n|two"),
        (["one", "<newline>", "two", "<clear>"], "one\n|"),
        (["one", "<newline>", "two", "<up>", "<last>", "!"], "one!|\ntwo"),
        (["日本", "<left>", "x"], "日x|本"),
    ],
)
def test_keys_edit_where_the_cursor_is(keys: list[str], result: str) -> None:
    assert written(ChatLine(), *keys) == result


def test_enter_sends_what_is_written_and_empties_the_line() -> None:
    line = ChatLine()
    written(line, "  hello ", "<left>")
    assert line.press("enter") == "hello"
    assert (line.text, line.at) == ("", 0)
    assert line.press("enter") is None


def test_arrows_bring_back_what_was_said_and_begins_so() -> None:
    line = ChatLine(History())
    for message in ("first thing", "second thing", "first again"):
        written(line, message, "<enter>")
    assert written(line, "<up>", "<up>") == "second thing|"
    assert written(line, "<down>", "<down>") == "|"
    assert written(line, "first", "<up>", "<up>") == "first thing|"
    assert written(line, "<up>", "<down>") == "first again|"
    assert written(line, "<down>") == "first|"


def test_a_message_of_several_rows_comes_back_whole() -> None:
    line = ChatLine(History())
    written(line, "one\ntwo", "<enter>")
    assert written(line, "<up>") == "one\ntwo|"


def test_tab_completes_as_far_as_it_is_clear_and_then_shows_the_choice() -> None:
    words = ["/model", "/more"]
    line = ChatLine(complete=lambda text: [word for word in words if word.startswith(text)])
    assert written(line, "/", "<tab>") == "/mo|"
    assert not line.hints
    line.press("tab")
    assert list(line.rows(40).rows) == ["› /mo", "/model  /more"]
    assert line.rows(40).cursor == (0, 5)
    assert written(line, "d", "<tab>") == "/model|"
    assert written(line, "x", "<tab>") == "/modelx|"


@pytest.mark.parametrize("width", [12, 20, 40])
def test_rows_fit_and_show_where_the_cursor_is(width: int) -> None:
    line = ChatLine()
    line.put("many words 日本語 and\tmore\n" * 6)
    for at in range(len(line.text) + 1):
        line.at = at
        shown = line.rows(width)
        assert shown.cursor is not None
        row, column = shown.cursor
        assert 0 <= row < len(shown.rows) <= 10
        assert 2 <= column <= width
        assert max(map(width_of, shown.rows)) <= width
