"""Which words mention somebody, and which only look so."""

from __future__ import annotations

import pytest

from manyhands.chat.mentions import Named, find_mentions, mentions_hub, render_mentions

HUB = Named("hub", "hub", "manyhands")
ANN = Named("agent", "a1", "Ann")
ANNA = Named("agent", "a2", "Ann Lee")
EVERYBODY = [HUB, ANN, ANNA]


def found(text: str) -> list[str]:
    return [mention.id for mention in find_mentions(text, EVERYBODY)]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("@manyhands look at this", ["hub"]),
        ("please, @ManyHands: look", ["hub"]),
        ("(@manyhands)", ["hub"]),
        ("@Ann and @manyhands.", ["a1", "hub"]),
        ("@Ann Lee knows", ["a2"]),
        ("@ann", ["a1"]),
        ("me@manyhands.example", []),
        ("me@manyhands", []),
        ("@manyhands-team", []),
        ("@manyhands2", []),
        ("@manyhands:file:///notes.txt", []),
        ("@@manyhands", []),
        ("manyhands", []),
        ("`@manyhands` is code", []),
        ("```\n@manyhands\n``` and @Ann", ["a1"]),
        ("```\n@manyhands never ends", []),
        ("@nobody", []),
        ("", []),
    ],
)
def test_names_after_an_at_sign_are_mentions(text: str, ids: list[str]) -> None:
    assert found(text) == ids


def test_a_mention_says_where_it_stands() -> None:
    (mention,) = find_mentions("Ask @ann lee now", EVERYBODY)
    assert (mention.name, mention.start, mention.end) == ("Ann Lee", 4, 12)
    assert not mentions_hub([mention])


def test_a_name_with_signs_of_a_pattern_is_a_name() -> None:
    odd = Named("agent", "odd", "a.*b(")
    assert [one.id for one in find_mentions("@a.*b( and @axxb(", [odd])] == ["odd"]


def test_an_agent_cannot_take_the_name_of_the_hub() -> None:
    assert mentions_hub(find_mentions("@manyhands", [HUB, Named("agent", "x", "Manyhands")]))


def test_mentions_are_written_as_a_platform_writes_them() -> None:
    text = "@manyhands, ask @Ann."
    written = render_mentions(text, find_mentions(text, EVERYBODY), lambda one: f"<@{one.id}>")
    assert written == "<@hub>, ask <@a1>."
