"""What is answered holds what the public surface promises, and no secret."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from manyhands.secrets import MASK
from manyhands.servers.types import Catalogue, ConnectionState, Repair, Server, ServerConfig, ServerStatus
from manyhands.servers.views import Outcome, ServerView, describe_repairs

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
PROMISED = """
    id name transport command args env cwd url headers enabled trust tool_timeout connect_timeout parallel
    status error tool_count version protocol capabilities instructions pid
"""


def view(**config: object) -> ServerView:
    fields = {"command": "x", "env": {"TOKEN": "${keyring:T}"}, "headers": {"X": "${V}"}, **config}
    server = Server(1, ServerConfig("a", **fields), "a", None, False, None, NOW, NOW)  # type: ignore[arg-type]
    state = ConnectionState(ServerStatus.CONNECTED, pid=5, since=NOW)
    return ServerView(server, state, Catalogue(version="1", repairs=(Repair("tool x", "odd", "repaired"),)))


@pytest.mark.requirement("L28")
def test_a_server_shows_everything_that_is_promised_and_masks_all_its_secrets() -> None:
    wire = view().wire()
    assert set(PROMISED.split()) <= set(wire)
    assert (wire["env"], wire["headers"]) == ({"TOKEN": MASK}, {"X": MASK})
    assert wire["since"] == "2026-11-15T12:00:00.000Z"
    json.dumps(wire)


def test_a_disabled_server_is_disabled_whatever_its_connection_was() -> None:
    assert view(enabled=False).wire()["status"] == "disabled"


def test_an_outcome_has_an_error_only_when_there_is_one() -> None:
    assert set(Outcome(True, view()).wire()) == {"ok", "server"}
    assert Outcome(False, view(), "no").wire()["error"] == "no"


def test_repairs_are_told_by_tool() -> None:
    repairs = [
        Repair("tool a", "odd", "repaired"),
        Repair("tool a", "long", "cut"),
        Repair("prompt p", "x", "y"),
    ]
    assert describe_repairs(repairs) == {"a": "odd (repaired); long (cut)"}
