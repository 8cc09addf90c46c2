"""Over SSE one failed POST stays one failed call, and the end of the stream says why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from mcp import MCPError
from mcp.types import CONNECTION_CLOSED

from manyhands.errors import NeedsAuthError, UnavailableError
from manyhands.secrets import HIDDEN, Redactor
from manyhands.servers.transports.sse import SseTransport
from manyhands.servers.transports.types import BAD_ANSWER, FRAME_TOO_LARGE, TRANSPORT_FAILED, Unauthorized
from tests.servers.transports.odd_http import OddServer, connected, running_odd_server, text
from tests.servers.transports.test_stdio import memory_growth

pytestmark = pytest.mark.anyio

MEGABYTE = 1_000_000


@pytest.fixture
def server() -> Iterator[OddServer]:
    with running_odd_server() as started:
        yield started


@pytest.mark.parametrize("path", ["/sse", "/moved"])
async def test_a_server_is_called(server: OddServer, path: str) -> None:
    transport = SseTransport(server.url(path))
    async with connected(transport) as client:
        assert text(await client.call_tool("echo", {"text": "hé"})) == "hé"
        assert len(text(await client.call_tool("large", {"size": 3 * MEGABYTE}))) == 3 * MEGABYTE
        assert not transport.closed.is_set()
    assert transport.closed.is_set()


async def test_many_calls_at_once_each_get_their_own_answer(server: OddServer) -> None:
    async with connected(SseTransport(server.url("/sse"))) as client:
        calls = [client.call_tool("echo", {"text": str(number)}) for number in range(100)]
        assert [text(result) for result in await asyncio.gather(*calls)] == [str(n) for n in range(100)]


@pytest.mark.parametrize(("tool", "reason"), [("hang_up", "RemoteProtocolError"), ("status", "HTTP 500")])
async def test_a_failed_post_fails_its_call_and_no_other(server: OddServer, tool: str, reason: str) -> None:
    async with connected(SseTransport(server.url("/sse"))) as client:
        with pytest.raises(MCPError, match=reason) as caught:
            await client.call_tool(tool, {"status": 500, "body": "oops"})
        assert caught.value.code == TRANSPORT_FAILED
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


async def test_garbage_is_skipped_and_a_malformed_answer_fails_its_call(server: OddServer) -> None:
    transport = SseTransport(server.url("/sse"))
    async with connected(transport) as client:
        with pytest.raises(MCPError, match="malformed") as caught:
            await client.call_tool("garbage", {})
        assert caught.value.code == BAD_ANSWER
        assert transport.diagnostics().garbage == 1
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


@pytest.mark.requirement("L08")
async def test_an_event_over_the_limit_is_told_and_leaves_the_memory_level(server: OddServer) -> None:
    transport = SseTransport(server.url("/sse"), max_frame=2 * MEGABYTE)
    async with connected(transport) as client:
        await client.call_tool("echo", {})
        with memory_growth() as growth, pytest.raises(MCPError, match="2000000 byte limit") as caught:
            await client.call_tool("large", {"size": 100 * MEGABYTE})
        assert caught.value.code == FRAME_TOO_LARGE
        assert growth() < 40 * MEGABYTE
        assert "2000000 byte limit" in str(transport.diagnostics().problem)


async def test_calls_under_way_fail_when_the_stream_ends(server: OddServer) -> None:
    transport = SseTransport(server.url("/sse"))
    async with connected(transport) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("end", {})
        assert caught.value.code == CONNECTION_CLOSED
        assert transport.closed.is_set()


async def test_a_refusal_is_told_with_its_challenge(server: OddServer) -> None:
    transport = SseTransport(server.url("/secret"))
    with pytest.raises(NeedsAuthError, match="HTTP 401"):
        async with connected(transport):
            pass
    assert transport.unauthorized == Unauthorized(401, "Bearer realm=odd")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/abroad", "of another origin"),
        ("/page", "Expected response with content type"),
        ("/none", "HTTP 405"),
    ],
)
async def test_an_address_without_an_event_stream_says_so(server: OddServer, path: str, reason: str) -> None:
    with pytest.raises(UnavailableError, match=reason) as caught:
        async with connected(SseTransport(server.url(path))):
            pass
    assert server.url(path) in caught.value.message


async def test_a_server_that_is_not_there_says_so(server: OddServer) -> None:
    server.stop()
    with pytest.raises(UnavailableError, match="ConnectError"):
        async with connected(SseTransport(server.url("/sse"))):
            pass


async def test_malformed_tools_do_not_hide_the_others(server: OddServer) -> None:
    transport = SseTransport(server.url("/sse"))
    async with connected(transport) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["bare", "good"]
    assert [repair.item for repair in transport.diagnostics().repairs] == ["tool bare"]


async def test_secrets_are_hidden_in_what_a_server_says(server: OddServer) -> None:
    known = Redactor()
    known.guard("hunter2-hunter2")
    transport = SseTransport(server.url("/sse"), redactor=known)
    async with connected(transport) as client:
        said = await client.call_tool("echo", {"text": "it is hunter2-hunter2"})
    assert text(said) == f"it is {HIDDEN}"
