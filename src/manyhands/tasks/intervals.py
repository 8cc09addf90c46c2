"""Lengths of time: `90s`, `2h30m`, `1d`, or ISO 8601 such as `PT2H30M`; reading and saying them. Pure."""

from __future__ import annotations

import re
from datetime import timedelta

from manyhands.errors import InvalidError

LONGEST = timedelta(days=3660)
SHORTEST = timedelta(seconds=1)
_SHORT = re.compile(r"(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_ISO = re.compile(
    r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_CALENDAR = re.compile(r"P(?=.*\d+[YM])(\d+Y)?(\d+M)?(\d+[WD])*(T.*)?")
_UNITS = ((604_800, "week"), (86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
_HINT = "Write it like 90s, 15m, 2h30m, 1d or PT2H30M."


def parse_interval(text: str) -> timedelta:
    """Read a length of time that something can be repeated after."""
    words = re.sub(r"\s+", "", text)
    found = _SHORT.fullmatch(words.lower()) or _ISO.fullmatch(words.upper())
    if not words or found is None or not any(found.groups()):
        raise _unreadable(text, words)
    try:
        length = timedelta(
            **{
                unit: float(number or 0)
                for unit, number in zip(
                    ("weeks", "days", "hours", "minutes", "seconds"), found.groups(), strict=True
                )
            }
        )
    except OverflowError:
        length = LONGEST * 2
    if length < SHORTEST:
        raise InvalidError(f"The interval {text.strip()!r} is too short.", hint="One second is the shortest.")
    if length > LONGEST:
        raise InvalidError(f"The interval {text.strip()!r} is too long.", hint="Ten years are the longest.")
    return length


def _unreadable(text: str, words: str) -> InvalidError:
    if words.isdigit():
        return InvalidError(f"The interval {text.strip()!r} has no unit.", hint=_HINT)
    if _CALENDAR.fullmatch(words.upper()):
        return InvalidError(
            "Months and years have no fixed length.", hint="Use a cron expression, such as `0 9 1 * *`."
        )
    return InvalidError(f"{text.strip()!r} is no interval.", hint=_HINT)


def say_interval(length: timedelta) -> str:
    """`2 hours 30 minutes`."""
    left = round(length.total_seconds())
    parts = []
    for size, name in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}{'s' if count != 1 else ''}")
    return " ".join(parts) or "0 seconds"
