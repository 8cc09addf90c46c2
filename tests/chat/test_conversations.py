"""Whole conversations: forked, sent again, exported, imported, searched, read."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from manyhands import Hub
from manyhands.chat.types import RunOptions
from manyhands.errors import ConflictError, InvalidError, NotFoundError
from manyhands.models.types import Attachment, Reply, TextDelta
from manyhands.testing.scripted import Gate, calls
from tests.chat.hubs import channel_of, events_of, hub_with

pytestmark = pytest.mark.anyio


async def said(hub: Hub, channel_id: str) -> list[tuple[str, str]]:
    page = await hub.runs.messages(channel_id, 100)
    return [(message.role, message.content) for message in reversed(page.items)]


async def test_a_fork_is_a_thread_with_a_copy_up_to_a_message(tmp_path: Path) -> None:
    async with hub_with(tmp_path, "one", "two", "three") as (hub, model):
        channel_id = await channel_of(hub, tmp_path)
        await events_of(hub, channel_id, "first")
        await events_of(hub, channel_id, "second")
        newest_first = (await hub.runs.messages(channel_id)).items
        fork = await hub.conversations.fork(channel_id, newest_first[2].id)
        assert fork.parent_id == channel_id
        assert fork.dir_path == (await hub.channels.get(channel_id)).dir_path
        assert await said(hub, fork.id) == [("user", "first"), ("assistant", "one")]
        await events_of(hub, fork.id, "another way")
        assert [turn.text for turn in model.requests[-1].turns] == ["first", "one", "another way"]
        assert len(await said(hub, channel_id)) == 4


async def test_what_is_sent_again_replaces_what_came_of_it_and_keeps_the_old_in_a_thread(
    tmp_path: Path,
) -> None:
    async with hub_with(tmp_path, "one", "two", "other") as (hub, model):
        channel_id = await channel_of(hub, tmp_path)
        await events_of(hub, channel_id, "first")
        await events_of(hub, channel_id, "second")
        edited = (await hub.runs.messages(channel_id)).items[1]
        async with hub.bus.subscribe() as events:
            run, kept = await hub.conversations.resend(channel_id, edited.id, "second, better")
            types = []
            async for event in events:
                types.append(event.type)
                if event.type == "run.finished":
                    break
        assert types.index("channel.rewound") < types.index("message.created")
        assert [text for _, text in await said(hub, channel_id)] == [
            "first",
            "one",
            "second, better",
            "other",
        ]
        assert [text for _, text in await said(hub, kept.id)] == ["first", "one", "second", "two"]
        assert [turn.text for turn in model.requests[-1].turns] == ["first", "one", "second, better"]
        old_run = edited.run_id
        assert old_run is not None
        assert old_run != run.id
        assert [message.content for message in await hub.runs.messages_of(old_run)] == ["second", "two"]


async def test_only_a_persons_message_of_a_channel_at_rest_is_sent_again(tmp_path: Path) -> None:
    gate = anyio.Event()
    async with hub_with(tmp_path, "one", [Gate(gate), TextDelta("x"), Reply("x")]) as (hub, _):
        channel_id = await channel_of(hub, tmp_path)
        await events_of(hub, channel_id, "first")
        answer, question = (await hub.runs.messages(channel_id)).items
        with pytest.raises(InvalidError):
            await hub.conversations.resend(channel_id, answer.id, "no")
        with pytest.raises(NotFoundError):
            await hub.conversations.resend(channel_id, "msg_none", "no")
        run = await hub.runs.start(channel_id, "second", RunOptions())
        with pytest.raises(ConflictError):
            await hub.conversations.resend(channel_id, question.id, "not now")
        await hub.runs.cancel(run.id)


async def test_an_exported_conversation_is_imported_whole_by_another_hub(tmp_path: Path) -> None:
    picture = Attachment("dot.png", "image/png", b"\x89PNG dot")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    async with hub_with(tmp_path / "one", calls(("list_directory", {})), "done ``` here") as (hub, _):
        channel_id = await channel_of(hub, tmp_path)
        async with hub.bus.subscribe() as events:
            await hub.runs.start(channel_id, "look", RunOptions(), [picture])
            async for event in events:
                if event.type == "run.finished":
                    break
        document = await hub.conversations.export(channel_id, "json")
        written = await hub.conversations.export(channel_id, "markdown")
        before = await said(hub, channel_id)
    assert isinstance(written, str)
    assert all(part in written for part in ("## You", "Call: list_directory", "dot.png"))
    async with hub_with(tmp_path / "two", "go on") as (hub, model):
        channel = await hub.conversations.import_archive(document)
        assert await said(hub, channel.id) == before
        reference = (await hub.runs.messages(channel.id)).items[-1].attachments[0]
        assert await hub.conversations.attachment(str(reference["sha256"])) == picture.data
        await events_of(hub, channel.id, "more")
        assert [turn.role for turn in model.requests[-1].turns] == [
            "user",
            "assistant",
            "tool",
            "assistant",
            "user",
        ]
        again = await hub.conversations.import_archive(document)
        assert again.name == f"{channel.name} 2"


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"format": "manyhands.conversation", "version": 2, "messages": []},
        {"format": "manyhands.conversation", "version": 1, "messages": [{"role": "root"}]},
    ],
)
async def test_what_is_no_exported_conversation_is_refused(tmp_path: Path, document: object) -> None:
    async with hub_with(tmp_path) as (hub, _):
        with pytest.raises(InvalidError, match="not an exported conversation"):
            await hub.conversations.import_archive(document)
        assert not (await hub.channels.list()).items


async def test_a_search_finds_messages_that_hold_all_words_in_any_case(tmp_path: Path) -> None:
    async with hub_with(tmp_path, "The Übersicht is 100% done", "nothing here") as (hub, _):
        channel_id = await channel_of(hub, tmp_path)
        await events_of(hub, channel_id, "status?")
        await events_of(hub, channel_id, "and now?")
        found = await hub.conversations.search("übersicht THE")
        assert [one.content for one in found.items] == ["The Übersicht is 100% done"]
        assert len((await hub.conversations.search("100%")).items) == 1
        assert not (await hub.conversations.search("1%0")).items
        first = await hub.conversations.search("o", limit=1)
        rest = await hub.conversations.search("o", limit=10, cursor=first.next_cursor)
        assert len(first.items) + len(rest.items) == 3


async def test_answers_are_unread_until_the_person_has_seen_them(tmp_path: Path) -> None:
    async with hub_with(tmp_path, "one", "two") as (hub, _):
        channel_id = await channel_of(hub, tmp_path)
        await events_of(hub, channel_id, "first")
        await events_of(hub, channel_id, "second")
        (activity,) = await hub.conversations.activity("owner")
        assert (activity.unread, activity.run_id) == (2, None)
        first_answer = (await hub.runs.messages(channel_id)).items[2]
        await hub.conversations.mark_read(channel_id, first_answer.id, "owner")
        (activity,) = await hub.conversations.activity("owner")
        assert activity.unread == 1
        await hub.conversations.mark_read(channel_id, str(activity.last_message_id), "owner")
        (activity,) = await hub.conversations.activity("owner")
        assert activity.unread == 0
        (other,) = await hub.conversations.activity("somebody else")
        assert other.unread == 2


async def test_words_of_a_reply_under_way_are_there_for_who_comes_late(tmp_path: Path) -> None:
    gate = anyio.Event()
    script = [TextDelta("Hel"), TextDelta("lo"), Gate(gate), TextDelta("!"), Reply("Hello!")]
    async with hub_with(tmp_path, script) as (hub, _):
        channel_id = await channel_of(hub, tmp_path)
        async with hub.bus.subscribe() as events:
            run = await hub.runs.start(channel_id, "hi")
            async for event in events:
                if event.type == "run.delta" and event.data["offset"] == 3:
                    break
            assert hub.words.of(run.id) == {"iteration": 1, "text": "Hello", "thinking": ""}
            gate.set()
            async for event in events:
                if event.type == "run.finished":
                    break
            assert hub.words.of(run.id) is None
