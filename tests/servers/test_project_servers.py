"""A project's servers follow its file, start only as a person approved them, and stay inside its channel."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from manyhands.chat.types import Channel
from manyhands.errors import ConflictError, InvalidError, NotAllowedError
from manyhands.secrets import MASK
from manyhands.servers.projects import PROJECT_FILE
from manyhands.servers.types import ServerStatus
from manyhands.servers.views import ServerView
from tests.servers.hubs import Bench, Shelf, bench, channel, shelf, tool

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


def write(project: Path, **entries: Any) -> None:
    project.joinpath(PROJECT_FILE).write_text(json.dumps({"mcpServers": entries}))


def books(tmp_path: Path, name: str = "books") -> Shelf:
    return shelf(tmp_path, name, tool("find"), tool("env"), tool("cwd"), tool("pid"), tool("roots"))


async def view_of(hub: Bench, name: str) -> ServerView | None:
    return next((view for view in await hub.service.list() if view.server.config.name == name), None)


async def settled(hub: Bench, name: str, status: ServerStatus) -> ServerView:
    """Wait until the server has this status."""

    async def look() -> ServerView | None:
        view = await view_of(hub, name)
        return view if view is not None and view.status is status else None

    found: ServerView = await hub.until(look)
    return found


async def trust(hub: Bench, here: Channel) -> None:
    """A person trusts the directory instead of answering the question, and its server starts."""
    await hub.inbox.question()
    await hub.channels.trust(here.id, True)
    await settled(hub, "books", ServerStatus.CONNECTED)


async def gone(hub: Bench, name: str) -> None:
    """Wait until the server is no longer listed."""

    async def look() -> bool:
        return await view_of(hub, name) is None

    await hub.until(look)


async def offered(hub: Bench, name: str, where: Channel) -> None:
    """Wait until the tool is offered."""

    async def look() -> bool:
        return name in await hub.names(where)

    await hub.until(look)


async def test_a_projects_server_starts_only_after_a_person_approved_it(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry(env={"TOKEN": "in-the-file"}))
    here = channel(project)
    async with bench(tmp_path, here, watch=True) as hub:
        question = await hub.inbox.question()
        assert f"{project}/{PROJECT_FILE}" in question.title
        assert question.channel_id == here.id
        (shown,) = question.detail["servers"]
        assert (shown["name"], shown["env"], shown["change"]) == ("books", {"TOKEN": MASK}, "new")
        view = await view_of(hub, "books")
        assert view is not None
        assert (view.status, view.trusted) == ("disconnected", False)
        assert not (await hub.service.connect(view.server.id)).ok
        with pytest.raises(NotAllowedError, match="is not approved"):
            await hub.service.test({}, server_id=view.server.id)
        await hub.inbox.answer(approve=True)
        await settled(hub, "books", ServerStatus.CONNECTED)
        assert (await hub.service.test({}, server_id=view.server.id)).ok
        assert "mcp__books__find" in await hub.names(here)
        assert (await hub.call("mcp__books__env", here, variable="TOKEN")).text == ".".join("in-the-file")
        assert (await hub.call("mcp__books__cwd", here)).text == str(project)
        assert hub.channels.channels[here.id].trusted


async def test_what_nobody_approves_is_not_started(tmp_path: Path, project: Path) -> None:
    write(project, books=books(tmp_path).entry())
    async with bench(tmp_path, channel(project), watch=True) as hub:
        await hub.inbox.answer(approve=False)
        view = await settled(hub, "books", ServerStatus.DISCONNECTED)
        assert not view.trusted
        assert hub.of_type("mcp.status") == []


async def test_trusting_the_directory_approves_what_its_file_says_and_distrust_ends_it(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry())
    here = channel(project)
    async with bench(tmp_path, here, watch=True) as hub:
        await trust(hub, here)
        assert hub.inbox.waiting == []
        await hub.channels.trust(here.id, False)
        view = await settled(hub, "books", ServerStatus.DISCONNECTED)
        assert not view.trusted


async def test_trust_is_taken_back_also_from_a_channel_that_does_not_say_it(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry())
    here = channel(project)
    async with bench(tmp_path, here, watch=True) as hub:
        await trust(hub, here)
        hub.channels.channels[here.id] = here
        await hub.channels.trust(here.id, False)
        view = await settled(hub, "books", ServerStatus.DISCONNECTED)
        assert not view.trusted
        with pytest.raises(NotAllowedError) as refused:
            await hub.service.read_resource(view.server.id, "note://1", here)
        assert f"`manyhands channels trust {project}`" in str(refused.value.hint)


async def test_what_a_person_takes_back_is_not_asked_about_until_its_file_changes(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry())
    here = channel(project, trusted=True)
    async with bench(tmp_path, here, watch=True) as hub:
        await hub.inbox.answer(approve=True)
        await settled(hub, "books", ServerStatus.CONNECTED)
        await hub.channels.trust(here.id, False)
        await settled(hub, "books", ServerStatus.DISCONNECTED)
        await hub.service.sync_project(str(project))
        write(project, books=books(tmp_path).entry(env={"NEW": "value"}))
        assert (await hub.inbox.question()).detail["servers"][0]["env"] == {"NEW": MASK}
        assert len(hub.inbox.asked) == 2


async def test_trusting_again_approves_what_a_changed_file_says(tmp_path: Path, project: Path) -> None:
    write(project, books=books(tmp_path).entry())
    here = channel(project)
    async with bench(tmp_path, here, watch=True) as hub:
        await hub.inbox.answer(approve=True)
        await settled(hub, "books", ServerStatus.CONNECTED)
        write(project, books=books(tmp_path).entry(env={"NEW": "value"}))
        await hub.inbox.answer(approve=False)
        await hub.channels.trust(here.id, True)
        await settled(hub, "books", ServerStatus.CONNECTED)
        assert (await hub.call("mcp__books__env", here, variable="NEW")).text == ".".join("value")


async def test_an_answer_approves_what_was_shown_and_nothing_else(tmp_path: Path, project: Path) -> None:
    write(project, books=books(tmp_path).entry())
    async with bench(tmp_path, channel(project), watch=True) as hub:
        await hub.inbox.question()
        shown = list(hub.service._projects.project(str(project)).entries.values())
        write(project, books=books(tmp_path).entry(env={"NEW": "value"}))
        await hub.service.sync_project(str(project))
        await hub.service._projects.approve(str(project), shown)
        view = await settled(hub, "books", ServerStatus.DISCONNECTED)
        assert not view.trusted
        assert (await hub.inbox.question()).detail["servers"][0]["env"] == {"NEW": MASK}


async def test_trust_stays_behind_when_a_channel_moves(tmp_path: Path, project: Path) -> None:
    other, third = tmp_path / "other", tmp_path / "third"
    write(project, books=books(tmp_path).entry())
    for directory, name in ((other, "unseen"), (third, "later")):
        directory.mkdir()
        write(directory, **{name: books(tmp_path).entry()})
    here = channel(project)
    async with bench(tmp_path, here, watch=True) as hub:
        await trust(hub, here)
        hub.channels.put(channel(other, trusted=True))
        hub.channels.put(channel(third, id="ch_2"))
        await settled(hub, "later", ServerStatus.DISCONNECTED)
        view = await settled(hub, "unseen", ServerStatus.DISCONNECTED)
        assert not view.trusted
        question = await hub.inbox.question()
        assert [shown["name"] for shown in question.detail["servers"]] == ["unseen"]


async def test_what_was_approved_goes_with_the_last_channel_of_its_directory(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry())
    here, also = channel(project), channel(project, id="ch_2")
    async with bench(tmp_path, here, also, watch=True) as hub:
        await hub.inbox.answer(approve=True)
        before = await settled(hub, "books", ServerStatus.CONNECTED)
        hub.channels.remove(here.id)
        hub.channels.put(here)
        still = await settled(hub, "books", ServerStatus.CONNECTED)
        assert (still.state.pid, len(hub.inbox.asked)) == (before.state.pid, 1)
        del hub.channels.channels[also.id]  # as a thread, of which nobody tells
        hub.channels.remove(here.id)
        await gone(hub, "books")
        hub.channels.put(here)
        await hub.inbox.question()
        view = await settled(hub, "books", ServerStatus.DISCONNECTED)
        assert not view.trusted


async def test_a_directory_that_only_a_deleted_thread_had_is_left_with_it(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry())
    parent, thread = channel(tmp_path), channel(project, id="ch_2")
    async with bench(tmp_path, parent, thread, watch=True) as hub:
        await hub.inbox.answer(approve=True)
        await settled(hub, "books", ServerStatus.CONNECTED)
        del hub.channels.channels[thread.id]
        hub.channels.remove(parent.id)
        await gone(hub, "books")


async def test_an_approval_that_no_channel_shows_is_not_kept_over_a_restart(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry())
    here = channel(project)
    async with bench(tmp_path, here, watch=True) as hub:
        await hub.inbox.answer(approve=True)
        await settled(hub, "books", ServerStatus.CONNECTED)
    async with bench(tmp_path, here, watch=True) as hub:
        await hub.inbox.question()
        view = await settled(hub, "books", ServerStatus.DISCONNECTED)
        assert not view.trusted


async def test_what_was_approved_starts_again_after_a_restart_without_asking(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry(env={"TOKEN": "in-the-file"}))
    here = channel(project)
    async with bench(tmp_path, here, watch=True) as hub:
        await hub.inbox.answer(approve=True)
        await settled(hub, "books", ServerStatus.CONNECTED)
        here = hub.channels.channels[here.id]
    async with bench(tmp_path, here, watch=True) as hub:
        await settled(hub, "books", ServerStatus.CONNECTED)
        assert hub.inbox.asked == []
        assert (await hub.call("mcp__books__env", here, variable="TOKEN")).text == ".".join("in-the-file")


async def test_only_what_changed_reconnects_and_it_asks_anew(tmp_path: Path, project: Path) -> None:
    shared = books(tmp_path)
    write(project, stays=shared.entry(), changes=shared.entry())
    here = channel(project)
    async with bench(tmp_path, here, watch=True) as hub:
        await hub.inbox.answer(approve=True)
        stays = await settled(hub, "stays", ServerStatus.CONNECTED)
        await settled(hub, "changes", ServerStatus.CONNECTED)
        write(project, stays=shared.entry(), changes=shared.entry(env={"NEW": "value"}))
        question = await hub.inbox.question()
        assert [shown["name"] for shown in question.detail["servers"]] == ["changes"]
        assert question.detail["servers"][0]["change"] == "changed since it was approved"
        await settled(hub, "changes", ServerStatus.DISCONNECTED)
        listing = await hub.service.listing("mcp__stays__find", here)
        assert listing is not None
        assert listing.offered
        await hub.inbox.answer(approve=True)
        await settled(hub, "changes", ServerStatus.CONNECTED)
        still = await settled(hub, "stays", ServerStatus.CONNECTED)
        assert still.state.pid == stays.state.pid


async def test_an_entry_that_goes_ends_and_when_it_comes_back_it_is_known(
    tmp_path: Path, project: Path
) -> None:
    entry = books(tmp_path).entry()
    write(project, books=entry)
    here = channel(project)
    async with bench(tmp_path, here, watch=True) as hub:
        await hub.inbox.answer(approve=True)
        view = await settled(hub, "books", ServerStatus.CONNECTED)
        await hub.service.set_preference(view.server.id, "env", enabled=False)
        write(project)
        await gone(hub, "books")
        assert await hub.names(here) == []
        write(project, books=entry)
        again = await settled(hub, "books", ServerStatus.CONNECTED)
        assert again.server.id == view.server.id
        assert "mcp__books__env" not in await hub.names(here)
        assert len(hub.inbox.asked) == 1


async def test_a_project_wins_over_a_global_server_of_the_same_name_inside_its_channel_only(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=shelf(tmp_path, "own", tool("find"), tool("own")).entry())
    here, elsewhere = channel(project), channel(None, id="ch_2")
    async with bench(tmp_path, here, watch=True) as hub:
        shared = (await hub.service.save(books(tmp_path).config("books"))).view.server
        await hub.inbox.question()
        assert (await hub.service.by_name("books", str(project))).server.id == shared.id
        assert "mcp__books__cwd" in await hub.names(here)
        await hub.inbox.answer(approve=True)
        await offered(hub, "mcp__books__own", here)
        assert await hub.names(here) == ["mcp__books__find", "mcp__books__own"]
        assert (await hub.service.by_name("books", str(project))).server.project == str(project)
        assert "mcp__books__own" not in await hub.names(elsewhere)
        assert "mcp__books__cwd" in await hub.names(elsewhere)
        assert "mcp__books__cwd" in await hub.names(None)
        assert await hub.tool("mcp__books__cwd", here) is None
        by_id = await hub.service.listing(f"mcp__{shared.id}__cwd", here)
        assert by_id is not None
        assert (by_id.offered, by_id.reason) == (
            False,
            "the project's own server books takes its place in this channel",
        )
        names = [listing.definition.full_name for listing in await hub.service.listings(here)]
        assert len(names) == len(set(names))


async def test_a_projects_server_cannot_be_used_from_another_channel(tmp_path: Path, project: Path) -> None:
    write(project, books=books(tmp_path).entry())
    here, other = channel(project), channel(tmp_path, id="ch_2")
    async with bench(tmp_path, here, watch=True) as hub:
        await hub.inbox.answer(approve=True)
        view = await settled(hub, "books", ServerStatus.CONNECTED)
        assert await hub.tool(f"mcp__{view.server.id}__find", other) is None
        with pytest.raises(ConflictError, match="belongs to"):
            await hub.service.read_resource(view.server.id, "note://1", other)
        assert (await hub.service.read_resource(view.server.id, "note://1", here))["contents"]


async def test_what_its_file_describes_is_edited_there_and_what_a_person_decides_here(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry(env={"TOKEN": "in-the-file"}))
    async with bench(tmp_path, channel(project), watch=True) as hub:
        await hub.inbox.answer(approve=True)
        view = await settled(hub, "books", ServerStatus.CONNECTED)
        with pytest.raises(InvalidError, match="Edit it there"):
            await hub.service.save({"command": "other"}, server_id=view.server.id)
        with pytest.raises(InvalidError, match="Edit it there"):
            await hub.service.save({"env": {"TOKEN": "another"}}, server_id=view.server.id)
        with pytest.raises(InvalidError, match="Remove it there"):
            await hub.service.remove(view.server.id)
        await hub.service.save({**view.wire(), "trust": "trusted"}, server_id=view.server.id)
        assert hub.service.server_policy(view.server.id).trust == "trusted"
        write(project, books=books(tmp_path).entry(env={"TOKEN": "changed"}))
        await hub.inbox.question()
        assert hub.service.server_policy(view.server.id).trust == "ask"


@pytest.mark.requirement("L29")
async def test_a_file_with_a_mistake_says_so_and_the_next_good_one_is_taken(
    tmp_path: Path, project: Path
) -> None:
    project.joinpath(PROJECT_FILE).write_text('{"servers": {}}')
    async with bench(tmp_path, channel(project), watch=True) as hub:
        problem = await hub.service.sync_project(str(project))
        assert f"{project}/{PROJECT_FILE}" in str(problem)
        assert "'servers'" in str(problem)
        write(project, books=books(tmp_path).entry())
        await hub.inbox.question()


async def test_while_a_file_cannot_be_read_its_servers_go_on(tmp_path: Path, project: Path) -> None:
    write(project, books=books(tmp_path).entry())
    async with bench(tmp_path, channel(project), watch=True) as hub:
        await hub.inbox.answer(approve=True)
        before = await settled(hub, "books", ServerStatus.CONNECTED)
        project.joinpath(PROJECT_FILE).write_text('{"mcpServers": {')
        assert "not valid JSON" in str(await hub.service.sync_project(str(project)))
        still = await settled(hub, "books", ServerStatus.CONNECTED)
        assert (still.state.pid, still.trusted) == (before.state.pid, True)


async def test_a_changed_file_takes_back_the_question_about_the_old_one(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry())
    async with bench(tmp_path, channel(project), watch=True) as hub:
        first = await hub.inbox.question()
        write(project, books=books(tmp_path).entry(env={"A": "b"}))
        await hub.until(lambda: first in hub.inbox.taken_back and hub.inbox.waiting)
        assert await hub.inbox.question() != first
        await hub.inbox.answer(approve=True)
        await settled(hub, "books", ServerStatus.CONNECTED)


async def test_a_channel_that_comes_goes_or_moves_brings_and_takes_its_servers(
    tmp_path: Path, project: Path
) -> None:
    write(project, books=books(tmp_path).entry())
    async with bench(tmp_path, watch=True) as hub:
        here = channel(project)
        await hub.until(lambda: hub.channels._observers)
        hub.channels.put(here)
        await hub.inbox.answer(approve=True)
        await settled(hub, "books", ServerStatus.CONNECTED)
        other = tmp_path / "other"
        other.mkdir()
        hub.channels.put(replace(here, dir_path=str(other)))
        await gone(hub, "books")


async def test_a_server_that_asks_for_roots_gets_a_connection_for_each_directory(
    tmp_path: Path, project: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    here, there = channel(project), channel(other, id="ch_2")
    async with bench(tmp_path, here, there) as hub:
        await hub.service.save(books(tmp_path).config("books"))
        assert (await hub.call("mcp__books__roots", None)).text == "[]"
        assert (await hub.call("mcp__books__roots", here)).text == f'["{project.as_uri()}"]'
        assert (await hub.call("mcp__books__roots", there)).text == f'["{other.as_uri()}"]'
        pids = {(await hub.call("mcp__books__pid", c)).text for c in (None, here, there)}
        assert len(pids) == 3
