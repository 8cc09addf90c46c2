"""The last words of a server are kept, and a flood of them is bounded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from manyhands.secrets import Redactor
from manyhands.servers.transports.tails import ByteTail, ErrorOutput


@given(st.lists(st.binary(max_size=20), max_size=20), st.integers(1, 30))
def test_a_tail_is_the_end_of_what_was_written(pieces: list[bytes], limit: int) -> None:
    tail = ByteTail(limit)
    for piece in pieces:
        tail.append(piece)
    assert tail.text() == b"".join(pieces)[-limit:].decode("utf-8", "replace")


def test_a_listener_hears_whole_characters() -> None:
    heard: list[str] = []
    output = ErrorOutput(heard.append, Redactor().hidden_bytes())
    for byte in "né€".encode():
        output.feed(bytes([byte]))
    assert "".join(heard) == "né€"


def test_a_listener_that_fails_hears_no_more_and_harms_nobody() -> None:
    calls: list[str] = []

    def listener(text: str) -> None:
        calls.append(text)
        raise RuntimeError(text)

    output = ErrorOutput(listener, Redactor().hidden_bytes())
    output.feed(b"one\n")
    output.feed(b"two\n")
    assert calls == ["one\n"]
    assert output.text() == "one\ntwo\n"


def test_a_flood_is_kept_short_for_the_listener_too() -> None:
    heard: list[str] = []
    output = ErrorOutput(heard.append, Redactor().hidden_bytes())
    for _ in range(200):
        output.feed(b"x" * 65536)
    assert sum(len(text) for text in heard) < 200 * 65536 // 4
    assert len(output.text()) == 65536
