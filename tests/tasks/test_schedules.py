from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from manyhands.errors import InvalidError
from manyhands.tasks.schedules import check_coming, jitter_of, preview, read_schedule, read_zone

NOW = datetime(2026, 11, 16, 5, 42, 30, tzinfo=UTC)


@pytest.mark.requirement("L33")
def test_a_preview_shows_the_next_five_times_in_the_zone_of_the_schedule() -> None:
    found = preview(read_schedule("cron", "0 9 * * mon-fri", "Europe/Berlin"), NOW)
    assert found.words == "every Monday to Friday at 09:00 (Europe/Berlin)"
    assert [moment.isoformat() for moment in found.times] == [
        f"2026-11-{day}T09:00:00+01:00" for day in (16, 17, 18, 19, 20)
    ]


def test_a_preview_tells_of_days_on_which_the_clocks_change() -> None:
    found = preview(read_schedule("cron", "30 2 * * *", "Europe/Berlin"), NOW)
    assert found.notes == (
        "On 2027-03-28 there is no 02:30; it comes right after the jump.",
        "On 2027-10-31 02:30 comes twice; it runs the first time.",
    )


def test_an_interval_counts_from_its_anchor() -> None:
    schedule = read_schedule("interval", "2h30m", "UTC")
    anchor = datetime(2026, 11, 16, 5, 0, tzinfo=UTC)
    found = preview(schedule, NOW, anchor)
    assert found.words == "every 2 hours 30 minutes"
    assert found.times[0] == anchor + timedelta(hours=2, minutes=30)
    assert found.times[4] == anchor + 5 * timedelta(hours=2, minutes=30)


def test_an_interval_of_a_day_is_24_hours_whatever_the_clocks_do() -> None:
    schedule = read_schedule("interval", "1d", "Europe/Berlin")
    anchor = datetime(2027, 3, 27, 12, tzinfo=UTC)
    assert schedule.after(anchor, anchor) == anchor + timedelta(hours=24)


def test_once_comes_once() -> None:
    schedule = read_schedule("once", "2027-01-31T09:00:00+01:00", "Europe/Berlin")
    found = preview(schedule, NOW)
    assert found.words == "once on 2027-01-31 at 09:00:00 (Europe/Berlin)"
    assert [moment.isoformat() for moment in found.times] == ["2027-01-31T09:00:00+01:00"]


def test_once_without_an_offset_is_meant_in_its_zone() -> None:
    assert read_schedule("once", "2027-01-31 09:00", "Asia/Tokyo").at == datetime(2027, 1, 31, tzinfo=UTC)
    assert read_schedule("once", "2027-01-31T09:00:00z", "Asia/Tokyo").at == datetime(
        2027, 1, 31, 9, tzinfo=UTC
    )


def test_manual_never_comes_by_itself() -> None:
    found = preview(read_schedule("manual", None, "UTC"), NOW)
    assert (found.words, found.times) == ("only when somebody starts it", ())


@pytest.mark.parametrize(
    ("type", "schedule", "says"),
    [
        ("once", "2027-03-28T02:30", "jump over 02:30"),
        ("once", "2027-10-31T02:30", "show 02:30 twice"),
        ("once", "2027-01-31", "no time of day"),
        ("once", "tomorrow", "is no time"),
        ("once", "2027-02-30T00:00:00Z", "is no time"),
        ("cron", "", "needs a schedule"),
        ("interval", None, "needs a schedule"),
        ("manual", "@daily", "has no schedule"),
    ],
)
@pytest.mark.requirement("L33")
def test_a_wrong_schedule_is_refused(type: str, schedule: str | None, says: str) -> None:
    with pytest.raises(InvalidError, match=says) as caught:
        read_schedule(type, schedule, "Europe/Berlin")  # type: ignore[arg-type]
    assert caught.value.hint


def test_the_hint_of_a_time_that_comes_twice_names_both_offsets() -> None:
    with pytest.raises(InvalidError) as caught:
        read_schedule("once", "2027-10-31T02:30", "Europe/Berlin")
    assert caught.value.hint == "Say which one with an offset: +02:00 or +01:00."


@pytest.mark.requirement("L33")
def test_once_in_the_past_is_refused() -> None:
    with pytest.raises(InvalidError, match="is in the past"):
        check_coming(read_schedule("once", "2020-01-01T00:00:00Z", "UTC"), NOW)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Europe/Berln", "Europe/Berlin"), ("tokyo", "Asia/Tokyo"), ("../../etc/passwd", None)],
)
def test_an_unknown_zone_is_refused_with_the_one_that_was_meant(name: str, meant: str | None) -> None:
    with pytest.raises(InvalidError) as caught:
        read_zone(name)
    if meant:
        assert meant in str(caught.value.hint)


def test_jitter_is_the_same_whoever_asks_and_differs_by_task_and_time() -> None:
    one = jitter_of("task_1", NOW, 600)
    assert one == jitter_of("task_1", NOW, 600)
    assert timedelta() <= one < timedelta(seconds=600)
    assert len({jitter_of(f"task_{number}", NOW, 600) for number in range(20)}) > 15
    assert jitter_of("task_1", NOW, 0) == timedelta()


def test_jitter_that_is_longer_than_the_interval_is_refused() -> None:
    with pytest.raises(InvalidError, match="longer than the time between"):
        check_coming(read_schedule("interval", "5m", "UTC"), NOW, 300)
    check_coming(read_schedule("interval", "5m", "UTC"), NOW, 299)


def test_the_zone_of_the_machine_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    schedules = [("cron", "0 9 * * *"), ("interval", "1d"), ("once", "2027-03-28T09:00")]
    found = []
    for zone in ("UTC", "America/New_York", "Pacific/Kiritimati"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        found.append([preview(read_schedule(kind, text, "Europe/Berlin"), NOW) for kind, text in schedules])  # type: ignore[arg-type]
    monkeypatch.undo()
    time.tzset()
    assert found[0] == found[1] == found[2]
