"""Patterns that can hold a search up are known by their shape."""

from __future__ import annotations

import pytest

from manyhands.regex_cost import Cost, search_cost


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$",
        "^(a*)*$",
        "^(a|a)*$",
        "^(a|aa)+$",
        "^([a-z]+-?)+$",
        "(a?){30}a{30}",
        "a?" * 30,
        "(a|aa)" * 30,
        r"(?:(?:(?:\b){999}){999}){999}",
        ".*" * 20,
        r"(a+)\1",
        "a" * 2000,
        "(?i)[a-z]",
        "(?i:[a-z])",
        "(",
    ],
)
def test_a_pattern_without_a_bound_has_no_cost(pattern: str) -> None:
    assert search_cost(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "degree"),
    [
        ("^x-", 0),
        (r"^\d{4}-\d{2}-\d{2}$", 0),
        (r"^(\d{1,3}\.){3}\d{1,3}$", 0),
        ("^[a-z]+$", 1),
        ("_id$", 1),
        ("[a-z]+$", 2),
        ("(?m)^a+$", 2),
        (r"^[^@]+@[^@]+\.[a-z]+$", 3),
    ],
)
def test_an_everyday_pattern_grows_slowly(pattern: str, degree: int) -> None:
    cost = search_cost(pattern)
    assert cost is not None
    assert cost.degree == degree


def test_steps_grow_with_the_text() -> None:
    assert Cost(parts=3, factor=2, degree=2).steps(9) == 600
