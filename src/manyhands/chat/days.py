"""Days as a person counts them: moments put into the days of a zone, inside either database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, case, func, literal

from manyhands.errors import InvalidError

USUAL_DAYS = 30
MOST_DAYS = 3660
_STEP = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days from `since` to `until` in a zone."""

    zone: ZoneInfo
    since: datetime
    until: datetime


def make_calendar(zone: str, since: datetime | None, now: datetime) -> Calendar:
    """Without a beginning, the last 30 days, whole ones."""
    try:
        found = ZoneInfo(zone)
    except (KeyError, OSError, ValueError) as error:
        raise InvalidError(
            f"There is no time zone {zone!r}.", hint="One such as Europe/Berlin is needed."
        ) from error
    if since is None:
        first = now.astimezone(found).date() - timedelta(days=USUAL_DAYS - 1)
        since = datetime.combine(first, time(), found)
    earliest = now - timedelta(days=MOST_DAYS)
    return Calendar(found, max(since.astimezone(UTC), earliest), now)


def day_of(moment: ColumnElement[datetime], calendar: Calendar, dialect: str) -> ColumnElement[str]:
    """The day of a moment as `2026-03-29`."""
    if dialect == "postgresql":
        return func.to_char(func.timezone(calendar.zone.key, moment), literal("YYYY-MM-DD"))
    return func.date(moment, _shift(moment, calendar))


def _shift(moment: ColumnElement[datetime], calendar: Calendar) -> ColumnElement[Any]:
    """SQLite knows no zones: it is told how far the zone is from UTC, and since when."""
    changes = list(offset_changes(calendar))
    if len(changes) == 1:
        return literal(_seconds(changes[0][1]))
    later = [(moment >= begin, literal(_seconds(offset))) for begin, offset in reversed(changes[1:])]
    return case(*later, else_=literal(_seconds(changes[0][1])))


def _seconds(offset: timedelta) -> str:
    return f"{int(offset.total_seconds()):+d} seconds"


def offset_changes(calendar: Calendar) -> Iterator[tuple[datetime, timedelta]]:
    """From when on which distance to UTC holds; clocks are changed at whole or half hours."""
    at = calendar.since.replace(minute=0, second=0, microsecond=0)
    last: timedelta | None = None
    while at <= calendar.until + timedelta(days=1):
        offset = at.astimezone(calendar.zone).utcoffset() or timedelta()
        if offset != last:
            yield at, offset
            last = offset
        at += _STEP
