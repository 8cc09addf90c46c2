"""`manyhands mcp --print-config`: snippets in the form of each client, the same as in the documentation."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from manyhands.cli.client_config import CLIENTS, command_for_others, snippet
from tests.cli.conftest import CommandLine
from tests.docs import Page

AGENTS = Page(Path(__file__).parents[2] / "docs" / "agents.md")
READERS: dict[str, Any] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}


def command_in(client: str, config: Any) -> list[str]:
    """What the client would start, by the rules of its own file."""
    match client:
        case "claude-code" | "cursor":
            server = config["mcpServers"]["manyhands"]
            assert server.get("type", "stdio") == "stdio"
        case "vscode":
            server = config["servers"]["manyhands"]
            assert server["type"] == "stdio"
        case "codex":
            server = config["mcp_servers"]["manyhands"]
        case "opencode":
            server = config["mcp"]["manyhands"]
            assert (server["type"], server["enabled"]) == ("local", True)
            return list(server["command"])
        case _:
            server = config["extensions"]["manyhands"]
            assert (server["type"], server["enabled"], server["name"]) == ("stdio", True, "manyhands")
            return [server["cmd"], *server["args"]]
    return [server["command"], *server["args"]]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_snippet_starts_the_bridge_in_the_clients_own_form(name: str) -> None:
    client = CLIENTS[name]
    config = READERS[client.language](snippet(client))
    assert command_in(name, config) == ["manyhands", "mcp", "--dir", client.here]
    config = READERS[client.language](snippet(client, ["--dir", "/a b", "--gateway"]))
    assert command_in(name, config) == ["manyhands", "mcp", "--dir", "/a b", "--gateway"]


@pytest.mark.parametrize("name", CLIENTS)
def test_the_documentation_has_the_same_snippet(name: str) -> None:
    client = CLIENTS[name]
    assert f"`{client.file}`" in AGENTS.text
    assert snippet(client) in [
        block.text.rstrip() for block in AGENTS.blocks if block.language == client.language
    ]


def test_the_command_prints_a_snippet_with_its_options(cli: CommandLine) -> None:
    ran = cli.ok("mcp", "--print-config", "claude-code", "--gateway", "--agent-id", "builder")
    _, *given = command_in("claude-code", json.loads(ran.out))
    assert given[:3] == ["mcp", "--dir", "."]
    assert {"--agent-id", "builder", "--gateway"} <= set(given[3:])
    assert ".mcp.json" in ran.err


def test_another_home_is_named_since_clients_do_not_have_our_environment(cli: CommandLine) -> None:
    ran = cli.ok("mcp", "--print-config", "codex")
    assert command_in("codex", tomllib.loads(ran.out))[-2:] == ["--home", str(cli.home)]
    usual = {"HOME": str(cli.home.parent), "MANYHANDS_HOME": str(cli.home.parent / ".manyhands")}
    ran = cli("mcp", "--print-config", "codex", env=usual)
    assert "--home" not in ran.out


def test_a_command_that_only_one_environment_knows_is_named_by_its_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "bin" / "manyhands"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    monkeypatch.setenv("PATH", str(script.parent))
    assert command_for_others() == str(script)
    elsewhere = tmp_path.parent / f"{tmp_path.name}-bin"
    elsewhere.mkdir()
    (elsewhere / "manyhands").symlink_to(script)
    monkeypatch.setenv("PATH", f"{elsewhere}:{script.parent}")
    assert command_for_others() == "manyhands"


def test_an_unknown_client_is_wrong_usage(cli: CommandLine) -> None:
    ran = cli("mcp", "--print-config", "nobody")
    assert ran.code == 2
    assert "opencode" in ran.err
