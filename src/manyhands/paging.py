"""Pages of a long list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

DEFAULT_LIMIT = 50
MAX_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items and where to go on; no cursor means that this was the last page."""

    items: Sequence[T]
    next_cursor: str | None = None


def cut_page(rows: Sequence[T], limit: int) -> tuple[Sequence[T], bool]:
    """Split `limit + 1` fetched rows into the page and whether there is more."""
    return rows[:limit], len(rows) > limit
