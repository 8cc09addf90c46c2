from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.errors import InvalidError
from manyhands.tasks.cron import is_jumped_over, is_shown_twice, moment_of, next_time, parse_cron

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
PLAIN = ZoneInfo("UTC")


def times(text: str, start: str, count: int, zone: ZoneInfo = PLAIN) -> list[str]:
    """The next times as clocks in the zone show them."""
    moment: datetime | None = datetime.fromisoformat(start).replace(tzinfo=zone).astimezone(UTC)
    found = []
    for _ in range(count):
        assert moment is not None
        moment = next_time(parse_cron(text), moment, zone)
        assert moment is not None
        found.append(moment.astimezone(zone).isoformat(timespec="minutes"))
    return found


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("* * * * *", "2026-11-16T05:43+00:00"),
        ("*/15 * * * *", "2026-11-16T05:45+00:00"),
        ("0 9 * * mon-fri", "2026-11-16T09:00+00:00"),
        ("0 9 * * SAT,SUN", "2026-11-21T09:00+00:00"),
        ("0 9 * * fri-sun", "2026-11-20T09:00+00:00"),
        ("30 4 1,15 * *", "2026-12-01T04:30+00:00"),
        ("0 0 * feb *", "2027-02-01T00:00+00:00"),
        ("5-10/5 4 * * 7", "2026-11-22T04:05+00:00"),
        ("0 22/1 * * *", "2026-11-16T22:00+00:00"),
        ("@hourly", "2026-11-16T06:00+00:00"),
        ("@Daily", "2026-11-17T00:00+00:00"),
        ("@midnight", "2026-11-17T00:00+00:00"),
        ("@weekly", "2026-11-22T00:00+00:00"),
        ("@monthly", "2026-12-01T00:00+00:00"),
        ("@yearly", "2027-01-01T00:00+00:00"),
        ("@annually", "2027-01-01T00:00+00:00"),
    ],
)
def test_an_expression_comes_next_when_it_says(text: str, first: str) -> None:
    assert times(text, "2026-11-16T05:42:30", 1) == [first]


def test_a_day_of_the_month_and_one_of_the_week_are_either_or() -> None:
    assert times("0 0 13 * fri", "2026-11-01T00:00", 3) == [
        "2026-11-06T00:00+00:00",
        "2026-11-13T00:00+00:00",
        "2026-11-20T00:00+00:00",
    ]


def test_29_february_comes_in_leap_years_only_even_across_1900_years() -> None:
    assert times("0 12 29 2 *", "2027-01-01T00:00", 2) == ["2028-02-29T12:00+00:00", "2032-02-29T12:00+00:00"]
    assert times("0 12 29 2 *", "2096-03-01T00:00", 1) == ["2104-02-29T12:00+00:00"]


def test_an_hour_that_the_clock_jumps_over_comes_right_after_the_jump() -> None:
    assert times("30 2 * * *", "2027-03-27T12:00", 2, BERLIN) == [
        "2027-03-28T03:00+02:00",
        "2027-03-29T02:30+02:00",
    ]
    assert times("30 2 * * *", "2027-03-13T12:00", 1, NEW_YORK) == ["2027-03-14T03:00-04:00"]
    assert times("15 2 * * *", "2026-10-03T12:00", 1, LORD_HOWE) == ["2026-10-04T02:30+11:00"]


def test_an_hour_that_comes_twice_runs_the_first_time_only() -> None:
    assert times("30 2 * * *", "2027-10-30T12:00", 2, BERLIN) == [
        "2027-10-31T02:30+02:00",
        "2027-11-01T02:30+01:00",
    ]


def test_every_hour_goes_on_in_real_time_through_both_changes() -> None:
    assert times("30 * * * *", "2027-10-31T00:45", 4, BERLIN) == [
        "2027-10-31T01:30+02:00",
        "2027-10-31T02:30+02:00",
        "2027-10-31T02:30+01:00",
        "2027-10-31T03:30+01:00",
    ]
    assert times("30 * * * *", "2027-03-28T00:45", 2, BERLIN) == [
        "2027-03-28T01:30+01:00",
        "2027-03-28T03:30+02:00",
    ]


def test_a_time_of_day_stays_the_same_on_the_wall_all_year() -> None:
    shown = {found[11:16] for found in times("0 9 * * *", "2026-01-01T00:00", 370, BERLIN)}
    assert shown == {"09:00"}


def test_a_zone_that_lost_a_day_goes_on_with_the_next_one() -> None:
    # Samoa went from 29 to 31 December 2011.
    assert times("0 9 * * *", "2011-12-29T08:00", 2, ZoneInfo("Pacific/Apia"))[0].startswith(
        "2011-12-29T09:00"
    )
    assert times("0 9 * * *", "2011-12-29T08:00", 3, ZoneInfo("Pacific/Apia"))[-1].startswith(
        "2011-12-31T09:00"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("* * * *", "has 4"),
        ("* * * * * *", "Seconds are not taken"),
        ("60 * * * *", "60 is outside of 0 to 59"),
        ("* 24 * * *", "hour"),
        ("* * 0 * *", "day of the month"),
        ("* * * 13 *", "month"),
        ("* * * * 8", "day of the week"),
        ("* * * foo *", "'foo' is not known"),
        ("5-1 * * * *", "before its beginning"),
        ("*/0 * * * *", "a step is a number from 1 on"),
        ("*/x * * * *", "a step is a number from 1 on"),
        ("1,,2 * * * *", "something is missing"),
        ("-1 * * * *", "something is missing"),
        ("٣ * * * *", "is not known"),
        ("@reboot", "no schedule"),
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 4,6,9,11 *", "never comes"),
    ],
)
@pytest.mark.requirement("L33")
def test_a_wrong_expression_is_refused_with_the_place_of_the_mistake(text: str, says: str) -> None:
    with pytest.raises(InvalidError, match=says) as caught:
        parse_cron(text)
    assert caught.value.hint


def test_an_impossible_date_with_a_day_of_the_week_still_comes() -> None:
    assert times("0 0 31 2 mon", "2026-11-16T05:00", 1) == ["2027-02-01T00:00+00:00"]


def test_clocks_are_known_to_jump_and_to_show_twice() -> None:
    jumped, twice = datetime(2027, 3, 28, 2, 30), datetime(2027, 10, 31, 2, 30)  # noqa: DTZ001
    assert is_jumped_over(jumped, BERLIN)
    assert not is_shown_twice(jumped, BERLIN)
    assert is_shown_twice(twice, BERLIN)
    assert not is_jumped_over(twice, BERLIN)
    assert moment_of(jumped, BERLIN) == datetime(2027, 3, 28, 1, tzinfo=UTC)


fields = st.tuples(
    st.integers(0, 59), st.one_of(st.just("*"), st.integers(0, 23)), st.sampled_from(["*", "mon-fri", "6"])
)


@given(
    fields,
    st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001
    st.sampled_from([BERLIN, NEW_YORK, LORD_HOWE, ZoneInfo("Asia/Tokyo"), ZoneInfo("Africa/Casablanca")]),
)
def test_the_next_time_is_later_and_fits_the_expression(
    parts: tuple[int, object, str], start: datetime, zone: ZoneInfo
) -> None:
    minute, hour, weekday = parts
    cron = parse_cron(f"{minute} {hour} * * {weekday}")
    after = start.replace(tzinfo=UTC)
    found = next_time(cron, after, zone)
    assert found is not None
    assert found > after
    assert found - after <= timedelta(days=8)
    local = found.astimezone(zone)
    shown = local.replace(tzinfo=None)
    if local.minute != minute:  # it was jumped over
        wanted = shown.replace(hour=int(str(hour)), minute=minute)
        assert is_jumped_over(wanted, zone)
    assert cron.falls_on(local.date())
