"""What command agents write as plain text, read in whatever pieces it comes."""

from __future__ import annotations

from manyhands.chat.agent_output import KeptText, PlainOutput, plain_text


def test_letters_of_several_bytes_survive_being_cut() -> None:
    output = PlainOutput()
    data = "grüße 👋".encode()
    assert "".join(output.feed(data[place : place + 1]) for place in range(len(data))) == "grüße 👋"
    assert output.report().text == "grüße 👋"


def test_colours_are_shown_and_not_kept() -> None:
    output = PlainOutput()
    assert output.feed(b"\x1b[31mred\x1b[0m\n") == "\x1b[31mred\x1b[0m\n"
    assert output.report().text == "red"


def test_a_line_that_was_written_over_is_what_it_was_at_last() -> None:
    assert plain_text("10%\r50%\rdone\r\nnext\x1b]0;title\x07") == "done\nnext"


def test_a_long_text_keeps_its_end_and_says_how_much_is_missing() -> None:
    kept = KeptText(10)
    for _ in range(5):
        kept.add("0123456789")
    assert kept.text == "[… 40 characters before this]\n0123456789"
