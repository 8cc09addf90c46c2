"""Connections are begun, ended and told of; what one server does concerns no other."""

from __future__ import annotations

import logging
from pathlib import Path

import psutil
import pytest

from manyhands.servers.types import ServerStatus
from manyhands.settings import Settings
from tests.servers.hubs import bench, shelf, tool

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("L01")
async def test_a_server_that_dies_comes_back_and_its_restarts_are_counted(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("pid"))
    async with bench(tmp_path) as hub:
        view = (await hub.service.save(books.config("books"))).view
        assert view.state.pid is not None
        psutil.Process(view.state.pid).kill()
        await hub.until(lambda: [e for e in hub.of_type("mcp.status") if e["restarts"] == 1])
        await hub.status(view.server.id, "connected")
        again = await hub.service.get(view.server.id)
        assert again.state.restarts == 1
        assert again.state.pid != view.state.pid
        failed = [event for event in hub.of_type("mcp.status") if event["status"] == "error"]
        assert (failed[0]["attempt"], failed[0]["attempts_max"]) == (1, 8)
        assert "books" in failed[0]["error"]


@pytest.mark.requirement("L10")
async def test_a_list_that_cannot_be_read_after_a_reconnect_or_a_crash_stays_as_it_was(
    tmp_path: Path,
) -> None:
    books = shelf(tmp_path, "books", tool("find"), tool("lend"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        books.put(fail=["tools/list"])
        view = (await hub.service.reconnect(server_id)).view
        assert "tools/list failed: out of order" in str(view.state.error)
        assert await hub.names() == ["mcp__books__find", "mcp__books__lend"]
        assert (await hub.call("mcp__books__find")).text.startswith("find {}")
        assert view.state.pid is not None
        psutil.Process(view.state.pid).kill()
        await hub.until(lambda: [e for e in hub.of_type("mcp.status") if e["restarts"] == 1])
        await hub.status(server_id, "connected")
        assert await hub.names() == ["mcp__books__find", "mcp__books__lend"]


@pytest.mark.requirement("L10")
async def test_a_list_that_cannot_be_read_after_a_restart_stays_as_it_was(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("books"))
    books.put(fail=["tools/list"])
    async with bench(tmp_path) as hub:
        (view,) = await hub.service.list()
        await hub.status(view.server.id, "connected")
        assert await hub.names() == ["mcp__books__find"]


async def test_a_server_that_no_longer_declares_tools_has_none(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        books.put(tool("find"), without=["tools"])
        await hub.service.reconnect(server_id)
        assert await hub.names() == []


@pytest.mark.parametrize("restarted", [False, True])
async def test_what_another_program_listed_is_not_kept_for_the_one_in_its_place(
    tmp_path: Path, restarted: bool
) -> None:
    books, films = shelf(tmp_path, "books", tool("find")), shelf(tmp_path, "films", fail=["tools/list"])
    async with bench(tmp_path) as hub:
        view = (await hub.service.save(books.config("media"))).view
        if restarted:
            await hub.service.disconnect(view.server.id)
        await hub.service.save(films.config("media"), server_id=view.server.id)
        names = await hub.names()
    if restarted:
        async with bench(tmp_path) as hub:
            await hub.service.connect(view.server.id)
            names = await hub.names()
    assert names == []


async def test_another_environment_leaves_the_list_as_it_was(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        books.put(fail=["tools/list"])
        await hub.service.save(books.config("books", env={"N": "1"}), server_id=server_id)
        assert await hub.names() == ["mcp__books__find"]


async def test_a_log_line_of_a_server_is_an_event_without_secrets_and_bounded(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("log"))
    async with bench(tmp_path) as hub:
        config = books.config("books", env={"TOKEN": "hunter2-hunter2"})
        server_id = (await hub.service.save(config)).view.server.id
        await hub.call("mcp__books__log", data="token is hunter2-hunter2")
        await hub.call("mcp__books__log", data="x" * 100_000)
        told = await hub.until(lambda: hub.of_type("mcp.log")[1:] and hub.of_type("mcp.log"))
        assert (told[0]["server_id"], told[0]["level"], told[0]["logger"]) == (server_id, "warning", "shelf")
        assert "hunter2" not in told[0]["data"]
        assert len(told[1]["data"]) < 10_000


async def test_a_connection_that_nobody_waited_for_tells_how_it_ended(tmp_path: Path) -> None:
    broken = shelf(tmp_path, "broken", die="no licence found")
    async with bench(tmp_path) as hub:
        outcome = await hub.service.save(broken.config("broken"), wait=False)
        assert outcome.ok
        await hub.status(outcome.view.server.id, ServerStatus.ERROR)
        failed = [event for event in hub.of_type("mcp.status") if event["status"] == "error"]
        assert "no licence found" in failed[0]["error"]


async def test_stopping_ends_every_process(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("pid"))
    async with bench(tmp_path) as hub:
        outcomes = [await hub.service.save(books.config(name)) for name in ("a", "b", "c")]
        pids = [outcome.view.state.pid or 0 for outcome in outcomes]
        assert all(psutil.pid_exists(pid) for pid in pids)
    assert not any(psutil.pid_exists(pid) for pid in pids)


async def test_a_server_is_connecting_from_the_moment_it_is_told_to(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("pid"))
    async with bench(tmp_path) as hub:
        for name in ("kept", "disabled"):
            await hub.service.save(books.config(name))
    async with bench(tmp_path, connect=False) as hub:
        kept, disabled = [view.server.id for view in await hub.service.list()]
        hub.service.connect_enabled()
        assert {view.status for view in await hub.service.list()} == {ServerStatus.CONNECTING}
        await hub.service.enable(disabled, False)
        await hub.status(kept, ServerStatus.CONNECTED)
        assert (await hub.service.get(disabled)).status is ServerStatus.DISABLED


async def test_changed_prompts_resources_and_skills_are_told(tmp_path: Path) -> None:
    books = shelf(
        tmp_path, "books", tool("reload"), prompts=[{"name": "greet"}, {"name": "part"}], resources=[]
    )
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        (first,) = hub.of_type("mcp.prompts_changed")
        assert (first["server_id"], first["added"]) == (server_id, ["greet", "part"])
        (template,) = hub.of_type("mcp.resources_changed")
        assert template["added"] == ["note://{n}"]
        books.put(
            tool("reload"),
            prompts=[{"name": "greet", "description": "Warmly."}],
            resources=[{"uri": "note://one", "name": "one"}],
        )
        await hub.call("mcp__books__reload")
        told = await hub.until(lambda: hub.of_type("mcp.prompts_changed")[1:])
        assert (told[0]["added"], told[0]["removed"], told[0]["changed"]) == ([], ["part"], ["greet"])
        (resources,) = await hub.until(lambda: hub.of_type("mcp.resources_changed")[1:])
        assert resources["added"] == ["note://one"]


async def test_settings_of_connecting_hold_at_once(tmp_path: Path) -> None:
    broken = shelf(tmp_path, "broken", die="no licence found")
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(broken.config("broken"), wait=False)).view.server.id
        hub.settings.current = Settings(reconnect_attempts=1)
        hub.bus.publish("settings.changed", {"reconnect_attempts": 1})
        await hub.until(
            lambda: [
                event
                for event in hub.of_type("mcp.status")
                if event["status"] == "error" and event.get("attempts_max") == 1
            ]
        )
        assert (await hub.service.get(server_id)).state.attempts_max == 1


async def test_the_log_has_one_line_for_a_server_that_is_tried_again_and_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "manyhands.servers")
    broken = shelf(tmp_path, "broken", die="no licence found")
    settings = Settings(reconnect_attempts=2)
    async with bench(tmp_path, settings=settings) as hub:
        server_id = (await hub.service.save(broken.config("broken"), wait=False)).view.server.id
        await hub.until(lambda: "more attempts have failed" in caplog.text)
        broken.put(tool("pid"))
        assert (await hub.service.connect(server_id)).ok
    said = [record.getMessage() for record in caplog.records if "Server broken" in record.getMessage()]
    assert len(said) == 3, said
    assert "no licence found" in said[0]
    assert said[1].endswith("2 more attempts have failed; it stays down until somebody wants it")
    assert said[2].startswith("Server broken: connected: 1 tool")
