"""Which messages start a run, for whoever says them and wherever."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from manyhands.chat.mentions import find_mentions
from manyhands.chat.starting import decide_start
from manyhands.chat.types import Channel, Message, Speaker
from manyhands.chat.writing import HUB

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def decision(speaker: Speaker, text: str, platform: str = "local", own: str | None = None) -> str:
    channel = Channel("here", "here", None, platform, None, None, None, True, False, NOW)
    mentions = tuple(find_mentions(text, [HUB]))
    message = Message("m", "here", "user", text, NOW, speaker=speaker, mentions=mentions)
    return decide_start(channel, message, own).does


def test_whatever_a_person_says_in_a_local_channel_is_worked_on() -> None:
    assert decision("person", "hello") == "joins"


def test_elsewhere_a_person_has_to_mention_the_hub() -> None:
    assert decision("person", "hello", "elsewhere") == "nothing"
    assert decision("person", "@manyhands hello", "elsewhere") == "joins"


@pytest.mark.requirement("L26")
def test_an_agent_starts_a_run_only_by_a_mention_and_never_joins_the_run_of_a_person() -> None:
    assert decision("agent", "hello") == "nothing"
    assert decision("agent", "@manyhands hello") == "runs"
    assert decision("agent", "@manyhands hello", own="there") == "runs"


def test_an_agent_starts_nothing_in_the_channel_of_its_own_run() -> None:
    assert decision("agent", "@manyhands hello", own="here") == "nothing"


def test_a_schedule_starts_a_run_of_its_own() -> None:
    assert decision("schedule", "hello") == "runs"
