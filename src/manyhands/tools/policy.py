"""Who may call what: allow, ask or deny, with the reason. Pure.

In order, the first that speaks decides: a deny (rule or preference); a definition that changed since it was
allowed; the owner's own call, or what the run was started with; the newest allow or ask rule; the tool's
preference; the server's trust, or the default of a native tool. What nobody can be asked about is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from manyhands.approvals.types import Scope
from manyhands.servers.types import Trust
from manyhands.tools.patterns import arguments_match, exactly, matches_any, name_pattern
from manyhands.tools.types import CallContext, Effect, ToolDefinition

ANY_PROJECT = "*"


@dataclass(frozen=True, slots=True)
class Rule:
    """What a person decided for longer than one call. Patterns that are not given match everything.

    `project` is the directory whose servers are meant: an allow rule without one reaches no project's server,
    whatever its name; a deny or ask rule without one reaches all.
    """

    id: str
    effect: Effect
    server: str | None = None
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    project: str | None = None
    channel_id: str | None = None
    session_id: str | None = None
    note: str | None = None
    created_at: datetime | None = None

    def describe(self) -> str:
        """In words, for a person."""
        parts = [self.effect.value, self.tool or "every tool"]
        if self.server:
            parts.append(f"of {self.server}")
        if self.arguments:
            parts.append("with " + ", ".join(f"{key}={value}" for key, value in self.arguments.items()))
        if self.session_id:
            parts.append("in this session")
        elif self.channel_id:
            parts.append(f"in channel {self.channel_id}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that a decision rests on."""

    definition: ToolDefinition
    arguments: Mapping[str, Any]
    context: CallContext
    session_id: str = ""
    trust: Trust | None = None
    default: Effect = Effect.ASK
    preference: Effect | None = None
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided and why."""

    effect: Effect
    reason: str
    rule_id: str | None = None


class Policy:
    """A set of rules, ready to be asked."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        newest_first = sorted(rules, key=lambda rule: rule.id, reverse=True)
        self.rules: Sequence[Rule] = newest_first
        self._deny = [_Matcher(rule) for rule in newest_first if rule.effect is Effect.DENY]
        self._others = [_Matcher(rule) for rule in newest_first if rule.effect is not Effect.DENY]

    def decide(self, facts: Facts) -> Decision:
        """What happens to this call."""
        decision = self._decide(facts)
        if decision.effect is Effect.ASK and not facts.context.attended:
            reason = f"nobody can be asked: the call is unattended, and {decision.reason}"
            return Decision(Effect.DENY, reason, decision.rule_id)
        return decision

    def denial(self, definition: ToolDefinition, channel_id: str | None = None) -> Decision | None:
        """The rule that denies every call of a tool, whatever its arguments."""
        if not self._deny:
            return None
        facts = Facts(definition, {}, CallContext(channel_id=channel_id))
        for matcher in self._deny:
            if not matcher.rule.arguments and not matcher.rule.session_id and matcher.matches(facts):
                return _by_rule(matcher.rule, "denied by the rule")
        return None

    def _decide(self, facts: Facts) -> Decision:
        for matcher in self._deny:
            if matcher.matches(facts):
                return _by_rule(matcher.rule, "denied by the rule")
        if facts.preference is Effect.DENY:
            return Decision(Effect.DENY, "this tool is set to deny")
        if facts.changed:
            return Decision(Effect.ASK, "its definition has changed since it was allowed")
        if facts.context.direct:
            return Decision(Effect.ALLOW, "the owner calls it directly")
        if pattern := matches_any(facts.context.allow, names_of(facts.definition)):
            return Decision(Effect.ALLOW, f"this run may use {pattern!r} without asking")
        for matcher in self._others:
            if matcher.matches(facts):
                allows = matcher.rule.effect is Effect.ALLOW
                return _by_rule(
                    matcher.rule, "allowed by the rule" if allows else "asked because of the rule"
                )
        if facts.preference is not None:
            return Decision(facts.preference, f"this tool is set to {facts.preference.value}")
        return _standing(facts)


def _standing(facts: Facts) -> Decision:
    """What holds when no person has said anything about it. A tool's own words only make that stricter."""
    server = facts.definition.server
    if facts.trust is None:
        return Decision(facts.default, f"the default of this native tool is {facts.default.value}")
    if facts.trust == "full":
        return Decision(Effect.ALLOW, f"the server {server} has full trust")
    if facts.trust == "trusted":
        if facts.definition.annotations.says_destructive:
            return Decision(
                Effect.ASK, f"the server {server} is trusted, but this tool says it is destructive"
            )
        return Decision(Effect.ALLOW, f"the server {server} is trusted")
    return Decision(Effect.ASK, f"the server {server} asks for every call")


def names_of(definition: ToolDefinition) -> tuple[str, ...]:
    """The full names by which a person may mean a tool."""
    if definition.server_id is None:
        return (definition.full_name,)
    return (
        definition.full_name,
        f"mcp__{definition.server}__{definition.name}",
        f"mcp__{definition.server_id}__{definition.name}",
    )


def reaches_nothing(rule: Rule, native: Iterable[str]) -> bool:
    """Whether it allows a tool by its own name alone, and no native tool has that name."""
    if rule.effect is not Effect.ALLOW or rule.server or not rule.tool:
        return False
    head = re.split(r"[*?[]", rule.tool, maxsplit=1)[0]
    full = head.startswith("mcp__") or "mcp__".startswith(head)
    return not full and matches_any([rule.tool], native) is None


def rule_of_answer(scope: Scope, definition: ToolDefinition, session_id: str) -> Rule | None:
    """The rule that an approval for longer than once stands for; it has no id yet."""
    if scope == "once":
        return None
    return Rule(
        "",
        Effect.ALLOW,
        server=exactly(definition.server),
        tool=None if scope == "server" else exactly(definition.name),
        project=definition.project,
        session_id=session_id if scope == "session" else None,
        note="answered in the inbox",
    )


class _Matcher:
    """A rule with its patterns compiled."""

    __slots__ = ("_loosening", "_server", "_tool", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._loosening = rule.effect is Effect.ALLOW
        self._server: re.Pattern[str] | None = name_pattern(rule.server) if rule.server else None
        self._tool: re.Pattern[str] | None = name_pattern(rule.tool) if rule.tool else None

    def matches(self, facts: Facts) -> bool:
        rule = self.rule
        return (
            (rule.session_id is None or rule.session_id == facts.session_id)
            and self._channel_matches(facts.context)
            and self._project_matches(facts.definition.project)
            and (self._server is None or self._server.match(facts.definition.server) is not None)
            and self._tool_matches(facts.definition)
            and (not rule.arguments or self._arguments_match(facts))
        )

    def _channel_matches(self, context: CallContext) -> bool:
        """A rule for a channel holds in its threads, too: no thread is a way round it."""
        wanted = self.rule.channel_id
        return wanted is None or wanted == context.channel_id or wanted in context.above

    def _project_matches(self, project: str | None) -> bool:
        if self.rule.project is None:
            return project is None or not self._loosening
        return self.rule.project in (ANY_PROJECT, project)

    def _tool_matches(self, definition: ToolDefinition) -> bool:
        """A name without its server means that tool of every server only where it restricts."""
        if self._tool is None:
            return True
        if any(self._tool.match(name) for name in names_of(definition)):
            return True
        return (self._server is not None or not self._loosening) and self._tool.match(
            definition.name
        ) is not None

    def _arguments_match(self, facts: Facts) -> bool:
        return arguments_match(
            self.rule.arguments,
            facts.arguments,
            loosening=self._loosening,
            directory=facts.context.directory,
        )


def _by_rule(rule: Rule, how: str) -> Decision:
    return Decision(rule.effect, f"{how} {rule.id} ({rule.describe()})", rule.id)
