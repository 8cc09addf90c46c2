"""Prompts of servers are commands, their resources are attached by name; all else is plain text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manyhands.chat.expansion import read_arguments
from manyhands.errors import InvalidError
from tests.chat.hubs import channel_of, events_of
from tests.chat.test_hands import hub_with_shelf, tool

pytestmark = pytest.mark.anyio


async def test_a_prompt_of_a_server_is_written_out(tmp_path: Path, project: Path) -> None:
    async with hub_with_shelf(tmp_path, [tool("env")], "a", "b") as (hub, model, _):
        channel_id = await channel_of(hub, project)
        await events_of(hub, channel_id, "/shelf:greet who=Ada")
        message, run = await hub.runs.post(channel_id, "/shelf:greet 'Ada Lovelace'")
        assert message.content == "Hello Ada Lovelace"
        assert run is not None
    assert model.requests[0].turns[-1].text == "Hello Ada"


async def test_a_resource_is_attached_and_named_in_the_text(tmp_path: Path, project: Path) -> None:
    said = "what does @shelf:note://1 say, and (@shelf:note://1)?"
    async with hub_with_shelf(tmp_path, [tool("env")], "a") as (hub, model, _):
        await events_of(hub, await channel_of(hub, project), said)
    [turn] = model.requests[0].turns
    assert turn.text == said
    [note] = turn.attachments
    assert (note.name, note.data) == ("note://1", b"a note")


@pytest.mark.parametrize("said", ["/shelf:nothing x", "/help", "mail me@home:now or @nobody:x", "/"])
async def test_what_no_server_knows_stays_plain_text(tmp_path: Path, project: Path, said: str) -> None:
    async with hub_with_shelf(tmp_path, [tool("env")], "a") as (hub, model, _):
        await events_of(hub, await channel_of(hub, project), said)
    [turn] = model.requests[0].turns
    assert (turn.text, list(turn.attachments)) == (said, [])


@pytest.mark.requirement("L26")
@pytest.mark.parametrize("said", ["/shelf:greet who=Ada", "read @shelf:note://1"])
async def test_what_an_agent_writes_in_short_stays_plain_text(
    tmp_path: Path, project: Path, said: str
) -> None:
    async with hub_with_shelf(tmp_path, [tool("env")], "a") as (hub, _, _):
        message, _ = await hub.runs.post(
            await channel_of(hub, project), said, author_id="builder", speaker="agent"
        )
    assert (message.content, list(message.attachments)) == (said, [])


COMMAND: dict[str, Any] = {"command": "/s:p", "arguments": [{"name": "who"}, {"name": "what"}]}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("", {}),
        ("who=Ada what='a b'", {"who": "Ada", "what": "a b"}),
        ("Ada the first of all", {"who": "Ada", "what": "the first of all"}),
        ("what=x Ada", {"who": "Ada", "what": "x"}),
        ("it's", {"who": "it's"}),
    ],
)
def test_arguments_are_given_by_name_or_in_their_order(written: str, read: dict[str, str]) -> None:
    assert read_arguments(written, COMMAND) == read


def test_an_argument_too_many_is_refused() -> None:
    with pytest.raises(InvalidError, match="takes no 'x'"):
        read_arguments("x", {"command": "/s:p"})
