"""How many steps a regular expression can take before it gives up, from its shape alone. Pure.

Python's engine tries every way in which a pattern could match. The ways are counted here as
`factor * n**degree` for a text of n characters; a pattern whose ways grow faster has no cost that could be
paid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

LONGEST = 500
MOST_TIMES = 1000
MOST_WAYS = 1_000_000
MOST_DEGREES = 8
_ONE = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"})
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT"})
_ASSERTIONS = frozenset({"ASSERT", "ASSERT_NOT"})
_STARTS = frozenset({"AT_BEGINNING", "AT_BEGINNING_STRING"})


class Unbounded(ValueError):
    """Nobody can say how long this pattern takes."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Parts of the pattern, and the ways through it."""

    parts: int = 1
    factor: int = 1
    degree: int = 0

    def steps(self, length: int) -> int:
        """The most that a text of this length can cost."""
        return self.parts * self.factor * int((length + 1) ** self.degree)

    def then(self, other: Cost) -> Cost:
        """One after the other."""
        return _bounded(self.parts + other.parts, self.factor * other.factor, self.degree + other.degree)

    def or_else(self, other: Cost) -> Cost:
        """One or the other."""
        return _bounded(self.parts + other.parts, self.factor + other.factor, max(self.degree, other.degree))


def _bounded(parts: int, factor: int, degree: int) -> Cost:
    if parts > MOST_WAYS or factor > MOST_WAYS or degree > MOST_DEGREES:
        raise Unbounded
    return Cost(parts, factor, degree)


@lru_cache(maxsize=4096)
def search_cost(pattern: str) -> Cost | None:
    """What `re.search` can cost; nothing when it has no bound, or is no pattern at all. Compiles nothing."""
    if len(pattern) > LONGEST:
        return None
    try:
        parsed = import_module("re._parser").parse(pattern)
        if parsed.state.flags & re.IGNORECASE:
            return None
        cost = _sequence(parsed)
    except (re.error, Unbounded, RecursionError, OverflowError):
        return None
    return cost if _is_anchored(parsed) else Cost(cost.parts, cost.factor, cost.degree + 1)


def _is_anchored(parsed: Any) -> bool:
    """Whether it is tried at the beginning of the text only."""
    if not len(parsed) or parsed.state.flags & re.MULTILINE:
        return False
    kind, said = parsed[0]
    return str(kind) == "AT" and str(said) in _STARTS


def _sequence(items: Iterable[tuple[Any, Any]]) -> Cost:
    cost = Cost()
    for kind, said in items:
        cost = cost.then(_item(str(kind), said))
    return cost


def _item(kind: str, said: Any) -> Cost:
    if kind in _ONE:
        return Cost()
    if kind in _REPEATS:
        return _repeat(*said)
    if kind == "SUBPATTERN":
        return _group(*said)
    if kind in _ASSERTIONS:
        return _sequence(said[1])
    if kind == "BRANCH":
        return _branch([_sequence(items) for items in said[1]])
    raise Unbounded  # back references and whatever later versions invent


def _group(number: int | None, more_flags: int, fewer_flags: int, items: Any) -> Cost:
    if more_flags & re.IGNORECASE:  # takes long to compile: every character of a range is looked up
        raise Unbounded
    return _sequence(items)


def _branch(branches: list[Cost]) -> Cost:
    cost = branches[0]
    for other in branches[1:]:
        cost = cost.or_else(other)
    return cost


def _repeat(least: int, most: Any, items: Any) -> Cost:
    inner = _sequence(items)
    if str(most) != "MAXREPEAT":
        return _times(inner, least, int(most))
    if inner.factor > 1 or inner.degree:  # every round has a choice of its own
        raise Unbounded
    return _bounded(inner.parts * max(least, 1), 1, 1)


def _times(inner: Cost, least: int, most: int) -> Cost:
    if most > MOST_TIMES:
        raise Unbounded
    ways = sum(inner.factor**count for count in range(least, most + 1))
    return _bounded(inner.parts * max(most, 1), ways, inner.degree * most)
