"""A server on stdio can be used, explained and ended, whatever it does."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import secrets
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from mcp import Client, MCPError
from mcp.types import CONNECTION_CLOSED, CallToolResult, TextContent

from manyhands.errors import UnavailableError
from manyhands.guardian import MARKER_VARIABLE, guardian
from manyhands.servers.transports.child import Patience
from manyhands.servers.transports.stdio import StdioTransport
from manyhands.servers.transports.types import BAD_ANSWER, FRAME_TOO_LARGE

pytestmark = pytest.mark.anyio

SERVER = str(Path(__file__).parent.parent / "fixtures" / "odd_server.py")
SHORT = Patience(grace=0.2, term=0.2, kill=5.0)
WITHIN = 30.0
MEGABYTE = 1_000_000
LONG = {"text": "x" * MEGABYTE}


def odd_server(*flags: str, patience: Patience = SHORT, **options: Any) -> StdioTransport:
    return StdioTransport(sys.executable, [SERVER, *flags], patience=patience, **options)


@asynccontextmanager
async def connected(transport: StdioTransport) -> AsyncIterator[Client]:
    with anyio.fail_after(WITHIN):
        async with Client(transport, mode="legacy") as client:
            yield client


def text(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def raw(data: bytes, *, answer: bool = False) -> dict[str, Any]:
    return {"bytes": base64.b64encode(data).decode(), "answer": answer}


def pid_of(transport: StdioTransport) -> int:
    pid = transport.diagnostics().pid
    assert pid
    return pid


def alive(pids: list[int]) -> list[int]:
    found = []
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
        except psutil.NoSuchProcess:
            continue
    return found


@contextmanager
def memory_growth() -> Iterator[Callable[[], int]]:
    """By how many bytes this process has been larger, at most, than at the beginning."""
    process, done, peak = psutil.Process(), threading.Event(), 0
    before = process.memory_info().rss

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: peak - before
    finally:
        done.set()
        watcher.join()


# Being used.


async def test_a_server_is_called_and_known_by_its_process() -> None:
    transport = odd_server()
    async with connected(transport) as client:
        assert text(await client.call_tool("echo", {"text": "hé"})) == "hé"
        facts = transport.diagnostics()
        assert facts.pid in psutil.pids()
        assert facts.exit_code is None
        assert facts.target == f"{sys.executable} {SERVER}"
        assert not transport.closed.is_set()
    assert transport.diagnostics().exit_code == 0
    assert transport.closed.is_set()


async def test_a_result_of_30_megabytes_arrives_whole() -> None:
    async with connected(odd_server()) as client:
        result = await client.call_tool("large", {"size": 30 * MEGABYTE})
        assert len(text(result)) == 30 * MEGABYTE


async def test_many_calls_at_once_each_get_their_own_answer() -> None:
    async with connected(odd_server()) as client:
        calls = [client.call_tool("echo", {"text": str(number)}) for number in range(200)]
        assert [text(result) for result in await asyncio.gather(*calls)] == [str(n) for n in range(200)]


async def test_half_a_surrogate_pair_in_the_arguments_reaches_the_server() -> None:
    async with connected(odd_server()) as client:
        assert text(await client.call_tool("echo", {"text": "a\ud800b"})) == "a?b"


async def test_a_server_sees_its_own_settings_and_none_of_our_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MANYHANDS_TOKEN", "secret")
    async with connected(odd_server(env={"GIVEN": "yes"})) as client:
        environment = json.loads(text(await client.call_tool("environment", {})))
    assert environment["GIVEN"] == "yes"
    assert "MANYHANDS_TOKEN" not in environment
    assert environment[MARKER_VARIABLE]
    assert str(Path(sys.executable).parent) in environment["PATH"].split(os.pathsep)


async def test_a_command_line_with_secrets_is_shown_without_them() -> None:
    transport = odd_server("--password=hunter2", shown="server --password=***")
    assert transport.diagnostics().target == "server --password=***"


# Bad output.


async def test_garbage_on_stdout_is_skipped_counted_and_kept() -> None:
    transport = odd_server()
    garbage = b'starting up\n\n{"not": "for us"}\n{broken\n\xff\xfe\n'
    async with connected(transport) as client:
        assert text(await client.call_tool("raw", raw(garbage, answer=True))) == "after"
        facts = transport.diagnostics()
        assert facts.garbage == 4
        assert facts.garbage_tail == 'starting up\n{"not": "for us"}\n{broken\n��\n'


async def test_invalid_utf8_in_an_answer_is_marked_and_the_rest_is_kept() -> None:
    line = b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\xff\xfeb"}]}}\n'
    async with connected(odd_server()) as client:
        assert text(await client.call_tool("raw", raw(line))) == "a��b"


@pytest.mark.parametrize(
    ("rest", "fault"),
    [
        (b',"result":[]}', "the result is a list"),
        (b"}", "it has neither a result nor an error"),
        (b',"result":{"number":' + b"9" * 6000 + b"}}", "it has a number that is too long"),
        (b',"result":{"content":[', "it is not JSON"),
    ],
)
async def test_an_answer_that_is_none_fails_its_call_and_no_other(rest: bytes, fault: str) -> None:
    async with connected(odd_server()) as client:
        with pytest.raises(MCPError, match=f"malformed: {fault}") as caught:
            await client.call_tool("raw", raw(b'{"jsonrpc":"2.0","id":ID' + rest + b"\n"))
        assert caught.value.code == BAD_ANSWER
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


@pytest.mark.requirement("L08")
@pytest.mark.parametrize("tool", ["large", "id_last"])
async def test_an_answer_over_the_limit_fails_its_call_and_no_other(tool: str) -> None:
    async with connected(odd_server(max_frame=MEGABYTE)) as client:
        waiting = asyncio.ensure_future(client.call_tool("hang", {}))
        with pytest.raises(MCPError, match="the limit for one message is 1000000 bytes") as caught:
            await client.call_tool(tool, {"size": 3 * MEGABYTE})
        assert caught.value.code == FRAME_TOO_LARGE
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"
        assert not waiting.done()
        waiting.cancel()


@pytest.mark.requirement("L08")
async def test_an_answer_over_the_limit_that_names_no_request_fails_all_that_wait() -> None:
    line = b'{"jsonrpc":"2.0","result":{"a":"' + b"x" * 2000 + b'"}}\n'
    async with connected(odd_server(max_frame=1000)) as client:
        waiting = [asyncio.ensure_future(client.call_tool("hang", {})) for _ in range(2)]
        await asyncio.sleep(0)
        waiting.append(asyncio.ensure_future(client.call_tool("raw", raw(line))))
        for result in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(result, MCPError)
            assert result.code == FRAME_TOO_LARGE
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


NOTICE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n'


@pytest.mark.requirement("L08")
@pytest.mark.parametrize(
    ("stream", "piece", "size"),
    [
        ("stdout", b"x" * 65536, 100 * MEGABYTE),
        ("stdout", b"x" * 79 + b"\n", 20 * MEGABYTE),
        ("stdout", b'{"jsonrpc":"2.0","result":{"a":"' + b"x" * 65536, 100 * MEGABYTE),
        ("stdout", NOTICE, 2 * MEGABYTE),
        ("stdout", b"\n" * 65536, 20 * MEGABYTE),
        ("stderr", b"x" * 65536, 100 * MEGABYTE),
        ("stderr", b"x" * 79 + b"\n", 20 * MEGABYTE),
    ],
    ids=[
        "one line",
        "short lines",
        "one message",
        "notifications",
        "empty lines",
        "stderr",
        "stderr lines",
    ],
)
async def test_a_flood_leaves_the_memory_level(stream: str, piece: bytes, size: int) -> None:
    transport = odd_server(max_frame=4 * MEGABYTE, on_stderr=lambda _: None)
    async with connected(transport) as client:
        await client.call_tool("echo", {})
        arguments = {"stream": stream, "piece": base64.b64encode(piece).decode(), "size": size}
        with memory_growth() as growth:
            try:
                assert text(await client.call_tool("pour", arguments)) == "poured"
            except MCPError as error:
                assert error.code == FRAME_TOO_LARGE  # noqa: PT017 - one of these floods looks like an answer
        assert growth() < 40 * MEGABYTE
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


@pytest.mark.requirement("L08")
async def test_a_flood_of_garbage_lets_others_run() -> None:
    transport = odd_server()
    async with connected(transport) as client:
        arguments = {"stream": "stdout", "piece": base64.b64encode(b"x\n").decode(), "size": 100_000}
        pouring = asyncio.ensure_future(client.call_tool("pour", arguments))
        seen = most_at_once = 0
        while not pouring.done():
            await asyncio.sleep(0)
            garbage = transport.diagnostics().garbage
            seen, most_at_once = garbage, max(most_at_once, garbage - seen)
        assert seen == 50_000
        assert most_at_once <= 100


async def test_malformed_tools_do_not_hide_the_others(tmp_path: Path) -> None:
    tools = [
        {"name": "bare"},
        {"name": "good", "inputSchema": {"type": "object"}},
        {"description": "nameless"},
    ]
    listing = tmp_path / "tools.json"
    listing.write_text(json.dumps({"tools": tools}))
    transport = odd_server("--listing", str(listing))
    async with connected(transport) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["bare", "good"]
        told = [(repair.item, repair.action) for repair in transport.diagnostics().repairs]
        assert told == [("tool bare", "taken as an object"), ("tool without a name", "left out")]


# Failing, and saying why.


@pytest.mark.requirement("L02")
async def test_a_server_that_dies_in_the_handshake_leaves_its_reasons() -> None:
    transport = odd_server("--dies")
    with pytest.RaisesGroup(MCPError):
        async with connected(transport):
            pass
    facts = transport.diagnostics()
    assert facts.exit_code == 3
    assert facts.stderr_tail == "cannot find my configuration\n"
    assert SERVER in facts.target
    assert 0 < facts.elapsed < WITHIN


@pytest.mark.requirement("L02")
async def test_output_on_stderr_is_kept_and_passed_on_and_is_no_failure() -> None:
    heard: list[str] = []
    transport = odd_server(on_stderr=heard.append)
    async with connected(transport) as client:
        for word in ("warming up\n", "x" * 100_000, "\nready\n"):
            await client.call_tool("complain", {"text": word})
        assert text(await client.call_tool("echo", {"text": "fine"})) == "fine"
    tail = transport.diagnostics().stderr_tail
    assert len(tail) == 64 * 1024
    assert tail.endswith("x\nready\n")
    assert "".join(heard).startswith("warming up\n")


@pytest.mark.parametrize("way", ["die", "heir"])
async def test_calls_under_way_fail_when_the_server_dies(way: str) -> None:
    transport = odd_server()
    async with connected(transport) as client:
        waiting = asyncio.ensure_future(client.call_tool("hang", {}))
        with pytest.raises(MCPError) as caught:
            await client.call_tool(way, {"code": 5})
        assert caught.value.code == CONNECTION_CLOSED
        with pytest.raises(MCPError):
            await waiting
        assert transport.closed.is_set()
        with pytest.raises(MCPError):
            await client.call_tool("echo", {})


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("no-such-command-anywhere", {}, "no-such-command-anywhere was not found"),
        (sys.executable, {"cwd": "/no/such/directory"}, "directory /no/such/directory does not exist"),
        ("/", {}, "may not be run"),
        ("nul\0byte", {}, "could not be started"),
    ],
)
async def test_a_command_that_cannot_be_started_says_why(
    command: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnavailableError, match=message) as caught:
        async with StdioTransport(command, **options):
            pass
    assert caught.value.hint


async def test_a_server_that_reads_nothing_holds_up_its_caller_for_a_bounded_time() -> None:
    transport = odd_server("--stubborn", write_stall=0.2)
    async with connected(transport) as client:
        deaf = asyncio.ensure_future(client.call_tool("deaf", {}))
        calls = [asyncio.ensure_future(client.call_tool("echo", {"text": "x" * MEGABYTE})) for _ in range(20)]
        with memory_growth() as growth:
            # The first fills the pipe and our buffer and waits for its answer; the others cannot be written.
            waiting = set(calls)
            while len(waiting) > 1:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                assert {getattr(call.exception(), "code", None) for call in done} == {CONNECTION_CLOSED}
        assert growth() < 80 * MEGABYTE
        assert transport.diagnostics().problem == "The server has not read its input for 0.2 s."
        for task in (deaf, *calls):
            task.cancel()


async def test_whoever_gives_up_a_call_does_not_wait_for_a_server_that_reads_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with connected(odd_server("--stubborn")) as client:
        calls = [asyncio.ensure_future(client.call_tool(*call)) for call in (("deaf", {}), ("echo", LONG))]
        for _ in range(2):  # the first cancellation would find no room, and the second behind it
            with anyio.move_on_after(0.05) as given_up:
                await client.call_tool("echo", LONG)
            assert given_up.cancelled_caught
        for task in calls:
            task.cancel()
        await asyncio.wait(calls)
    assert "gave up" not in caplog.text  # which the SDK says after five seconds


@pytest.mark.requirement("L08")
async def test_a_server_that_asks_for_ever_and_reads_nothing_is_given_up_and_leaves_the_memory_level(
    caplog: pytest.LogCaptureFixture,
) -> None:
    transport = odd_server(write_stall=1.0)
    async with connected(transport) as client:
        with memory_growth() as growth, pytest.raises(MCPError) as caught:
            await client.call_tool("pester", {})
        assert caught.value.code == CONNECTION_CLOSED
        assert growth() < 40 * MEGABYTE
        assert transport.closed.is_set()
    assert transport.diagnostics().problem == "The server has not read its input for 1 s."
    assert [record.message for record in caplog.records if "wait for an answer" in record.message] == [
        f"{sys.executable} {SERVER} has too many requests that wait for an answer; more are dropped"
    ]


# Ending.


async def closes_in_time(transport: StdioTransport, client: Client) -> None:
    family = json.loads(text(await client.call_tool("family", {})))
    pids = [pid_of(transport), *family]
    assert alive(pids) == pids
    await client.__aexit__(None, None, None)
    assert alive(pids) == []


@pytest.mark.requirement("L03")
@pytest.mark.parametrize("flags", [(), ("--stubborn",)], ids=["polite", "stubborn"])
async def test_closing_ends_the_server_and_all_it_started(flags: tuple[str, ...]) -> None:
    transport = odd_server(*flags)
    with anyio.fail_after(WITHIN):
        client = await Client(transport, mode="legacy").__aenter__()
        await closes_in_time(transport, client)


@pytest.mark.requirement("L03")
async def test_what_a_dead_server_left_behind_ends_when_the_connection_is_closed() -> None:
    transport = odd_server()
    async with connected(transport) as client:
        family = json.loads(text(await client.call_tool("family", {})))
        with pytest.raises(MCPError):
            await client.call_tool("die", {"code": 1})
        assert alive(family) == family
    assert alive(family) == []


@pytest.mark.requirement("L03")
async def test_a_child_of_which_nothing_says_where_it_came_from_ends_with_its_server() -> None:
    async with connected(odd_server()) as client:
        stranger = int(text(await client.call_tool("stranger", {})))
        assert alive([stranger]) == [stranger]
    assert alive([stranger]) == []


async def until_closing(transport: StdioTransport) -> None:
    """Wait until the transport has closed the server's input, which it does first."""
    while not transport.closed.is_set():  # noqa: ASYNC110 - the event is set by the child's own end of input
        await asyncio.sleep(0.005)


@pytest.mark.requirement("L03")
async def test_a_native_cancel_while_closing_kills_at_once_and_is_not_swallowed() -> None:
    transport = odd_server("--stubborn", patience=Patience(grace=60, term=60, kill=5))
    leave = asyncio.Event()
    ready = asyncio.Event()

    async def own() -> None:
        async with Client(transport, mode="legacy"):
            ready.set()
            await leave.wait()

    owner = asyncio.ensure_future(own())
    async with asyncio.timeout(WITHIN):
        await ready.wait()
        leave.set()
        await until_closing(transport)
        owner.cancel()
        with pytest.raises(asyncio.CancelledError):
            await owner
    assert alive([pid_of(transport)]) == []


@pytest.mark.requirement("L03")
@pytest.mark.parametrize("flags", [("--silent",), ("--silent", "--stubborn")], ids=["silent", "and stubborn"])
async def test_a_handshake_that_is_never_answered_can_be_given_up(flags: tuple[str, ...]) -> None:
    transport = odd_server(*flags)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5), Client(transport, mode="legacy"):
            pass
    assert alive([pid_of(transport)]) == []
    assert time.monotonic() - began < WITHIN


def with_variable(name: str) -> list[int]:
    """The processes that have it in their environment, as all that one of them starts have."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if name in process.environ():
                found.append(process.pid)
    return found


async def test_a_start_that_is_cancelled_leaves_nothing() -> None:
    mark = f"MARK_{secrets.token_hex(8)}"
    async with connected(odd_server("--family", env={mark: "1"})):
        assert len(with_variable(mark)) == 3
    for turns in range(6):
        transport = odd_server("--stubborn", "--family", env={mark: "1"})
        task = asyncio.ensure_future(transport.__aenter__())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            continue
        await transport.__aexit__(None, None, None)
    assert alive(with_variable(mark)) == []


async def test_transports_of_one_task_can_be_closed_in_any_order() -> None:
    transports = [odd_server() for _ in range(3)]
    for transport in transports:
        await transport.__aenter__()
    for transport in transports:
        await transport.__aexit__(None, None, None)
    assert alive([pid_of(transport) for transport in transports]) == []


async def test_the_guardian_is_told_of_a_server_from_its_start_to_its_end(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    async with guardian() as guard:
        told: list[str] = []
        monkeypatch.setattr(guard, "watch", lambda pid: told.append(f"+{pid}"))
        monkeypatch.setattr(guard, "release", lambda pid: told.append(f"-{pid}"))
        transport = odd_server("--silent", guardian=guard)
        await transport.__aenter__()
        pid = pid_of(transport)
        assert told == [f"+{pid}"]
        await transport.__aexit__(None, None, None)
        assert told == [f"+{pid}", f"-{pid}"]


async def test_the_guardian_is_told_of_servers_that_end_as_soon_as_they_are_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with guardian() as guard:
        told: list[int] = []
        monkeypatch.setattr(guard, "watch", told.append)
        transports = [StdioTransport("true", guardian=guard, patience=SHORT) for _ in range(30)]
        await asyncio.gather(*(transport.__aenter__() for transport in transports))
        assert sorted(told) == sorted(pid_of(transport) for transport in transports)
        for transport in transports:
            await transport.__aexit__(None, None, None)
        assert {transport.diagnostics().exit_code for transport in transports} == {0}
