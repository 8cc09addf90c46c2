"""A cron expression in words that a person reads. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from manyhands.tasks.cron import Cron

MONTH_NAMES = (
    "",
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
DAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MOST_TIMES = 6


def say_cron(cron: Cron) -> str:
    """`every Monday to Friday at 09:30`."""
    return f"{_days(cron)} {_times(cron)}".strip() if _days(cron) else _times(cron)


def _times(cron: Cron) -> str:
    minutes, hours = cron.minutes, cron.hours
    if len(minutes) * len(hours) <= MOST_TIMES:
        times = [f"{hour:02d}:{minute:02d}" for hour in hours for minute in minutes]
        return ("at " if _days(cron) else "every day at ") + _join(times)
    if cron.every_hour:
        return _within_the_hour(minutes)
    if not _is_span(hours):
        return _in_hours(minutes, hours)
    return f"{'every hour' if len(minutes) == 1 else _within_the_hour(minutes)} {_span(cron)}"


def _is_span(hours: Sequence[int]) -> bool:
    return hours[-1] - hours[0] + 1 == len(hours) > 2


def _span(cron: Cron) -> str:
    """From the first to the last time of a day."""
    hours, minutes = cron.hours, cron.minutes
    return f"from {hours[0]:02d}:{minutes[0]:02d} to {hours[-1]:02d}:{minutes[-1]:02d}"


def _in_hours(minutes: Sequence[int], hours: Sequence[int]) -> str:
    if len(minutes) > 1:
        return f"{_within_the_hour(minutes)} of {_hours(hours)}"
    if step := _step(hours, 24):
        return f"every {step} hours" + (f" at minute {minutes[0]}" if minutes[0] else "")
    return f"at minute {minutes[0]} of {_hours(hours)}"


def _within_the_hour(minutes: Sequence[int]) -> str:
    if len(minutes) == 60:
        return "every minute"
    if step := _step(minutes, 60):
        return f"every {step} minutes"
    if len(minutes) == 1:
        return "every hour" if minutes[0] == 0 else f"every hour at minute {minutes[0]}"
    return f"every hour at the minutes {_join([str(minute) for minute in minutes])}"


def _hours(hours: Sequence[int]) -> str:
    if step := _step(hours, 24):
        return f"every {_ordinal(step)} hour"
    name = "hour" if len(hours) == 1 else "hours"
    return f"the {name} {_join([str(hour) for hour in hours])}"


def _days(cron: Cron) -> str:
    by_date = not (cron.any_day and len(cron.days) == 31)
    by_week = len(cron.weekdays) < 7
    parts = []
    if by_date:
        parts.append(f"on {_dates(sorted(cron.days))}")
    if by_week:
        parts.append(f"every {_weekdays(cron)}" if not by_date else f"on every {_weekdays(cron)}")
    months = f"in {_months(cron)}" if len(cron.months) < 12 else ""
    if by_date and not months:
        months = "of every month" if not by_week else ""
    joined = (" or " if not (cron.any_day or cron.any_weekday) else " if it is ").join(parts)
    if by_date and len(parts) == 1 and months.startswith("in "):
        return f"{joined} {'of' + months[2:]}"
    return " ".join(part for part in (joined or ("every day" if months else ""), months) if part)


def _dates(days: Sequence[int]) -> str:
    if len(days) == 31:
        return "every day"
    if (step := _step(days, 32, start=1)) and len(days) > 4:
        return f"every {_ordinal(step)} day"
    return f"the {_join([_ordinal(day) for day in days])}"


def _weekdays(cron: Cron) -> str:
    monday_first = sorted(cron.weekdays, key=lambda day: (day - 1) % 7)
    places = [(day - 1) % 7 for day in monday_first]
    names = [DAY_NAMES[day] for day in monday_first]
    if len(names) > 2 and places[-1] - places[0] + 1 == len(places):
        return f"{names[0]} to {names[-1]}"
    return _join(names)


def _months(cron: Cron) -> str:
    months = sorted(cron.months)
    if len(months) > 2 and months[-1] - months[0] + 1 == len(months):
        return f"{MONTH_NAMES[months[0]]} to {MONTH_NAMES[months[-1]]}"
    return _join([MONTH_NAMES[month] for month in months])


def _step(values: Sequence[int], size: int, start: int = 0) -> int | None:
    """How far apart they are, when they are evenly spread over all of it."""
    if len(values) < 2 or values[0] != start:
        return None
    step = values[1] - values[0]
    return step if list(values) == list(range(start, size, step)) and step > 1 else None


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _join(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
