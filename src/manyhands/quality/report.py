"""From the facts of all files to what is said of a project. Pure: the same facts give the same report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter

from manyhands.quality import clusters, graph, metrics, references
from manyhands.quality.clusters import Cluster, Kinship
from manyhands.quality.functions import FunctionFacts
from manyhands.quality.graph import GraphFacts
from manyhands.quality.imports import Alias, Project
from manyhands.quality.metrics import Redundancy, Scores
from manyhands.quality.parsing import FileFacts
from manyhands.quality.portions import Portion, Ranked, portions_of


@dataclass(frozen=True, slots=True)
class Layout:
    """What the project's own settings say about where imports lead."""

    aliases: tuple[Alias, ...] = ()
    go_modules: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Groundwork:
    """What a report was worked out from: the next report of files like these is sooner done with it."""

    portions: Mapping[str, Portion] = field(default_factory=dict)
    project: Project = field(default_factory=lambda: Project(()))
    kinship: Kinship = field(default_factory=Kinship)
    seen: Mapping[int, int] = field(default_factory=dict)
    """How often the names of functions stand in all files."""
    ranking: list[Ranked] = field(default_factory=list)


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
    ground: Groundwork = field(repr=False, compare=False)

    @property
    def lines(self) -> int:
        return sum(facts.lines for facts in self.files.values())

    @property
    def functions(self) -> int:
        return len(self.ranking)

    @property
    def syntax_errors(self) -> int:
        return sum(facts.syntax_errors for facts in self.files.values())

    @property
    def ranking(self) -> list[Ranked]:
        """Every function, the one that harms most first."""
        return self.ground.ranking


def build(
    files: Mapping[str, FileFacts], layout: Layout | None = None, earlier: Report | None = None
) -> Report:
    """Judge a project by the facts of its files. What an `earlier` report found is used where it holds."""
    layout = layout or Layout()
    before = earlier.ground if earlier else Groundwork()
    portions = portions_of(files, before.portions)
    project = Project(
        [portion.source for portion in portions.values()], layout.aliases, dict(layout.go_modules)
    )
    edges = project.edges(before.project)
    shape = earlier.graph if earlier and earlier.edges == edges else graph.describe(edges)
    copies, kinship = _copies(portions, before.kinship)
    seen = _seen(portions, before)
    judged, unused = _unused(portions, seen)
    sizes = [portion.facts.lines for portion in portions.values()]
    redundancy = Redundancy(judged, len(unused), sum(sizes), clusters.duplicated_lines(copies))
    earned = chain.from_iterable(portion.earned for portion in portions.values())
    return Report(
        files={path: portion.facts for path, portion in portions.items()},
        edges=edges,
        graph=shape,
        clusters=copies,
        unreferenced=unused,
        redundancy=redundancy,
        scores=metrics.judge(shape, sizes, redundancy, earned),
        ground=Groundwork(portions, project, kinship, seen, _ranked(portions, before)),
    )


Portions = Mapping[str, Portion]


def _copies(portions: Portions, earlier: Kinship) -> tuple[tuple[Cluster, ...], Kinship]:
    groups = clusters.group(chain.from_iterable(portion.units for portion in portions.values()))
    prints = {shingles: same[0].fingerprint for shingles, same in groups.items()}
    kinship = clusters.relate(prints, earlier)
    return tuple(clusters.cluster(groups, kinship)), kinship


def _seen(portions: Portions, before: Groundwork) -> dict[int, int]:
    """How often each name stands in all files that a judged function has."""
    names = {name for portion in portions.values() for name, _ in portion.judged}
    return references.recount(
        names,
        _words(portions.values()),
        before.seen,
        gone=_words(_only_in(before.portions, portions)),
        came=_words(_only_in(portions, before.portions)),
    )


def _words(portions: Iterable[Portion]) -> list[bytes]:
    return [portion.facts.words for portion in portions]


def _only_in(one: Portions, other: Portions) -> list[Portion]:
    return [portion for path, portion in one.items() if other.get(path) is not portion]


def _unused(portions: Portions, seen: Mapping[int, int]) -> tuple[int, tuple[tuple[str, FunctionFacts], ...]]:
    """How many functions could be judged, and those whose name stands nowhere but at definitions."""
    defined = Counter(chain.from_iterable(portion.defined for portion in portions.values()))
    unused = (
        (path, function)
        for path, portion in portions.items()
        for name, function in portion.judged
        if seen[name] <= defined[name]
    )
    return sum(len(portion.judged) for portion in portions.values()), tuple(unused)


def _ranked(portions: Portions, before: Groundwork) -> list[Ranked]:
    """What stays is in order already; sorting is quick where most is."""
    stays = [row for row in before.ranking if portions.get(row.path) is row.portion]
    came = chain.from_iterable(portion.ranked for portion in _only_in(portions, before.portions))
    return sorted([*stays, *came], key=attrgetter("harm"))
