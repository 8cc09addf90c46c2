"""A server's configuration where it enters: field by field, with the place of every mistake.

What comes in is wire JSON from the API, the command line or a file of our own shape; how other clients write
it is known to `config_files`. What goes out is a `ServerConfig`, and notes about what had to be trimmed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from manyhands.errors import InvalidError
from manyhands.servers.naming import check_server_name
from manyhands.servers.types import Parallel, ServerConfig, Transport, Trust

Milliseconds = Annotated[int, Field(ge=1, le=86_400_000)]

SHOWN_ONLY = frozenset(
    {
        "id",
        "status",
        "error",
        "tool_count",
        "version",
        "protocol",
        "capabilities",
        "instructions",
        "pid",
        "project",
        "held",
        "restarts",
        "attempt",
        "attempts_max",
        "exit_code",
        "rss",
        "safe_name",
        "problem",
        "repairs",
        "since",
        "connect_ms",
        "sign_in_url",
        "signed_in",
        "trusted",
        "created_at",
        "updated_at",
    }
)
"""What a server shows and nobody can set; sent back, it is passed over."""

_TRANSPORTS = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "https": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamablehttp": "http",
    "remote": "http",
    "sse": "sse",
}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_KEYRING = re.compile(r"\$\{keyring:")


class ServerInput(BaseModel):
    """A server as it is written: `command` and `args` for stdio, `url` and `headers` for http and sse."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="Unique name; it becomes part of tool names.")
    transport: Transport = Field("stdio", description="stdio, http (streamable HTTP) or sse (legacy).")
    command: str | None = Field(None, description="Program to start (stdio).")
    args: list[str] = Field(default_factory=list, description="Its arguments.")
    env: dict[str, str] = Field(
        default_factory=dict, description="Environment variables; values are secrets."
    )
    cwd: str | None = Field(None, description="Directory to start it in.")
    url: str | None = Field(None, description="Address (http, sse).")
    headers: dict[str, str] = Field(default_factory=dict, description="HTTP headers; values are secrets.")
    enabled: bool = Field(True, description="Whether it connects at start.")
    trust: Trust = Field("ask", description="ask, trusted or full.")
    tool_timeout: Milliseconds = Field(30_000, description="Milliseconds a call may take.")
    connect_timeout: Milliseconds = Field(30_000, description="Milliseconds connecting may take.")
    parallel: Parallel = Field("all", description="Which calls may run side by side: all, read_only, none.")

    channel_push: str | None = Field(
        None, max_length=64, description="Id of the channel it may push messages into; none by default."
    )

    @model_validator(mode="before")
    @classmethod
    def _tolerate(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        fields = {key: value for key, value in data.items() if key not in SHOWN_ONLY and value is not None}
        fields["transport"] = _transport_of(fields)
        return fields

    @field_validator("env", "headers", mode="before")
    @classmethod
    def _as_text(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {key: _scalar_text(value) for key, value in values.items()}

    @model_validator(mode="after")
    def _reachable(self) -> ServerInput:
        if self.transport == "stdio" and not (self.command and self.command.strip()):
            raise ValueError("a stdio server needs `command`, the program to start")
        if self.transport != "stdio":
            _check_url(self.transport, self.url)
        return self


@dataclass(frozen=True, slots=True)
class Parsed:
    """A configuration that may be saved, and what was changed to get it."""

    config: ServerConfig
    notes: tuple[str, ...] = ()


def parse_config(data: Any, where: str = "") -> Parsed:
    """Check a server as it was written; `where` names the file and key it came from."""
    try:
        written = ServerInput.model_validate(data)
    except ValidationError as error:
        raise _explain(error, where) from error
    notes: list[str] = []
    trimmed = _trimmed(written, where, notes)
    _check_texts(trimmed, where)
    check_server_name(trimmed["name"])
    return Parsed(ServerConfig(**trimmed), tuple(notes))


def _trimmed(written: ServerInput, where: str, notes: list[str]) -> dict[str, Any]:
    def trim(text: str, key: str) -> str:
        if text != text.strip():
            notes.append(f"{_place(where, key)}: white space at the ends was removed")
        return text.strip()

    fields = written.model_dump()
    for key in ("name", "command", "cwd", "url"):
        if fields[key] is not None:
            fields[key] = trim(fields[key], key) or None
    for key in ("env", "headers"):
        fields[key] = {
            trim(name, f"{key}.{name.strip()}"): trim(value, f"{key}.{name.strip()}")
            for name, value in fields[key].items()
        }
    for index, argument in enumerate(written.args):
        if argument != argument.strip():
            notes.append(f"{_place(where, f'args[{index}]')}: has white space at the ends; it is kept")
    return {**fields, "name": fields["name"] or "", "args": tuple(fields["args"])}


def _check_texts(fields: Mapping[str, Any], where: str) -> None:
    for index, argument in enumerate(fields["args"]):
        if _KEYRING.search(argument):
            raise InvalidError(
                f"{_place(where, f'args[{index}]')}: a secret in the arguments can be seen by every process.",
                hint="Put it into env instead, or use the server's way to read it from a file.",
            )
    for key in fields["env"]:
        if not key or "=" in key:
            raise InvalidError(f"{_place(where, 'env')}: {key!r} cannot be the name of a variable.")
    for key in fields["headers"]:
        if not _HEADER_NAME.fullmatch(key):
            raise InvalidError(f"{_place(where, 'headers')}: {key!r} cannot be the name of a header.")
    cwd = fields["cwd"]
    if cwd and not os.path.isabs(os.path.expanduser(cwd)) and "${" not in cwd:
        raise InvalidError(f"{_place(where, 'cwd')}: {cwd!r} is relative.", hint="Give an absolute path.")
    for place, text in _texts(fields):
        if "\0" in text or (place.startswith("headers") and re.search(r"[\r\n]", text)):
            raise InvalidError(f"{_place(where, place)}: holds a character that cannot be sent.")


def _texts(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = [(key, fields[key]) for key in ("command", "cwd", "url") if fields[key]]
    found += [(f"args[{index}]", argument) for index, argument in enumerate(fields["args"])]
    return found + [
        (f"{key}.{name}", text) for key in ("env", "headers") for name, text in fields[key].items()
    ]


def _transport_of(fields: Mapping[str, Any]) -> Any:
    written = fields.get("transport")
    if isinstance(written, str):
        return _TRANSPORTS.get(written.strip().lower(), written)
    if written is not None:
        return written
    return "http" if fields.get("url") and not fields.get("command") else "stdio"


def _check_url(transport: str, url: str | None) -> None:
    if not url or not url.strip():
        raise ValueError(f"a server over {transport} needs `url`")
    if "${" in url:
        return
    try:
        parts = urlsplit(url.strip())
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError("`url` is no address; one such as http://127.0.0.1:3000/mcp is needed")


def _scalar_text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _place(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _explain(error: ValidationError, where: str) -> InvalidError:
    """The first mistake with its place; values are left out, since they may be secrets."""
    first = error.errors(include_url=False, include_input=False)[0]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "there is no such field"
    place = _place(where, path) if path else where
    known = ", ".join(ServerInput.model_fields)
    return InvalidError(
        f"{place or 'The server'}: {message}.",
        hint=f"Fields: {known}." if first["type"] in ("extra_forbidden", "missing") else None,
    )
