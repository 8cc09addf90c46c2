"""A connection knows what it waits for, so that failures and listings find the request they belong to."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from manyhands.secrets import HIDDEN, Redactor
from manyhands.servers.transports.pending import PendingRequests


def request(number: int | str, method: str = "tools/call", **params: Any) -> JSONRPCRequest:
    return JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)


def failed(pending: PendingRequests, number: int | str | None) -> list[int | str | None]:
    return [error.id for error in pending.failed(number, -1, "lost")]


def test_a_failure_without_an_id_fails_all_that_wait_and_only_them() -> None:
    pending = PendingRequests()
    for number in (1, 2, 3, 4):
        pending.sent(request(number))
    pending.received(JSONRPCResponse(jsonrpc="2.0", id=1, result={}))
    pending.received(JSONRPCError(jsonrpc="2.0", id=2, error=ErrorData(code=1, message="")))
    cancelled = {"requestId": 3}
    pending.sent(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=cancelled))
    assert failed(pending, None) == [4]
    assert failed(pending, None) == []


def test_a_failure_is_told_once_and_to_a_request_that_is_under_way() -> None:
    pending = PendingRequests()
    pending.sent(request(1))
    assert failed(pending, 9) == []
    assert failed(pending, "1") == [1]
    assert failed(pending, 1) == []


def test_an_error_without_an_id_belongs_to_the_only_request_there_is() -> None:
    pending = PendingRequests()
    pending.sent(request(5, "server/discover"))
    lost = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=-32600, message="what?"))
    answer = pending.received(lost)
    assert isinstance(answer, JSONRPCError)
    assert answer.id == 5


def test_only_the_answer_to_a_list_request_is_mended() -> None:
    pending = PendingRequests()
    pending.sent(request(1, "tools/list"))
    pending.sent(request(2))
    odd = {"tools": [{"name": "a"}]}
    call = pending.received(JSONRPCResponse(jsonrpc="2.0", id=2, result=odd))
    assert isinstance(call, JSONRPCResponse)
    assert call.result == odd
    listing = pending.received(JSONRPCResponse(jsonrpc="2.0", id="1", result=odd))
    assert isinstance(listing, JSONRPCResponse)
    assert listing.result["tools"][0]["inputSchema"] == {"type": "object"}


def test_repairs_are_those_of_the_last_whole_listing() -> None:
    pending = PendingRequests()

    def listed(name: str, **params: Any) -> None:
        pending.sent(request(1, "tools/list", **params))
        pending.received(JSONRPCResponse(jsonrpc="2.0", id=1, result={"tools": [{"name": name}]}))

    listed("a")
    listed("b", cursor="2")
    assert [repair.item for repair in pending.repairs] == ["tool a", "tool b"]
    listed("c")
    assert [repair.item for repair in pending.repairs] == ["tool c"]


def test_the_revision_of_a_listing_is_the_one_it_was_asked_in() -> None:
    pending = PendingRequests()
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    pending.sent(request(1, "tools/list", _meta=meta))
    tool = {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}}
    answer = pending.received(JSONRPCResponse(jsonrpc="2.0", id=1, result={"tools": [tool]}))
    assert isinstance(answer, JSONRPCResponse)
    assert answer.result["tools"] == [tool]
    assert answer.result["resultType"] == "complete"


def test_requests_that_are_never_answered_do_not_pile_up() -> None:
    pending = PendingRequests()
    for number in range(20_000):
        pending.sent(request(number))
    assert len(failed(pending, None)) <= 10_000


def test_an_answer_that_is_nested_too_deeply_is_an_error() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"in": deep}
    pending = PendingRequests()
    pending.sent(request(1))
    answer = pending.received(JSONRPCResponse.model_construct(jsonrpc="2.0", id=1, result=deep))
    assert isinstance(answer, JSONRPCError)
    assert (answer.id, answer.error.message) == (1, "The server's answer is nested too deeply.")


def test_secrets_are_hidden_in_whatever_arrives() -> None:
    known = Redactor()
    known.guard("hunter2-hunter2")
    pending = PendingRequests(known)
    said = {"text": "it is hunter2-hunter2"}
    error = ErrorData(code=1, message="hunter2-hunter2", data=said)
    arrived: list[JSONRPCMessage] = [
        JSONRPCResponse(jsonrpc="2.0", id=1, result=said),
        JSONRPCError(jsonrpc="2.0", id=2, error=error),
        JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params=said),
        request(3, "sampling/createMessage", **said),
    ]
    for message in arrived:
        shown = pending.received(message).model_dump_json()
        assert HIDDEN in shown
        assert "hunter2" not in shown


# --- what the server asks


MOST = 1000


def asked(pending: PendingRequests, number: int | str, **params: Any) -> bool:
    """Whether a request of the server is handed on."""
    return isinstance(pending.received(request(number, "roots/list", **params)), JSONRPCRequest)


def answer(number: int | str) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={})


def cancel(pending: PendingRequests, number: object) -> None:
    params = {"requestId": number}
    pending.received(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))


def full() -> PendingRequests:
    pending = PendingRequests()
    assert all(asked(pending, number) for number in range(MOST))
    return pending


def test_only_so_many_requests_of_a_server_wait_for_an_answer() -> None:
    pending = full()
    assert not asked(pending, MOST)
    pending.sent(request(1))
    assert isinstance(pending.received(answer(1)), JSONRPCResponse)


def test_only_so_much_of_a_server_waits_for_an_answer() -> None:
    pending = PendingRequests()
    handed_on = [asked(pending, number, text="x" * 10_000_000) for number in range(20)]
    assert 5 < sum(handed_on) < 10
    with pending.sending(answer(0)):
        pass
    assert asked(pending, 20)


def test_a_request_makes_room_when_its_answer_is_through() -> None:
    pending = full()
    with pending.sending(answer("7")):
        assert not asked(pending, MOST)
    assert asked(pending, MOST)


def test_an_answer_that_cannot_be_written_makes_room_too() -> None:
    pending = full()
    refusal = JSONRPCError(jsonrpc="2.0", id=7, error=ErrorData(code=1, message="no"))
    with pytest.raises(OSError, match="gone"), pending.sending(refusal):
        raise OSError("gone")
    assert asked(pending, MOST)


def test_a_request_that_the_server_cancels_makes_room_unless_its_answer_is_on_its_way() -> None:
    pending = full()
    with pending.sending(answer(7)):
        cancel(pending, 7)
        cancel(pending, ["no id"])
        assert not asked(pending, MOST)
    assert asked(pending, MOST)
    cancel(pending, "8")
    cancel(pending, "8")
    assert asked(pending, MOST + 1)
    assert not asked(pending, MOST + 2)


def test_a_request_with_the_id_of_one_that_waits_is_not_handed_on() -> None:
    pending = PendingRequests()
    assert asked(pending, 1)
    assert not asked(pending, "1")
    with pending.sending(answer(1)):
        pass
    assert asked(pending, 1)


def test_an_id_of_very_many_digits_belongs_to_nobody() -> None:
    pending = PendingRequests()
    pending.sent(request(1))
    assert isinstance(pending.received(answer("9" * 5000)), JSONRPCResponse)
    assert failed(pending, "9" * 5000) == []
    assert failed(pending, 1) == [1]
