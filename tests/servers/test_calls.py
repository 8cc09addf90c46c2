from __future__ import annotations

import contextvars

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND, CallToolResult, TextContent

from manyhands.errors import InvalidError, NeedsAuthError, NotFoundError, UnavailableError
from manyhands.servers.calls import Call, CallsInFlight, failed_call, request_error, tool_result
from manyhands.servers.transports.types import FRAME_TOO_LARGE, UNAUTHORIZED
from tests.servers.rig import Caller


def call(name: str = "echo") -> Call:
    return Call(name, Caller())


def elsewhere(calls: CallsInFlight) -> Call | None:
    """Whom a request belongs to that comes in outside of any caller's task."""
    return contextvars.Context().run(calls.asking)


def test_a_request_in_a_caller_s_own_task_belongs_to_its_call() -> None:
    calls = CallsInFlight()
    one, two = call(), call()
    with calls.entered(one), calls.entered(two):
        assert calls.asking() is two
    assert calls.asking() is None
    assert len(calls) == 0


def test_the_only_call_is_the_one_that_is_meant() -> None:
    calls = CallsInFlight()
    one = call()
    with calls.entered(one):
        assert elsewhere(calls) is one


def test_of_several_calls_nobody_knows_which_is_meant() -> None:
    calls = CallsInFlight()
    with calls.entered(call()), calls.entered(call()):
        assert elsewhere(calls) is None
    with calls.entered(call()), calls.other():
        assert elsewhere(calls) is None
        assert len(calls) == 2


def test_a_call_of_another_connection_is_not_meant() -> None:
    ours, theirs = CallsInFlight(), CallsInFlight()
    with theirs.entered(call()):
        assert ours.asking() is None


def test_all_calls_wait_while_nobody_knows_which_is_meant() -> None:
    calls = CallsInFlight()
    callers = [Caller(), Caller()]
    with calls.entered(Call("a", callers[0])), calls.entered(Call("b", callers[1])), calls.paused():
        assert [caller.pauses for caller in callers] == [1, 1]


@pytest.mark.requirement("L15")
def test_a_note_is_added_to_what_came_back_and_replaces_nothing() -> None:
    result = CallToolResult(content=[TextContent(text="here")], structured_content={"a": 1})
    assert tool_result(result, "mind the gap").content == [
        {"type": "text", "text": "here"},
        {"type": "text", "text": "[mind the gap]"},
    ]
    assert tool_result(result, None).structured == {"a": 1}


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        (CONNECTION_CLOSED, "tool_fault"),
        (UNAUTHORIZED, "needs_auth"),
        (FRAME_TOO_LARGE, "too_large"),
        (INVALID_PARAMS, "invalid"),
        (-12345, "tool_fault"),
    ],
)
def test_errors_get_a_code_that_machines_know(code: int, ours: str) -> None:
    result = failed_call("git", "log", MCPError(code, "it went wrong"))
    assert result.is_error
    assert result.code == ours
    assert result.text.startswith("Tool 'log' of server 'git' failed: it went wrong")


def test_a_connection_that_closed_in_the_middle_is_unavailable() -> None:
    result = failed_call("git", "log", MCPError(CONNECTION_CLOSED, "Connection closed"))
    assert result.code == "unavailable"
    assert "ended or hung up" in result.text


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (-32002, NotFoundError),
        (INVALID_PARAMS, InvalidError),
        (METHOD_NOT_FOUND, InvalidError),
        (UNAUTHORIZED, NeedsAuthError),
        (CONNECTION_CLOSED, UnavailableError),
        (-1, UnavailableError),
    ],
)
def test_other_requests_fail_by_what_the_receiver_should_do(code: int, kind: type[Exception]) -> None:
    error = request_error("git", "resource a://b", MCPError(code, "no"))
    assert type(error) is kind
    assert "'git'" in str(error)
    assert "a://b" in str(error)
