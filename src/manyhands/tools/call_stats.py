"""How calls went: how many, how many failed, how long they took, over time and by server.

One pass over an index that holds all it needs; rows with their results are never read. The ranks are found
here: SQLite sorts ten times slower than this, and so both databases give the same numbers. Percentiles are
those of the nearest rank.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from sqlalchemy import BigInteger, ColumnElement, Connection, Integer, cast, func, literal, select

from manyhands.errors import InvalidError
from manyhands.store.tables import call_ended
from manyhands.store.tables import tool_calls as table
from manyhands.tools.types import CallStatus

USUAL_S = 24 * 3600
USUAL_POINTS = 48
MOST_POINTS = 1000
STEPS_S = (60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 24 * 3600)
FAILED = frozenset({CallStatus.ERROR.value, CallStatus.TIMEOUT.value})
AT_ONCE = 5000

Place = TypeVar("Place", int, str)


@dataclass(frozen=True, slots=True)
class Span:
    """Which part of the log is measured, in steps of how many seconds; of one server, or of all."""

    since: datetime
    until: datetime
    bucket_s: int
    server: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Calls that have ended. The times are those of calls that ran: what was denied took none."""

    calls: int
    errors: int
    p50_ms: int | None
    p95_ms: int | None


@dataclass(frozen=True, slots=True)
class CallStats:
    """`points` go by the beginning of their bucket, oldest first; empty buckets are left out."""

    span: Span
    points: list[tuple[datetime, Measured]]
    servers: list[tuple[str, Measured]]


def make_span(now: datetime, since: datetime | None, bucket_s: int | None, server: str | None) -> Span:
    """By default the last day; the step is chosen so that a plot has some dozens of points."""
    begin = (since or now - timedelta(seconds=USUAL_S)).astimezone(UTC)
    seconds = max(1.0, (now - begin).total_seconds())
    step = bucket_s or next((one for one in STEPS_S if seconds / one <= USUAL_POINTS), 0)
    if not step:
        step = -(-int(seconds) // USUAL_POINTS // STEPS_S[-1]) * STEPS_S[-1]
    if seconds / step > MOST_POINTS:
        raise InvalidError(
            f"Steps of {step} s since then are more than {MOST_POINTS}.", hint="Ask for longer ones."
        )
    return Span(begin, now, step, server)


@dataclass(slots=True)
class _Tally:
    """Calls as they are counted; four bytes for each of their times."""

    calls: int = 0
    errors: int = 0
    times: array[int] = field(default_factory=lambda: array("i"))

    def add(self, status: str, ms: int | None) -> None:
        self.calls += 1
        if status in FAILED:
            self.errors += 1
        if ms is not None and status != CallStatus.DENIED.value:
            self.times.append(ms)

    def measured(self) -> Measured:
        ranked = sorted(self.times)
        return Measured(self.calls, self.errors, _percentile(ranked, 50), _percentile(ranked, 95))


def select_stats(conn: Connection, span: Span) -> CallStats:
    points: dict[int, _Tally] = defaultdict(_Tally)
    servers: dict[str, _Tally] = defaultdict(_Tally)
    query = select(
        _bucket(conn.dialect.name, span.bucket_s), table.c.server, table.c.status, table.c.duration_ms
    ).where(table.c.at >= span.since, table.c.at < span.until, call_ended)
    for place, server, status, ms in conn.execution_options(yield_per=AT_ONCE).execute(query):
        servers[server].add(status, ms)
        if span.server is None or span.server == server:
            points[place].add(status, ms)
    at = {place: datetime.fromtimestamp(place * span.bucket_s, UTC) for place in points}
    return CallStats(
        span,
        [(at[place], found) for place, found in sorted(_measure(points).items())],
        sorted(_measure(servers).items(), key=lambda pair: (-pair[1].calls, pair[0])),
    )


def _bucket(dialect: str, seconds: int) -> ColumnElement[int]:
    """The number of the bucket that a call began in, counted from 1970."""
    if dialect == "postgresql":
        return cast(func.floor(func.extract("epoch", table.c.at) / seconds), BigInteger)
    # SQLite divides whole numbers to whole ones; SQLAlchemy's own // would make it a floor of floats.
    return cast(func.strftime("%s", table.c.at), Integer).op("/")(literal(seconds))


def _measure(tallies: Mapping[Place, _Tally]) -> dict[Place, Measured]:
    return {place: tally.measured() for place, tally in tallies.items()}


def _percentile(ranked: list[int], share: int) -> int | None:
    return ranked[-(-len(ranked) * share // 100) - 1] if ranked else None
