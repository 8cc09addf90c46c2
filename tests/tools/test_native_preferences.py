"""What a person wants of a native tool is a few rules, and is read back from them."""

from __future__ import annotations

from dataclasses import replace

from manyhands.tools.native_preferences import (
    NativePreference,
    off_rule,
    policy_rule,
    preference_of,
    rules_about,
    with_preference,
)
from manyhands.tools.policy import Rule
from manyhands.tools.types import Effect, Listing, ToolDefinition

LISTING = Listing(ToolDefinition("fetch_url", "fetch_url", "Fetch.", {}), True, "native")


def test_nothing_said_is_on_with_the_tools_own_default() -> None:
    assert preference_of("fetch_url", []) == NativePreference()
    assert with_preference(LISTING, []) is LISTING


def test_off_is_a_rule_and_the_reason_says_so() -> None:
    listing = with_preference(LISTING, [off_rule("fetch_url")])
    assert (listing.enabled, listing.offered, listing.reason) == (False, False, "this tool is switched off")


def test_the_newest_rule_is_the_policy_but_a_deny_comes_first() -> None:
    allow, ask, deny = (
        policy_rule("fetch_url", effect) for effect in (Effect.ALLOW, Effect.ASK, Effect.DENY)
    )
    assert preference_of("fetch_url", [ask, allow]).policy is Effect.ASK
    assert preference_of("fetch_url", [allow, deny]).policy is Effect.DENY
    assert preference_of("fetch_url", [off_rule("fetch_url"), allow]) == NativePreference(False, Effect.ALLOW)


def test_rules_for_some_calls_or_other_tools_are_no_preference() -> None:
    rule = policy_rule("fetch_url", Effect.ALLOW)
    others: list[Rule] = [
        replace(rule, arguments={"url": "https://a/*"}),
        replace(rule, channel_id="c"),
        replace(rule, session_id="s"),
        replace(rule, server="git"),
        policy_rule("read_file", Effect.ALLOW),
    ]
    assert rules_about("fetch_url", others) == []
