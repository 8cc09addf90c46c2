"""Rules that mean one server follow it when it gets another name; what means more than it stays."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.servers.naming import full_names, safe_server_name, tool_prefix
from manyhands.servers.types import NameChange
from manyhands.tools.policy import Facts, Policy, Rule
from manyhands.tools.rule_names import followed
from manyhands.tools.types import CallContext, Effect, ToolDefinition

TO = NameChange(3, "ren", "other name", "mcp__ren__")


def rule(effect: Effect = Effect.DENY, **fields: Any) -> Rule:
    return Rule("rule_1", effect, **fields)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"server": "ren"}, {"server": "other name"}),
        ({"server": "ren", "tool": "y*"}, {"server": "other name", "tool": "y*"}),
        ({"tool": "mcp__ren__y"}, {"tool": "mcp__other name__y"}),
        ({"tool": "mcp__ren__*"}, {"tool": "mcp__other name__*"}),
        ({"server": "ren", "session_id": "s"}, {"server": "other name", "session_id": "s"}),
        ({"server": "ren", "project": "*"}, {"server": "other name", "project": "*"}),
    ],
)
def test_a_rule_that_means_the_server_gets_its_new_name(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert followed(rule(**before), TO) == rule(**after)


@pytest.mark.parametrize(
    "fields",
    [
        {"server": "ren*"},
        {"server": "renamed"},
        {"tool": "ren"},
        {"tool": "mcp__ren*"},
        {"tool": "mcp__3__y"},
        {"tool": "mcp__renamed__y"},
        {"server": "ren", "project": "/p"},
        {"effect": Effect.ALLOW, "server": "ren", "project": "*"},
    ],
)
def test_a_rule_that_means_something_else_stays(fields: dict[str, Any]) -> None:
    assert followed(rule(**fields), TO) == rule(**fields)


@pytest.mark.parametrize("after", ["new", "a new [name]", "n" * 60])
@pytest.mark.parametrize("before", ["old", "an old [name]", "o" * 60])
@pytest.mark.parametrize("tool", ["y", "do it?", "t" * 60])
def test_what_was_denied_by_its_full_name_is_denied_under_the_new_one(
    before: str, after: str, tool: str
) -> None:
    old, new = definition(before, tool), definition(after, tool)
    denied = rule(tool=old.full_name)
    assert Policy([denied]).decide(Facts(old, {}, CallContext(direct=True))).effect is Effect.DENY
    prefix = tool_prefix(safe_server_name(before))
    moved = followed(denied, NameChange(3, before, after, prefix, {old.full_name: tool}))
    assert moved is not None
    assert Policy([moved]).decide(Facts(new, {}, CallContext(direct=True))).effect is Effect.DENY
    assert Policy([moved]).decide(Facts(old, {}, CallContext(direct=True))).effect is Effect.ALLOW


def definition(server: str, tool: str) -> ToolDefinition:
    full = full_names(tool_prefix(safe_server_name(server)), [tool])[tool]
    return ToolDefinition(full, tool, "", {"type": "object"}, server, 3)


@pytest.mark.parametrize(
    "fields",
    [{"server": "my server"}, {"tool": "mcp__my-server__x"}, {"tool": "mcp__my server__*"}],
)
def test_what_a_removed_server_was_allowed_goes_and_what_it_was_denied_stays(fields: dict[str, Any]) -> None:
    gone = NameChange(3, "my server", None, "mcp__my-server__")
    assert followed(rule(Effect.ALLOW, **fields), gone) is None
    for kept in (rule(**fields), rule(Effect.ASK, **fields), rule(Effect.ALLOW, **fields, project="/p")):
        assert followed(kept, gone) == kept
    own = NameChange(3, "my server", None, "mcp__my-server__", project="/p")
    assert followed(rule(Effect.ALLOW, **fields, project="/p"), own) is None
    assert followed(rule(Effect.ALLOW, **fields), own) is not None
