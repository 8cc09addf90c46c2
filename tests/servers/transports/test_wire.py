"""The wire under the HTTP client, against sockets that do exactly what they are told."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest

from manyhands.servers.transports.wire import AiohttpTransport

pytestmark = pytest.mark.anyio

Peer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@asynccontextmanager
async def talking_to(peer: Peer) -> AsyncIterator[tuple[httpx2.AsyncClient, str]]:
    """A client, and the address of a socket that answers as `peer` does."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await peer(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, httpx2.AsyncClient(transport=AiohttpTransport(trust_env=False)) as client:
        yield client, f"http://127.0.0.1:{port}/"


async def one_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0"
    )
    return head + await reader.readexactly(int(length.partition(b":")[2]))


async def test_requests_go_one_after_the_other_over_the_same_connection() -> None:
    connections = 0

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while True:
            try:
                await one_request(reader)
            except asyncio.IncompleteReadError:
                return
            writer.write(OK)

    async with talking_to(peer) as (client, url):
        answers = [(await client.post(url, content=b"{}")).text for _ in range(3)]
    assert (answers, connections) == (["ok"] * 3, 1)


async def test_what_is_sent_is_what_the_client_says() -> None:
    seen: list[bytes] = []

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await one_request(reader))
        writer.write(
            b"HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nx-odd: one\r\nx-odd: two\r\ncontent-length: 0\r\n\r\n"
        )

    async with talking_to(peer) as (client, url):
        answer = await client.post(f"{url}a?b=c%20d", content=b"body", headers={"x-mine": "1"})
    first_line, *headers = seen[0].lower().split(b"\r\n")
    assert first_line == b"post /a?b=c%20d http/1.1"
    assert {b"x-mine: 1", b"content-length: 4"} <= set(headers)
    assert seen[0].endswith(b"body")
    assert answer.headers.get_list("x-odd") == ["one", "two"]
    assert client.cookies["a"] == "1"


async def test_a_body_that_is_let_go_of_closes_the_connection() -> None:
    hung_up = asyncio.Event()

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await one_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n")
        await reader.read()
        hung_up.set()

    async with talking_to(peer) as (client, url):
        async with client.stream("GET", url) as answer:
            assert await anext(answer.aiter_raw()) == b"data: 1\n\n"
        with anyio.fail_after(60):
            await hung_up.wait()


async def test_a_server_that_is_not_there_is_a_connect_error() -> None:
    async with httpx2.AsyncClient(transport=AiohttpTransport(trust_env=False)) as client:
        with socket.socket() as bound:  # and does not listen
            bound.bind(("127.0.0.1", 0))
            with pytest.raises(httpx2.ConnectError):
                await client.get(f"http://127.0.0.1:{bound.getsockname()[1]}/")


async def test_a_server_that_hangs_up_and_one_that_stops_in_the_middle_are_protocol_errors() -> None:
    async def hangs_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await one_request(reader)

    async def stops(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await one_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")

    for peer in (hangs_up, stops):
        async with talking_to(peer) as (client, url):
            with pytest.raises(httpx2.RemoteProtocolError):
                await client.post(url, content=b"{}")


async def test_a_server_that_does_not_answer_in_time_is_a_read_timeout() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await one_request(reader)
        await reader.read()

    async with talking_to(silent) as (client, url):
        with pytest.raises(httpx2.ReadTimeout):
            await client.get(url, timeout=httpx2.Timeout(60, read=0.05))


async def test_what_is_not_http_is_refused() -> None:
    async with httpx2.AsyncClient(transport=AiohttpTransport(trust_env=False)) as client:
        with pytest.raises(httpx2.UnsupportedProtocol):
            await client.get("ftp://127.0.0.1/")
