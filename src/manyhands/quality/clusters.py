"""Near-duplicates: the search for close fingerprints, and clusters that hold real copies. Pure.

Fingerprints at a distance of three bits or less are found without exception (of four bands of sixteen bits
one must be equal) and each pair is then verified on the shingles themselves. A function joins a cluster only
when it is a copy of every member, and every function that has a copy is in a cluster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DISTANCE = 3
LEAST_SHARED = 0.8
_BANDS = 4
_BAND_BITS = 16
_FEW = 200
"""So many new functions are compared with all others sooner than all with all."""


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """A function that can be a copy of another."""

    path: str
    start_line: int
    end_line: int
    name: str
    lines: int
    fingerprint: int
    shingles: bytes

    def holds(self, other: Unit) -> bool:
        return (
            self.path == other.path
            and self.start_line <= other.start_line
            and other.end_line <= self.end_line
        )


@dataclass(frozen=True, slots=True)
class Cluster:
    """Functions that are copies of each other."""

    units: tuple[Unit, ...]

    @property
    def lines(self) -> int:
        return sum(unit.lines for unit in self.units)

    @property
    def exact(self) -> bool:
        """Whether its members differ in names and literals alone."""
        return len({unit.shingles for unit in self.units}) == 1


@dataclass(frozen=True, slots=True)
class Kinship:
    """The fingerprints of all distinct functions by their shingles, and which of them are copies."""

    prints: Mapping[bytes, int] = field(default_factory=dict)
    close: Mapping[bytes, frozenset[bytes]] = field(default_factory=dict)


def find_clusters(units: Iterable[Unit]) -> list[Cluster]:
    """Clusters of copies, those with most lines first."""
    groups = group(sorted(units, key=_place))
    return cluster(groups, relate({shingles: same[0].fingerprint for shingles, same in groups.items()}))


def group(units: Iterable[Unit]) -> dict[bytes, list[Unit]]:
    """Functions that differ in names and literals alone, by their shingles; `units` in order of place."""
    same: dict[bytes, list[Unit]] = defaultdict(list)
    for unit in units:
        same[unit.shingles].append(unit)
    return same


def _place(unit: Unit) -> tuple[str, int, int, str]:
    return unit.path, unit.start_line, unit.end_line, unit.name


def cluster(groups: Mapping[bytes, list[Unit]], kinship: Kinship) -> list[Cluster]:
    """Clusters of grouped functions, those with most lines first."""
    found = (
        _outermost([unit for member in members for unit in groups[member]])
        for members in _cliques(groups, kinship.close)
    )
    copies = [one for one in found if len(one.units) > 1]
    return sorted(copies, key=lambda one: (-one.lines, one.units))


# --- which are close


def relate(prints: Mapping[bytes, int], earlier: Kinship | None = None) -> Kinship:
    """Find every pair of copies; what an `earlier` search knows of them is not looked for again."""
    earlier = earlier or Kinship()
    fresh = dict(prints.items() - earlier.prints.items())
    if len(fresh) > _FEW:
        return Kinship(prints, _related(prints))
    gone = frozenset(shingles for shingles, _ in earlier.prints.items() - prints.items())
    close = {
        shingles: left
        for shingles, others in earlier.close.items()
        if shingles not in gone and (left := others - gone)
    }
    for one, other in _verified(_pairs_of(fresh, prints)):
        close[one] = close.get(one, frozenset()) | {other}
        close[other] = close.get(other, frozenset()) | {one}
    return Kinship(prints, close)


def _related(prints: Mapping[bytes, int]) -> dict[bytes, frozenset[bytes]]:
    close: dict[bytes, set[bytes]] = defaultdict(set)
    known = list(prints)
    pairs = close_pairs(list(prints.values()))
    for one, other in _verified((known[left], known[right]) for left, right in pairs):
        close[one].add(other)
        close[other].add(one)
    return {shingles: frozenset(others) for shingles, others in close.items()}


def _pairs_of(fresh: Mapping[bytes, int], prints: Mapping[bytes, int]) -> Iterator[tuple[bytes, bytes]]:
    """Every close pair with one of the fresh ones in it."""
    import numpy as np

    known, every = list(prints), np.fromiter(prints.values(), dtype=np.uint64, count=len(prints))
    for shingles, fingerprint in fresh.items():
        near = np.flatnonzero(np.bitwise_count(every ^ np.uint64(fingerprint)) <= DISTANCE)
        yield from ((shingles, known[at]) for at in near.tolist() if known[at] != shingles)


def close_pairs(fingerprints: Sequence[int]) -> list[tuple[int, int]]:
    """Every pair at a distance of three bits or less, as positions, in order."""
    import numpy as np

    prints = np.array(fingerprints, dtype=np.uint64)
    found: set[tuple[int, int]] = set()
    for band in range(_BANDS):
        keys = (prints >> np.uint64(band * _BAND_BITS)) & np.uint64((1 << _BAND_BITS) - 1)
        order = np.argsort(keys, kind="stable")
        edges = np.flatnonzero(np.diff(keys[order])) + 1
        starts, ends = np.append(0, edges), np.append(edges, len(order))
        shared_keys = ends - starts > 1
        for start, end in zip(starts[shared_keys].tolist(), ends[shared_keys].tolist(), strict=True):
            found.update(_close_in(order[start:end], prints))
    return sorted(found)


def _close_in(bucket: NDArray[np.int64], prints: NDArray[np.uint64]) -> Iterable[tuple[int, int]]:
    import numpy as np

    inside = prints[bucket]
    for at in range(len(bucket) - 1):
        near = np.flatnonzero(np.bitwise_count(inside[at + 1 :] ^ inside[at]) <= DISTANCE)
        for other in near:
            yield int(bucket[at]), int(bucket[at + 1 + other])  # a stable sort keeps positions in order


def _verified(pairs: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    return (pair for pair in pairs if shared(*pair) >= LEAST_SHARED)


def shared(one: bytes, other: bytes) -> float:
    """The share of shingles that two functions have in common (Jaccard)."""
    import numpy as np

    left, right = np.frombuffer(one, dtype="<u4"), np.frombuffer(other, dtype="<u4")
    both = len(np.intersect1d(left, right, assume_unique=True))
    either = len(left) + len(right) - both
    return both / either if either else 0.0


# --- which stand together


def _cliques(
    groups: Mapping[bytes, list[Unit]], close: Mapping[bytes, frozenset[bytes]]
) -> Iterator[list[bytes]]:
    """Put each group into the first cluster all of whose members it is a copy of; large groups lead.

    One that fits nowhere stands once more with those of its copies that are copies of each other.
    """
    copied = [shingles for shingles, same in groups.items() if len(same) > 1 or shingles in close]
    leading = sorted(copied, key=lambda shingles: -len(groups[shingles]))
    order = {shingles: at for at, shingles in enumerate(leading)}
    cliques: list[list[bytes]] = []
    home: dict[bytes, int] = {}
    for shingles in leading:
        others = close.get(shingles, frozenset())
        near = sorted({home[other] for other in others if other in home})
        fits = next((number for number in near if others.issuperset(cliques[number])), None)
        if fits is None:
            fits = len(cliques)
            cliques.append([])
        cliques[fits].append(shingles)
        home[shingles] = fits
    for members in cliques:
        alone = len(members) == 1 and len(groups[members[0]]) == 1
        yield _company(members[0], close, order) if alone else members


def _company(
    shingles: bytes, close: Mapping[bytes, frozenset[bytes]], order: Mapping[bytes, int]
) -> list[bytes]:
    """A group with those of its copies that are copies of each other, the leading ones first."""
    found = [shingles]
    for other in sorted(close[shingles], key=order.__getitem__):
        if close[other].issuperset(found):
            found.append(other)
    return found


def _outermost(units: list[Unit]) -> Cluster:
    """What lies within another member of the same file is part of that one, not a copy beside it."""
    outer: list[Unit] = []
    for unit in sorted(units, key=lambda unit: (unit.path, unit.start_line, -unit.end_line, unit.name)):
        if not (outer and outer[-1].holds(unit)):
            outer.append(unit)
    return Cluster(tuple(outer))


def duplicated_lines(clusters: Iterable[Cluster]) -> int:
    """Lines with code in functions that have a copy, each once."""
    members = {unit for one in clusters for unit in one.units}
    return sum(unit.lines for unit in _outermost(list(members)).units)
