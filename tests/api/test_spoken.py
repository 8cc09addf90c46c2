"""A listener hears each word once and misses none."""

from __future__ import annotations

from manyhands.api.spoken import Spoken


def test_words_that_come_in_order_are_passed_on_as_they_come() -> None:
    spoken = Spoken()
    assert [spoken.delta(1, 0, "Ma"), spoken.delta(1, 2, "ny."), spoken.message(1, "Many.")] == [
        "Ma",
        "ny.",
        "",
    ]


def test_what_is_said_after_calls_stands_apart() -> None:
    spoken = Spoken()
    heard = [spoken.delta(1, 0, "Look."), spoken.message(1, "Look."), spoken.delta(2, 0, "Here.")]
    assert heard == ["Look.", "", "\n\nHere."]
    assert spoken.message(3, "") == ""
    assert spoken.message(4, "End.") == "\n\nEnd."


def test_lost_words_come_from_the_whole_message() -> None:
    spoken = Spoken()
    assert spoken.delta(1, 0, "one ") == "one "
    assert spoken.delta(1, 8, "three ") == ""
    assert spoken.delta(1, 14, "four") == ""
    assert spoken.message(1, "one two three four") == "two three four"
    assert spoken.delta(1, 14, "four") == ""


def test_words_that_are_told_twice_are_heard_once() -> None:
    spoken = Spoken()
    assert [spoken.delta(1, 0, "ab"), spoken.delta(1, 1, "bc"), spoken.delta(1, 1, "bc")] == ["ab", "c", ""]


def test_an_answer_that_begins_anew_stands_apart() -> None:
    spoken = Spoken()
    assert [spoken.delta(1, 0, "Wro"), spoken.delta(1, 0, "Right")] == ["Wro", "\n\nRight"]
    assert spoken.message(1, "Right.") == "."


def test_an_attempt_whose_end_was_missed_is_followed_by_the_whole_answer() -> None:
    spoken = Spoken()
    spoken.delta(1, 0, "Wro")
    assert spoken.delta(1, 5, "…") == ""
    assert spoken.message(1, "Right.") == "\n\nRight."
