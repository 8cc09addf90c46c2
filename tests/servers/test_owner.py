"""How a connection begins, ends and begins again, with real processes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import psutil
import pytest

from manyhands.errors import NeedsAuthError, NotConfiguredError, UnavailableError
from manyhands.servers.backoff import BackOff
from manyhands.servers.connection import Connection
from manyhands.servers.endpoints import ConnectionHooks, ConnectionKey, Limits, Target
from manyhands.servers.transports.types import TransportDiagnostics, TransportHandle
from manyhands.servers.types import ServerStatus
from tests.servers.rig import BOUND, Rig, make_rig, plain, running, sdk, stdio_target, web_server

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

pytestmark = pytest.mark.anyio

STUBBORN = (
    "import signal,sys,time;signal.signal(15,signal.SIG_IGN);print('{}');sys.stdout.flush();time.sleep(600)"
)
ONCE = Limits(backoff=BackOff(attempts=0))


def silent(timeout: float = 20.0) -> Target:
    """Never answers, and does not end by itself either."""
    return stdio_target(sys.executable, "-c", STUBBORN, timeout=timeout)


async def until_opened(rig: Rig) -> int:
    """The process id of the server, as soon as it has one."""
    with anyio.fail_after(BOUND):
        while not rig.opened or (pid := rig.opened[0].diagnostics().pid) is None:
            await anyio.wait_all_tasks_blocked()
    return pid


# --- states


async def test_it_is_connected_when_its_tools_are_known() -> None:
    async with running(plain()) as rig:
        await rig.up()
        assert [state.status for state in rig.states.all] == [ServerStatus.CONNECTING, ServerStatus.CONNECTED]
        state = rig.connection.state
        assert state.pid is not None
        assert state.connect_ms is not None
        assert state.since is not None
        assert "echo" in [tool.name for tool in rig.catalogues.all[0].tools]
    assert rig.connection.state.status is ServerStatus.DISCONNECTED


async def test_the_newest_revision_is_spoken_with_who_knows_it_and_an_older_one_with_others() -> None:
    async with running(sdk()) as modern, running(sdk("--legacy")) as legacy:
        await modern.up()
        await legacy.up()
        assert modern.catalogues.all[0].protocol == "2026-07-28"
        assert legacy.catalogues.all[0].protocol == "2025-11-25"


# --- ending


async def test_stopping_ends_the_process() -> None:
    async with running(plain()) as rig:
        await rig.up()
        pid = rig.connection.state.pid
        assert pid is not None
    assert not psutil.pid_exists(pid)


async def test_connections_may_be_stopped_in_the_order_they_were_started() -> None:
    rigs = [make_rig(plain()) for _ in range(3)]
    async with anyio.create_task_group() as tasks:
        for rig in rigs:
            tasks.start_soon(rig.connection.run)
        for rig in rigs:
            await rig.up()
        for rig in rigs:
            rig.connection.stop()
            with anyio.fail_after(BOUND):
                await rig.connection.stopped()


async def test_it_may_be_stopped_before_it_has_begun() -> None:
    rig = make_rig(plain())
    rig.connection.stop()
    with anyio.fail_after(BOUND):
        await rig.connection.run()
    assert not rig.opened


async def test_it_may_be_stopped_in_the_middle_of_a_handshake() -> None:
    async with running(silent()) as rig:
        pid = await until_opened(rig)
        rig.connection.stop()
        with anyio.fail_after(10):
            await rig.connection.stopped()
    assert not psutil.pid_exists(pid)


async def test_it_may_be_stopped_while_its_lists_are_read() -> None:
    async with running(plain("--hang", "tools/list")) as rig:
        pid = await until_opened(rig)
        rig.connection.stop()
        with anyio.fail_after(10):
            await rig.connection.stopped()
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize("natively", [False, True])
@pytest.mark.requirement("L03")
async def test_cancelling_its_task_in_the_middle_of_a_handshake_leaves_nothing_behind(natively: bool) -> None:
    rig = make_rig(silent())
    if natively:
        task = asyncio.create_task(rig.connection.run())
        pid = await until_opened(rig)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rig.connection.run)
            pid = await until_opened(rig)
            tasks.cancel_scope.cancel()
    assert not psutil.pid_exists(pid)
    assert rig.connection.state.status is ServerStatus.DISCONNECTED


@pytest.mark.requirement("L03")
async def test_cancelling_its_task_while_it_is_connected_leaves_nothing_behind() -> None:
    rig = make_rig(plain())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.connection.run)
        await rig.up()
        pid = rig.connection.state.pid
        tasks.cancel_scope.cancel()
    assert pid is not None
    assert not psutil.pid_exists(pid)


async def test_it_may_be_stopped_while_it_waits_for_the_next_attempt() -> None:
    limits = Limits(backoff=BackOff(first_s=600.0, longest_s=600.0))
    async with running(plain("--die", "3"), limits=limits) as rig:
        await rig.status(ServerStatus.ERROR)
        rig.connection.stop()
        with anyio.fail_after(10):
            await rig.connection.stopped()


# --- failing


@pytest.mark.requirement("L02")
async def test_a_server_that_dies_in_the_handshake_tells_command_exit_code_time_and_last_words() -> None:
    target = plain("--die", "3", "--stderr", "no database at port 5432")
    async with running(target, limits=ONCE) as rig:
        with pytest.raises(UnavailableError) as raised:
            await rig.up()
        state = rig.connection.state
    assert state.exit_code == 3
    assert "no database at port 5432" in state.stderr_tail
    for part in (
        "'plain'",
        "exit code 3",
        "plain_server.py",
        " s.",
        "no database",
        "by hand",
        "servers log plain",
    ):
        assert part in str(raised.value)


@pytest.mark.requirement("L02")
async def test_a_server_that_never_answers_fails_when_its_time_is_over() -> None:
    async with running(silent(timeout=0.5), limits=ONCE) as rig:
        with pytest.raises(UnavailableError, match=r"did not answer within 0\.5 s(?s:.*)--connect-timeout"):
            await rig.up()
        assert rig.connection.state.exit_code is None  # it was we who ended it
        assert not psutil.pid_exists(await until_opened(rig))


@pytest.mark.requirement("L02")
async def test_whoever_waits_is_told_why_while_a_stubborn_server_is_still_being_ended() -> None:
    async with running(stdio_target("sleep", "600", timeout=0.2), limits=ONCE) as rig:
        with pytest.raises(UnavailableError, match=r"did not answer within 0\.2 s"):
            await rig.connection.connected(1.0)  # before two seconds of waiting for its end are over


@pytest.mark.parametrize("end", ["\\n", " "], ids=["a line", "a line that does not end"])
async def test_what_a_server_wrote_instead_of_messages_is_shown(end: str) -> None:
    talker = f"printf 'Starting on port 80...{end}'; exec sleep 600"
    async with running(stdio_target("sh", "-c", talker, timeout=1.0), limits=ONCE) as rig:
        with pytest.raises(UnavailableError, match=r"1 line to stdout(?s:.*)Starting on port 80"):
            await rig.up()


async def test_a_command_that_is_not_there_is_named() -> None:
    async with running(stdio_target("no-such-command-anywhere"), limits=ONCE) as rig:
        with pytest.raises(
            UnavailableError, match=r"no-such-command-anywhere was not found(?s:.*)Install it"
        ):
            await rig.up()


@pytest.mark.requirement("L02")
async def test_output_on_stderr_alone_is_no_failure() -> None:
    async with running(plain("--stderr", "Warning: all is well")) as rig:
        await rig.up()
        assert rig.connection.state.error is None


async def test_what_cannot_be_resolved_before_connecting_is_told_and_not_tried_again() -> None:
    tried = 0

    async def unresolved() -> TransportHandle:
        nonlocal tried
        tried += 1
        raise NotConfiguredError("The variable API_KEY is not set.", hint="Set it.")

    async with running(Target("x", unresolved)) as rig:
        with pytest.raises(UnavailableError, match="API_KEY"):
            await rig.up()
        await anyio.wait_all_tasks_blocked()
        assert tried == 1


async def test_a_listener_that_fails_does_not_end_the_connection() -> None:
    def fail(key: ConnectionKey, news: object) -> None:
        raise ValueError("I am broken")

    connection = Connection(ConnectionKey(1), plain(), hooks=ConnectionHooks(fail, fail))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        await connection.connected(BOUND)
        assert connection.state.status is ServerStatus.CONNECTED
        connection.stop()


async def test_an_error_within_does_not_end_the_task_that_runs_it() -> None:
    class Broken:
        closed = asyncio.Event()
        on_stream: Callable[[bool], None] | None = None

        async def __aenter__(self) -> TransportStreams:
            raise BaseExceptionGroup("", [asyncio.CancelledError(), ValueError("odd")])

        async def __aexit__(self, *error: object) -> None: ...

        def diagnostics(self) -> TransportDiagnostics:
            return TransportDiagnostics(target="x", elapsed=0.0)

    async def opened() -> TransportHandle:
        return Broken()

    async with running(Target("x", opened), limits=ONCE) as rig:
        with pytest.raises(UnavailableError):
            await rig.up()


# --- beginning again


@pytest.mark.requirement("L01")
async def test_a_server_that_dies_is_started_again() -> None:
    async with running(plain()) as rig:
        await rig.up()
        first = rig.connection.state.pid
        seen = len(rig.states.all)
        await rig.call("die", code=7)
        lost = await rig.status(ServerStatus.ERROR, after=seen)
        again = await rig.status(ServerStatus.CONNECTED, after=seen)
        assert lost.exit_code == 7
        assert lost.error is not None
        assert "out of coffee" in lost.error
        assert (lost.attempt, lost.attempts_max) == (1, 3)
        assert again.pid != first
        assert again.restarts == 1
        assert (await rig.call("echo")).text == "{}"


@pytest.mark.requirement("L01")
async def test_attempts_are_counted_and_end(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    async with running(plain("--die", "3", "--starts", str(starts))) as rig:
        last = await rig.states.until(
            lambda state: state.status is ServerStatus.ERROR and state.restarts == 3
        )
        await anyio.wait_all_tasks_blocked()
        tries = [state.attempt for state in rig.states.all if state.status is ServerStatus.CONNECTING]
        assert tries == [0, 1, 2, 3]
        assert (last.attempt, last.attempts_max) == (3, 3)
        assert len(starts.read_text().splitlines()) == 4


@pytest.mark.requirement("L01")
async def test_a_server_that_fails_at_first_is_connected_in_the_end(tmp_path: Path) -> None:
    flags = ("--starts", str(tmp_path / "starts"), "--bad-starts", "2")
    async with running(plain(*flags)) as rig:
        state = await rig.status(ServerStatus.CONNECTED)
        assert state.attempt == 2
        assert state.error is None


async def test_waiting_for_it_makes_the_next_attempt_at_once(tmp_path: Path) -> None:
    limits = Limits(backoff=BackOff(first_s=600.0, longest_s=600.0))
    flags = ("--starts", str(tmp_path / "starts"), "--bad-starts", "1")
    async with running(plain(*flags), limits=limits) as rig:
        await rig.status(ServerStatus.ERROR)
        await rig.up()
        assert (await rig.call("echo")).text == "{}"


@pytest.mark.requirement("L01")
async def test_a_call_right_after_the_server_died_starts_it_again() -> None:
    limits = Limits(backoff=BackOff(first_s=600.0, longest_s=600.0))
    async with running(plain(), limits=limits) as rig:
        for _ in range(5):
            assert (await rig.call("die", code=7)).is_error
            assert (await rig.call("echo")).text == "{}"


async def test_a_server_that_was_given_up_is_tried_when_somebody_wants_it(tmp_path: Path) -> None:
    flags = ("--starts", str(tmp_path / "starts"), "--bad-starts", "1")
    async with running(plain(*flags), limits=ONCE) as rig:
        await rig.status(ServerStatus.ERROR)
        assert (await rig.call("echo")).text == "{}"


async def test_a_server_that_wants_a_sign_in_says_so_and_is_not_tried_again() -> None:
    async with web_server("--transport", "http", "--token", "secret-token") as server:
        async with running(server.target()) as rig:
            with pytest.raises(NeedsAuthError, match=r"HTTP 401(?s:.*)manyhands servers login sdk"):
                await rig.up()
            await anyio.wait_all_tasks_blocked()
            assert [state.status for state in rig.states.all] == [
                ServerStatus.CONNECTING,
                ServerStatus.NEEDS_AUTH,
            ]
            with pytest.raises(NeedsAuthError):
                await rig.up()
            assert len(rig.opened) == 1
        async with running(server.target(token="secret-token")) as rig:
            await rig.up()


async def test_an_sse_server_that_wants_a_sign_in_says_so() -> None:
    flags = ("--transport", "sse", "--token", "secret-token")
    async with web_server(*flags) as server, running(server.target()) as rig:
        with pytest.raises(NeedsAuthError):
            await rig.up()


@pytest.mark.parametrize("flags", [("http",), ("http", "--legacy"), ("sse",)])
async def test_a_remote_server_that_was_down_is_connected_when_it_comes_back(flags: tuple[str, ...]) -> None:
    limits = Limits(backoff=BackOff(first_s=0.05, longest_s=0.2, attempts=100))
    async with (
        web_server("--transport", *flags) as server,
        running(server.target(), limits=limits) as rig,
    ):
        await rig.up()
        seen = len(rig.states.all)
        await server.end()
        if flags[0] == "http":
            result = await rig.call("echo")
            assert result.is_error
            assert result.code == "unavailable"
        await rig.status(ServerStatus.ERROR, after=seen)
        await server.start_again()
        await rig.status(ServerStatus.CONNECTED, after=seen)
        assert (await rig.call("echo")).text == "{}"


async def test_a_remote_server_that_is_not_there_is_named_with_its_address() -> None:
    async with web_server("--transport", "http") as server:
        await server.end()
        async with running(server.target(), limits=ONCE) as rig:
            with pytest.raises(
                UnavailableError, match=rf"127\.0\.0\.1:{server.port}/mcp(?s:.*)Check that it runs"
            ):
                await rig.up()
        await server.start_again()
