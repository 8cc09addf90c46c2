"""The import graph: cycles, layers and communities."""

from __future__ import annotations

import pytest

from manyhands.quality import graph

DIAMOND = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}
LOOP = {"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"], "e": []}


def cliques(count: int, size: int) -> dict[str, list[str]]:
    """Groups in which all import all, joined in a ring by one link each."""
    edges: dict[str, list[str]] = {}
    for group in range(count):
        names = [f"g{group}/{member}" for member in range(size)]
        for at, name in enumerate(names):
            edges[name] = names[at + 1 :]
        edges[names[-1]] = [f"g{(group + 1) % count}/0"]
    return edges


def test_a_graph_without_cycles_has_none_and_counts_its_layers() -> None:
    found = graph.describe(DIAMOND)
    assert found.cycles == ()
    assert found.depth == 3
    assert found.linked == 4


def test_a_cycle_is_one_layer_and_names_its_files() -> None:
    found = graph.describe(LOOP)
    assert found.cycles == (("a", "b", "c"),)
    assert found.in_cycles == 3
    assert found.depth == 2  # d above the cycle
    assert found.linked == 4  # e stands alone


def test_an_empty_graph_has_nothing() -> None:
    assert graph.describe({}) == graph.GraphFacts(0, 0, (), 0, None)


def test_a_chain_of_many_thousand_files_does_not_exhaust_the_stack() -> None:
    count = 20_000
    edges = {f"{n:05}": [f"{n + 1:05}"] if n + 1 < count else [] for n in range(count)}
    assert graph.layers(edges, graph.strong_components(edges)) == count


def test_communities_that_stand_apart_are_found() -> None:
    edges = cliques(4, 5)
    communities = graph.find_communities(edges)
    assert len({communities[f"g0/{member}"] for member in range(5)}) == 1
    assert len(set(communities.values())) == 4
    # by hand: 4 groups of 10 links and 4 between: Q = 4 * (10/44 - (22/88)^2)
    found = graph.communities_of(edges, communities)
    assert [(len(one.files), one.links, one.degree) for one in found] == [(5, 10, 22)] * 4
    assert graph.modularity(found) == pytest.approx(4 * (10 / 44 - (22 / 88) ** 2))


def test_one_community_for_all_is_worth_nothing() -> None:
    assert graph.modularity(graph.communities_of(DIAMOND, dict.fromkeys(DIAMOND, 0))) == 0.0


def test_the_same_graph_gives_the_same_numbers_in_any_order() -> None:
    edges = cliques(5, 6)
    shuffled = {name: list(reversed(edges[name])) for name in reversed(edges)}
    assert graph.describe(edges) == graph.describe(shuffled)
