"""How a server is shown in a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.cli.server_view import report_outcome, server_fields
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
