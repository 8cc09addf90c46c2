"""The change between two states of a project, and the gate that fails on new problems only."""

from __future__ import annotations

import pytest

from manyhands.quality import delta
from manyhands.quality.languages import BY_NAME
from manyhands.quality.parsing import parse
from manyhands.quality.report import Report, build

MANY = "def many(a, b, c, d, e, f, g):\n    return a\n"
FEW = "def few(a):\n    return a\n"
LONG = """def work(rows, limit):
    found = []
    for row in rows:
        if row.size > limit and row.ready:
            found.append(row.size * 2)
        else:
            print("no", row, limit)
    return found
"""


def report(**files: str) -> Report:
    return build({f"{name}.py": parse(text.encode(), BY_NAME["python"]) for name, text in files.items()})


def problems(before: Report, after: Report) -> list[tuple[str, str]]:
    return [(problem.kind, problem.path) for problem in delta.new_problems(before, after)]


@pytest.mark.requirement("L42")
def test_an_old_problem_does_not_fail_the_gate_wherever_its_lines_have_gone() -> None:
    before = report(a=MANY + LONG, b=LONG, c="import d\n", d="import c\n")
    after = report(a="\n\nx = 1\n" + FEW + MANY + LONG, b=LONG, c="import d\n", d="import c\n")
    assert problems(before, after) == []


@pytest.mark.requirement("L42")
def test_a_new_problem_of_each_kind_fails_the_gate() -> None:
    before = report(a=LONG, c="import d\n", d="")
    after = report(a=LONG, b=LONG + MANY, c="import d\n", d="import c\n")
    assert sorted(set(problems(before, after))) == [
        ("clone", "b.py"),
        ("cycle", "c.py"),
        ("function", "b.py"),
    ]


def test_an_old_problem_that_became_worse_is_one() -> None:
    (problem,) = delta.new_problems(report(a=MANY), report(a=MANY.replace("g)", "g, h)")))
    assert problem.message == "many: parameters is 8 (at most 5, it was 7)"
    assert problem.line == 1


def test_a_function_that_moved_to_another_file_is_the_same_one() -> None:
    assert problems(report(a=MANY, b=FEW), report(a="", b=FEW + MANY)) == []


def test_the_change_names_functions_that_came_went_or_measure_differently() -> None:
    before = report(a=FEW + LONG)
    after = report(a=FEW.replace("(a)", "(a, b)") + MANY)
    found = {
        change.name: (change.before is not None, change.after is not None)
        for change in delta.compare(before, after)
    }
    assert found == {"few": (True, True), "work": (True, False), "many": (False, True)}


def test_nothing_changed_is_no_change() -> None:
    assert delta.compare(report(a=FEW), report(a="\n\n" + FEW)) == []
