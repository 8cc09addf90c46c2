"""How MCP clients write one server, translated into our own fields; what cannot be taken over is noted. Pure.

Permissions that a file grants its own servers (`trust`, `autoApprove`, `alwaysAllow`) are never taken over:
only a person decides what runs without asking.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from manyhands.errors import InvalidError

_WAYS = ("command", "cmd", "url", "uri", "serverUrl", "httpUrl", "server_url")
_PERMISSIONS = frozenset(
    {
        *("trust", "autoApprove", "alwaysAllow", "autoApproved", "always_allow", "alwaysApprove"),
        "channel_push",
    }
)
_SILENT = frozenset(
    {"type", "transport", "transportType", "name", "display_name", "description", "bundled", "gallery"}
)
_SAME = ("command", "args", "env", "cwd", "url", "headers", "parallel", "tool_timeout", "connect_timeout")
_RENAMED = {
    "cmd": "command",
    "uri": "url",
    "serverUrl": "url",
    "server_url": "url",
    "httpUrl": "url",
    "envs": "env",
    "environment": "env",
    "http_headers": "headers",
    "workingDirectory": "cwd",
    "working_directory": "cwd",
    "startup_timeout_ms": "connect_timeout",
}
_SECONDS = {"startup_timeout_sec": "connect_timeout", "tool_timeout_sec": "tool_timeout"}
_SPECIAL = frozenset(
    {"disabled", "enabled", "isActive", "timeout", "bearer_token_env_var", "env_http_headers"}
)
_TYPES = {
    "stdio": "stdio",
    "local": "stdio",
    "sse": "sse",
    "remote": "http",
    "http": "http",
    "inmemory": None,
}
_VARIABLE = re.compile(r"(?<!\$)\{env:([A-Za-z_]\w*)\}")
_INPUT = re.compile(r"\$\{(?:input:[^}]*|workspaceFolder\w*)\}")


def looks_like_entry(value: Any) -> bool:
    """Whether this says how to reach a server."""
    return isinstance(value, Mapping) and any(_is_way(value.get(key)) for key in _WAYS)


def translate_entry(raw: Mapping[str, Any], where: str, notes: list[str]) -> dict[str, Any]:
    """Our fields for an entry of any client."""
    entry = {key: value for key, value in raw.items() if value is not None}
    fields = _renamed(entry)
    _split_command(fields)
    transport = _transport(entry, fields, where)
    if transport is not None:
        fields["transport"] = transport
    fields["enabled"] = not entry.get("disabled", False) and bool(
        entry.get("enabled", entry.get("isActive", True))
    )
    _timeouts(entry, fields)
    _token_headers(entry, fields)
    _note_the_rest(entry, where, notes)
    return {key: _references(value, f"{where}.{key}", notes) for key, value in fields.items()}


def _renamed(entry: Mapping[str, Any]) -> dict[str, Any]:
    fields = {_RENAMED[key]: value for key, value in entry.items() if key in _RENAMED}
    return fields | {key: entry[key] for key in _SAME if key in entry}


def _split_command(fields: dict[str, Any]) -> None:
    """opencode writes the command as a list, older Zed as an object."""
    command = fields.get("command")
    if isinstance(command, Mapping):
        fields |= {key: command[key] for key in ("args", "env") if key in command}
        fields["command"] = command.get("path")
    elif isinstance(command, list) and command:
        fields["command"], fields["args"] = command[0], [*command[1:], *fields.get("args", [])]


def _transport(entry: Mapping[str, Any], fields: Mapping[str, Any], where: str) -> str | None:
    written = next((entry[key] for key in ("type", "transport", "transportType") if key in entry), None)
    if not isinstance(written, str):
        return None
    kind = re.sub(r"[^a-z]", "", written.lower())
    if kind in ("streamablehttp", "https"):
        return "http"
    found = _TYPES.get(kind)
    if found is None:
        raise InvalidError(
            f"{where}.type: {written!r} is a kind of server that only its own client knows.",
            hint="stdio, http and sse can be connected.",
        )
    return "stdio" if fields.get("command") and not fields.get("url") else found


def _timeouts(entry: Mapping[str, Any], fields: dict[str, Any]) -> None:
    """Some clients count seconds, some milliseconds; a limit under a second is not meant by anybody."""
    for key, name in _SECONDS.items():
        if _is_number(entry.get(key)):
            fields[name] = int(entry[key] * 1000)
    if _is_number(entry.get("timeout")):
        value = entry["timeout"]
        fields.setdefault("tool_timeout", int(value * 1000) if value < 1000 else int(value))


def _token_headers(entry: Mapping[str, Any], fields: dict[str, Any]) -> None:
    headers = dict(fields["headers"]) if isinstance(fields.get("headers"), Mapping) else {}
    for header, variable in dict(entry.get("env_http_headers") or {}).items():
        headers[header] = f"${{{variable}}}"
    if variable := entry.get("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    if headers:
        fields["headers"] = headers


def _note_the_rest(entry: Mapping[str, Any], where: str, notes: list[str]) -> None:
    known = {*_SAME, *_RENAMED, *_SECONDS, *_SPECIAL, *_SILENT}
    for key in entry:
        if key in _PERMISSIONS:
            notes.append(f"{where}.{key}: not taken over; what may run without asking is decided here")
        elif key == "env_keys" and entry[key]:
            names = ", ".join(map(str, entry[key]))
            notes.append(f"{where}.env_keys: the values of {names} are not in the file; set them")
        elif key not in known:
            notes.append(f"{where}.{key}: not known here, passed over")


def _references(value: Any, where: str, notes: list[str]) -> Any:
    match value:
        case str():
            if unknown := _INPUT.search(value):
                notes.append(f"{where}: only its own client knows {unknown[0]}; write the value or ${{VAR}}")
            return _VARIABLE.sub(r"${\1}", value).replace("${userHome}", "${HOME}")
        case Mapping():
            return {key: _references(item, f"{where}.{key}", notes) for key, item in value.items()}
        case list():
            return [_references(item, f"{where}[{index}]", notes) for index, item in enumerate(value)]
        case _:
            return value


def _is_way(value: Any) -> bool:
    return isinstance(value, str | list) or (isinstance(value, Mapping) and "path" in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
