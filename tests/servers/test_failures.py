from __future__ import annotations

from dataclasses import replace

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, Implementation
from pydantic import ValidationError

from manyhands.errors import NeedsAuthError, NotConfiguredError, UnavailableError
from manyhands.servers.endpoints import Target
from manyhands.servers.failures import explain, is_connection_error
from manyhands.servers.transports.types import (
    STALE_SESSION,
    TRANSPORT_FAILED,
    UNAUTHORIZED,
    TransportDiagnostics,
    TransportHandle,
)


async def never() -> TransportHandle:
    raise AssertionError("not opened here")


LOCAL = Target("git", never, connect_timeout_s=30.0)
REMOTE = Target("web", never, "http")


def command(**facts: object) -> TransportDiagnostics:
    return TransportDiagnostics(target="uvx mcp-server-git", elapsed=1.23, **facts)  # type: ignore[arg-type]


@pytest.mark.requirement("L02")
def test_an_ended_process_is_told_with_command_code_and_time() -> None:
    failure = explain(LOCAL, None, command(pid=1, exit_code=2, stderr_tail="no git\n"), was_up=False)
    assert failure.text.splitlines() == [
        "Server 'git' ended before it was ready, with exit code 2 after 1.2 s. (command: uvx mcp-server-git)",
        "Its last words on stderr:",
        "no git",
        "Run the command by hand to see why; `manyhands servers log git` shows what it wrote.",
    ]
    assert (failure.exit_code, failure.stderr_tail) == (2, "no git\n")


def test_a_signal_is_named() -> None:
    failure = explain(LOCAL, None, command(pid=1, exit_code=-9), was_up=True)
    assert "ended while it was connected, killed by signal 9" in failure.text


def test_only_the_end_of_long_words_is_in_the_message_and_all_in_the_record() -> None:
    words = "x" * 10_000 + "the end"
    failure = explain(LOCAL, None, command(exit_code=1, stderr_tail=words), was_up=False)
    assert len(failure.text) < 3000
    assert "the end" in failure.text
    assert failure.stderr_tail == words


def test_a_timeout_says_how_long_it_was_and_how_to_raise_it() -> None:
    failure = explain(LOCAL, TimeoutError(), command(exit_code=-15), was_up=False, timed_out=True)
    assert "did not answer within 30 s" in failure.text
    assert "`manyhands servers edit git --connect-timeout 120000`" in failure.text


@pytest.mark.parametrize("timed_out", [True, False])
def test_a_server_that_is_only_tried_is_told_without_commands_that_do_not_know_it(timed_out: bool) -> None:
    tried = Target("git", never, is_saved=False)
    failure = explain(tried, None, command(exit_code=1), was_up=False, timed_out=timed_out)
    assert "manyhands servers" not in failure.text
    assert "Run the command by hand to see why." in failure.text


def test_the_most_telling_of_several_errors_is_told() -> None:
    hidden = UnavailableError("The command uvx was not found.", hint="Install it.")
    group = BaseExceptionGroup("", [ValueError("noise"), ExceptionGroup("", [hidden])])
    failure = explain(LOCAL, group, None, was_up=False)
    assert failure.text == "Server 'git' could not be started: The command uvx was not found.\nInstall it."


def test_what_is_not_configured_is_hopeless() -> None:
    failure = explain(LOCAL, NotConfiguredError("KEY is not set.", hint="Set it."), None, was_up=False)
    assert failure.kind == "hopeless"


@pytest.mark.parametrize(
    "error",
    [MCPError(UNAUTHORIZED, "HTTP 403."), NeedsAuthError("HTTP 403.", data={"url": "https://sign.in"})],
)
def test_a_refusal_asks_for_a_sign_in(error: Exception) -> None:
    failure = explain(REMOTE, error, command(), was_up=True)
    assert failure.kind == "needs_auth"
    assert "manyhands servers login web" in failure.text
    assert failure.sign_in_url == ("https://sign.in" if isinstance(error, NeedsAuthError) else None)


def test_a_refused_header_asks_for_another_one_and_no_sign_in() -> None:
    target = replace(REMOTE, has_authorization=True)
    failure = explain(target, MCPError(UNAUTHORIZED, "HTTP 401."), command(), was_up=False)
    assert failure.kind == "needs_auth"
    assert failure.text.startswith("Server 'web' refuses its Authorization header: HTTP 401.")
    assert "servers login" not in failure.text


def test_a_forgotten_session_is_only_stale_once_it_was_one() -> None:
    error = MCPError(STALE_SESSION, "gone")
    assert explain(REMOTE, error, command(), was_up=True).kind == "stale"
    assert explain(REMOTE, error, command(), was_up=False).kind == "failed"


def test_an_error_of_the_protocol_is_passed_on() -> None:
    failure = explain(LOCAL, MCPError(INTERNAL_ERROR, "no thanks."), command(), was_up=False)
    assert "refused the connection: no thanks (-32603)" in failure.text


def test_a_remote_server_out_of_reach_is_told_with_its_address() -> None:
    facts = TransportDiagnostics(target="http://h/mcp", elapsed=0.1)
    failure = explain(REMOTE, MCPError(TRANSPORT_FAILED, "ConnectError: refused"), facts, was_up=False)
    assert failure.text.splitlines()[0] == (
        "Server 'web' could not be reached: ConnectError: refused. (address: http://h/mcp)"
    )


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("self-signed certificate", "SSL_CERT_FILE"),
        ("unable to get local issuer certificate", "SSL_CERT_FILE"),
        ("Hostname mismatch, certificate is not valid for 'h'.", "not valid for this address"),
    ],
)
@pytest.mark.parametrize("kind", ["http", "sse"])
def test_a_certificate_that_is_not_accepted_is_what_the_advice_is_about(
    reason: str, advice: str, kind: str
) -> None:
    told = f"ConnectError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: {reason} (_ssl.c:1000)"
    error = (
        MCPError(TRANSPORT_FAILED, told) if kind == "http" else UnavailableError(told, hint="Check the URL.")
    )
    hint = explain(REMOTE, error, command(), was_up=False).text.splitlines()[-1]
    assert advice in hint
    assert "Check" not in hint


def test_what_was_written_instead_of_messages_is_told() -> None:
    facts = command(garbage=10, garbage_tail="Hello\n" * 9 + "Listening on port 80\n")
    failure = explain(LOCAL, TimeoutError(), facts, was_up=False, timed_out=True)
    assert (
        "It wrote 10 lines to stdout that are not MCP messages, the last:\n"
        + "Hello\n" * 4
        + "Listening on port 80"
    ) in failure.text


def test_errors_of_the_connection_are_told_from_errors_of_a_request() -> None:
    ours = (TRANSPORT_FAILED, STALE_SESSION, UNAUTHORIZED)
    assert all(is_connection_error(MCPError(code, "it broke")) for code in ours)
    assert is_connection_error(MCPError(CONNECTION_CLOSED, "Connection closed"))
    assert not is_connection_error(MCPError(INTERNAL_ERROR, "it broke"))


def test_an_error_of_the_server_with_the_code_of_a_closed_connection_is_told_as_it_is() -> None:
    failure = explain(LOCAL, MCPError(CONNECTION_CLOSED, "licence expired"), command(), was_up=False)
    assert "refused the connection: licence expired (-32000)" in failure.text


def test_an_answer_that_is_not_mcp_is_told_with_what_is_wrong_in_it() -> None:
    with pytest.raises(ValidationError) as caught:
        Implementation.model_validate({"name": "x"})
    failure = explain(LOCAL, caught.value, command(), was_up=False)
    assert "answered with something that is not MCP: version: Field required." in failure.text


@pytest.mark.parametrize("exit_code", [None, 0])
def test_a_version_that_is_not_known_is_named(exit_code: int | None) -> None:
    """In the words of the SDK, which ends the connection then."""
    error = RuntimeError("Unsupported protocol version from the server: 1999-01-01" + "9" * 1000)
    failure = explain(LOCAL, ExceptionGroup("", [error]), command(exit_code=exit_code), was_up=False)
    assert failure.text.startswith("Server 'git' answered that it speaks version '1999-01-01999")
    assert "Known are 2024-11-05" in failure.text
    assert len(failure.text) < 300
