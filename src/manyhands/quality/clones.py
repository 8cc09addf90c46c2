"""Near-duplicates: fingerprints of functions, the search for close ones, clusters that hold real copies.

A token is its kind; names are one kind and literals another. Five tokens in a row are a shingle, the set of
shingles of a function gives its SimHash. Fingerprints at a distance of three bits or less are found without
exception (of four bands of sixteen bits one must be equal) and each pair is then verified on the shingles
themselves. A function joins a cluster only when it is a copy of every member.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from manyhands.quality.languages import ERROR_KIND, Language, grammar_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHINGLE = 5
DISTANCE = 3
LEAST_LINES = 5
LEAST_TOKENS = 40
LEAST_SHARED = 0.8
_BANDS = 4
_BAND_BITS = 16

_NAME = re.compile(r"identifier|^name$|^constant$|^label")
_LITERAL = re.compile(r"string|number|integer|float|literal|char|^true$|^false$|^null|^none$|^nil$|regex")

Range = tuple[int, int]
Copy = tuple[int | None, bytes]
NOT_COMPARED: Copy = (None, b"")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines with code of a file, of each function alone, and of each function with what is nested in it."""

    total: int
    own: list[int]
    whole: list[int]


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


def count_lines(source: bytes, starts: Sequence[int], ranges: Sequence[Range]) -> Lines:
    """Count lines on which tokens begin; a line shared by two functions counts for both."""
    import numpy as np

    if not starts:
        return Lines(0, [0] * len(ranges), [0] * len(ranges))
    newlines = np.flatnonzero(np.frombuffer(source, dtype=np.uint8) == ord("\n"))
    rows = np.searchsorted(newlines, np.array(starts, dtype=np.int64))
    fresh = np.ones(len(rows), dtype=np.int64)
    fresh[1:] = rows[1:] != rows[:-1]
    counted = np.cumsum(fresh)
    owner = np.zeros(len(rows), dtype=np.int64)
    for number, (first, last) in enumerate(ranges, 1):
        owner[first:last] = number
    width = int(counted[-1]) + 1
    own = np.bincount(np.unique(owner * width + counted) // width, minlength=len(ranges) + 1)
    whole = [int(counted[last - 1] - counted[first]) + 1 if last > first else 0 for first, last in ranges]
    return Lines(int(counted[-1]), [int(lines) for lines in own[1:]], whole)


@cache
def _token_table(language: Language) -> NDArray[np.uint64]:
    """A number for each kind by its name, the same in every grammar: TypeScript may copy JavaScript."""
    import numpy as np

    loaded = grammar_of(language).parser.language
    assert loaded is not None
    table = np.zeros(ERROR_KIND + 1, dtype=np.uint64)
    for number in range(loaded.node_kind_count):
        digest = hashlib.blake2b(_token(loaded, number).encode(), digest_size=8).digest()
        table[number] = int.from_bytes(digest, "little")
    return table


def _token(loaded: Any, number: int) -> str:
    kind = str(loaded.node_kind_for_id(number))
    if loaded.node_kind_is_named(number):
        if _NAME.search(kind):
            return "a name"
        if _LITERAL.search(kind):
            return "a literal"
    return kind


def fingerprints(
    kinds: Sequence[int], ranges: Sequence[Range], whole: Sequence[int], language: Language
) -> list[Copy]:
    """The SimHash and the shingles of each function that is long enough to be a copy."""
    compared = [
        last - first >= LEAST_TOKENS and lines >= LEAST_LINES
        for (first, last), lines in zip(ranges, whole, strict=True)
    ]
    if not any(compared):
        return [NOT_COMPARED] * len(ranges)
    hashes = _shingle_hashes(kinds, language)
    return [
        _fingerprint(hashes[first : last - SHINGLE + 1]) if long else NOT_COMPARED
        for (first, last), long in zip(ranges, compared, strict=True)
    ]


def _shingle_hashes(kinds: Sequence[int], language: Language) -> NDArray[np.uint64]:
    import numpy as np

    tokens = _token_table(language)[np.array(kinds, dtype=np.int64)]
    count = len(tokens) - SHINGLE + 1
    mixed = np.zeros(count, dtype=np.uint64)
    for at in range(SHINGLE):
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed += tokens[at : at + count]
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _fingerprint(hashes: NDArray[np.uint64]) -> Copy:
    import numpy as np

    ordered = np.sort(hashes).astype("<u8")
    fresh = np.ones(len(ordered), dtype=np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    distinct = ordered[fresh]
    bits = np.unpackbits(distinct.view(np.uint8)).reshape(len(distinct), 64).sum(axis=0, dtype=np.int64)
    packed = np.packbits(bits * 2 > len(distinct))
    return int.from_bytes(packed.tobytes(), "big"), (distinct >> np.uint64(32)).astype("<u4").tobytes()


def find_clusters(units: Iterable[Unit]) -> list[Cluster]:
    """Clusters of copies, those with most lines first."""
    same: dict[bytes, list[Unit]] = defaultdict(list)
    for unit in sorted(units, key=lambda unit: (unit.path, unit.start_line, unit.end_line, unit.name)):
        same[unit.shingles].append(unit)
    groups = list(same.values())
    close = _verified(groups, close_pairs([group[0].fingerprint for group in groups]))
    clusters = (
        _cluster([unit for at in members for unit in groups[at]]) for members in _cliques(groups, close)
    )
    found = [cluster for cluster in clusters if len(cluster.units) > 1]
    return sorted(found, key=lambda cluster: (-cluster.lines, cluster.units))


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


def _verified(groups: list[list[Unit]], pairs: list[tuple[int, int]]) -> dict[int, set[int]]:
    close: dict[int, set[int]] = defaultdict(set)
    for one, other in pairs:
        if shared(groups[one][0].shingles, groups[other][0].shingles) >= LEAST_SHARED:
            close[one].add(other)
            close[other].add(one)
    return close


def shared(one: bytes, other: bytes) -> float:
    """The share of shingles that two functions have in common (Jaccard)."""
    import numpy as np

    left, right = np.frombuffer(one, dtype="<u4"), np.frombuffer(other, dtype="<u4")
    both = len(np.intersect1d(left, right, assume_unique=True))
    either = len(left) + len(right) - both
    return both / either if either else 0.0


def _cliques(groups: list[list[Unit]], close: dict[int, set[int]]) -> list[list[int]]:
    """Put each group into the first cluster all of whose members it is a copy of; large groups lead."""
    cliques: list[list[int]] = []
    home: dict[int, int] = {}
    copied = (at for at, group in enumerate(groups) if len(group) > 1 or at in close)
    for at in sorted(copied, key=lambda at: (-len(groups[at]), at)):
        near = sorted({home[other] for other in close.get(at, ()) if other in home})
        fits = next((number for number in near if close[at].issuperset(cliques[number])), None)
        if fits is None:
            fits = len(cliques)
            cliques.append([])
        cliques[fits].append(at)
        home[at] = fits
    return cliques


def _cluster(units: list[Unit]) -> Cluster:
    """What lies within another member of the same file is part of that one, not a copy beside it."""
    outer: list[Unit] = []
    for unit in sorted(units, key=lambda unit: (unit.path, unit.start_line, -unit.end_line, unit.name)):
        if not (outer and outer[-1].holds(unit)):
            outer.append(unit)
    return Cluster(tuple(outer))


def duplicated_lines(clusters: Iterable[Cluster]) -> int:
    """Lines with code in functions that have a copy, each once."""
    members = {unit for cluster in clusters for unit in cluster.units}
    return sum(unit.lines for unit in _cluster(list(members)).units)
