"""A new configuration is put over the old one, and it is known whether that makes another connection."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manyhands.secrets import MASK
from manyhands.servers.saving import needs_reconnect, written_over
from manyhands.servers.types import ServerConfig

LOCAL = ServerConfig("a", command="x", args=("1",), env={"K": "${keyring:k}"}, cwd="/tmp", trust="full")
REMOTE = ServerConfig("a", "http", url="https://h/mcp", headers={"X": "${keyring:x}"})


def test_what_is_not_given_stays_and_secrets_stay_masked() -> None:
    assert written_over({"tool_timeout": 5}, LOCAL).config == replace(LOCAL, tool_timeout=5, env={"K": MASK})
    assert written_over({"args": [], "env": {}}, LOCAL).config == replace(LOCAL, args=(), env={})


def test_an_address_makes_a_local_server_remote_and_a_command_a_remote_one_local() -> None:
    remote = written_over({"url": "https://h/mcp"}, LOCAL).config
    assert (remote.transport, remote.command, remote.args, remote.trust) == ("http", None, (), "full")
    local = written_over({"command": "y"}, REMOTE).config
    assert (local.transport, local.command, local.url, local.headers) == ("stdio", "y", None, {})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"trust": "ask"}, False),
        ({"tool_timeout": 9}, False),
        ({"parallel": "none"}, False),
        ({"args": ("2",)}, True),
        ({"env": {}}, True),
        ({"name": "b"}, True),
        ({"connect_timeout": 9}, True),
    ],
)
def test_only_what_makes_another_connection_reconnects(change: dict[str, object], expected: bool) -> None:
    assert needs_reconnect(LOCAL, replace(LOCAL, **change)) is expected  # type: ignore[arg-type]
