"""One call through the hub against the same call through the bare SDK, in alternating rounds.

Policy, call log and events are included on the hub's side. Both talk to a process of the same SDK server.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import token_urlsafe

from bench.report import Report, p50, progress

SESSIONS = 9
ROUNDS = 6
PER_ROUND = 100
IN_FLIGHT = 64
BURST = 640
BIG = 30_000_000
BIG_ROUNDS = 4
SECRETS = 5
"""Values that are looked for in whatever the server says."""

Call = Callable[[str, dict[str, object]], Awaitable[object]]


def run(report: Report) -> None:
    for transport in ("stdio", "http"):
        asyncio.run(_compare(report, transport))
    asyncio.run(_compare_big(report))


async def _compare(report: Report, transport: str) -> None:
    """The one in the middle of some sessions: where a server's process comes to lie is a matter of luck."""
    progress(f"calls over {transport}: {SESSIONS} sessions of {ROUNDS} alternating rounds")
    sessions = [await _session(transport) for _ in range(SESSIONS)]
    bare, hub = sorted((one.calls for one in sessions), key=_ratio)[SESSIONS // 2]
    report.add(
        "calls",
        f"{transport}, one after the other, p50",
        hub / bare,
        "x",
        limit=1.5,
        against=f"bare SDK {bare * 1e3:.2f} ms, hub {hub * 1e3:.2f} ms; "
        f"sessions {', '.join(f'{_ratio(one.calls):.2f}' for one in sessions)}",
    )
    bare, hub = sorted((one.rates for one in sessions), key=_ratio)[SESSIONS // 2]
    report.add(
        "calls",
        f"{transport}, {IN_FLIGHT} in flight, throughput",
        hub / bare,
        "x",
        limit=0.7,
        at_least=True,
        against=f"bare SDK {bare:,.0f}/s, hub {hub:,.0f}/s",
    )


Pair = tuple[float, float]
"""Of the bare SDK, and of the hub."""


@dataclass(frozen=True)
class _Session:
    """Both with servers of their own: the time of a call, and how many a second there are in company."""

    calls: Pair
    rates: Pair


async def _session(transport: str) -> _Session:
    async with _bare(transport) as bare, _hub(transport) as hub:
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(ROUNDS):
            theirs += await _sequential(bare)
            ours += await _sequential(hub)
        rates = [(await _throughput(bare), await _throughput(hub)) for _ in range(3)]
    return _Session(
        (p50(theirs[PER_ROUND:]), p50(ours[PER_ROUND:])),
        (p50([rate[0] for rate in rates]), p50([rate[1] for rate in rates])),
    )


def _ratio(pair: Pair) -> float:
    return pair[1] / pair[0]


async def _compare_big(report: Report) -> None:
    progress("a 30 MB result over stdio")
    async with _bare("stdio") as bare, _hub("stdio") as hub:
        pairs = [
            [await _timed(call("big", {"size": BIG})) for call in (bare, hub)] for _ in range(BIG_ROUNDS)
        ]
    theirs, ours = map(min, zip(*pairs, strict=True))
    report.add(
        "calls",
        "30 MB result over stdio",
        ours / theirs,
        "x",
        limit=0.1,
        against=f"bare SDK {theirs:.1f} s, hub {ours:.2f} s",
    )


async def _sequential(call: Call) -> list[float]:
    return [await _timed(call("echo", {"text": "hello"})) for _ in range(PER_ROUND)]


async def _timed(work: Awaitable[object]) -> float:
    start = time.perf_counter()
    await work
    return time.perf_counter() - start


async def _throughput(call: Call) -> float:
    left = iter(range(BURST))

    async def worker() -> None:
        for _ in left:
            await call("echo", {"text": "hello"})

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(IN_FLIGHT):
            group.create_task(worker())
    return BURST / (time.perf_counter() - start)


@asynccontextmanager
async def _bare(transport: str) -> AsyncIterator[Call]:
    from mcp import Client, StdioServerParameters

    async with _target(transport) as url:
        target = url or StdioServerParameters(command=sys.executable, args=["-m", "bench.peer", "stdio"])
        async with Client(target) as client:
            yield client.call_tool


@asynccontextmanager
async def _hub(transport: str) -> AsyncIterator[Call]:
    from manyhands import Hub
    from manyhands.servers.types import ServerConfig
    from manyhands.tools.types import CallContext, CallStatus

    async with _target(transport) as url:
        config = (
            ServerConfig(name="peer", transport="http", url=url, trust="full")
            if url
            else ServerConfig(
                name="peer", command=sys.executable, args=("-m", "bench.peer", "stdio"), trust="full"
            )
        )
        with tempfile.TemporaryDirectory() as home:
            async with Hub(home=home) as hub:
                hub.secrets.redactor.guard(*(token_urlsafe(32) for _ in range(SECRETS)))
                outcome = await hub.servers.save(config)
                assert outcome.ok, outcome.error

                async def call(tool: str, arguments: dict[str, object]) -> object:
                    record = await hub.tools.call(f"mcp__peer__{tool}", arguments, CallContext())
                    assert record.status is CallStatus.SUCCESS, record
                    return record

                yield call


@asynccontextmanager
async def _target(transport: str) -> AsyncIterator[str | None]:
    """The URL of a fresh HTTP peer, or nothing for stdio."""
    if transport == "stdio":
        yield None
        return
    port = free_port()
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.peer", "http", str(port), stdout=quiet, stderr=quiet
    )
    try:
        await _answering(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.wait()


async def _answering(port: int) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
