"""Config files of MCP clients: finding the servers in them, naming file and key of a mistake, writing one.

Read are the JSON files of Claude Desktop and Code, Cursor, Windsurf, Cline, Gemini and their like
(`mcpServers`), VS Code (`servers`), opencode and Crush (`mcp`), Zed (`context_servers`), goose (`extensions`,
as JSON) and Codex (`mcp_servers`, TOML): a whole file, a map of entries or one entry. How an entry is
written is known to `dialects`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from manyhands.errors import InvalidError
from manyhands.servers.config import parse_config
from manyhands.servers.dialects import looks_like_entry, translate_entry
from manyhands.servers.loose_json import Document, read_document
from manyhands.servers.types import ServerConfig

TOP_KEY = "mcpServers"
_OTHER_KEYS = ("servers", "mcp", "context_servers", "extensions", "amp.mcpServers")
_DEFAULTS = ServerConfig("x")


@dataclass(frozen=True, slots=True)
class Entry:
    """One server of a file: its configuration, or why it has none."""

    name: str
    where: str
    config: ServerConfig | None
    problem: str | None = None
    notes: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What was found in a file."""

    source: str
    key: str
    entries: Sequence[Entry]
    notes: Sequence[str] = ()


def read_config_file(
    content: str | Mapping[str, Any], source: str, *, name: str | None = None, strict: bool = False
) -> ConfigFile:
    """The servers of a file, of a map or of one entry (then `name` may say what to call it).

    `strict`: only `mcpServers` at the top will do, as in a project's `.mcp.json`.
    """
    document = read_document(content, source)
    key, section = _find_section(document, source, name, strict=strict)
    notes = [f"{source}: the key {double!r} occurs twice; the last one counts" for double in document.doubles]
    if not section:
        notes.append(f"{source}: {key} is empty")
    notes += _elsewhere(document.value, source)
    entries = [_read_entry(label, raw, f"{source}: {_path(key, label)}") for label, raw in section]
    return ConfigFile(source, key, entries, tuple(notes))


def export_config(configs: Sequence[ServerConfig]) -> dict[str, Any]:
    """A file that other clients read. Secrets are in it as references only."""
    return {TOP_KEY: {config.name: _write_entry(config) for config in configs}}


def _read_entry(name: str, raw: Any, where: str) -> Entry:
    notes: list[str] = []
    try:
        if not isinstance(raw, Mapping):
            raise InvalidError(f"{where}: is not an object.", hint="An entry has `command` or `url`.")
        parsed = parse_config({**translate_entry(raw, where, notes), "name": name}, where)
    except InvalidError as error:
        return Entry(name, where, None, str(error), tuple(notes))
    return Entry(parsed.config.name, where, parsed.config, None, (*notes, *parsed.notes), raw)


def _write_entry(config: ServerConfig) -> dict[str, Any]:
    if config.transport == "stdio":
        entry: dict[str, Any] = {"command": config.command, "args": list(config.args), "cwd": config.cwd}
        entry["env"] = dict(config.env)
    else:
        entry = {"type": config.transport, "url": config.url, "headers": dict(config.headers)}
    if not config.enabled:
        entry["disabled"] = True
    for key in ("tool_timeout", "connect_timeout", "parallel"):
        if getattr(config, key) != getattr(_DEFAULTS, key):
            entry[key] = getattr(config, key)
    return {key: value for key, value in entry.items() if value not in (None, {}, [])}


# --- where the servers are

Section = list[tuple[str, Any]]


def _find_section(document: Document, source: str, name: str | None, *, strict: bool) -> tuple[str, Section]:
    value = document.value
    if isinstance(value, Mapping):
        if TOP_KEY in value:
            return TOP_KEY, _section(value[TOP_KEY], source, TOP_KEY)
        if not strict and (found := _other_section(document, source)):
            return found
        if not strict and looks_like_entry(value):
            return "", [(_entry_name(value, name, source), value)]
        if not strict and value and all(looks_like_entry(entry) for entry in value.values()):
            return "", [(str(label), entry) for label, entry in value.items()]
    raise _wrong_top(value, source, strict=strict)


def _other_section(document: Document, source: str) -> tuple[str, Section] | None:
    value = document.value
    if document.toml and "mcp_servers" in value:
        return "mcp_servers", _section(value["mcp_servers"], source, "mcp_servers")
    for key in _OTHER_KEYS:
        inner = value.get(key)
        if not isinstance(inner, Mapping) or looks_like_entry(inner):
            continue
        for nested in ("servers", TOP_KEY):
            if isinstance(inner.get(nested), Mapping) and not looks_like_entry(inner[nested]):
                return f"{key}.{nested}", _section(inner[nested], source, f"{key}.{nested}")
        return key, _section(inner, source, key)
    return None


def _section(value: Any, source: str, key: str) -> Section:
    if isinstance(value, Mapping):
        return [(str(label), entry) for label, entry in value.items()]
    if isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value):
        return [(str(entry.get("name", f"number {n + 1}")), entry) for n, entry in enumerate(value)]
    raise InvalidError(
        f"{source}: {key} is not an object.", hint=f'Write {{"{TOP_KEY}": {{"name": {{"command": "…"}}}}}}.'
    )


def _entry_name(entry: Mapping[str, Any], name: str | None, source: str) -> str:
    found = name or entry.get("name")
    if isinstance(found, str) and found:
        return found
    hint = 'Write {"NAME": {…}}, or save it with `manyhands servers add-json NAME`.'
    raise InvalidError(f"{source}: this is one server without a name.", hint=hint)


def _wrong_top(value: Any, source: str, *, strict: bool) -> InvalidError:
    example = f'{{"{TOP_KEY}": {{"name": {{"command": "…"}}}}}}'
    if not isinstance(value, Mapping):
        return InvalidError(f"{source}: an object is needed at the top.", hint=f"Write {example}.")
    if not value:
        return InvalidError(f"{source}: it is empty, the key {TOP_KEY} is missing.", hint=f"Write {example}.")
    keys = ", ".join(repr(str(key)) for key in list(value)[:5]) + (", …" if len(value) > 5 else "")
    hint = f"Rename {_closest(value)!r} to {TOP_KEY!r}." if _closest(value) else f"Write {example}."
    also = "" if strict else f" ({', '.join(_OTHER_KEYS[:4])} of other clients are read as well)"
    return InvalidError(
        f"{source}: the top key is {keys}, and servers are read from {TOP_KEY!r}{also}; none was read.",
        hint=hint,
    )


def _closest(value: Mapping[str, Any]) -> str | None:
    """The key under which somebody meant to write servers."""
    for key, inner in value.items():
        letters = "".join(c for c in str(key).lower() if c.isalpha())
        named = letters in ("mcpservers", "mcpserver", "servers", "server", "mcp")
        holds = isinstance(inner, Mapping) and inner and all(looks_like_entry(e) for e in inner.values())
        if named or holds:
            return str(key)
    return None


def _elsewhere(value: Any, source: str) -> list[str]:
    """Servers in parts of a file that we do not read: not silently."""
    projects = value.get("projects") if isinstance(value, Mapping) else None
    if not isinstance(projects, Mapping):
        return []
    return [
        f"{source}: projects.{path} has {len(project[TOP_KEY])} servers of its own, which were not read"
        for path, project in projects.items()
        if isinstance(project, Mapping) and project.get(TOP_KEY)
    ]


def _path(key: str, label: str) -> str:
    return f"{key}.{label}" if key else label
