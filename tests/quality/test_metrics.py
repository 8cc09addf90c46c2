"""The six scores, as a person recomputes them."""

from __future__ import annotations

import pytest

from manyhands.quality import metrics
from manyhands.quality.functions import FunctionFacts
from manyhands.quality.graph import GraphFacts
from manyhands.quality.metrics import Metric, Redundancy

NOTHING = GraphFacts(0, 0, (), 0, None)


def function(**values: int) -> FunctionFacts:
    facts = {"cyclomatic": 1, "cognitive": 0, "nesting": 0, "parameters": 0, "lines": 10, "whole_lines": 10}
    return FunctionFacts("f", 1, 10, kept=False, fingerprint=None, shingles=b"", **(facts | values))


def a_graph(*, linked: int = 20, modularity: float | None = 0.2, depth: int = 3) -> GraphFacts:
    return GraphFacts(20, linked, (), depth, modularity)


def test_with_nothing_to_judge_every_score_is_one() -> None:
    scores = metrics.judge(NOTHING, [], Redundancy(0, 0, 0, 0), [])
    assert {metric.score for metric in scores.by_name().values()} == {1.0}
    assert scores.quality_signal == 10_000


def test_modularity_is_full_at_two_fifths_and_not_judged_below_ten_linked_files() -> None:
    assert metrics.judge_modularity(a_graph(modularity=0.2)) == Metric(0.5, 0.2)
    assert metrics.judge_modularity(a_graph(modularity=0.7)).score == 1.0
    assert metrics.judge_modularity(a_graph(modularity=-0.1)).score == 0.0
    assert metrics.judge_modularity(a_graph(linked=9, modularity=0.1)).score == 1.0


def test_cycles_are_the_share_of_files_outside_of_any() -> None:
    assert metrics.judge_cycles(GraphFacts(8, 4, (("a", "b"),), 1, None)).score == 0.75


@pytest.mark.parametrize(("depth", "score"), [(1, 1.0), (6, 1.0), (18, 0.5), (30, 0.0), (99, 0.0)])
def test_depth_falls_from_six_layers_to_thirty(depth: int, score: float) -> None:
    assert metrics.judge_depth(depth).score == score


def test_equality_is_one_minus_the_gini_coefficient() -> None:
    assert metrics.judge_equality([5, 5, 5]).score == pytest.approx(1.0)
    assert metrics.gini([1, 3]) == pytest.approx(0.25)
    assert metrics.gini([0, 0, 0, 8]) == pytest.approx(0.75)
    assert metrics.judge_equality([0, 0]).score == 1.0


def test_redundancy_is_the_mean_of_used_and_original() -> None:
    assert metrics.judge_redundancy(Redundancy(10, 2, 100, 40)).score == pytest.approx((0.8 + 0.6) / 2)


@pytest.mark.parametrize(
    ("values", "score"),
    [
        ({"cyclomatic": 10, "cognitive": 15, "nesting": 4, "parameters": 5, "lines": 60}, 1.0),
        ({"cyclomatic": 20}, 0.5),
        ({"cognitive": 60}, 0.25),
        ({"nesting": 5}, 0.8),
        ({"parameters": 10, "cyclomatic": 40}, 0.25),
        ({"lines": 120}, 0.5),
    ],
)
def test_a_function_is_as_good_as_its_worst_dimension(values: dict[str, int], score: float) -> None:
    assert metrics.function_score(function(**values)) == pytest.approx(score)


def test_long_functions_weigh_more() -> None:
    functions = [function(lines=30), function(lines=10, cyclomatic=20)]
    judged = metrics.judge_complexity(metrics.earn(metrics.function_score(one), one) for one in functions)
    assert judged.score == pytest.approx((30 * 1 + 10 * 0.5) / 40)


def test_one_zero_does_not_hide_the_rest() -> None:
    assert metrics.geo_mean([0.0, 1, 1, 1, 1, 1]) == pytest.approx(0.01 ** (1 / 6))
    assert metrics.geo_mean([0.0, 0.5, 1, 1, 1, 1]) < metrics.geo_mean([0.0, 1, 1, 1, 1, 1])
