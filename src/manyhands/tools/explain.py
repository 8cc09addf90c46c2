"""Everything that decides about a tool, in one view: is it there, is it offered, would a call run; why."""

from __future__ import annotations

from typing import Any

from manyhands.tools.catalogue import Found
from manyhands.tools.policy import Decision


def explain_tool(found: Found, decision: Decision, reason_not_offered: str | None) -> dict[str, Any]:
    """What `why` answers for a tool that exists."""
    listing, definition = found.listing, found.listing.definition
    return {
        "name": definition.name,
        "full_name": definition.full_name,
        "exists": True,
        "native": definition.server_id is None,
        "server": definition.server,
        "server_id": definition.server_id,
        "project": definition.project,
        "server_status": listing.status,
        "trust": None if found.server is None else found.server.trust,
        "parallel": None if found.server is None else found.server.parallel,
        "enabled": listing.enabled,
        "preference": None if listing.policy is None else listing.policy.value,
        "changed": listing.changed,
        "diff": listing.diff,
        "repair": listing.repair,
        "annotations": definition.annotations.wire(),
        "callable": found.tool is not None,
        "offered": listing.offered and reason_not_offered is None,
        "reason": reason_not_offered or listing.reason,
        "decision": {
            "effect": decision.effect.value,
            "reason": decision.reason,
            "rule_id": decision.rule_id,
        },
    }


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
