"""`manyhands mcp --print-config`: snippets in the form of each client, the same as in the documentation."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from manyhands.cli.client_config import CLIENTS, snippet
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
    given = command_in("claude-code", json.loads(ran.out))
    assert given[:4] == ["manyhands", "mcp", "--dir", "."]
    assert given[4:] == ["--gateway", "--agent-id", "builder"] or set(given[4:]) == {
        "--agent-id",
        "builder",
        "--gateway",
    }
    assert ".mcp.json" in ran.err


def test_an_unknown_client_is_wrong_usage(cli: CommandLine) -> None:
    ran = cli("mcp", "--print-config", "nobody")
    assert ran.code == 2
    assert "opencode" in ran.err
