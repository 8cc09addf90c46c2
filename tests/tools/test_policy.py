"""Who may call what: one order of deciding, a reason for every decision, deny always wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.approvals.types import Scope
from manyhands.tools.policy import (
    ANY_PROJECT,
    Decision,
    Facts,
    Policy,
    Rule,
    reaches_nothing,
    rule_of_answer,
)
from manyhands.tools.types import Annotations, CallContext, Effect, ToolDefinition

ALLOW, ASK, DENY = Effect.ALLOW, Effect.ASK, Effect.DENY

PUSH = ToolDefinition("mcp__git__push", "push", "", {}, server="git", server_id=3)
READ = ToolDefinition("read_file", "read_file", "", {})


def facts(definition: ToolDefinition = PUSH, arguments: dict[str, Any] | None = None, **more: Any) -> Facts:
    context = more.pop("context", CallContext(channel_id="ch", directory="/p"))
    trust = more.pop("trust", "ask" if definition.server_id else None)
    return Facts(definition, arguments or {}, context, "session", trust=trust, **more)


def decide(given: Facts, *rules: Rule) -> Decision:
    return Policy(rules).decide(given)


# --- what holds without rules


@pytest.mark.parametrize(
    ("trust", "destructive", "effect"),
    [
        ("ask", False, ASK),
        ("ask", True, ASK),
        ("trusted", False, ALLOW),
        ("trusted", True, ASK),
        ("full", False, ALLOW),
        ("full", True, ALLOW),
    ],
)
def test_trust_of_a_server(trust: Any, destructive: bool, effect: Effect) -> None:
    tool = replace(PUSH, annotations=Annotations(says_destructive=destructive))
    assert decide(facts(tool, trust=trust)).effect is effect


@pytest.mark.requirement("L24")
def test_a_tool_that_says_it_only_reads_is_asked_about_all_the_same() -> None:
    tool = replace(PUSH, annotations=Annotations.from_wire({"readOnlyHint": True, "destructiveHint": False}))
    assert decide(facts(tool)).effect is ASK


@pytest.mark.requirement("L24")
def test_of_a_trusted_server_only_what_says_it_is_destructive_asks() -> None:
    silent = replace(PUSH, annotations=Annotations.from_wire({}))
    loud = replace(PUSH, annotations=Annotations.from_wire({"destructiveHint": True}))
    assert silent.annotations.destructive  # by the protocol's reading it may be
    assert decide(facts(silent, trust="trusted")).effect is ALLOW
    assert decide(facts(loud, trust="trusted")).effect is ASK


def test_a_native_tool_has_its_own_default() -> None:
    assert decide(facts(READ, default=ALLOW)).effect is ALLOW
    assert decide(facts(READ, default=ASK)).effect is ASK


# --- the order


def test_each_step_beats_the_ones_after_it() -> None:
    deny = Rule("rule_1", DENY, tool="mcp__git__*")
    allow = Rule("rule_2", ALLOW, server="git")
    direct = CallContext(direct=True)
    run = CallContext(allow=["mcp__git__*"])
    assert decide(facts(context=direct), deny).effect is DENY
    assert decide(facts(preference=DENY, context=direct)).effect is DENY
    assert decide(facts(changed=True, context=direct), allow).effect is ASK
    assert decide(facts(context=direct)).effect is ALLOW
    assert decide(facts(context=run), Rule("rule_3", ASK, server="git")).effect is ALLOW
    assert decide(facts(preference=ASK), allow).effect is ALLOW
    assert decide(facts(preference=ASK, trust="full")).effect is ASK
    assert decide(facts(preference=ALLOW)).effect is ALLOW


@pytest.mark.requirement("L25")
def test_a_changed_definition_asks_again_although_it_was_allowed() -> None:
    decision = decide(
        facts(changed=True, trust="full", preference=ALLOW), Rule("rule_1", ALLOW, server="git")
    )
    assert decision.effect is ASK
    assert "changed" in decision.reason


def test_the_newest_of_allow_and_ask_rules_counts() -> None:
    older, newer = Rule("rule_1", ASK, server="git", tool="push"), Rule("rule_2", ALLOW, server="git")
    assert decide(facts(), older, newer).effect is ALLOW
    older, newer = Rule("rule_1", ALLOW, server="git"), Rule("rule_2", ASK, server="git", tool="push")
    assert decide(facts(), newer, older).effect is ASK


def test_every_decision_names_its_reason_and_its_rule() -> None:
    rule = Rule("rule_7", DENY, server="git", tool="pu*", arguments={"branch": "main"})
    decision = decide(facts(arguments={"branch": "main"}), rule)
    assert decision.rule_id == "rule_7"
    assert decision.reason == "denied by the rule rule_7 (deny pu* of git with branch=main)"
    assert decide(facts()).reason == "the server git asks for every call"


# --- what rules match


@pytest.mark.parametrize(
    "rule",
    [
        Rule("r", ALLOW, server="git"),
        Rule("r", ALLOW, server="g*"),
        Rule("r", ALLOW, server="git", tool="push"),
        Rule("r", ALLOW, server="git", tool="p?sh"),
        Rule("r", ALLOW, tool="mcp__git__push"),
        Rule("r", ALLOW, tool="mcp__git__*"),
        Rule("r", ALLOW, tool="mcp__3__push"),
        Rule("r", ALLOW, tool="*"),
        Rule("r", ALLOW, server="git", channel_id="ch"),
        Rule("r", ALLOW, server="git", session_id="session"),
        Rule("r", ALLOW, server="git", arguments={"path": "docs/**"}),
    ],
)
def test_a_rule_that_matches(rule: Rule) -> None:
    assert decide(facts(arguments={"path": "docs/a"}), rule).effect is ALLOW


@pytest.mark.parametrize(
    "rule",
    [
        Rule("r", ALLOW, server="gi"),
        Rule("r", ALLOW, server="git", tool="pull"),
        Rule("r", ALLOW, tool="push"),  # a bare name would reach every server's tool of that name
        Rule("r", ALLOW, server="git", channel_id="other"),
        Rule("r", ALLOW, server="git", session_id="other"),
        Rule("r", ALLOW, server="git", arguments={"path": "src/**"}),
        Rule("r", ALLOW, server="git", project="/p"),
    ],
)
def test_a_rule_that_does_not_match(rule: Rule) -> None:
    assert decide(facts(arguments={"path": "docs/a"}), rule).effect is ASK


def test_a_bare_tool_name_denies_it_on_every_server() -> None:
    assert decide(facts(trust="full"), Rule("r", DENY, tool="push")).effect is DENY


@pytest.mark.requirement("L22")
@pytest.mark.parametrize(
    "pattern", ["*", "mcp__*", "mcp__git__*", "mcp__git__push", "mcp__*__push", "mcp__3__*"]
)
def test_a_wildcard_of_a_run_does_not_ask(pattern: str) -> None:
    loud = replace(PUSH, annotations=Annotations(says_destructive=True))
    assert decide(facts(loud, context=CallContext(allow=[pattern]))).effect is ALLOW


def test_what_is_allowed_for_a_global_server_is_not_allowed_for_a_projects_server_of_that_name() -> None:
    project = replace(PUSH, project="/somewhere")
    assert decide(facts(project), Rule("r", ALLOW, server="git")).effect is ASK
    assert decide(facts(project), Rule("r", ALLOW, server="git", project="/somewhere")).effect is ALLOW
    assert decide(facts(project), Rule("r", ALLOW, server="git", project=ANY_PROJECT)).effect is ALLOW
    assert decide(facts(project, trust="full"), Rule("r", DENY, server="git")).effect is DENY


# --- answers as rules


@pytest.mark.requirement("L22")
@pytest.mark.parametrize("scope", ["session", "tool", "server"])
def test_a_yes_for_longer_than_once_sticks(scope: Scope) -> None:
    odd = replace(PUSH, server="git [x]*", name="push[1]?", full_name="mcp__git-x__push_h4sh")
    rule = rule_of_answer(scope, odd, "session")
    assert rule is not None
    kept = replace(rule, id="rule_2")
    assert decide(facts(odd), Rule("rule_1", ASK, tool="*"), kept).effect is ALLOW


def test_how_far_a_yes_reaches() -> None:
    other = replace(PUSH, name="pull", full_name="mcp__git__pull")
    tool, server = rule_of_answer("tool", PUSH, "s"), rule_of_answer("server", PUSH, "s")
    session = rule_of_answer("session", PUSH, "another session")
    assert tool is not None
    assert server is not None
    assert session is not None
    assert decide(facts(other), tool).effect is ASK
    assert decide(facts(other), server).effect is ALLOW
    assert decide(facts(), session).effect is ASK
    assert rule_of_answer("once", PUSH, "s") is None


# --- nobody to ask


@pytest.mark.requirement("L22")
@pytest.mark.parametrize(
    ("tool", "server", "nothing"),
    [
        ("get_current_time", None, True),
        ("get_*", None, True),
        ("get_current_time", "time", False),
        ("mcp__time__*", None, False),
        ("*_time", None, False),
        ("write_*", None, False),
    ],
)
def test_an_allow_rule_that_could_never_help_is_known_as_such(
    tool: str, server: str | None, nothing: bool
) -> None:
    assert reaches_nothing(Rule("", Effect.ALLOW, server, tool), ["read_file", "write_file"]) is nothing
    assert not reaches_nothing(Rule("", Effect.DENY, server, tool), ["read_file", "write_file"])


def test_what_would_ask_is_denied_when_nobody_can_be_asked_and_says_so() -> None:
    decision = decide(facts(context=CallContext(attended=False)))
    assert decision.effect is DENY
    assert "unattended" in decision.reason
    assert "asks for every call" in decision.reason


def test_an_unattended_run_may_use_what_it_was_given() -> None:
    assert decide(facts(context=CallContext(attended=False, allow=["mcp__git__*"]))).effect is ALLOW


# --- denied outright


def test_a_tool_is_denied_outright_only_by_a_rule_without_conditions() -> None:
    policy = Policy([Rule("r", DENY, server="git", arguments={"force": True})])
    assert policy.denial(PUSH) is None
    outright = Policy([Rule("r", DENY, server="git")]).denial(PUSH)
    assert outright is not None
    assert outright.rule_id == "r"
    assert Policy([Rule("r", DENY, server="git", channel_id="ch")]).denial(PUSH, "other") is None


# --- properties

effects = st.sampled_from([ALLOW, ASK, DENY])
globs = st.sampled_from([None, "*", "git", "push", "mcp__git__*", "mcp__*__push", "other", "read_file", "g*"])
rules = st.lists(
    st.builds(
        Rule,
        st.integers(1, 99).map(lambda n: f"rule_{n:02}"),
        effects,
        server=globs,
        tool=globs,
        arguments=st.sampled_from([{}, {"path": "docs/**"}, {"force": True}]),
        project=st.sampled_from([None, "*", "/p"]),
        channel_id=st.sampled_from([None, "ch", "other"]),
        session_id=st.sampled_from([None, "session", "other"]),
    ),
    max_size=6,
)
contexts = st.builds(
    CallContext,
    channel_id=st.sampled_from([None, "ch"]),
    attended=st.booleans(),
    direct=st.booleans(),
    allow=st.sampled_from([(), ("*",), ("mcp__git__push",), ("nothing",)]),
)
situations = st.builds(
    Facts,
    st.sampled_from([PUSH, replace(PUSH, project="/p")]),
    st.sampled_from([{}, {"path": "docs/a"}, {"path": "src/a", "force": True}]),
    contexts,
    st.just("session"),
    trust=st.sampled_from(["ask", "trusted", "full"]),
    preference=st.sampled_from([None, ALLOW, ASK, DENY]),
    changed=st.booleans(),
)
STRICTNESS = {ALLOW: 0, ASK: 1, DENY: 2}


@given(situations, rules)
def test_deny_always_wins(given_facts: Facts, given_rules: Sequence[Rule]) -> None:
    with_deny = [*given_rules, Rule("rule_00", DENY, server="git")]
    assert Policy(with_deny).decide(given_facts).effect is DENY


@pytest.mark.requirement("L24")
@given(situations, rules, st.booleans(), st.booleans())
def test_what_a_tool_says_of_itself_never_loosens(
    given_facts: Facts, given_rules: Sequence[Rule], read_only: bool, destructive: bool
) -> None:
    hints = Annotations.from_wire({"readOnlyHint": read_only, "destructiveHint": destructive})
    silent = replace(given_facts.definition, annotations=Annotations.from_wire(None))
    policy = Policy(given_rules)
    before = policy.decide(replace(given_facts, definition=silent)).effect
    after = policy.decide(replace(given_facts, definition=replace(silent, annotations=hints))).effect
    assert STRICTNESS[after] >= STRICTNESS[before]


@given(situations, rules)
def test_an_unattended_call_is_never_asked_about(given_facts: Facts, given_rules: Sequence[Rule]) -> None:
    context = replace(given_facts.context, attended=False)
    assert Policy(given_rules).decide(replace(given_facts, context=context)).effect is not ASK


@given(situations, rules)
def test_every_decision_has_a_reason_and_a_rule_that_exists(
    given_facts: Facts, given_rules: Sequence[Rule]
) -> None:
    decision = Policy(given_rules).decide(given_facts)
    assert decision.reason
    assert decision.rule_id is None or decision.rule_id in {rule.id for rule in given_rules}


@given(situations, rules)
def test_nobody_is_allowed_more_because_a_definition_changed(
    given_facts: Facts, given_rules: Sequence[Rule]
) -> None:
    changed = Policy(given_rules).decide(replace(given_facts, changed=True)).effect
    assert changed is not ALLOW
