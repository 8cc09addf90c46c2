"""Where terms stand: of one file as it is kept, and of many files as they are looked up. Pure.

A term is a number of 64 bits here, made from its letters: two that share one are less likely than a broken
disk, and millions of them take little room.
"""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyhands.memory.lexical import Rows
from manyhands.memory.types import Chunk
from manyhands.memory.words import label, terms

FORMAT = b"mh1\0"
_MOST = 255
"""A term that stands more often in one chunk counts as often as this."""

Keys = NDArray[np.uint64]
Counts = NDArray[np.uint8]


@lru_cache(maxsize=50_000)
def key_of(term: str) -> int:
    """The number of a term, the same for ever."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class FileWords:
    """What the search by words needs of one file, without its text."""

    sections: Rows
    """The number of each chunk's section, from 0, without gaps."""
    lengths: Rows
    keys: Keys
    rows: Rows
    counts: Counts
    heading_keys: Keys
    heading_sections: Rows
    label_keys: Keys
    label_rows: Rows

    def pack(self) -> bytes:
        """As bytes: how many numbers each table has, then the tables."""
        tables = [getattr(self, name) for name, _ in _TABLES]
        head = struct.pack(f"<{len(tables)}I", *map(len, tables))
        return b"".join([FORMAT, head, *(table.tobytes() for table in tables)])

    @classmethod
    def unpack(cls, packed: bytes) -> FileWords:
        """The same again; a table is a view of the bytes."""
        sizes = struct.unpack_from(f"<{len(_TABLES)}I", packed, len(FORMAT))
        at = len(FORMAT) + 4 * len(_TABLES)
        tables: dict[str, Any] = {}
        for (name, kind), size in zip(_TABLES, sizes, strict=True):
            tables[name] = np.frombuffer(packed, dtype=kind, count=size, offset=at)
            at += size * kind.itemsize
        return cls(**tables)


_KINDS: dict[str, np.dtype[Any]] = {
    "Keys": np.dtype("<u8"),
    "Rows": np.dtype("<i4"),
    "Counts": np.dtype("u1"),
}
_TABLES = [(field.name, _KINDS[str(field.type)]) for field in fields(FileWords)]


def words_of(name: str, chunks: Sequence[Chunk]) -> FileWords:
    """The terms of a file's chunks, of its name and headings, and of the labels that chunks begin with."""
    sections: list[int] = []
    places: list[tuple[int, int, int]] = []
    headings: list[tuple[int, int]] = []
    labels: list[tuple[int, int]] = []
    lengths: list[int] = []
    for row, chunk in enumerate(chunks):
        if not row or chunk.section != chunks[row - 1].section:
            sections.append(sections[-1] + 1 if sections else 0)
            headings += [(key, sections[-1]) for key in _keys((PurePath(name).stem, *chunk.headings))]
        else:
            sections.append(sections[-1])
        found = terms(chunk.text)
        lengths.append(len(found))
        places += [(key_of(term), row, min(count, _MOST)) for term, count in Counter(found).items()]
        labels += [(key, row) for key in _keys([label(chunk.text)])]
    keys, rows, counts = zip(*places, strict=True) if places else ((), (), ())
    return FileWords(
        _numbers(sections),
        _numbers(lengths),
        np.array(keys, dtype=np.uint64),
        _numbers(rows),
        np.array(counts, dtype=np.uint8),
        *_pairs(headings),
        *_pairs(labels),
    )


def _keys(texts: Iterable[str]) -> set[int]:
    return {key_of(term) for term in terms(" ".join(texts))}


def _pairs(pairs: Sequence[tuple[int, int]]) -> tuple[Keys, Rows]:
    return np.array([key for key, _ in pairs], dtype=np.uint64), _numbers([row for _, row in pairs])


def _numbers(values: Sequence[int]) -> Rows:
    return np.array(values, dtype=np.int32)


class TermIndex:
    """Where each of many terms stands, sorted by term."""

    def __init__(self, keys: Keys, places: Rows, counts: Counts | None = None) -> None:
        order = np.argsort(keys, kind="stable")
        self._places = places[order]
        self._counts = None if counts is None else counts[order]
        keys = keys[order]
        del order
        first = np.ones(len(keys), dtype=bool)
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        starts = np.flatnonzero(first)
        self._keys = keys[starts]
        self._starts = np.append(starts, len(keys)).astype(np.int64)

    @property
    def nbytes(self) -> int:
        counts = 0 if self._counts is None else self._counts.nbytes
        return int(self._places.nbytes + self._keys.nbytes + self._starts.nbytes + counts)

    def places(self, key: int) -> tuple[Rows, Counts | None]:
        """Where it stands, and how often, where that is known; nothing is an empty table."""
        at = int(np.searchsorted(self._keys, np.uint64(key)))
        if at == len(self._keys) or int(self._keys[at]) != key:
            return self._places[:0], None
        some = slice(self._starts[at], self._starts[at + 1])
        return self._places[some], None if self._counts is None else self._counts[some]
