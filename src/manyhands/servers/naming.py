"""Names that a model sees: how they are made safe, kept short, kept apart, and taken apart again. Pure.

A full name is `mcp__<server>__<tool>`. A server's safe form never holds `__`, never ends in `_` and is never
only digits, so the first `__` after the prefix always ends it, and `mcp__<number>__<tool>` can only be an id.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Literal

from manyhands.errors import InvalidError

Namespace = Literal["name", "id"]

PREFIX = "mcp__"
SEPARATOR = "__"
MAX_FULL_NAME = 64
MAX_SERVER_NAME = 128
_HASH_LENGTH = 10
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def safe_server_name(name: str) -> str:
    """The form of a server's name that goes into tool names; accents are dropped, other signs become `-`."""
    plain = _made_safe(name)
    if not re.search(r"[A-Za-z0-9]", plain):
        return f"server-{short_hash(unicodedata.normalize('NFC', name))}"
    bare = plain.rstrip("_")
    return bare + "-" * (len(plain) - len(bare))


def check_server_name(name: str) -> str:
    """The safe form of a name that may be used, or an error that says why it may not."""
    if not name.strip():
        raise InvalidError("The server has no name.", hint="Give it one, such as `time`.")
    if len(name) > MAX_SERVER_NAME:
        raise InvalidError(
            f"The server name {name[:40]!r}… has {len(name)} characters.",
            hint=f"Give it a name of at most {MAX_SERVER_NAME} characters.",
        )
    if not name.isprintable():
        raise InvalidError(f"The server name {name!r} holds invisible characters.", hint="Remove them.")
    if SEPARATOR in _made_safe(name):
        raise InvalidError(
            f"The server name {name!r} holds `__`, which separates server and tool in tool names.",
            hint="Use a single `_` or a `-`.",
        )
    safe = safe_server_name(name)
    if safe.isdigit():
        raise InvalidError(
            f"The server name {name!r} is only digits, and so could be taken for a server's id.",
            hint="Add a letter to it.",
        )
    return safe


def name_key(safe_name: str) -> str:
    """What must be unique: names that differ only in case are one name to most people."""
    return safe_name.lower()


def tool_prefix(server: str | int) -> str:
    """Where the full names of a server's tools begin; `server` is its safe name or its id."""
    return f"{PREFIX}{server}{SEPARATOR}"


def full_names(prefix: str, tools: Iterable[str]) -> dict[str, str]:
    """The full name of each tool.

    It depends on the set of tools and not on their order. A tool whose name is safe, short enough and alone
    with its spelling keeps it; any other one ends in a hash of its original name.
    """
    names = sorted(set(tools))
    fitting = [name for name in names if _fits(prefix, name)]
    spellings = Counter(name.lower() for name in fitting)
    result = {name: prefix + name for name in fitting if spellings[name.lower()] == 1}
    taken = {full.lower() for full in result.values()}
    for name in names:
        if name not in result:
            result[name] = _hashed(prefix, name, taken)
            taken.add(result[name].lower())
    return result


def split_name(full_name: str) -> tuple[str, str] | None:
    """Server part and tool part of a full name; nothing when it has none (native, or cut too early)."""
    if not full_name.startswith(PREFIX):
        return None
    server, separator, tool = full_name[len(PREFIX) :].partition(SEPARATOR)
    return (server, tool) if separator and server and tool else None


def prompt_commands(server: str, prompts: Iterable[str]) -> dict[str, str]:
    """How each prompt is called as a command: `/server:prompt`, made safe in the same way as tool names."""
    return full_names(f"/{server}:", prompts)


class ToolNames:
    """The full names of one server's tools, with its name and with its id, and the way back."""

    def __init__(self, safe_name: str, server_id: int, tools: Iterable[str]) -> None:
        names = list(tools)
        self._prefixes = {"name": tool_prefix(safe_name), "id": tool_prefix(server_id)}
        self._shown = {form: full_names(prefix, names) for form, prefix in self._prefixes.items()}
        self._back = {full: tool for shown in self._shown.values() for tool, full in shown.items()}

    def shown(self, tool: str, form: Namespace) -> str:
        """The name under which a model sees the tool."""
        return self._shown[form][tool]

    def find(self, full_name: str) -> str | None:
        """The tool that a full name means.

        Understood besides the names that are shown: the original name after the prefix, and the hashed name
        that a tool had while another one shared its spelling.
        """
        return self._back.get(full_name) or self._original(full_name) or self._hashed.get(full_name)

    def _original(self, full_name: str) -> str | None:
        for form, prefix in self._prefixes.items():
            name = full_name[len(prefix) :]
            if full_name.startswith(prefix) and name in self._shown[form]:
                return name
        return None

    @cached_property
    def _hashed(self) -> dict[str, str]:
        return {
            _hashed(prefix, tool, ()): tool
            for form, prefix in self._prefixes.items()
            for tool in self._shown[form]
        }


def short_hash(text: str) -> str:
    """Ten characters that stand for a text: 50 bits, the same on every machine."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest)[:_HASH_LENGTH].decode("ascii").lower()


def _made_safe(name: str) -> str:
    if name.isascii():
        return _UNSAFE.sub("-", name)
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return _UNSAFE.sub("-", plain)


def _fits(prefix: str, name: str) -> bool:
    return len(prefix) + len(name) <= MAX_FULL_NAME and bool(name) and not _UNSAFE.search(name)


def _hashed(prefix: str, name: str, taken: Collection[str]) -> str:
    readable = prefix + _made_safe(name)
    for attempt in range(len(taken) + 1):
        digest = short_hash(f"{prefix}{name}" + (f"\n{attempt}" if attempt else ""))
        head = readable[: MAX_FULL_NAME - _HASH_LENGTH - 1]
        # Without this a head cut after `a_` would read as server `a` once `_hash` follows.
        full = f"{head.rstrip('_')}_{digest}"
        if full.lower() not in taken:
            return full
    raise AssertionError("more hashes than names were taken")
