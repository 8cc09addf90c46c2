"""Six scores in [0, 1], one when there is nothing to judge, and the number that stands for them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter, gt

from manyhands.quality.functions import FunctionFacts
from manyhands.quality.graph import GraphFacts

FULL_MODULARITY = 0.4
LEAST_LINKED = 10
FREE_DEPTH = 6
WORST_DEPTH = 30
FLOOR = 0.01
THRESHOLDS: Mapping[str, int] = {
    "cyclomatic": 10,
    "cognitive": 15,
    "nesting": 4,
    "parameters": 5,
    "lines": 60,
}
_LIMITS = tuple(THRESHOLDS.values())
_measures = attrgetter(*THRESHOLDS)

Earned = tuple[float, int]
"""What a function earns by its lines, and its lines."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A score and what it was made from; `raw` is none when nothing could be judged."""

    score: float
    raw: float | None


@dataclass(frozen=True, slots=True)
class Redundancy:
    """What redundancy is judged on."""

    functions: int
    unreferenced: int
    lines: int
    duplicated: int


@dataclass(frozen=True, slots=True)
class Scores:
    """The six metrics of a project."""

    modularity: Metric
    cycles: Metric
    depth: Metric
    equality: Metric
    redundancy: Metric
    complexity: Metric

    def by_name(self) -> dict[str, Metric]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def geo_mean(self) -> float:
        return geo_mean([metric.score for metric in self.by_name().values()])

    @property
    def quality_signal(self) -> int:
        return round(self.geo_mean * 10_000)


def judge(
    graph: GraphFacts, sizes: Sequence[int], redundancy: Redundancy, earned: Iterable[Earned]
) -> Scores:
    """All six scores of a project."""
    return Scores(
        modularity=judge_modularity(graph),
        cycles=judge_cycles(graph),
        depth=judge_depth(graph.depth),
        equality=judge_equality(sizes),
        redundancy=judge_redundancy(redundancy),
        complexity=judge_complexity(earned),
    )


def judge_modularity(graph: GraphFacts) -> Metric:
    if graph.linked < LEAST_LINKED or graph.modularity is None:
        return Metric(1.0, graph.modularity)
    return Metric(_clamp(graph.modularity / FULL_MODULARITY), graph.modularity)


def judge_cycles(graph: GraphFacts) -> Metric:
    if not graph.files:
        return Metric(1.0, None)
    share = graph.in_cycles / graph.files
    return Metric(1.0 - share, share)


def judge_depth(depth: int) -> Metric:
    if not depth:
        return Metric(1.0, None)
    return Metric(_clamp((WORST_DEPTH - depth) / (WORST_DEPTH - FREE_DEPTH)), float(depth))


def judge_equality(sizes: Sequence[int]) -> Metric:
    if not any(sizes):
        return Metric(1.0, None)
    found = gini(sizes)
    return Metric(1.0 - found, found)


def judge_redundancy(found: Redundancy) -> Metric:
    if not found.functions and not found.lines:
        return Metric(1.0, None)
    unused = found.unreferenced / found.functions if found.functions else 0.0
    copied = min(1.0, found.duplicated / found.lines) if found.lines else 0.0
    score = ((1.0 - unused) + (1.0 - copied)) / 2
    return Metric(score, 1.0 - score)


def judge_complexity(functions: Iterable[Earned]) -> Metric:
    """The mean of what each function earns, weighted by its lines; raw is the mean of what is missing."""
    earned, lines = [], 0
    for share, weight in functions:
        earned.append(share)
        lines += weight
    if not lines:
        return Metric(1.0, None)
    score = math.fsum(earned) / lines
    return Metric(score, 1.0 - score)


def earn(score: float, function: FunctionFacts) -> Earned:
    """What a function with this score brings to the mean."""
    weight = max(1, function.lines)
    return weight * score, weight


def function_score(function: FunctionFacts) -> float:
    """The worst of threshold by value over the five dimensions, one where all are within."""
    values: tuple[int, ...] = _measures(function)
    if not any(map(gt, values, _LIMITS)):  # nearly all of them, and there are many
        return 1.0
    return min(limit / value for limit, value in zip(_LIMITS, values, strict=True) if value > limit)


def over(function: FunctionFacts) -> list[str]:
    """The dimensions in which a function is over its threshold."""
    limits = zip(THRESHOLDS, _LIMITS, _measures(function), strict=True)
    return [name for name, limit, value in limits if value > limit]


def gini(sizes: Sequence[int]) -> float:
    """The Gini coefficient: zero when all are equal, near one when one has everything."""
    ordered = sorted(sizes)
    total, count = sum(ordered), len(ordered)
    if not total:
        return 0.0
    weighted = sum(rank * size for rank, size in enumerate(ordered, 1))
    return 2 * weighted / (count * total) - (count + 1) / count


def geo_mean(scores: Sequence[float]) -> float:
    """The geometric mean, each floored so that one zero does not hide the rest."""
    logs = math.fsum(math.log(max(FLOOR, score)) for score in scores)
    return math.exp(logs / len(scores)) if scores else 1.0


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
