"""Of what a command writes head and tail are kept, all is counted, and whoever watches sees it come."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.tools.native.command_output import REPORT_CHARS, KeptOutput, LiveOutput

pytestmark = pytest.mark.anyio


@given(chunks=st.lists(st.binary(max_size=9)), head=st.integers(1, 8), tail=st.integers(1, 8))
def test_however_it_comes_head_and_tail_are_what_they_should_be(
    chunks: list[bytes], head: int, tail: int
) -> None:
    kept = KeptOutput(head, tail)
    letters = [bytes(97 + byte % 26 for byte in chunk) for chunk in chunks]
    for chunk in letters:
        kept.feed(chunk)
    whole = b"".join(letters).decode()
    assert kept.size == len(whole)
    if len(whole) <= head + tail:
        assert kept.text() == whole
    else:
        assert kept.text().startswith(whole[:head] + "\n[… ")
        assert kept.text().endswith(" …]\n" + whole[-tail:])
        assert f"{len(whole) - head - tail} of {len(whole)} bytes" in kept.text()


def test_characters_that_are_cut_in_two_are_left_out() -> None:
    kept = KeptOutput(3, 3)
    kept.feed("äääää".encode())
    assert kept.text() == "ä\n[… 4 of 10 bytes of output left out …]\nä"


async def test_the_first_words_are_told_at_once_and_the_rest_in_portions() -> None:
    told: list[tuple[int, str]] = []
    more = anyio.Event()

    def report(size: int, text: str) -> None:
        told.append((size, text))
        if len(told) == 2:
            more.set()

    live = LiveOutput(report)
    for word in ("one\n", "two\n", "three\n"):
        live.feed(word.encode())
    assert told == [(4, "one\n")]
    await more.wait()
    assert told[1:] == [(14, "two\nthree\n")]
    live.feed(b"fo")
    live.close()
    assert told[2:] == [(16, "fo")]


async def test_of_a_flood_the_latest_is_told() -> None:
    told: list[str] = []
    live = LiveOutput(lambda size, text: told.append(text))
    live.feed(b"x" * 10_000 + b"end")
    live.close()
    assert [len(text) for text in told] == [REPORT_CHARS]
    assert told[0].endswith("end")


async def test_a_character_that_comes_in_two_pieces_is_told_whole() -> None:
    told: list[str] = []
    live = LiveOutput(lambda size, text: told.append(text))
    for byte in "grün".encode():
        live.feed(bytes([byte]))
    live.close()
    assert "".join(told) == "grün"
