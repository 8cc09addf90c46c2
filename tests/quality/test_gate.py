"""The rules of the gate and its verdict."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.errors import InvalidError
from manyhands.quality.gate import GateProblem, GateRules, decide, parse_rules

PROBLEM = GateProblem("function", "a.py", 1, "f: lines is 90 (at most 60)", "f")


def test_rules_are_read_from_what_a_person_writes() -> None:
    rules = parse_rules({"cognitive": 20, "clones": False, "exclude": ["gen/"], "max_drop": None})
    assert rules == GateRules(cognitive=20, clones=False, exclude=("gen/",))
    assert rules.limits() == {"cognitive": 20}
    assert parse_rules(None) == GateRules()
    assert parse_rules(rules.wire()) == rules


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"speed": 1}, "has no rule 'speed'"),
        ({"lines": "60"}, "rule lines is '60'"),
        ({"lines": True}, "rule lines is True"),
        ({"lines": -1}, "rule lines is -1"),
        ({"clones": 1}, "rule clones is 1"),
        ({"exclude": "gen/"}, "rule exclude is 'gen/'"),
        ({"exclude": [1]}, "no text"),
    ],
)
def test_a_rule_that_is_wrong_is_refused_by_name(rules: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidError, match=said):
        parse_rules(rules)


@pytest.mark.parametrize(
    ("rules", "problems", "signal", "passed"),
    [
        ({}, [], 5000, True),
        ({}, [PROBLEM], 6000, False),
        ({"max_problems": 1}, [PROBLEM], 5000, True),
        ({"max_problems": 1}, [PROBLEM, PROBLEM], 5000, False),
        ({"min_signal": 5001}, [], 5000, False),
        ({"max_drop": 100, "max_problems": 9}, [], 5399, False),
        ({"max_drop": 100}, [], 5400, True),
    ],
)
def test_the_verdict_follows_the_rules(
    rules: dict[str, Any], problems: list[GateProblem], signal: int, passed: bool
) -> None:
    verdict, found, summary = decide(problems, parse_rules(rules), signal, 5500)
    assert verdict is passed
    assert found[: len(problems)] == tuple(problems)
    assert summary.startswith("passed" if passed else "failed")
    assert f"{signal:,} ({signal - 5500:+,})" in summary
