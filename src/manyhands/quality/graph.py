"""The import graph: cycles, layers and communities. Pure: the same edges give the same numbers."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Edges = Mapping[str, Sequence[str]]
_SEED = 1
_TRIALS = 4


@dataclass(frozen=True, slots=True)
class Community:
    """Files that belong together: the links among them, and how many ends of links they have in all."""

    files: tuple[str, ...]
    links: int
    degree: int


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What the import graph of a project looks like."""

    files: int
    linked: int
    cycles: tuple[tuple[str, ...], ...]
    depth: int
    modularity: float | None
    """Newman's Q of the communities found; none when no file imports another."""
    communities: tuple[Community, ...] = ()
    """The largest first; files without links are in none."""
    chain: tuple[str, ...] = ()
    """A longest path, from a file that imports down; of a cycle its first file."""

    @property
    def in_cycles(self) -> int:
        return sum(len(cycle) for cycle in self.cycles)

    @property
    def links(self) -> int:
        """Pairs of files of which one imports the other."""
        return sum(community.degree for community in self.communities) // 2


def describe(edges: Edges) -> GraphFacts:
    """Cycles, layers and communities of a graph whose every node is a key."""
    components = strong_components(edges)
    communities = communities_of(edges, find_communities(edges))
    return GraphFacts(
        files=len(edges),
        linked=len(linked_nodes(edges)),
        cycles=tuple(sorted(tuple(sorted(part)) for part in components if len(part) > 1)),
        depth=layers(edges, components),
        modularity=modularity(communities) if communities else None,
        communities=communities,
        chain=tuple(longest_chain(edges, components)),
    )


def linked_nodes(edges: Edges) -> set[str]:
    """Files that import another or are imported by one."""
    ends = {target for targets in edges.values() for target in targets}
    return ends | {source for source, targets in edges.items() if targets}


def strong_components(edges: Edges) -> list[list[str]]:
    """Tarjan's strongly connected components, dependencies before those who depend on them."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    waiting: list[str] = []
    inside: set[str] = set()
    found: list[list[str]] = []
    for root in sorted(edges):
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        _open(root, index, low, waiting, inside)
        while work:
            node, rest = work[-1]
            target = next(rest, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_close(node, waiting, inside))
            elif target not in index:
                _open(target, index, low, waiting, inside)
                work.append((target, iter(edges.get(target, ()))))
            elif target in inside:
                low[node] = min(low[node], index[target])
    return found


def _open(
    node: str, index: dict[str, int], low: dict[str, int], waiting: list[str], inside: set[str]
) -> None:
    index[node] = low[node] = len(index)
    waiting.append(node)
    inside.add(node)


def _close(node: str, waiting: list[str], inside: set[str]) -> list[str]:
    part = [waiting.pop()]
    while part[-1] != node:
        part.append(waiting.pop())
    inside.difference_update(part)
    return part


def layers(edges: Edges, components: Iterable[Sequence[str]]) -> int:
    """Files on the longest path of the graph in which each cycle is one node; none in an empty graph."""
    home: dict[str, int] = {}
    depth: list[int] = []
    for number, part in enumerate(components):
        home.update(dict.fromkeys(part, number))
        below = (home[target] for node in part for target in edges.get(node, ()))
        depth.append(1 + max((depth[other] for other in below if other != number), default=0))
    return max(depth, default=0)


def longest_chain(edges: Edges, parts: Sequence[Sequence[str]]) -> list[str]:
    """Files of a longest path of the graph in which each of these parts is one node."""
    home = {node: number for number, part in enumerate(parts) for node in part}
    depth: list[int] = []
    below: list[int | None] = []
    for number, part in enumerate(parts):
        targets = sorted({home[target] for node in part for target in edges.get(node, ())} - {number})
        best = max(targets, key=lambda other: (depth[other], -other), default=None)
        depth.append(1 + (depth[best] if best is not None else 0))
        below.append(best)
    at = max(range(len(parts)), key=lambda number: (depth[number], -number), default=None)
    chain = []
    while at is not None:
        chain.append(min(parts[at]))
        at = below[at]
    return chain


def _undirected(edges: Edges) -> list[tuple[str, str]]:
    """Each linked pair once: two files that import each other are one link."""
    pairs = {(min(one, other), max(one, other)) for one in edges for other in edges[one] if one != other}
    return sorted(pairs)


def find_communities(edges: Edges) -> dict[str, int]:
    """Communities by the Leiden algorithm with a fixed seed, over sorted links."""
    import graspologic_native

    pairs = _undirected(edges)
    if not pairs:
        return {}
    links = [(one, other, 1.0) for one, other in pairs]
    _, found = graspologic_native.leiden(
        links,
        starting_communities=None,
        resolution=1.0,
        randomness=0.001,
        iterations=1,
        use_modularity=True,
        seed=_SEED,
        trials=_TRIALS,
    )
    return dict(found)


def communities_of(edges: Edges, home: Mapping[str, int]) -> tuple[Community, ...]:
    """Communities with what lies within them, the largest first; `home` says which one a file is in."""
    files: dict[int, list[str]] = defaultdict(list)
    for path in sorted(home):
        files[home[path]].append(path)
    within: Counter[int] = Counter()
    degree: Counter[int] = Counter()
    for one, other in _undirected(edges):
        degree.update((home[one], home[other]))
        if home[one] == home[other]:
            within[home[one]] += 1
    found = [Community(tuple(inside), within[number], degree[number]) for number, inside in files.items()]
    return tuple(sorted(found, key=lambda community: (-len(community.files), community.files)))


def modularity(communities: Sequence[Community]) -> float:
    """Newman's Q: the share of links within communities minus what chance would give."""
    ends = sum(community.degree for community in communities)
    return math.fsum(2 * one.links / ends - (one.degree / ends) ** 2 for one in communities)
