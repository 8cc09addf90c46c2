"""A tool call on one line, at every width."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.cli.call_line import Call, arguments_text, asked_call, call_line, recorded_call
from manyhands.cli.terminal import width_of


def record(**changes: Any) -> dict[str, Any]:
    whole = {
        "id": "call_1",
        "tool": "search",
        "server": "library",
        "arguments": {"query": "old maps", "limit": 3},
        "status": "success",
        "result": "three maps\nof old towns",
        "error": None,
        "duration_ms": 1234,
    }
    return whole | changes


def test_all_of_it_is_there_where_there_is_room() -> None:
    line = '🔌 library: search query="old maps", limit=3 → three maps of old towns (1.2 s)'
    assert call_line(recorded_call(record()), None) == line
    assert call_line(recorded_call(record()), 200) == line


def test_a_tool_of_ours_has_another_mark() -> None:
    line = call_line(recorded_call(record(server="native", arguments={})), None)
    assert line == "🔧 search → three maps of old towns (1.2 s)"


@pytest.mark.parametrize("status", ["error", "timeout", "denied", "cancelled"])
def test_a_failure_says_how_and_why(status: str) -> None:
    line = call_line(recorded_call(record(status=status, error="it is closed")), None)
    assert f"✗ {status} it is closed (1.2 s)" in line


@pytest.mark.parametrize("result", ["ok", "a long result " * 20, "日本語" * 30])
@pytest.mark.parametrize("name", ["x", "a_name_that_is_longer_than_most_names_of_tools_are"])
@pytest.mark.parametrize("arguments", [{}, {"text": "many words " * 20}])
@pytest.mark.parametrize("status", ["success", "cancelled"])
def test_it_never_takes_more_than_there_is(
    result: str, name: str, arguments: dict[str, str], status: str
) -> None:
    call = recorded_call(record(tool=name, arguments=arguments, result=result, status=status))
    for width in range(20, 120):
        assert width_of(call_line(call, width)) <= width


def test_arguments_and_result_share_what_there_is() -> None:
    call = recorded_call(record(arguments={"text": "a" * 100}, result="b" * 100))
    line = call_line(call, 80)
    assert abs(line.count("a") - line.count("b")) < 6
    assert "b" * 40 in call_line(recorded_call(record(arguments={}, result="b" * 100)), 80)


def test_arguments_read_like_a_call() -> None:
    given = {"path": "a.txt", "text": "two words", "on": True, "list": [1, "x"], "none": None, "empty": ""}
    text = 'path=a.txt, text="two words", on=true, list=[1, "x"], none=null, empty=""'
    assert arguments_text(given) == text


def test_a_strangers_text_stays_on_its_line() -> None:
    call = recorded_call(record(arguments={"x": "a\u202eb"}, result="one\n\x1b[2Jtwo"))
    line = call_line(call, None)
    assert "\\x1b[2Jtwo" in line
    assert "\\u202e" in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({"name": "mcp__time__now", "arguments": '{"zone": "UTC"}'}, "🔌 time: now zone=UTC …"),
        ({"name": "read_file", "arguments": ""}, "🔧 read_file …"),
        ({"name": "mcp__odd", "arguments": "{broken"}, "🔧 mcp__odd {broken …"),
        ({"name": "x", "arguments": "[1]"}, "🔧 x [1] …"),
    ],
)
def test_what_the_model_asked_for_is_shown_before_it_starts(asked: dict[str, str], shown: str) -> None:
    assert call_line(asked_call({"id": "1", "call_id": "c", **asked}, 0.0), None) == shown


def test_a_call_that_runs_shows_how_long_and_how_far() -> None:
    call = Call("c", "copy", "files", "", began=10.0)
    call.started(record(tool="copy", server="files", arguments={}), 10.0)
    assert call_line(call, None, now=10.4) == "🔌 files: copy ⠼"
    call.detail = "3 of 10"
    assert call_line(call, None, now=12.5) == "🔌 files: copy ⠴ 3 of 10 (2.5 s)"
    call.state = "waiting"
    assert call_line(call, None) == "🔌 files: copy ? waits for your answer"
