"""The platform that is the hub itself, through the Protocol that others will follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from manyhands.chat.mentions import find_mentions
from manyhands.chat.platforms import Reply, read_reply
from manyhands.chat.writing import HUB
from manyhands.errors import InvalidError, NotFoundError
from tests.chat.hubs import hub_with

pytestmark = pytest.mark.anyio


async def test_places_are_made_talked_in_searched_and_taken_away(tmp_path: Path) -> None:
    async with hub_with(tmp_path) as (hub, _):
        platform = hub.local
        place = await platform.create("garden")
        await platform.join(place)
        thread = await platform.thread(place, "roses")
        text = "Ask @manyhands."
        mentions = find_mentions(text, [HUB])
        message_id = await platform.post(thread, text, mentions)
        (said,) = (await hub.runs.messages(thread)).items
        assert (said.id, said.content, said.role, said.author_id) == (message_id, text, "assistant", "hub")
        assert platform.mention(said.mentions[0]) == "@manyhands"
        assert {one.id for one in await platform.search("ros")} == {thread}
        with pytest.raises(InvalidError):
            await platform.delete(place)
        await platform.delete(thread)
        with pytest.raises(NotFoundError):
            await platform.join(thread)
        assert not hub.runs.is_working(place)


@pytest.mark.parametrize(
    ("text", "approve", "reason"),
    [
        ("yes", True, None),
        ("OK, go ahead", True, "go ahead"),
        ("no: not today", False, "not today"),
        ("01jc yes", True, None),
        ("👎", False, None),
    ],
)
def test_a_reply_answers_a_question(text: str, approve: bool, reason: str | None) -> None:
    assert read_reply(text, "apr_01jcabc") == Reply("apr_01jcabc", approve, reason)


@pytest.mark.parametrize("text", ["", "what is this?", "yesterday", "01jc", "zzzz yes"])
def test_other_words_answer_nothing(text: str) -> None:
    assert read_reply(text, "apr_01jcabc") is None
