"""From the facts of all files to what is said of a project. Pure: the same facts give the same report."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from manyhands.quality import clones, graph, metrics, references
from manyhands.quality.clones import Cluster, Unit
from manyhands.quality.functions import FunctionFacts
from manyhands.quality.graph import GraphFacts
from manyhands.quality.imports import Alias, Project, Source
from manyhands.quality.metrics import Redundancy, Scores
from manyhands.quality.parsing import FileFacts


@dataclass(frozen=True, slots=True)
class Layout:
    """What the project's own settings say about where imports lead."""

    aliases: tuple[Alias, ...] = ()
    go_modules: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Report:
    """A project as measured."""

    files: Mapping[str, FileFacts]
    edges: Mapping[str, list[str]]
    graph: GraphFacts
    clusters: tuple[Cluster, ...]
    unreferenced: tuple[tuple[str, FunctionFacts], ...]
    redundancy: Redundancy
    scores: Scores
    project: Project = field(repr=False, compare=False)
    """The files as they were indexed: the next report of the same files resolves imports sooner."""

    @property
    def lines(self) -> int:
        return sum(facts.lines for facts in self.files.values())

    @property
    def functions(self) -> int:
        return sum(len(facts.functions) for facts in self.files.values())

    @property
    def syntax_errors(self) -> int:
        return sum(facts.syntax_errors for facts in self.files.values())

    def worst_functions(self) -> list[tuple[str, FunctionFacts]]:
        """Every function with its file, the one that harms most first."""
        return sorted(self._rows(), key=_harm)

    def worst(self, most: int) -> list[tuple[str, FunctionFacts]]:
        """The first of them."""
        return heapq.nsmallest(most, self._rows(), key=_harm)

    def _rows(self) -> Iterator[tuple[str, FunctionFacts]]:
        return ((path, function) for path, facts in self.files.items() for function in facts.functions)


def _harm(row: tuple[str, FunctionFacts]) -> tuple[float, int, int, str, int, str]:
    path, function = row
    score = metrics.function_score(function)
    return score, -function.cognitive, -function.lines, path, function.start_line, function.name


def build(
    files: Mapping[str, FileFacts], layout: Layout | None = None, earlier: Report | None = None
) -> Report:
    """Judge a project by the facts of its files. What an `earlier` report found is used where it holds."""
    layout = layout or Layout()
    files = dict(sorted(files.items()))
    sources = [Source(path, facts.language, facts.imports, facts.package) for path, facts in files.items()]
    project = Project(sources, layout.aliases, dict(layout.go_modules))
    edges = project.edges(earlier.project if earlier else None)
    shape = earlier.graph if earlier and earlier.edges == edges else graph.describe(edges)
    clusters = tuple(clones.find_clusters(_units(files)))
    judged, unused = _references(files)
    sizes = [facts.lines for facts in files.values()]
    redundancy = Redundancy(judged, len(unused), sum(sizes), clones.duplicated_lines(clusters))
    functions = (function for facts in files.values() for function in facts.functions)
    scores = metrics.judge(shape, sizes, redundancy, functions)
    return Report(files, edges, shape, clusters, tuple(unused), redundancy, scores, project)


def _units(files: Mapping[str, FileFacts]) -> list[Unit]:
    return [
        Unit(
            path=path,
            start_line=function.start_line,
            end_line=function.end_line,
            name=function.name,
            lines=function.whole_lines,
            fingerprint=function.fingerprint,
            shingles=function.shingles,
        )
        for path, facts in files.items()
        for function in facts.functions
        if function.fingerprint is not None
    ]


def _references(files: Mapping[str, FileFacts]) -> tuple[int, list[tuple[str, FunctionFacts]]]:
    """How many functions could be judged, and those whose name stands nowhere but at definitions."""
    defined: Counter[str] = Counter()
    judged: list[tuple[str, FunctionFacts]] = []
    for path, facts in files.items():
        defined.update(_bare(function) for function in facts.functions)
        if not references.is_test_path(path):
            judged.extend((path, function) for function in facts.functions if not function.kept)
    names = {_bare(function) for _, function in judged}
    seen = references.count_words((facts.words for facts in files.values()), names)
    unused = [row for row in judged if seen[_bare(row[1])] <= defined[_bare(row[1])]]
    return len(judged), unused


def _bare(function: FunctionFacts) -> str:
    return function.name.rpartition(".")[2]
