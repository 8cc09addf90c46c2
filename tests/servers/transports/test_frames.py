"""Bytes become messages in linear time and bounded memory, and what is wrong with one stays with that one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from manyhands.servers.transports.frames import (
    LineFramer,
    Malformed,
    Oversized,
    answered_id,
    is_answer,
    parse_line,
)


def fed(framer: LineFramer, data: bytes, sizes: list[int]) -> list[bytes | Oversized]:
    """What comes out when the data arrives in pieces of these sizes, again and again."""
    frames: list[bytes | Oversized] = []
    at = 0
    while at < len(data):
        for size in sizes:
            frames += framer.feed(data[at : at + size])
            at += size
    return frames


@given(
    st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=8),
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
)
def test_lines_come_out_as_they_went_in_however_they_are_cut(lines: list[bytes], sizes: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    assert fed(LineFramer(1000), data, sizes) == lines


@given(st.integers(11, 400), st.lists(st.integers(1, 40), min_size=1, max_size=3))
def test_a_line_over_the_limit_is_dropped_and_the_next_is_whole(size: int, sizes: list[int]) -> None:
    frames = fed(LineFramer(10), b"a" * size + b"\nnext\n", sizes)
    lost = [frame for frame in frames if isinstance(frame, Oversized)]
    assert frames[-1] == b"next"
    assert (lost[-1].size, lost[-1].ended) == (size, True)
    assert [frame.ended for frame in lost] in ([True], [False, True])


@pytest.mark.requirement("L08")
def test_a_line_without_end_is_held_only_up_to_the_limit() -> None:
    framer = LineFramer(1000)
    first = framer.feed(b"x" * 1001)
    assert [frame.ended for frame in first if isinstance(frame, Oversized)] == [False]
    for _ in range(1000):
        assert framer.feed(b"y" * 1000) == []
    [lost] = framer.feed(b"\n")
    assert isinstance(lost, Oversized)
    assert lost.size == 1_001_001
    assert len(lost.head) + len(lost.tail) <= 8192


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, JSONRPCResponse),
        ({"jsonrpc": "2.0", "id": "a", "error": {"code": -1, "message": "no"}}, JSONRPCError),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, JSONRPCRequest),
        ({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}, JSONRPCNotification),
    ],
)
def test_every_kind_of_message_is_read(line: dict[str, object], kind: type) -> None:
    [message] = parse_line(json.dumps(line).encode())
    assert isinstance(message, kind)
    assert not isinstance(message, Malformed)
    assert message.model_dump(exclude_unset=True) == line


@pytest.mark.parametrize(
    "line",
    [
        b"Server is running on stdio",
        b"{broken",
        b'"text"',
        b"[1]",
        b'{"level":"info","msg":"hi"}',
        b'{"id":7}',
        b'{"id":7,"said":{"jsonrpc":"2.0"},oops}',
        b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{oops}}',
        b'{"method":"ping","params":{oops},"jsonrpc":"2.0","id":7}',
        b'{"jsonrpc":"2.0","id":7',
        b"\xff\xfe",
    ],
)
def test_what_is_no_message_is_garbage_and_nothing_more(line: bytes) -> None:
    [malformed] = parse_line(line)
    assert isinstance(malformed, Malformed)
    assert malformed.id is None


@pytest.mark.parametrize("line", [b"", b"  ", b"\r"])
def test_a_blank_line_is_nothing(line: bytes) -> None:
    assert parse_line(line) == []


def test_a_batch_is_taken_apart() -> None:
    batch: list[dict[str, object]] = [{"jsonrpc": "2.0", "id": number, "result": {}} for number in (1, 2)]
    assert [getattr(message, "id", None) for message in parse_line(json.dumps(batch).encode())] == [1, 2]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"text":"a\xffb"}}', "a�b"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"text":"a\\ud800b"}}', "a?b"),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{"text":"bom"}}\r', "bom"),
    ],
)
def test_text_that_is_not_unicode_is_mended(line: bytes, text: str) -> None:
    [message] = parse_line(line)
    assert isinstance(message, JSONRPCResponse)
    assert message.result == {"text": text}
    message.model_dump_json().encode()


def test_an_answer_nested_too_deeply_is_garbage_and_raises_nothing() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    [malformed] = parse_line(b'{"jsonrpc":"2.0","id":1,"result":{"a":' + deep + b"}}")
    assert isinstance(malformed, Malformed)


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({"id": 1.0, "result": {}}, {}),
        ({"id": 1, "result": None}, {}),
        ({"id": 1, "result": {"a": 1}}, {"a": 1}),
    ],
)
def test_an_answer_in_the_wrong_form_is_taken_for_what_it_means(
    answer: dict[str, object], result: dict[str, object]
) -> None:
    [message] = parse_line(json.dumps(answer).encode())
    assert isinstance(message, JSONRPCResponse)
    assert (message.id, message.result) == (1, result)


@pytest.mark.parametrize("error", ["broken", {"message": "broken"}, {"code": "x", "message": "broken"}])
def test_an_error_in_the_wrong_form_still_says_what_went_wrong(error: object) -> None:
    [message] = parse_line(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode())
    assert isinstance(message, JSONRPCError)
    assert message.id == 1
    assert "broken" in message.error.message


def test_a_result_that_is_no_object_fails_its_request() -> None:
    assert parse_line(b'{"jsonrpc":"2.0","id":7,"result":[1]}') == [
        Malformed("the result is a list, not an object", 7)
    ]


LONG = b"x" * 9000


@pytest.mark.requirement("L08")
@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"a":"' + LONG + b'"}}', 7),
        (b'{"jsonrpc":"2.0","id":"a7","result":{"a":"' + LONG + b'"}}', "a7"),
        (b'{"result":{"id":3,"a":"' + LONG + b'"},"id":7,"jsonrpc":"2.0"}', 7),
        (b'{"result":{"id":3,"a":"' + LONG + b'"}, "jsonrpc": "2.0", "id": 7}', 7),
        (b'{"result":{"a":"' + LONG + b'","id":3}}', None),
        (b'{"jsonrpc":"2.0","result":{"a":"\\"id\\":3' + LONG + b'"}}', None),
    ],
)
def test_a_lost_answer_is_known_by_its_head_or_tail(line: bytes, request_id: object) -> None:
    [lost] = LineFramer(100).feed(line + b"\n")
    assert isinstance(lost, Oversized)
    assert is_answer(lost)
    assert answered_id(lost) == request_id


@pytest.mark.parametrize(
    "line",
    [
        b"x" * 9000,
        b'{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"a":"' + LONG + b'"}}',
    ],
)
def test_a_lost_line_that_answers_nothing_is_known_as_such(line: bytes) -> None:
    [lost] = LineFramer(100).feed(line + b"\n")
    assert isinstance(lost, Oversized)
    assert not is_answer(lost)


def test_an_answer_that_is_nested_too_deeply_is_told_to_whoever_waits() -> None:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    assert parse_line(b'{"jsonrpc":"2.0","id":7,"result":' + deep + b"}") == [
        Malformed("it is nested too deeply", 7)
    ]


NINES = b"9" * 6000


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"jsonrpc":"2.0","id":7}', "it has neither a result nor an error"),
        (b'{"jsonrpc":"2.0","id":7,"result":{"a":' + NINES + b"}}", "it has a number that is too long"),
        (b'{"result":{"a":' + NINES + b'},"jsonrpc":"2.0","id":7}', "it has a number that is too long"),
        (b'{"result":{"a":' + NINES + b'},"id":7,"jsonrpc":"2.0"}', "it has a number that is too long"),
        (b'{"jsonrpc":"2.0","id":7,"result":{"a":oops}}', "it is not JSON"),
        (b'{"jsonrpc":"2.0","id":7,"result":{"a":"cut', "it is not JSON"),
    ],
)
def test_what_is_plainly_an_answer_is_told_to_whoever_waits(line: bytes, fault: str) -> None:
    assert parse_line(line) == [Malformed(fault, 7)]
