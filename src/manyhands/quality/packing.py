"""Rows packed into pieces of text, so that a page of a long list is read without the rest. Pure."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence

from manyhands.quality.types import Json, Piece

PIECE = 500
_LEVEL = 1
"""Rows repeat their keys: more effort gains little."""


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def write(row: Json) -> str:
    """A row as it is packed."""
    return _ENCODER.encode(row)


def pack(part: str, rows: Sequence[str]) -> Iterator[Piece]:
    """Rows that are written already."""
    for start in range(0, len(rows), PIECE):
        some = rows[start : start + PIECE]
        packed = zlib.compress(f"[{','.join(some)}]".encode("utf-8", "surrogatepass"), _LEVEL)
        yield Piece(part, start, len(some), base64.b64encode(packed).decode())


def unpack(pieces: Iterable[Piece]) -> list[Json]:
    rows: list[Json] = []
    for piece in pieces:
        text = zlib.decompress(base64.b64decode(piece.data)).decode("utf-8", "surrogatepass")
        rows.extend(json.loads(text))
    return rows
