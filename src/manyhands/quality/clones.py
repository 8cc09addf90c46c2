"""What a copy of a function is known by: its shingles and their SimHash, and the lines that it has.

A token is its kind; names are one kind and literals another. Five tokens in a row are a shingle, the set of
shingles of a function gives its SimHash. It owns the fingerprints of one file; `clusters` compares them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from manyhands.quality.languages import ERROR_KIND, Language, grammar_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHINGLE = 5
LEAST_LINES = 5

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
        last - first >= SHINGLE and lines >= LEAST_LINES
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
