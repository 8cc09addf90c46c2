"""From a command line to a server's configuration."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from manyhands.cli.server_options import changed, described

BEFORE = {
    "name": "time",
    "transport": "stdio",
    "command": "uvx",
    "args": ["mcp-server-time"],
    "env": {"TOKEN": "••••••", "MODE": "••••••"},
    "cwd": None,
    "url": None,
    "headers": {},
    "enabled": True,
    "trust": "ask",
    "tool_timeout": 30000,
    "connect_timeout": 30000,
    "parallel": "all",
}


def test_a_command_makes_a_stdio_server() -> None:
    assert described(["uvx", "mcp-server-time", "-v"], {"trust": "trusted", "url": None, "env": {}}) == {
        "transport": "stdio",
        "command": "uvx",
        "args": ["mcp-server-time", "-v"],
        "trust": "trusted",
    }


def test_an_address_makes_an_http_server_unless_told_otherwise() -> None:
    assert described([], {"url": "http://h/mcp"})["transport"] == "http"
    assert described([], {"url": "http://h/sse", "transport": "sse"})["transport"] == "sse"


def test_paths_are_made_absolute_because_the_daemon_runs_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = described(["./server.sh"], {"cwd": "work"})
    assert config["command"] == str(tmp_path / "server.sh")
    assert config["cwd"] == str(tmp_path / "work")


def test_what_is_not_given_stays_when_a_server_is_edited() -> None:
    assert changed(BEFORE, [], {"tool_timeout": 60000}) == {**BEFORE, "tool_timeout": 60000}


def test_secrets_stay_masked_and_single_ones_can_change_or_go() -> None:
    after = changed(BEFORE, [], {"env": {"MODE": "fast"}, "unset_env": ("TOKEN",)})
    assert after["env"] == {"MODE": "fast"}
    after = changed(BEFORE, [], {"env": {"EXTRA": "1"}})
    assert after["env"] == {"TOKEN": "••••••", "MODE": "••••••", "EXTRA": "1"}


def test_a_server_can_move_from_a_command_to_an_address_and_be_renamed() -> None:
    after = changed(BEFORE, [], {"url": "http://h/mcp", "new_name": "clock"})
    assert (after["name"], after["transport"], after["url"], after["command"], after["args"]) == (
        "clock",
        "http",
        "http://h/mcp",
        None,
        [],
    )


def test_unsetting_what_is_not_there_is_refused() -> None:
    with pytest.raises(click.UsageError, match="NOPE"):
        changed(BEFORE, [], {"unset_env": ("NOPE",)})
