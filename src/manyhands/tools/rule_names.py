"""Rules that mean one server, by its name or by full names of its tools, and how they follow it. Pure.

A wildcard in place of a server's name means whatever is called so, and follows nobody.
"""

from __future__ import annotations

from dataclasses import replace

from manyhands.servers.types import NameChange
from manyhands.tools.patterns import exactly
from manyhands.tools.policy import ANY_PROJECT, Rule
from manyhands.tools.types import Effect


def followed(rule: Rule, change: NameChange) -> Rule | None:
    """The rule after the change: with the server's new name, or nothing if what it allowed is gone."""
    if not (_reaches(rule, change) and _means(rule, change)):
        return rule
    if change.after is None:
        return None if rule.effect is Effect.ALLOW else rule
    server = exactly(change.after) if rule.server == exactly(change.before) else rule.server
    part = _tool_part(rule.tool, change)
    return replace(rule, server=server, tool=rule.tool if part is None else _prefix(change.after) + part)


def _reaches(rule: Rule, change: NameChange) -> bool:
    if rule.effect is Effect.ALLOW:
        return rule.project == change.project
    return rule.project in (None, ANY_PROJECT, change.project)


def _means(rule: Rule, change: NameChange) -> bool:
    return rule.server == exactly(change.before) or _tool_part(rule.tool, change) is not None


def _tool_part(tool: str | None, change: NameChange) -> str | None:
    """What a pattern of full names says after the server's part; nothing if it has not this server's."""
    if tool is None:
        return None
    if tool in change.shown:  # it may end in a hash of all of it, which only its own name can replace
        return exactly(change.shown[tool])
    for prefix in (change.prefix, _prefix(change.before)):
        if tool.startswith(prefix):
            return tool[len(prefix) :]
    return None


def _prefix(server: str) -> str:
    return f"mcp__{exactly(server)}__"
