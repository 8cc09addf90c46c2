"""Why each of the six numbers is what it is, in a sentence or two with the figures in it. Pure."""

from __future__ import annotations

from manyhands.quality import metrics
from manyhands.quality.report import Report


def explain(name: str, report: Report) -> list[str]:
    """The sentences of one metric."""
    return _WORDS[name](report)


def _modularity(report: Report) -> list[str]:
    shape = report.graph
    if shape.modularity is None:
        return ["No file imports another: there is nothing to judge."]
    found = (
        f"Q is {shape.modularity:.3f} for {_count(shape.communities, 'community', 'communities')} among "
        f"{_count(shape.linked, 'linked file')}; {metrics.FULL_MODULARITY} is full marks."
    )
    few = f"Fewer than {metrics.LEAST_LINKED} linked files are not judged."
    return [found, few] if shape.linked < metrics.LEAST_LINKED else [found]


def _cycles(report: Report) -> list[str]:
    shape = report.graph
    if not shape.files:
        return [_NOTHING]
    if not shape.cycles:
        return [f"None of {_count(shape.files, 'file')} is in an import cycle."]
    circles = _count(len(shape.cycles), "import cycle")
    return [f"{shape.in_cycles} of {_count(shape.files, 'file')} are in {circles}."]


def _depth(report: Report) -> list[str]:
    if not report.graph.depth:
        return [_NOTHING]
    layers = _count(report.graph.depth, "layer")
    return [f"{layers}; up to {metrics.FREE_DEPTH} cost nothing, {metrics.WORST_DEPTH} leave nothing."]


def _equality(report: Report) -> list[str]:
    raw = report.scores.equality.raw
    if raw is None:
        return [_NOTHING]
    return [f"The Gini coefficient of the sizes of {_count(len(report.files), 'file')} is {raw:.3f}."]


def _redundancy(report: Report) -> list[str]:
    found = report.redundancy
    if not found.functions and not found.lines:
        return [_NOTHING]
    judged, copies = _count(found.functions, "function"), _count(len(report.clusters), "group")
    return [
        f"{found.unreferenced} of {judged} that could be judged are never referenced.",
        f"{found.duplicated} of {_count(found.lines, 'line')} are in functions that have copies ({copies}).",
    ]


def _complexity(report: Report) -> list[str]:
    functions = [function for facts in report.files.values() for function in facts.functions]
    if not functions:
        return ["There are no functions."]
    over = [metrics.over(function) for function in functions if metrics.function_score(function) < 1]
    sentences = [f"{len(over)} of {_count(len(functions), 'function')} are over a threshold."]
    for name, limit in metrics.THRESHOLDS.items():
        beyond = sum(1 for names in over if name in names)
        if beyond:
            sentences.append(f"{name} over {limit}: {beyond}.")
    return sentences


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_NOTHING = "No file was measured: there is nothing to judge."
_WORDS = {
    "modularity": _modularity,
    "cycles": _cycles,
    "depth": _depth,
    "equality": _equality,
    "redundancy": _redundancy,
    "complexity": _complexity,
}
