"""How other agents are told of `manyhands mcp`: a snippet for each client, in the form of its own file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

NAME = "manyhands"
START_S = 30
CALL_S = 600
"""A call may wait for a person."""


@dataclass(frozen=True)
class Client:
    """One client: where its configuration lives, and how a server is written there."""

    name: str
    file: str
    language: str
    write: Callable[[Sequence[str]], str]
    here: str = "."
    """What stands for the project's directory in its configuration."""


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


def _claude_code(arguments: Sequence[str]) -> str:
    return _json({"mcpServers": {NAME: {"type": "stdio", "command": NAME, "args": list(arguments)}}})


def _codex(arguments: Sequence[str]) -> str:
    lines = [
        f"[mcp_servers.{NAME}]",
        f"command = {json.dumps(NAME)}",
        f"args = {json.dumps(list(arguments))}",
        f"startup_timeout_sec = {START_S}",
        f"tool_timeout_sec = {CALL_S}",
    ]
    return "\n".join(lines)


def _opencode(arguments: Sequence[str]) -> str:
    server = {"type": "local", "command": [NAME, *arguments], "enabled": True}
    return _json({"$schema": "https://opencode.ai/config.json", "mcp": {NAME: server}})


def _goose(arguments: Sequence[str]) -> str:
    lines = [
        "extensions:",
        f"  {NAME}:",
        "    enabled: true",
        "    type: stdio",
        f"    name: {NAME}",
        "    description: Channels, threads, agents and pages of the hub",
        f"    cmd: {NAME}",
        "    args:",
        *(f"      - {json.dumps(argument)}" for argument in arguments),
        "    envs: {}",
        f"    timeout: {CALL_S}",
    ]
    return "\n".join(lines)


def _vscode(arguments: Sequence[str]) -> str:
    return _json({"servers": {NAME: {"type": "stdio", "command": NAME, "args": list(arguments)}}})


def _cursor(arguments: Sequence[str]) -> str:
    return _json({"mcpServers": {NAME: {"command": NAME, "args": list(arguments)}}})


CLIENTS = {
    client.name: client
    for client in (
        Client("claude-code", ".mcp.json", "json", _claude_code),
        Client("codex", "~/.codex/config.toml", "toml", _codex),
        Client("opencode", "opencode.json", "json", _opencode),
        Client("goose", "~/.config/goose/config.yaml", "yaml", _goose),
        Client("vscode", ".vscode/mcp.json", "json", _vscode, "${workspaceFolder}"),
        Client("cursor", ".cursor/mcp.json", "json", _cursor, "${workspaceFolder}"),
    )
}


def snippet(client: Client, options: Sequence[str] = ()) -> str:
    """What goes into the client's file. Without options: the directory that the client works in."""
    return client.write(["mcp", *(options or ("--dir", client.here))])
