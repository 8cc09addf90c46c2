from __future__ import annotations

from datetime import timedelta

import pytest

from manyhands.errors import InvalidError
from manyhands.tasks.intervals import parse_interval, say_interval


@pytest.mark.parametrize(
    ("text", "seconds", "words"),
    [
        ("90s", 90, "1 minute 30 seconds"),
        ("2h30m", 9000, "2 hours 30 minutes"),
        ("2h 30m", 9000, "2 hours 30 minutes"),
        ("1D", 86_400, "1 day"),
        ("1w2d", 777_600, "1 week 2 days"),
        ("PT2H30M", 9000, "2 hours 30 minutes"),
        ("pt0.5h", 1800, "30 minutes"),
        ("P1DT12H", 129_600, "1 day 12 hours"),
        ("P2W", 1_209_600, "2 weeks"),
    ],
)
def test_an_interval_is_read_and_said(text: str, seconds: int, words: str) -> None:
    assert parse_interval(text) == timedelta(seconds=seconds)
    assert say_interval(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0", "no unit"),
        ("0s", "too short"),
        ("PT0S", "too short"),
        ("90", "no unit"),
        ("", "no interval"),
        ("P", "no interval"),
        ("PT", "no interval"),
        ("soon", "no interval"),
        ("-5m", "no interval"),
        ("1h1h", "no interval"),
        ("P1M", "no fixed length"),
        ("P1Y", "no fixed length"),
        ("99999d", "too long"),
        (f"{'9' * 400}d", "too long"),
    ],
)
@pytest.mark.requirement("L33")
def test_a_wrong_interval_is_refused(text: str, says: str) -> None:
    with pytest.raises(InvalidError, match=says) as caught:
        parse_interval(text)
    assert caught.value.hint
