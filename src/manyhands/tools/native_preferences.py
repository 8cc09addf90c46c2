"""What a person wants of a native tool: kept as rules, read back as on or off and a policy. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from manyhands.tools.patterns import exactly
from manyhands.tools.policy import Rule
from manyhands.tools.types import NATIVE, Effect, Listing

OFF = "switched off"
SET = "set by hand"


@dataclass(frozen=True, slots=True)
class NativePreference:
    """Whether the tool is on, and what its calls need when that is not its default."""

    enabled: bool = True
    policy: Effect | None = None


def off_rule(name: str) -> Rule:
    """The rule that switches it off."""
    return Rule("", Effect.DENY, server=NATIVE, tool=exactly(name), note=OFF)


def policy_rule(name: str, effect: Effect) -> Rule:
    """The rule that says what its calls need."""
    return Rule("", effect, server=NATIVE, tool=exactly(name), note=SET)


def rules_about(name: str, rules: Iterable[Rule]) -> Sequence[Rule]:
    """Those that mean this one native tool, everywhere and whatever its arguments."""
    return [
        rule
        for rule in rules
        if rule.tool == exactly(name)
        and rule.server in (NATIVE, exactly(NATIVE))
        and not (rule.arguments or rule.channel_id or rule.session_id)
    ]


def preference_of(name: str, rules: Iterable[Rule]) -> NativePreference:
    """What these rules (newest first) say of it."""
    about = rules_about(name, rules)
    effects = [rule.effect for rule in about if rule.note != OFF]
    chosen = Effect.DENY if Effect.DENY in effects else next(iter(effects), None)
    return NativePreference(all(rule.note != OFF for rule in about), chosen)


def with_preference(listing: Listing, rules: Iterable[Rule]) -> Listing:
    """The listing of a native tool as a person wants it."""
    wanted = preference_of(listing.definition.name, rules)
    if wanted == NativePreference():
        return listing
    listing = replace(listing, enabled=wanted.enabled, policy=wanted.policy)
    return listing if wanted.enabled else replace(listing, offered=False, reason="this tool is switched off")
