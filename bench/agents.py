"""Agents in one channel that write to each other through a daemon: how soon a message is there, and whether.

Each agent holds its line open, confirms what comes, and sends at a fixed rate whatever happens. A delivery
counts from the moment at which its message was due, so that a pause is not hidden by those who wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from websockets.asyncio.client import connect

from bench.report import Report, p50, progress
from bench.startup import daemon
from manyhands.home import Home
from manyhands.system import read_lock

AGENTS = 50
MESSAGES = 10_000
A_SECOND = 200.0
SETTLE_S = 60.0


@dataclass
class Exchange:
    """What was sent and what came."""

    messages: int
    due: dict[str, float] = field(default_factory=dict)
    came: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    last_of: dict[tuple[str, str], int] = field(default_factory=dict)
    disordered: int = 0
    refused: list[str] = field(default_factory=list)
    all_came: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def lost(self) -> int:
        return self.messages - len(self.came)

    @property
    def doubled(self) -> int:
        return sum(count - 1 for count in self.came.values())

    def take(self, receiver: str, sender: str, content: str) -> None:
        """A message came."""
        number = int(content.rpartition(" ")[2])
        if number <= self.last_of.get((sender, receiver), -1):
            self.disordered += 1
        self.last_of[sender, receiver] = number
        self.came[content] += 1
        self.seconds.append(time.perf_counter() - self.due[content])
        if not self.lost:
            self.all_came.set()

    def share(self, of: float) -> float:
        """The time within which this share of them was there."""
        return sorted(self.seconds)[math.ceil(of * len(self.seconds)) - 1]


async def exchange(url: str, token: str, channel: str, agents: int, messages: int, rate: float) -> Exchange:
    """Let them write, in turns, each to the next ones; how it went, once all is there or nothing comes."""
    seen = Exchange(messages)
    ids = [f"agent-{number}" for number in range(agents)]
    async with asyncio.TaskGroup() as group:
        open_lines = asyncio.Barrier(agents + 1)
        lines = [group.create_task(_listen(url, token, channel, one, seen, open_lines)) for one in ids]
        await open_lines.wait()
        await _send_all(url, token, channel, ids, rate, seen)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                await seen.all_came.wait()
        for line in lines:
            line.cancel()
    return seen


class _Sender:
    """Posts over one connection, with no more work than that takes: the hub is what is measured."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self._reader = reader
        self._writer = writer
        self._head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"

    async def post(self, path: str, body: dict[str, str]) -> tuple[int, bytes]:
        data = json.dumps(body).encode()
        start = f"POST {path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\n\r\n"
        self._writer.write(start.encode() + data)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        return int(head.split()[1]), await self._reader.readexactly(length)


@contextlib.asynccontextmanager
async def _sender(url: str, token: str) -> AsyncIterator[_Sender]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield _Sender(reader, writer, token)
    finally:
        writer.close()
        await writer.wait_closed()


async def _listen(
    url: str, token: str, channel: str, agent: str, seen: Exchange, ready: asyncio.Barrier
) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    address = f"{url.replace('http', 'ws', 1)}/api/ws/agent-channel?agent_id={agent}&channel_id={channel}"
    async with connect(address, additional_headers=headers, proxy=None, compression=None) as socket:
        await ready.wait()
        async for text in socket:
            frame = json.loads(text)
            seen.take(agent, frame["from_agent"], frame["content"])
            await socket.send(json.dumps({"ack": frame["id"]}))


async def _send_all(url: str, token: str, channel: str, ids: list[str], rate: float, seen: Exchange) -> None:
    start = time.perf_counter() + 0.5

    async def send(place: int) -> None:
        async with _sender(url, token) as sender:
            for number in range(place, seen.messages, len(ids)):
                due = start + number / rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                receiver = ids[(place + 1 + number // len(ids)) % len(ids)]
                content = f"{ids[place]} says {number}"
                seen.due[content] = due
                body = {"channel_id": channel, "content": content, "from_agent": ids[place]}
                status, answer = await sender.post(f"/api/agents/{receiver}/message", body)
                if status != 201:
                    seen.refused.append(answer.decode())

    async with asyncio.TaskGroup() as group:
        for place in range(len(ids)):
            group.create_task(send(place))


async def _measure(url: str, token: str) -> Exchange:
    async with _sender(url, token) as sender:
        _, answer = await sender.post("/api/channels", {"name": "agents"})
    channel = json.loads(answer)["id"]
    return await exchange(url, token, channel, AGENTS, MESSAGES, A_SECOND)


def run(report: Report) -> None:
    progress(f"{AGENTS} agents exchange {MESSAGES:,} messages, {A_SECOND:g} a second")
    with tempfile.TemporaryDirectory() as directory, daemon(directory):
        home = Home(Path(directory))
        holder = read_lock(home.lock_file)
        assert holder is not None, "a daemon that is ready holds its home"
        seen = asyncio.run(_measure(str(holder.url), home.token()))
    what = f"{AGENTS} agents, {MESSAGES:,} messages at {A_SECOND:g}/s"
    lost = seen.lost + len(seen.refused)
    report.add("agents", f"{what}: lost, refused or out of order", lost + seen.disordered, "", limit=0)
    report.add(
        "agents",
        f"{what}: delivery, p99",
        seen.share(0.99) * 1e3,
        "ms",
        limit=100,
        against=f"p50 {p50(seen.seconds) * 1e3:.1f} ms, {seen.doubled} came twice",
    )
