"""Events as they happen: over a WebSocket and as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from manyhands.api import live
from manyhands.hub import Hub
from tests.api.conftest import Served

pytestmark = pytest.mark.anyio


def socket_to(served: Served, query: str = "") -> connect:
    return connect(served.websocket_url + query, additional_headers=served.headers, proxy=None)


async def received(socket: ClientConnection) -> dict[str, Any]:
    with anyio.fail_after(20):
        event: dict[str, Any] = json.loads(await socket.recv())
        return event


async def listening(served: Served, count: int = 1) -> None:
    """Wait until the hub knows of its listeners."""
    with anyio.fail_after(20):
        while len(served.app.state.crowds.live) < count:
            await anyio.lowlevel.checkpoint()


async def test_events_come_as_envelopes(served: Served, hub: Hub) -> None:
    async with socket_to(served) as socket:
        await listening(served)
        published = hub.bus.publish("mcp.status", {"server_id": 1, "status": "connected"}, channel_id="ch_1")
        assert await received(socket) == published.envelope()
        await socket.send("what a client says is of no interest")
        hub.bus.publish("mcp.status", {"n": 2})
        assert (await received(socket))["data"] == {"n": 2}


async def test_words_that_are_wanted_seldom_come_together(served: Served, hub: Hub) -> None:
    async with socket_to(served) as socket:
        await listening(served)
        assert await words_of(socket, hub) == ["a", "b", "c"]
        await socket.send('{"pause_ms": 1000}')
        with anyio.fail_after(60):
            while await words_of(socket, hub) != ["abc"]:
                pass  # the wish is still on its way


async def words_of(socket: ClientConnection, hub: Hub) -> list[str]:
    """Three words and something else are told: how the words come."""
    for offset, text in enumerate("abc"):
        hub.bus.publish("run.delta", {"run_id": "r1", "iteration": 1, "text": text, "offset": offset})
    hub.bus.publish("mcp.status", {"n": 1})
    words = []
    while (event := await received(socket))["type"] == "run.delta":
        words.append(event["data"]["text"])
    return words


async def test_whoever_listens_finds_the_model_ready(
    served: Served, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = anyio.Event()

    async def warm(reference: str | None = None) -> None:
        asked.set()

    monkeypatch.setattr(live, "SETTLED_S", 0)
    monkeypatch.setattr(hub.models, "warm", warm)
    async with socket_to(served):
        with anyio.fail_after(60):
            await asked.wait()


@pytest.mark.parametrize("since", ["seq", "?"])
async def test_a_client_that_comes_back_gets_what_it_missed(served: Served, hub: Hub, since: str) -> None:
    first = hub.bus.publish("mcp.status", {"n": 1})
    hub.bus.publish("mcp.status", {"n": 2})
    if since == "seq":
        async with socket_to(served, f"?since={first.seq}") as socket:
            assert (await received(socket))["data"] == {"n": 2}
    else:
        async with socket_to(served, f"?since={hub.bus.seq + 99}") as socket:
            assert (await received(socket))["type"] == "gap"


async def test_every_window_sees_the_same(served: Served, hub: Hub) -> None:
    async with socket_to(served) as one, socket_to(served) as two:
        await listening(served, 2)
        hub.bus.publish("mcp.status", {"n": 1})
        assert await received(one) == await received(two)


async def test_a_wrong_since_is_refused(served: Served) -> None:
    with pytest.raises(InvalidStatus):
        async with socket_to(served, "?since=yesterday"):
            pass


async def test_a_listener_that_hangs_up_leaves_nothing_behind(served: Served) -> None:
    async with socket_to(served):
        await listening(served)
    with anyio.fail_after(20):
        await served.app.state.crowds.live.empty()


async def test_a_shutdown_tells_listeners_to_come_back(served: Served) -> None:
    async with socket_to(served) as socket:
        await listening(served)
        served.app.state.crowds.close()
        with anyio.fail_after(20), pytest.raises(ConnectionClosed) as caught:
            await socket.recv()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1012


async def test_more_listeners_than_allowed_are_told_to_try_later(served: Served) -> None:
    served.app.state.crowds.live._limit = 1
    async with socket_to(served):
        await listening(served)
        async with socket_to(served) as second:
            with anyio.fail_after(20), pytest.raises(ConnectionClosed) as caught:
                await second.recv()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1013
        async with httpx2.AsyncClient(headers=served.headers) as client:
            answer = await client.get(f"{served.url}/api/events")
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many")


# --- server-sent events


class Stream:
    """The frames of an event stream."""

    def __init__(self, response: httpx2.Response) -> None:
        self._lines = response.aiter_lines()

    async def frame(self) -> dict[str, str]:
        fields: dict[str, str] = {}
        with anyio.fail_after(20):
            async for line in self._lines:
                if not line:
                    return fields
                name, _, value = line.partition(": ")
                fields[name] = value
        raise AssertionError("the stream has ended")

    async def end(self) -> None:
        with anyio.fail_after(20):
            async for _ in self._lines:
                pass


@pytest.fixture
async def streaming(served: Served) -> AsyncIterator[httpx2.AsyncClient]:
    headers = served.headers
    async with httpx2.AsyncClient(base_url=served.url, headers=headers, timeout=None) as client:
        yield client


async def test_the_stream_greets_and_then_tells_events(streaming: httpx2.AsyncClient, hub: Hub) -> None:
    async with streaming.stream("GET", "/api/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        stream = Stream(response)
        assert await stream.frame() == {"": "hello"}
        event = hub.bus.publish("mcp.status", {"text": "two\nlines"})
        frame = await stream.frame()
    assert (frame["id"], frame["event"]) == (str(event.seq), "mcp.status")
    assert json.loads(frame["data"]) == event.envelope()


async def test_the_stream_resumes_where_a_browser_was(streaming: httpx2.AsyncClient, hub: Hub) -> None:
    seen = hub.bus.publish("mcp.status", {"n": 1}).seq
    missed = hub.bus.publish("mcp.status", {"n": 2})
    for headers, query in (({"Last-Event-ID": str(seen)}, ""), ({}, f"?since={seen}")):
        async with streaming.stream("GET", f"/api/events{query}", headers=headers) as response:
            stream = Stream(response)
            await stream.frame()
            assert (await stream.frame())["id"] == str(missed.seq)
    for unknown in ("yesterday", "9" * 5000):
        wrong = await streaming.get("/api/events", headers={"Last-Event-ID": unknown})
        assert wrong.status_code == 422


async def test_a_quiet_stream_is_kept_alive_and_ends_with_the_hub(
    streaming: httpx2.AsyncClient, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "HEARTBEAT_S", 0.01)
    async with streaming.stream("GET", "/api/events") as response:
        stream = Stream(response)
        await stream.frame()
        assert await stream.frame() == {"": "still here"}
        served.app.state.crowds.close()
        await stream.end()
