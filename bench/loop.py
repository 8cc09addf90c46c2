"""The agent loop: what an iteration costs, three slow calls side by side, how soon a token is seen.

The model is a scripted one that answers at once, so that only the hub is measured; all is stored as always.
The hub, its API on a real socket and the client share one process: the client's work is in the figures too.
"""

from __future__ import annotations

import asyncio
import json
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bench.report import Report, p50, progress

if TYPE_CHECKING:
    from manyhands import Hub

RUNS = 5
ITERATIONS = 50
SLOW_S = 1.0
SLOW_ROUNDS = 7
STREAMS = 20
TOKENS_PER_S = 30
STREAM_S = 6


def run(report: Report) -> None:
    asyncio.run(_overhead(report))
    asyncio.run(three_calls(report))
    asyncio.run(_tokens(report))


async def _overhead(report: Report) -> None:
    from manyhands.testing.scripted import calls

    progress(f"{RUNS} runs of {ITERATIONS} iterations")
    moments: list[float] = []
    spans: list[float] = []

    def next_call(request: Any) -> Any:
        return calls(("list_directory", {"path": "." + "/." * len(request.turns)}))

    async with _hub([next_call], repeat=True) as hub:
        hub.bus.observe(
            lambda event: moments.append(time.perf_counter()) if event.type == "run.iteration" else None
        )
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as directory:
                async for event in hub.run("go", directory=directory, max_iterations=ITERATIONS):
                    assert not event.data.get("isError"), event.data
            assert len(moments) == ITERATIONS, len(moments)
            spans += [after - before for before, after in pairwise(moments)]
            moments.clear()
    report.add(
        "loop",
        "one iteration, instant model, instant tool, p50",
        p50(spans) * 1e3,
        "ms",
        limit=10,
        against=f"p99 {_p99(spans) * 1e3:.1f} ms, {len(spans)} iterations on SQLite",
    )


async def three_calls(report: Report) -> None:
    """Prompt to end in a hub that runs."""
    import httpx2

    from manyhands.testing.scripted import calls

    progress(f"three calls of {SLOW_S:g} s in one iteration, {SLOW_ROUNDS} times")
    wait = ("mcp__peer__wait", {"seconds": SLOW_S})
    times = []
    async with _hub([calls(wait, wait, wait), "done"], repeat=True) as hub, _served(hub) as url:
        await _add_peer(hub)
        channel, _ = await hub.channels.find_or_create(name="bench")
        headers = {"Authorization": f"Bearer {hub.home.token()}"}
        async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
            for _ in range(SLOW_ROUNDS):
                start = time.perf_counter()
                end = await _to_the_end(client, channel.id)
                times.append(time.perf_counter() - start)
                assert end["status"] == "completed", end
    report.add(
        "loop",
        f"three calls of {SLOW_S:g} s, prompt to end over HTTP, p50",
        p50(times),
        "s",
        limit=1.05,
        against=f"worst {max(times):.3f} s; the floor is {SLOW_S:.2f} s",
    )


async def _to_the_end(client: Any, channel_id: str) -> dict[str, Any]:
    begun = await client.post(f"/api/channels/{channel_id}/runs", json={"prompt": "go"})
    async with client.stream("GET", f"/api/runs/{begun.json()['run_id']}/events") as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: ") and (event := json.loads(line[6:]))["type"] == "run.finished":
                return dict(event["data"])
    raise AssertionError("the run did not finish")


async def _tokens(report: Report) -> None:
    progress(f"{STREAMS} runs at {TOKENS_PER_S} tokens/s each, {STREAM_S} s")
    delays: list[float] = []
    async with _hub([], stamped=True) as hub, _served(hub) as url, asyncio.TaskGroup() as group:
        listening = asyncio.Event()
        group.create_task(_listen(url, hub.home.token(), delays, listening))
        await listening.wait()
        for number in range(STREAMS):
            channel, _ = await hub.channels.find_or_create(name=f"bench {number}")
            await hub.runs.start(channel.id, "go")
    expected = STREAMS * TOKENS_PER_S * STREAM_S
    report.add(
        "loop",
        f"a token at the subscriber's WebSocket, {STREAMS} runs at {TOKENS_PER_S}/s, p99",
        _p99(delays) * 1e3,
        "ms",
        limit=20,
        against=f"p50 {p50(delays) * 1e3:.1f} ms; {len(delays):,} of {expected:,} tokens arrived",
    )


async def _listen(url: str, token: str, delays: list[float], listening: asyncio.Event) -> None:
    """Until every run has finished; each token says when it was made."""
    from websockets.asyncio.client import connect

    address = url.replace("http:", "ws:") + "/api/ws"
    async with connect(address, additional_headers={"Authorization": f"Bearer {token}"}) as events:
        listening.set()
        left = STREAMS
        async for message in events:
            now, event = time.perf_counter(), json.loads(message)
            if event["type"] == "run.delta":
                delays.append(now - float(event["data"]["text"]))
            left -= event["type"] == "run.finished"
            if left == 0:
                return


class _Stamping:
    """A model whose tokens say when they were made."""

    def __init__(self) -> None:
        from manyhands.testing.scripted import SCRIPTED

        self.info = SCRIPTED

    @asynccontextmanager
    async def stream(self, request: Any) -> AsyncIterator[AsyncIterator[Any]]:
        yield self._tokens()

    async def _tokens(self) -> AsyncIterator[Any]:
        from manyhands.models.types import Reply, TextDelta

        start = time.perf_counter()
        for number in range(TOKENS_PER_S * STREAM_S):
            await asyncio.sleep(max(0.0, start + number / TOKENS_PER_S - time.perf_counter()))
            yield TextDelta(str(time.perf_counter()))
        yield Reply("done")


@asynccontextmanager
async def _hub(script: Sequence[Any], *, repeat: bool = False, stamped: bool = False) -> AsyncIterator[Hub]:
    from manyhands import Hub
    from manyhands.testing.scripted import ScriptedModel

    model = _Stamping() if stamped else ScriptedModel(script, repeat=repeat)
    with tempfile.TemporaryDirectory() as home:
        async with Hub(home, model=model) as hub:
            yield hub


@asynccontextmanager
async def _served(hub: Hub) -> AsyncIterator[str]:
    from manyhands.api.app import create_app
    from manyhands.api.serving import HttpServer

    app = create_app(hub)
    server = HttpServer(app, grace_s=5)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve_on(listener))
            await server.listening.wait()
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            app.state.crowds.close()
            server.stop()


async def _add_peer(hub: Hub) -> None:
    outcome = await hub.add_server(
        "peer", command=sys.executable, args=["-m", "bench.peer", "stdio"], trust="full"
    )
    assert outcome.ok, outcome.error


def _p99(samples: Sequence[float]) -> float:
    return statistics.quantiles(samples, n=100)[-1]
