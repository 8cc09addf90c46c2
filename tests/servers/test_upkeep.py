"""What goes on beside the calls: change notices, and finding out whether a server is still there."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from manyhands.servers.types import Catalogue, ServerStatus, ServerTool
from tests.servers.rig import plain, running, sdk, web_server

pytestmark = pytest.mark.anyio


def has_extra(catalogue: Catalogue) -> bool:
    return any(tool.name.startswith("extra_") for tool in catalogue.tools)


@pytest.mark.parametrize("legacy", [False, True])
async def test_a_changed_list_is_read_again_at_once(legacy: bool) -> None:
    async with running(sdk("--legacy") if legacy else sdk()) as rig:
        await rig.up()
        assert not has_extra(rig.catalogues.all[0])
        await rig.call("grow")
        found = await rig.catalogues.until(has_extra)
        assert found == rig.connection.catalogue


@pytest.mark.parametrize("flags", [("http",), ("http", "--legacy"), ("sse", "--legacy")])
async def test_a_remote_server_s_changed_list_is_read_again_at_once(flags: tuple[str, ...]) -> None:
    async with web_server("--transport", *flags) as server, running(server.target()) as rig:
        await rig.up()
        await rig.call("grow")
        await rig.catalogues.until(has_extra)


async def test_many_notices_at_once_cost_one_reading(tmp_path: Path) -> None:
    methods = tmp_path / "methods"
    async with running(plain("--methods", str(methods))) as rig:
        await rig.up()
        await rig.call("grow", times=50)
        await rig.catalogues.until(lambda found: any(tool.name == "extra_50" for tool in found.tools))
    asked = [json.loads(line)[0] for line in methods.read_text().splitlines()]
    assert asked.count("tools/list") <= 3


async def test_a_change_before_the_stream_was_open_is_seen_once_it_is() -> None:
    flags = ("--transport", "http", "--legacy", "--late-stream", "0.5", "--grow-early")
    async with web_server(*flags) as server, running(server.target()) as rig:
        await rig.up()
        assert not has_extra(rig.catalogues.all[0])
        await rig.catalogues.until(has_extra)


async def test_a_change_while_the_lists_are_first_read_is_seen() -> None:
    async with running(sdk("--grow-early")) as rig:
        await rig.catalogues.until(has_extra)


async def test_lists_that_stay_the_same_are_not_told_again() -> None:
    async with running(plain()) as rig:
        await rig.up()
        await rig.connection.refresh()
        await rig.connection.refresh()
        assert len(rig.catalogues.all) == 1


async def test_asked_to_it_reads_the_lists_again() -> None:
    async with running(sdk()) as rig:
        await rig.up()
        await rig.call("grow")
        await rig.connection.refresh()
        assert rig.connection.catalogue is not None
        assert has_extra(rig.connection.catalogue)


@pytest.mark.requirement("L10")
@pytest.mark.parametrize("flag", ["--fail", "--hang"])
async def test_a_list_that_cannot_be_read_at_first_is_what_was_known_before(flag: str) -> None:
    before = Catalogue(tools=[ServerTool("find", {"name": "find"}, "hash")], prompts=[{"name": "old"}])
    async with running(plain(flag, "tools/list", timeout=1.5), known=before) as rig:
        await rig.up()
        (found,) = rig.catalogues.all
        assert found.tools == before.tools
        assert "tools/list" in str(found.problem)
        assert rig.connection.state.error == found.problem


@pytest.mark.requirement("L04")
async def test_what_is_known_of_a_server_that_hangs_can_be_read() -> None:
    async with running(plain()) as rig:
        await rig.up()
        await rig.call("freeze")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rig.connection.refresh)
            await anyio.wait_all_tasks_blocked()
            assert rig.connection.state.status is ServerStatus.CONNECTED
            assert rig.connection.catalogue == rig.catalogues.all[0]
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize("flags", [("http",), ("http", "--legacy"), ("sse",)])
async def test_the_loss_of_an_idle_remote_server_is_noticed(flags: tuple[str, ...]) -> None:
    async with web_server("--transport", *flags) as server, running(server.target()) as rig:
        await rig.up()
        seen = len(rig.states.all)
        await server.end()
        await rig.status(ServerStatus.ERROR, after=seen)


async def test_the_log_level_is_set(tmp_path: Path) -> None:
    methods = tmp_path / "methods"
    async with running(plain("--methods", str(methods))) as rig:
        await rig.up()
        await rig.connection.set_log_level("debug")
    lines = [json.loads(line) for line in methods.read_text().splitlines()]
    levels = [params["level"] for method, params in lines if method == "logging/setLevel"]
    assert levels == ["info", "debug"]
