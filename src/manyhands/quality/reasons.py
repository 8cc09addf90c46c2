"""Why each of the six numbers is what it is, in a sentence or two with the figures in it. Pure."""

from __future__ import annotations

from itertools import takewhile

from manyhands.quality import metrics
from manyhands.quality.report import Report


def explain(name: str, report: Report) -> list[str]:
    """The sentences of one metric."""
    return _WORDS[name](report)


def _modularity(report: Report) -> list[str]:
    shape = report.graph
    if shape.modularity is None:
        return ["No file imports another: there is nothing to judge."]
    parts = _count(len(shape.communities), "community", "communities")
    whole = f"{_count(shape.linked, 'linked file')} with {_count(shape.links, 'link')}"
    found = f"Q is {shape.modularity:.3f} for {parts} of {whole}; {metrics.FULL_MODULARITY} is full marks."
    few = f"Fewer than {metrics.LEAST_LINKED} linked files are not judged."
    return [found, few] if shape.linked < metrics.LEAST_LINKED else [found]


def _cycles(report: Report) -> list[str]:
    shape = report.graph
    if not shape.files:
        return [_NOTHING]
    if not shape.cycles:
        return [f"There is no import cycle among {_count(shape.files, 'file')}."]
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
    unused = (
        f"{found.unreferenced:,} of {judged} that could be judged {_be(found.unreferenced)} never referenced."
    )
    copied = (
        f"{found.duplicated:,} of {_count(found.lines, 'line')} are in functions that have copies ({copies})."
    )
    return [unused if found.functions else "No function could be judged as to who refers to it.", copied]


def _complexity(report: Report) -> list[str]:
    if not report.functions:
        return ["There are no functions."]
    over = [metrics.over(row.function) for row in takewhile(lambda row: row.score < 1, report.ranking)]
    judged = _count(report.functions, "function")
    sentences = [f"{len(over):,} of {judged} {_be(len(over))} over a threshold."]
    for name, limit in metrics.THRESHOLDS.items():
        beyond = sum(1 for names in over if name in names)
        if beyond:
            sentences.append(f"{name} over {limit}: {beyond}.")
    return sentences


def _be(number: int) -> str:
    return "is" if number == 1 else "are"


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
