"""Cron expressions: five fields, names, `@daily` and friends, and when they come next. Pure.

Daylight saving: an expression that names hours means the clock on the wall. A time that the clock jumps over
comes at the first moment after the jump, one that the clock shows twice comes the first time. An expression
whose hour is `*` goes on in real time through both.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from manyhands.errors import InvalidError

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
SHORTCUTS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
HORIZON = timedelta(days=9 * 366)
"""The longest way between two leap days is eight years."""
_LONGEST_JUMP = timedelta(hours=25)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    lowest: int
    highest: int
    names: tuple[str, ...] = ()

    @property
    def everything(self) -> frozenset[int]:
        return frozenset(range(self.lowest, self.highest + 1))


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, ("", *MONTHS)),
    _Field("day of the week", 0, 7, DAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression. Days of the week count from Sunday, 0."""

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    @property
    def every_hour(self) -> bool:
        return len(self.hours) == 24

    def falls_on(self, day: date) -> bool:
        """Cron's old rule: when both kinds of days are named, either of them will do."""
        if day.month not in self.months:
            return False
        of_month = day.day in self.days
        of_week = (day.isoweekday() % 7) in self.weekdays
        if self.any_day or self.any_weekday:
            return of_month and of_week
        return of_month or of_week


def parse_cron(text: str) -> Cron:
    """Read an expression; what is wrong with it is said with the field that it is in."""
    words = text.strip().lower()
    if words.startswith("@"):
        if words not in SHORTCUTS:
            raise InvalidError(
                f"{text.strip()!r} is no schedule.",
                hint=f"Use one of {', '.join(SHORTCUTS)}, or five fields.",
            )
        words = SHORTCUTS[words]
    parts = words.split()
    if len(parts) != len(_FIELDS):
        seconds = " Seconds are not taken." if len(parts) == 6 else ""
        raise InvalidError(
            f"A cron expression has 5 fields, and {text.strip()!r} has {len(parts)}.{seconds}",
            hint="minute hour day month weekday, such as `30 9 * * mon-fri`.",
        )
    sets = [_parse_field(part, field) for part, field in zip(parts, _FIELDS, strict=True)]
    minutes, hours, days, months, weekdays = sets
    cron = Cron(
        " ".join(parts),
        tuple(sorted(minutes)),
        tuple(sorted(hours)),
        days,
        months,
        frozenset(day % 7 for day in weekdays),
        any_day=parts[2][0] in "*?",
        any_weekday=parts[4][0] in "*?",
    )
    return _check_possible(cron)


def _check_possible(cron: Cron) -> Cron:
    longest = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
    by_date = any(min(cron.days) <= longest.get(month, 31) for month in cron.months)
    if not by_date and cron.any_weekday:
        raise InvalidError(
            f"{cron.text!r} never comes: none of its months has a day {min(cron.days)}.",
            hint="Choose a day that the month has.",
        )
    return cron


def _parse_field(text: str, field: _Field) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        found |= _parse_part(part, field)
    return frozenset(found)


def _parse_part(part: str, field: _Field) -> set[int]:
    span, slash, step_text = part.partition("/")
    step = 1
    if slash:
        if not step_text.isascii() or not step_text.isdigit() or int(step_text) == 0:
            raise _wrong(part, field, "a step is a number from 1 on")
        step = int(step_text)
    if span in ("*", "?"):
        first, last = field.lowest, field.highest if field.highest != 7 else 6
    else:
        begin, dash, end = span.partition("-")
        first = _parse_value(begin, part, field)
        last = _parse_value(end, part, field) if dash else (field.highest if slash else first)
    if last < first:
        if field.names[:1] == ("sun",) and last == 0:
            last = 7  # `fri-sun`
        else:
            raise _wrong(part, field, "the end of a range comes before its beginning")
    return set(range(first, last + 1, step))


def _parse_value(text: str, part: str, field: _Field) -> int:
    if text in field.names and text:
        return field.names.index(text)
    if not text.isascii() or not text.isdigit():
        raise _wrong(part, field, f"{text!r} is not known" if text else "something is missing")
    value = int(text)
    if not field.lowest <= value <= field.highest:
        raise _wrong(part, field, f"{value} is outside of {field.lowest} to {field.highest}")
    return value


def _wrong(part: str, field: _Field, why: str) -> InvalidError:
    return InvalidError(
        f"In the cron expression, the {field.name} {part!r} is wrong: {why}.",
        hint="`*`, numbers, lists `1,15`, ranges `mon-fri` and steps `*/15` are taken.",
    )


# --- when it comes


def next_time(cron: Cron, after: datetime, zone: ZoneInfo) -> datetime | None:
    """The first moment after this one, in UTC; nothing when none comes within the horizon."""
    day = (after.astimezone(zone) - _LONGEST_JUMP).date()
    last = (after + HORIZON).date()
    while day <= last:
        if cron.falls_on(day):
            find = _next_in_real_time if cron.every_hour else _next_on_the_wall
            if found := find(cron, day, after, zone):
                return found
        day += timedelta(days=1)
    return None


def _next_on_the_wall(cron: Cron, day: date, after: datetime, zone: ZoneInfo) -> datetime | None:
    earliest = after.astimezone(zone).replace(tzinfo=None) - _LONGEST_JUMP
    for hour in cron.hours:
        for minute in cron.minutes:
            shown = datetime.combine(day, time(hour, minute))
            if shown >= earliest and (moment := moment_of(shown, zone)) > after:
                return moment
    return None


def _next_in_real_time(cron: Cron, day: date, after: datetime, zone: ZoneInfo) -> datetime | None:
    start = moment_of(datetime.combine(day, time()), zone)
    end = moment_of(datetime.combine(day + timedelta(days=1), time()), zone)
    moment = max(start, after.astimezone(UTC).replace(second=0, microsecond=0) + _MINUTE)
    minutes = set(cron.minutes)
    while moment < end:
        local = moment.astimezone(zone)
        if local.minute in minutes and local.date() == day and local.second == 0:
            return moment
        moment += _MINUTE
    return None


def moment_of(shown: datetime, zone: ZoneInfo) -> datetime:
    """When a clock on the wall shows this first; one that it jumps over is the first moment afterwards."""
    moment = shown.replace(tzinfo=zone).astimezone(UTC)
    if not is_jumped_over(shown, zone):
        return moment
    # PEP 495: before and after the jump, the two readings of a time that does not exist lie around it.
    before, behind = moment, shown.replace(tzinfo=zone, fold=1).astimezone(UTC)
    low, high = min(before, behind), max(before, behind)
    old = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == old:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


def is_jumped_over(shown: datetime, zone: ZoneInfo) -> bool:
    """Whether no clock in this zone ever shows it."""
    there = shown.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
    return there.replace(tzinfo=None) != shown


def is_shown_twice(shown: datetime, zone: ZoneInfo) -> bool:
    """Whether a clock in this zone shows it, and an hour later again."""
    if is_jumped_over(shown, zone):
        return False
    first, second = shown.replace(tzinfo=zone), shown.replace(tzinfo=zone, fold=1)
    return first.utcoffset() != second.utcoffset()
