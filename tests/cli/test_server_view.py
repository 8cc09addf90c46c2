"""How a server is shown in a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.cli.server_view import report_outcome, server_fields, trouble_of
from manyhands.errors import UnavailableError

SERVER: dict[str, Any] = {
    "id": 1,
    "name": "frail",
    "transport": "stdio",
    "command": "frail",
    "status": "connecting",
    "error": "It ended.",
    "trust": "ask",
    "tool_timeout": 30000,
    "connect_timeout": 30000,
}


@pytest.mark.requirement("L01")
def test_which_attempt_of_how_many_has_failed_is_shown() -> None:
    tried = {**SERVER, "attempt": 3, "attempts_max": 8}
    assert dict(server_fields(tried))["status"] == "connecting (attempt 3 of 8 has failed)"
    assert dict(server_fields({**tried, "status": "connected", "error": None}))["status"] == "connected"


@pytest.mark.parametrize("status", ["error", "needs_auth"])
def test_the_command_in_a_hint_can_be_copied(status: str) -> None:
    server = {**SERVER, "name": "my docs", "status": status}
    with pytest.raises(UnavailableError, match=r"`manyhands servers \w+ 'my docs'`"):
        report_outcome({"ok": False, "server": server}, as_json=False)


@pytest.mark.requirement("L10")
def test_connected_with_a_list_that_could_not_be_read_is_told_as_such(
    capsys: pytest.CaptureFixture[str],
) -> None:
    problem = "tools/list failed: boom (-32603)"
    server = {**SERVER, "status": "connected", "error": None, "tool_count": 0, "problem": problem}
    assert report_outcome({"ok": True, "server": server}, as_json=False) == 0
    shown = capsys.readouterr()
    assert shown.out == "✓ frail is connected: 0 tools\n"
    assert shown.err == f"warning: frail: {problem}\n"


def test_a_refused_header_is_told_with_the_way_to_change_it() -> None:
    """`servers login` does nothing for a server that has one."""
    server = {**SERVER, "status": "needs_auth", "headers": {"authorization": "***"}}
    command = "manyhands servers edit frail --header 'authorization=Bearer …'"
    assert trouble_of(server) == f"refuses its authorization header: {command}"
    with pytest.raises(UnavailableError) as caught:
        report_outcome({"ok": False, "server": server}, as_json=False)
    assert str(caught.value) == f"frail refuses its authorization header. Run `{command}`."
    other = {**server, "headers": {"X-Team": "***"}}
    assert trouble_of(other) == "wants you to sign in: manyhands servers login frail"


@pytest.mark.requirement("L01")
def test_restarts_are_shown_whether_or_not_there_is_a_process_now() -> None:
    failed = {**SERVER, "status": "error", "restarts": 3}
    assert dict(server_fields(failed))["process"] == "3 restarts"
    assert dict(server_fields({**failed, "pid": 7}))["process"] == "pid 7, 3 restarts"
