"""The hub inside a program: opened, used, closed, whatever happens in between."""

from __future__ import annotations

import doctest
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from sqlalchemy import insert

from manyhands import Hub
from manyhands import hub as module
from manyhands.approvals.types import ApprovalState, Question
from manyhands.errors import ConflictError, NotFoundError, UnavailableError
from manyhands.home import Home
from manyhands.ids import new_id
from manyhands.store.tables import tool_calls
from manyhands.system import read_lock
from manyhands.tools.types import CallStatus
from manyhands.upkeep import Upkeep

pytestmark = pytest.mark.anyio

HAND: dict[str, Any] = {
    "command": sys.executable,
    "args": [str(Path(__file__).parent / "cli" / "hand_server.py")],
}


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_the_example_in_its_documentation_runs() -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0


async def test_a_program_adds_connects_lists_calls_and_removes(home: Home) -> None:
    async with Hub(home) as hub:
        added = await hub.add_server("hand", **HAND)
        assert added.ok
        names = [listing.definition.full_name for listing in await hub.list_all_tools()]
        assert {"mcp__hand__echo", "read_file"} <= set(names)
        record = await hub.call_tool("mcp__hand__echo", {"text": "hello"})
        assert (record.status, record.result) == (CallStatus.SUCCESS, "hello")
        await hub.disconnect("hand")
        refused = await hub.call_tool("mcp__hand__echo", {"text": "hello"})
        assert refused.is_error
        assert (await hub.connect(added.view.server.id)).ok
        assert [outcome.ok for outcome in await hub.connect_all()] == [True]
        await hub.remove_server("hand")
        with pytest.raises(NotFoundError, match="no server 'hand'"):
            await hub.connect("hand")


async def test_the_same_home_opened_again_knows_what_it_knew(home: Home, store_url: str) -> None:
    async with Hub(home, store_url) as hub:
        await hub.add_server("hand", **HAND)
        await hub.settings.patch({"connect_parallel": 3})
        seq = hub.bus.seq
    async with Hub(home, store_url) as hub:
        assert hub.settings.current.connect_parallel == 3
        [view] = await hub.servers.list()
        assert (view.server.config.name, view.tool_count) == ("hand", 6)
        assert hub.bus.publish("mcp.status", {}).seq > seq
        record = await hub.call_tool("mcp__hand__echo", {"text": "calling connects"})
        assert record.status is CallStatus.SUCCESS


async def test_servers_are_connected_at_start_only_if_that_is_wanted(home: Home) -> None:
    async with Hub(home) as hub:
        await hub.add_server("hand", **HAND)
    async with Hub(home) as hub:
        seq = hub.bus.seq
    async with Hub(home, autostart=True) as hub, hub.bus.subscribe(since=seq) as events:
        with anyio.fail_after(30):
            while (await anext(events)).data.get("status") != "connected":
                pass
    async with Hub(home) as hub:
        await anyio.wait_all_tasks_blocked()
        [view] = await hub.servers.list()
        assert view.status == "disconnected"


async def test_what_an_earlier_process_left_open_is_closed(home: Home) -> None:
    async with Hub(home) as hub:
        row = {"id": new_id("call"), "tool": "t", "server": "s", "arguments": {}, "is_error": False}
        row |= {"status": "pending", "at": hub.started_at}
        await hub.store.write(lambda conn: conn.execute(insert(tool_calls), row))
        async with anyio.create_task_group() as group, hub.bus.subscribe() as events:
            group.start_soon(hub.approvals.ask, Question("tool", "May I?"))
            asked = await anext(events)
            await hub.store.write(
                lambda conn: conn.exec_driver_sql("CREATE TABLE copy AS SELECT * FROM approvals")
            )
            group.cancel_scope.cancel()
        await hub.store.write(lambda conn: conn.exec_driver_sql("DELETE FROM approvals"))
        await hub.store.write(lambda conn: conn.exec_driver_sql("INSERT INTO approvals SELECT * FROM copy"))
    async with Hub(home) as hub:
        [call] = (await hub.tools.calls()).items
        assert (call.status, call.code) == (CallStatus.ERROR, "interrupted")
        assert (await hub.approvals.get(asked.data["id"])).state is ApprovalState.CANCELLED


async def test_a_home_has_one_hub_and_the_second_learns_who_has_it(home: Home) -> None:
    async with Hub(home) as hub:
        hub.serve_at("http://127.0.0.1:1234")
        with pytest.raises(ConflictError, match=rf"in use by process {os.getpid()} at http://127.0.0.1:1234"):
            async with Hub(home):
                pass
    assert read_lock(home.lock_file) is None
    async with Hub(home):
        pass


async def test_an_error_in_the_programs_own_code_comes_out_as_it_is(home: Home) -> None:
    async def program() -> None:
        async with Hub(home) as hub:
            await hub.add_server("hand", **HAND)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await program()
    assert read_lock(home.lock_file) is None


async def test_a_cancelled_program_leaves_no_process(home: Home) -> None:
    pids: list[int] = []
    with anyio.move_on_after(60) as scope:
        async with Hub(home) as hub:
            outcome = await hub.add_server("hand", **HAND)
            pids.append(outcome.view.state.pid or 0)
            assert psutil.pid_exists(pids[0])
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert not psutil.pid_exists(pids[0]) or psutil.Process(pids[0]).status() == psutil.STATUS_ZOMBIE
    assert read_lock(home.lock_file) is None


async def test_a_database_that_cannot_be_opened_leaves_the_home_free(home: Home) -> None:
    home.create()
    home.database_file.write_text("not a database")
    with pytest.raises(UnavailableError, match="cannot be used"):
        async with Hub(home):
            pass
    assert read_lock(home.lock_file) is None


async def test_a_part_that_breaks_ends_the_hub_and_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Better no hub than one that only looks alive."""
    broken = anyio.Event()

    async def run(self: object) -> None:
        await broken.wait()
        raise RuntimeError("a bug")

    async def program() -> None:
        async with Hub(home):
            broken.set()
            await anyio.sleep_forever()

    monkeypatch.setattr(Upkeep, "run", run)
    with pytest.raises(ExceptionGroup) as caught:
        await program()
    assert caught.value.subgroup(RuntimeError)
    assert read_lock(home.lock_file) is None
