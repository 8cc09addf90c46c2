"""Patterns of tools that need no approval, seen before anything runs: one that allows nothing is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from manyhands.cli.client import Api, Json, pages
from manyhands.cli.output import warn
from manyhands.errors import InvalidError

MOST_NAMED = 3
LIST = "`manyhands tools list` shows the names."


def check_allowed(api: Api, channel_id: str, patterns: Sequence[str]) -> None:
    """Refuse what can never match; of a server that nobody has connected yet the tools are not known."""
    if not patterns:
        return
    tools = pages(api, "/tools", query={"channel_id": channel_id})
    for pattern in patterns:
        if any(fnmatchcase(name, pattern) for tool in tools for name in _names(tool)):
            continue
        if pattern.startswith("mcp__"):
            warn(f"--allow {pattern} matches no tool that is known now. {LIST}")
        else:
            raise _without_server(pattern, [t["fullName"] for t in tools if fnmatchcase(t["name"], pattern)])


def _names(tool: Json) -> Iterator[str]:
    yield tool["fullName"]
    if tool.get("serverId") is not None:
        yield f"mcp__{tool['serverName']}__{tool['name']}"
        yield f"mcp__{tool['serverId']}__{tool['name']}"


def _without_server(pattern: str, meant: Sequence[str]) -> InvalidError:
    """Any server could call a tool of its own that, so its name alone allows nothing."""
    if not meant:
        return InvalidError(f"--allow {pattern} matches no tool.", hint=LIST)
    names = ", ".join(meant[:MOST_NAMED]) + (" …" if len(meant) > MOST_NAMED else "")
    return InvalidError(
        f"--allow {pattern} matches no tool: a server's tool needs its full name.", hint=f"Give {names}."
    )
