"""How other agents are told of `manyhands mcp`: a snippet for each client, in the form of its own file."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "manyhands"
START_S = 30
CALL_S = 600
"""A call may wait for a person; opencode, for one, gives up after five seconds."""


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


def _stdio(command: Sequence[str]) -> dict[str, Any]:
    return {"type": "stdio", "command": command[0], "args": list(command[1:])}


def _claude_code(command: Sequence[str]) -> str:
    return _json({"mcpServers": {NAME: _stdio(command)}})


def _codex(command: Sequence[str]) -> str:
    lines = [
        f"[mcp_servers.{NAME}]",
        f"command = {json.dumps(command[0])}",
        f"args = {json.dumps(list(command[1:]))}",
        f"startup_timeout_sec = {START_S}",
        'startup_readiness = "catalog"',  # else its first turn begins before it has asked for the tools
        f"tool_timeout_sec = {CALL_S}",
    ]
    return "\n".join(lines)


def _opencode(command: Sequence[str]) -> str:
    server = {"type": "local", "command": list(command), "enabled": True, "timeout": CALL_S * 1000}
    return _json({"$schema": "https://opencode.ai/config.json", "mcp": {NAME: server}})


def _goose(command: Sequence[str]) -> str:
    lines = [
        "extensions:",
        f"  {NAME}:",
        "    enabled: true",
        "    type: stdio",
        f"    name: {NAME}",
        "    description: Channels, threads, agents and pages of the hub",
        f"    cmd: {command[0] if command[0] == NAME else json.dumps(command[0])}",
        "    args:",
        *(f"      - {json.dumps(argument)}" for argument in command[1:]),
        "    envs: {}",
        f"    timeout: {CALL_S}",
    ]
    return "\n".join(lines)


def _vscode(command: Sequence[str]) -> str:
    return _json({"servers": {NAME: _stdio(command)}})


def _cursor(command: Sequence[str]) -> str:
    return _json({"mcpServers": {NAME: _stdio(command)}})


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


def snippet(client: Client, options: Sequence[str] = (), command: str = NAME) -> str:
    """What goes into the client's file. Without options: the directory that the client works in."""
    return client.write([command, "mcp", *(options or ("--dir", client.here))])


def command_for_others() -> str:
    """How other programs call us: by name, unless only this environment knows the name."""
    found = shutil.which(NAME)
    own = Path(sys.prefix).resolve()
    if found is not None and (sys.prefix == sys.base_prefix or own not in Path(found).absolute().parents):
        return NAME
    script = Path(sys.executable).with_name(NAME)
    return str(script) if script.exists() else NAME
