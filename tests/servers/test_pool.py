"""All connections together, with real servers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil
import pytest

from manyhands.errors import UnavailableError
from manyhands.servers.endpoints import ConnectionHooks, ConnectionKey, Limits, Target
from manyhands.servers.pool import IDLE_S, Pool
from manyhands.servers.transports.types import TransportHandle
from manyhands.servers.types import ConnectionState, Server, ServerConfig, ServerStatus
from manyhands.tools.types import CallContext
from tests.servers.rig import BOUND, QUICK, Caller, plain, sdk, stdio_target

pytestmark = pytest.mark.anyio


def server(number: int = 1, name: str = "plain", connect_timeout: int = 20_000) -> Server:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    config = ServerConfig(name, connect_timeout=connect_timeout)
    return Server(number, config, name, None, False, None, now, now)


@dataclass
class HeldClock:
    """A clock that only moves when it is told to."""

    time: float = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        await anyio.lowlevel.checkpoint()


@dataclass
class Bench:
    pool: Pool
    clock: HeldClock
    connected: int = 0


@asynccontextmanager
async def pooled(
    target: Callable[[Server], Target], parallel: int = 8, limits: Limits = QUICK
) -> AsyncIterator[Bench]:
    clock = HeldClock()

    def on_state(key: ConnectionKey, state: ConnectionState) -> None:
        bench.connected += state.status is ServerStatus.CONNECTED

    async with anyio.create_task_group() as tasks:
        hooks = ConnectionHooks(on_state=on_state)
        pool = Pool(tasks, target, hooks=hooks, clock=clock, limits=limits, parallel=parallel)
        bench = Bench(pool, clock)
        try:
            yield bench
        finally:
            with anyio.fail_after(BOUND, shield=True):
                await pool.stop_all()


async def text(bench: Bench, of: Server, directory: str | None, tool: str) -> str:
    connection = await bench.pool.for_call(of, directory)
    with anyio.fail_after(BOUND):
        caller = Caller(context=CallContext(directory=directory))
        return (await connection.call_tool(tool, {}, caller)).text


async def test_a_server_is_connected_when_it_is_needed() -> None:
    async with pooled(lambda _: plain()) as bench:
        assert bench.pool.get(1) is None
        connection = await bench.pool.ensure(server())
        assert connection.state.status is ServerStatus.CONNECTED
        assert bench.pool.get(1) is connection
        assert await bench.pool.ensure(server()) is connection


async def test_many_who_need_it_at_once_share_one_connection(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    async with pooled(lambda _: plain("--starts", str(starts))) as bench:
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(bench.pool.ensure, server())
        assert len(bench.pool.all()) == 1
    assert len(starts.read_text().splitlines()) == 1


async def test_a_failure_is_raised_to_who_needs_it_and_stops_nobody_else() -> None:
    def target(of: Server) -> Target:
        return plain("--die", "3") if of.id == 1 else plain()

    async with pooled(target) as bench:
        with pytest.raises(UnavailableError, match="exit code 3"):
            await bench.pool.ensure(server(1))
        await bench.pool.ensure(server(2))


async def test_dropping_a_server_ends_all_its_connections_and_no_other(tmp_path: Path) -> None:
    async with pooled(lambda _: plain()) as bench:
        first = await bench.pool.ensure(server(1))
        rooted = await bench.pool.ensure(server(1), str(tmp_path))
        other = await bench.pool.ensure(server(2))
        pids = [first.state.pid, rooted.state.pid]
        await bench.pool.drop(1)
        assert not any(psutil.pid_exists(pid) for pid in pids if pid)
        assert bench.pool.all() == [other]
        again = await bench.pool.ensure(server(1))
        assert again is not first


async def test_all_end_side_by_side() -> None:
    async with pooled(lambda _: plain()) as bench:
        async with anyio.create_task_group() as tasks:
            for number in range(1, 6):
                tasks.start_soon(bench.pool.ensure, server(number))
        pids = [connection.state.pid for connection in bench.pool.all()]
        await bench.pool.stop_all()
        assert len(pids) == 5
        assert not any(psutil.pid_exists(pid) for pid in pids if pid)
        assert not bench.pool.all()


# --- many at once


@pytest.mark.requirement("L09")
async def test_only_so_many_connect_side_by_side() -> None:
    began: list[int] = []
    most = 0

    def target(of: Server) -> Target:
        real = plain()

        async def opened() -> TransportHandle:
            nonlocal most
            began.append(of.id)
            most = max(most, len(began) - bench.connected)
            return await real.open()

        return Target(of.config.name, opened, connect_timeout_s=20.0)

    async with pooled(target, parallel=2) as bench, anyio.create_task_group() as tasks:
        for number in range(1, 9):
            tasks.start_soon(bench.pool.ensure, server(number))
    assert most == 2


@pytest.mark.requirement("L09")
async def test_servers_that_hang_delay_nobody() -> None:
    def target(of: Server) -> Target:
        return plain() if of.id == 9 else stdio_target("sleep", "600", timeout=60.0)

    async with pooled(target, parallel=2, limits=replace(QUICK, slot_s=0.1)) as bench:
        for number in (1, 2, 3, 4):
            await bench.pool.open(server(number, "hung"))
        with anyio.fail_after(20):
            await bench.pool.ensure(server(9))
        assert [c.state.status for c in bench.pool.all()].count(ServerStatus.CONNECTING) == 4


@pytest.mark.requirement("L09")
async def test_each_has_a_time_limit_of_its_own() -> None:
    def target(of: Server) -> Target:
        return stdio_target("sleep", "600", timeout=0.2 if of.id == 1 else 60.0)

    async with pooled(target) as bench:
        patient = await bench.pool.open(server(2))
        with pytest.raises(UnavailableError, match=r"did not answer within 0\.2 s"):
            await bench.pool.ensure(server(1))
        assert patient.state.status is ServerStatus.CONNECTING


async def test_waiting_for_a_hung_server_ends_with_its_connect_timeout() -> None:
    async with pooled(lambda _: stdio_target("sleep", "600", timeout=60.0)) as bench:
        with pytest.raises(UnavailableError, match=r"not ready within 0\.2 s"):
            await bench.pool.ensure(server(connect_timeout=200))


# --- roots


async def test_a_server_that_wants_roots_gets_one_connection_per_directory(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    async with pooled(lambda _: plain()) as bench:
        assert json.loads(await text(bench, server(), None, "roots")) == {"roots": []}
        first = json.loads(await text(bench, server(), str(one), "roots"))
        second = json.loads(await text(bench, server(), str(two), "roots"))
        assert [root["name"] for root in first["roots"]] == ["one"]
        assert [root["name"] for root in second["roots"]] == ["two"]
        assert len(bench.pool.all()) == 3
        pids = {await text(bench, server(), root, "pid") for root in (None, str(one), str(two))}
        assert len(pids) == 3


async def test_a_server_that_does_not_want_roots_serves_all_directories_with_one(tmp_path: Path) -> None:
    async with pooled(lambda _: plain()) as bench:
        await text(bench, server(), str(tmp_path / "one"), "echo")
        await text(bench, server(), str(tmp_path / "two"), "echo")
        assert [connection.key.root for connection in bench.pool.all()] == [None]


async def test_what_is_known_from_before_saves_the_first_call_from_the_wrong_connection(
    tmp_path: Path,
) -> None:
    async with pooled(lambda _: plain()) as bench:
        connection = await bench.pool.for_call(server(), str(tmp_path), wants_roots=True)
        assert connection.key.root == str(tmp_path)


@pytest.mark.parametrize("target", [plain(), sdk(), sdk("--legacy")], ids=["plain", "modern", "legacy"])
async def test_a_server_that_first_asks_within_a_call_is_told_the_directory_of_that_call(
    target: Target, tmp_path: Path
) -> None:
    async with pooled(lambda _: target) as bench:
        for name in ("one", "two"):
            said = json.loads(await text(bench, server(), str(tmp_path / name), "roots"))
            assert [root["name"] for root in said["roots"]] == [name]
        assert json.loads(await text(bench, server(), None, "roots")) == {"roots": []}


async def test_what_a_shared_connection_was_told_of_a_directory_is_taken_back(tmp_path: Path) -> None:
    methods = tmp_path / "methods"
    async with pooled(lambda _: plain("--methods", str(methods))) as bench:
        await text(bench, server(), str(tmp_path), "roots")
        await text(bench, server(), None, "echo")
    asked = [json.loads(line)[0] for line in methods.read_text().splitlines()]
    first, last = (place for place, method in enumerate(asked) if method == "tools/call")
    assert "notifications/roots/list_changed" in asked[first:last]


async def test_a_shared_connection_is_told_no_directory_while_others_use_it(tmp_path: Path) -> None:
    async with pooled(lambda _: plain()) as bench:
        shared = await bench.pool.for_call(server(), str(tmp_path / "one"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(shared.call_tool, "wait", {}, Caller())
            await anyio.wait_all_tasks_blocked()
            assert json.loads(await text(bench, server(), str(tmp_path / "two"), "roots")) == {"roots": []}
            tasks.cancel_scope.cancel()


async def test_connections_of_directories_end_when_nobody_uses_them(tmp_path: Path) -> None:
    async with pooled(lambda _: plain()) as bench:
        await bench.pool.ensure(server())
        rooted = await bench.pool.ensure(server(), str(tmp_path))
        bench.clock.time = IDLE_S - 1
        await bench.pool.sweep()
        assert rooted in bench.pool.all()
        bench.clock.time = IDLE_S
        await bench.pool.sweep()
        assert [connection.key.root for connection in bench.pool.all()] == [None]


async def test_a_connection_in_use_is_not_idle(tmp_path: Path) -> None:
    async with pooled(lambda _: plain()) as bench:
        rooted = await bench.pool.ensure(server(), str(tmp_path))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rooted.call_tool, "wait", {}, Caller())
            await anyio.wait_all_tasks_blocked()
            bench.clock.time = 2 * IDLE_S
            await bench.pool.sweep()
            assert rooted in bench.pool.all()
            tasks.cancel_scope.cancel()


async def test_a_connection_that_tells_of_changes_is_not_idle_until_nobody_wants_to_know(
    tmp_path: Path,
) -> None:
    async with pooled(lambda _: plain()) as bench:
        rooted = await bench.pool.ensure(server(), str(tmp_path))
        await rooted.subscribe("note://1")
        bench.clock.time = 2 * IDLE_S
        await bench.pool.sweep()
        assert rooted in bench.pool.all()
        await rooted.unsubscribe("note://1")
        bench.clock.time = 4 * IDLE_S
        await bench.pool.sweep()
        assert rooted not in bench.pool.all()


async def test_a_directory_that_moves_keeps_its_connection(tmp_path: Path) -> None:
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    async with pooled(lambda _: plain()) as bench:
        rooted = await bench.pool.ensure(server(), old)
        await bench.pool.move_root(old, new)
        assert await bench.pool.ensure(server(), new) is rooted
        said = (await rooted.call_tool("roots", {}, Caller())).text
        assert json.loads(said)["roots"][0]["name"] == "new"
        await bench.pool.move_root(new, None)
        assert not bench.pool.all()


async def test_it_sweeps_by_itself(tmp_path: Path) -> None:
    async with pooled(lambda _: plain()) as bench:
        rooted = await bench.pool.ensure(server(), str(tmp_path))
        bench.clock.time = IDLE_S
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.pool.run)
            with anyio.fail_after(BOUND):
                await rooted.stopped()
            tasks.cancel_scope.cancel()
        assert not bench.pool.all()
