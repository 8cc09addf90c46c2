"""Everything that decides about a tool, in one view: is it there, is it offered, would a call run; why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from manyhands.tools.catalogue import Found
from manyhands.tools.policy import Decision, Facts, Policy, names_of
from manyhands.tools.types import Effect, Listing


def explain_tool(
    found: Found, listed: Listing, policy: Policy, facts: Facts, obstacle: str | None
) -> dict[str, Any]:
    """What `why` answers for a tool that exists. `listed`: as the list has it; `obstacle`: of its server."""
    definition = listed.definition
    obstacle = obstacle or _unusable(found)
    decision = _decide(found, policy, facts)
    return {
        "name": definition.name,
        "full_name": definition.full_name,
        "exists": True,
        "native": definition.server_id is None,
        "server": definition.server,
        "server_id": definition.server_id,
        "project": definition.project,
        "server_status": listed.status,
        "trust": None if found.server is None else found.server.trust,
        "parallel": None if found.server is None else found.server.parallel,
        "enabled": listed.enabled,
        "preference": None if listed.policy is None else listed.policy.value,
        "changed": listed.changed,
        "diff": listed.diff,
        "repair": listed.repair,
        "annotations": definition.annotations.wire(),
        "callable": found.tool is not None and obstacle is None,
        "offered": listed.offered,
        "reason": listed.reason,
        "obstacle": obstacle,
        "decision": _wire(decision),
        "by_arguments": [_wire(one) for one in _by_arguments(decision, policy, facts)],
    }


def _wire(decision: Decision) -> dict[str, Any]:
    return {"effect": decision.effect.value, "reason": decision.reason, "rule_id": decision.rule_id}


def _unusable(found: Found) -> str | None:
    """What makes every call fail, whoever allows it: a native tool's lack, a definition that was left out."""
    listing = found.listing
    lacks = found.server is None and not listing.offered
    left_out = found.tool is None and listing.enabled and listing.repair is not None
    return listing.reason if lacks or left_out else None


def _decide(found: Found, policy: Policy, facts: Facts) -> Decision:
    """What a call meets whose arguments no rule asks for."""
    decision = policy.decide(facts)
    if decision.effect is Effect.DENY or found.listing.enabled:
        return decision
    return Decision(Effect.DENY, "this tool is switched off")


def _by_arguments(decision: Decision, policy: Policy, facts: Facts) -> Iterator[Decision]:
    """What calls meet instead whose arguments a rule asks for; nothing helps where every call is denied."""
    if decision.effect is Effect.DENY:
        return
    always = [rule for rule in policy.rules if not rule.arguments]
    for rule in policy.rules:
        if rule.arguments:
            matched = Policy([*always, replace(rule, arguments={})]).decide(facts)
            if matched.rule_id == rule.id:
                reason = f"depending on their arguments, by the rule {rule.id} ({rule.describe()})"
                yield replace(matched, reason=reason)


def find_meant(name: str, listings: Iterable[Listing]) -> Listing | None:
    """The tool that a name means although nothing answers to it.

    A server that stands aside (its project is not trusted, or a project's server has taken its place) has its
    number in the names of its tools.
    """
    return next((listing for listing in listings if name in names_of(listing.definition)), None)


def explain_unknown(name: str, similar: list[str]) -> dict[str, Any]:
    """What `why` answers for a name that nothing has."""
    meant = f" Did you mean {' or '.join(similar)}?" if similar else ""
    return {
        "full_name": name,
        "exists": False,
        "offered": False,
        "reason": f"No native tool and no known server has a tool of this name.{meant}",
        "similar": similar,
    }
