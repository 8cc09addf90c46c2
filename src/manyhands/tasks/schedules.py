"""When a task is due: its four types, their zones, jitter, and what comes next. Pure.

A schedule is read once, when it is made, so that whatever is wrong with it is said then and not never.
"""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from manyhands.errors import InvalidError
from manyhands.tasks.cron import Cron, is_jumped_over, is_shown_twice, next_time, parse_cron
from manyhands.tasks.intervals import parse_interval, say_interval
from manyhands.tasks.places import at_field
from manyhands.tasks.types import Preview, TaskType
from manyhands.tasks.words import say_cron

SHOWN = 5
LONGEST_JITTER_S = 86_400


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule that was read and found good."""

    type: TaskType
    zone: ZoneInfo
    cron: Cron | None = None
    every: timedelta | None = None
    at: datetime | None = None

    def after(self, moment: datetime, anchor: datetime) -> datetime | None:
        """The first time that it is due after a moment. Intervals count from the anchor."""
        match self.type:
            case "cron":
                assert self.cron is not None
                return next_time(self.cron, moment, self.zone)
            case "interval":
                assert self.every is not None
                return anchor + self.every * max(1, (moment - anchor) // self.every + 1)
            case "once":
                return self.at if self.at is not None and self.at > moment else None
            case _:
                return None

    def words(self) -> str:
        """The schedule as a person says it."""
        zone = f" ({self.zone.key})"
        if self.cron is not None:
            return say_cron(self.cron) + zone
        if self.every is not None:
            length = say_interval(self.every)
            alone = length.removeprefix("1 ")  # `every hour`, and `every 1 hour 30 minutes`
            return f"every {length if ' ' in alone else alone}"
        if self.at is not None:
            return f"once on {self.at.astimezone(self.zone):%Y-%m-%d at %H:%M:%S}{zone}"
        return "only when somebody starts it"


def read_schedule(type: TaskType, schedule: str | None, timezone: str) -> Schedule:
    """Read it, or say what is wrong with it."""
    with at_field("timezone"):
        zone = read_zone(timezone)
    with at_field("schedule"):
        return _read(type, (schedule or "").strip(), zone)


def _read(type: TaskType, text: str, zone: ZoneInfo) -> Schedule:
    if type == "manual":
        if text:
            raise InvalidError(
                "A manual task has no schedule.", hint="Leave schedule empty, or choose another type."
            )
        return Schedule(type, zone)
    if not text:
        raise InvalidError(f"A task of the type {type} needs a schedule.", hint=_EXAMPLES[type])
    match type:
        case "cron":
            return Schedule(type, zone, cron=parse_cron(text))
        case "interval":
            return Schedule(type, zone, every=parse_interval(text))
        case _:
            return Schedule(type, zone, at=_read_moment(text, zone))


_EXAMPLES = {
    "cron": "Such as `0 9 * * mon-fri` or `@daily`.",
    "interval": "Such as `90s`, `2h30m` or `PT2H30M`.",
    "once": "Such as `2027-01-31T09:00:00+01:00`.",
}


@lru_cache(maxsize=256)
def read_zone(name: str) -> ZoneInfo:
    """An IANA zone."""
    try:
        if name.startswith(("posix", "right", "/")) or ".." in name:
            raise ValueError(name)
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        known = sorted(available_timezones())
        by_end = {zone.rpartition("/")[2].lower(): zone for zone in known}
        near = difflib.get_close_matches(name.lower(), [zone.lower() for zone in known] + list(by_end), n=1)
        meant = next((zone for zone in known if near and zone.lower() == near[0]), None)
        meant = meant or (by_end.get(near[0]) if near else None)
        hint = f"Did you mean {meant}?" if meant else "Use an IANA name such as Europe/Berlin or UTC."
        raise InvalidError(f"There is no time zone {name!r}.", hint=hint) from error


def _read_moment(text: str, zone: ZoneInfo) -> datetime:
    try:
        moment = datetime.fromisoformat(text.replace("z", "Z") if text.endswith("z") else text)
    except ValueError as error:
        raise InvalidError(f"{text!r} is no time.", hint=_EXAMPLES["once"]) from error
    if len(text) <= len("2027-01-31"):
        raise InvalidError(f"{text!r} has no time of day.", hint=_EXAMPLES["once"])
    if moment.tzinfo is not None:
        return moment.astimezone(UTC)
    if is_jumped_over(moment, zone):
        raise InvalidError(
            f"On that day the clocks in {zone.key} jump over {moment:%H:%M}.",
            hint="Choose another time, or give it with an offset such as +01:00.",
        )
    if is_shown_twice(moment, zone):
        first, second = (f"{moment.replace(tzinfo=zone, fold=fold):%z}" for fold in (0, 1))
        raise InvalidError(
            f"On that day the clocks in {zone.key} show {moment:%H:%M} twice.",
            hint=f"Say which one with an offset: {_offset(first)} or {_offset(second)}.",
        )
    return moment.replace(tzinfo=zone).astimezone(UTC)


def _offset(text: str) -> str:
    return f"{text[:3]}:{text[3:5]}"


# --- jitter and previews


def jitter_of(task_id: str, due: datetime, most_s: int) -> timedelta:
    """How much later this one starts: the same whoever asks, different for every task and time."""
    if not most_s:
        return timedelta()
    seed = hashlib.sha256(f"{task_id} {due.timestamp():.3f}".encode()).digest()
    share = int.from_bytes(seed[:8], "big") / 2**64
    return timedelta(milliseconds=int(share * most_s * 1000))


def check_coming(schedule: Schedule, now: datetime, jitter_s: int = 0) -> None:
    """Refuse a schedule that will never come, or whose jitter would mix up its times."""
    if schedule.type == "manual":
        return
    if not 0 <= jitter_s <= LONGEST_JITTER_S:
        raise InvalidError(
            f"Jitter is 0 to {LONGEST_JITTER_S} seconds.", hint="Choose less.", data={"field": "jitter_s"}
        )
    first = schedule.after(now, now)
    if first is None and schedule.at is not None:
        raise InvalidError(
            f"{schedule.at.astimezone(schedule.zone):%Y-%m-%d %H:%M:%S %Z} is in the past.",
            hint="Choose a time to come, or the type manual to start it by hand.",
            data={"field": "schedule"},
        )
    if first is None:
        raise InvalidError(
            "This schedule never comes.", hint="Look at its days and months.", data={"field": "schedule"}
        )
    second = schedule.after(first, now)
    if second is not None and timedelta(seconds=jitter_s) >= second - first:
        raise InvalidError(
            f"Jitter of {jitter_s} seconds is longer than the time between two runs.",
            hint="Choose less.",
            data={"field": "jitter_s"},
        )


def preview(schedule: Schedule, now: datetime, anchor: datetime | None = None) -> Preview:
    """In words, the next five times in its zone, and what is worth knowing about them."""
    times: list[datetime] = []
    moment, anchor = now, anchor or now.replace(microsecond=0)
    while len(times) < SHOWN and (found := schedule.after(moment, anchor)) is not None:
        times.append(found.astimezone(schedule.zone))
        moment = found
    return Preview(schedule.words(), tuple(times), tuple(_notes(schedule, now)))


def _notes(schedule: Schedule, now: datetime) -> list[str]:
    """Days of the coming year on which the clocks change under it."""
    if schedule.cron is None or schedule.cron.every_hour:
        return []
    found = []
    local = now.astimezone(schedule.zone)
    for ahead in range(370):
        day = local + timedelta(days=ahead)
        midnight = datetime.combine(day.date(), time())
        offsets = {(midnight + timedelta(hours=h)).replace(tzinfo=schedule.zone).utcoffset() for h in (0, 24)}
        if len(offsets) > 1 and schedule.cron.falls_on(day.date()):
            found += _changes_on(midnight, schedule.cron, schedule.zone)
    return found


def _changes_on(midnight: datetime, cron: Cron, zone: ZoneInfo) -> list[str]:
    times = [midnight.replace(hour=hour, minute=minute) for hour in cron.hours for minute in cron.minutes]
    jumped = [shown for shown in times if is_jumped_over(shown, zone)]
    twice = [shown for shown in times if is_shown_twice(shown, zone)]
    notes = []
    if jumped:
        notes.append(f"On {midnight:%Y-%m-%d} there is no {jumped[0]:%H:%M}; it comes right after the jump.")
    if twice:
        notes.append(f"On {midnight:%Y-%m-%d} {twice[0]:%H:%M} comes twice; it runs the first time.")
    return notes
