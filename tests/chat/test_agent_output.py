"""What command agents write, read in whatever pieces it comes."""

from __future__ import annotations

import json

import pytest

from manyhands.chat.agent_output import ClaudeOutput, KeptText, PlainOutput, output_of, plain_text


def line(**event: object) -> bytes:
    return json.dumps(event).encode() + b"\n"


def text_of(text: str) -> bytes:
    return line(type="assistant", message={"content": [{"type": "text", "text": text}, {"type": "tool_use"}]})


def delta(text: str) -> bytes:
    return line(type="stream_event", event={"delta": {"type": "text_delta", "text": text}})


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


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_json_lines_are_read_in_pieces_of_any_size(size: int) -> None:
    data = text_of("one") + text_of("two") + line(type="result", result="three", is_error=False)
    output = ClaudeOutput()
    shown = "".join(output.feed(data[place : place + size]) for place in range(0, len(data), size))
    assert shown == "one\n\ntwo\n\n"
    assert output.report().text == "three"


def test_words_that_stream_are_not_said_twice() -> None:
    output = ClaudeOutput()
    shown = output.feed(delta("hel") + delta("lo") + text_of("hello"))
    assert shown == "hello"
    assert output.report().text == "hello"


def test_a_result_can_say_that_it_failed() -> None:
    output = ClaudeOutput()
    output.feed(line(type="result", result="out of credit", is_error=True))
    assert output.report().failed == "out of credit"


def test_what_is_no_json_is_shown_as_it_is() -> None:
    output = ClaudeOutput()
    assert output.feed(b"warning: old version\n[1]\n\n") == "warning: old version\n"
    output.feed(b"no end of line")
    assert output.report().text == "warning: old version\nno end of line"


def test_a_long_text_keeps_its_end_and_says_how_much_is_missing() -> None:
    kept = KeptText(10)
    for _ in range(5):
        kept.add("0123456789")
    assert kept.text == "[40 characters before this]\n0123456789"


def test_the_arguments_say_which_form_it_is() -> None:
    assert isinstance(output_of(["-p", "--output-format=stream-json"]), ClaudeOutput)
    assert isinstance(output_of(["exec"]), PlainOutput)
