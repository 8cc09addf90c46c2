"""Over HTTP one failed request stays one failed request, and what concerns the connection is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import anyio
import httpx2
import pytest
from mcp import MCPError
from mcp.types import INVALID_PARAMS, INVALID_REQUEST

from manyhands.errors import UnavailableError
from manyhands.secrets import HIDDEN, Redactor
from manyhands.servers.transports.http import HttpTransport
from manyhands.servers.transports.http_client import is_loopback, shown_url
from manyhands.servers.transports.types import (
    BAD_ANSWER,
    FRAME_TOO_LARGE,
    STALE_SESSION,
    TRANSPORT_FAILED,
    UNAUTHORIZED,
    Unauthorized,
)
from tests.servers.transports.odd_http import OddServer, connected, running_odd_server, text
from tests.servers.transports.test_stdio import memory_growth

pytestmark = pytest.mark.anyio

MEGABYTE = 1_000_000


@pytest.fixture
def server() -> Iterator[OddServer]:
    with running_odd_server() as started:
        yield started


async def test_a_server_is_called(server: OddServer) -> None:
    transport = HttpTransport(server.url())
    async with connected(transport) as client:
        assert text(await client.call_tool("echo", {"text": "hé"})) == "hé"
        assert len(text(await client.call_tool("streamed", {"size": 3 * MEGABYTE}))) == 3 * MEGABYTE
        assert transport.diagnostics().target == server.url()
        assert not transport.closed.is_set()
    assert transport.closed.is_set()


async def test_a_server_that_goes_away_and_comes_back_keeps_its_client(server: OddServer) -> None:
    async with connected(HttpTransport(server.url())) as client:
        server.stop()
        for _ in range(2):
            with pytest.raises(MCPError, match="ConnectError") as caught:
                await client.call_tool("echo", {})
            assert caught.value.code == TRANSPORT_FAILED
        server.restart()
        assert text(await client.call_tool("echo", {"text": "back"})) == "back"


@pytest.mark.parametrize("way", ["hang_up", "cut"])
async def test_a_broken_answer_fails_its_call_and_no_other(server: OddServer, way: str) -> None:
    async with connected(HttpTransport(server.url())) as client:
        waiting = asyncio.ensure_future(client.call_tool("hang", {}))
        with pytest.raises(MCPError) as caught:
            await client.call_tool(way, {})
        assert caught.value.code == TRANSPORT_FAILED
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"
        assert not waiting.done()
        waiting.cancel()


JSON, EVENTS = "application/json", "text/event-stream"
SECRET = "hunter2-hunter2-hunter2-hunter2"


@pytest.mark.requirement("L28")
@pytest.mark.parametrize(
    ("body", "kind", "fault"),
    [
        (f"{'z' * 200}{SECRET}", JSON, "it is not JSON"),
        ("", JSON, "it is not JSON"),
        ("[" * 1000 + "]" * 1000, JSON, "it is nested too deeply"),
        (f'{{"jsonrpc":"2.0","id":1,"result":"{"z" * 200}{SECRET}"}}', JSON, "it is not a JSON-RPC message"),
        (f"data: {'z' * 200}{SECRET}\n\n", EVENTS, "it is not JSON"),
    ],
)
async def test_an_answer_that_cannot_be_read_is_told_and_not_quoted(
    server: OddServer, body: str, kind: str, fault: str
) -> None:
    async with connected(HttpTransport(server.url())) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("status", {"status": 200, "body": body, "kind": kind})
        assert caught.value.code == BAD_ANSWER
        assert caught.value.message == f"The server's answer is malformed: {fault}."
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


@pytest.mark.requirement("L12")
async def test_calls_that_were_cancelled_hold_no_connection(server: OddServer) -> None:
    """A client has 256 of them."""
    async with connected(HttpTransport(server.url())) as client:
        before = asyncio.all_tasks()
        for _ in range(300):
            with anyio.move_on_after(0.001):
                await client.call_tool("hang", {})
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"
        await until_ended(before)


@pytest.mark.requirement("L12")
async def test_the_stream_of_a_call_that_was_cancelled_is_closed_and_not_resumed(server: OddServer) -> None:
    async with connected(HttpTransport(server.url())) as client:
        before = asyncio.all_tasks()
        with anyio.CancelScope() as scope:

            async def stop(progress: float, total: float | None, message: str | None) -> None:
                scope.cancel()

            await client.call_tool("stall", {}, progress_callback=stop)
        assert scope.cancelled_caught
        await until_ended(before)
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


async def until_ended(before: set[asyncio.Task[object]]) -> None:
    while left := asyncio.all_tasks() - before:
        await asyncio.wait(left)


@pytest.mark.requirement("L08")
@pytest.mark.parametrize("tool", ["large", "streamed", "packed"])
async def test_an_answer_over_the_limit_fails_its_call_and_leaves_the_memory_level(
    server: OddServer, tool: str
) -> None:
    async with connected(HttpTransport(server.url(), max_frame=2 * MEGABYTE)) as client:
        await client.call_tool("echo", {})
        with memory_growth() as growth, pytest.raises(MCPError, match="2000000 byte") as caught:
            await client.call_tool(tool, {"size": 100 * MEGABYTE})
        assert caught.value.code == FRAME_TOO_LARGE
        assert growth() < 40 * MEGABYTE
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


async def test_a_packed_answer_that_nobody_asked_for_is_unpacked(server: OddServer) -> None:
    async with connected(HttpTransport(server.url())) as client:
        assert len(text(await client.call_tool("packed", {"size": 3 * MEGABYTE}))) == 3 * MEGABYTE
        with pytest.raises(MCPError, match="packed as 'zstd'"):
            await client.call_tool("packed", {"size": 1, "encoding": "zstd"})


async def test_an_error_page_is_quoted(server: OddServer) -> None:
    async with connected(HttpTransport(server.url())) as client:
        with pytest.raises(MCPError, match="HTTP 502: <h1>Bad gateway</h1>") as caught:
            await client.call_tool("status", {"status": 502, "body": "<h1>Bad\n gateway</h1>"})
        assert caught.value.code == TRANSPORT_FAILED


@pytest.mark.parametrize(
    ("status", "headers", "code", "told"),
    [
        (400, {}, INVALID_REQUEST, 'HTTP 400: {"oops": "no"}.'),
        (403, {}, INVALID_REQUEST, 'HTTP 403: {"oops": "no"}.'),
        (418, {}, INVALID_REQUEST, 'HTTP 418: {"oops": "no"}.'),
        (500, {"retry_after": "2"}, TRANSPORT_FAILED, 'HTTP 500: {"oops": "no"}.'),
        (
            429,
            {"retry_after": "2"},
            TRANSPORT_FAILED,
            'HTTP 429: {"oops": "no"}. It wants no more requests for 2 s.',
        ),
        (
            503,
            {"retry_after": "Wed, 21 Oct 2026 07:28:00 GMT"},
            TRANSPORT_FAILED,
            'HTTP 503: {"oops": "no"}. It wants none before Wed, 21 Oct 2026 07:28:00 GMT.',
        ),
    ],
)
@pytest.mark.parametrize("kind", [JSON, "text/plain"])
async def test_a_bare_status_fails_its_call_with_what_the_server_said(
    server: OddServer, status: int, headers: dict[str, str], code: int, told: str, kind: str
) -> None:
    transport = HttpTransport(server.url())
    answer = {"status": status, "body": '{"oops": "no"}', "kind": kind, "headers": headers}
    async with connected(transport) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("status", answer)
        assert (caught.value.code, caught.value.message) == (code, f"The server answered {told}")
        assert transport.unauthorized is None
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


async def test_an_error_of_the_protocol_under_a_bad_status_is_passed_on(server: OddServer) -> None:
    error = f'{{"jsonrpc":"2.0","id":null,"error":{{"code":{INVALID_PARAMS},"message":"size is missing"}}}}'
    async with connected(HttpTransport(server.url())) as client:
        with pytest.raises(MCPError, match=r"^size is missing$") as caught:
            await client.call_tool("status", {"status": 400, "body": error, "kind": JSON})
        assert caught.value.code == INVALID_PARAMS


async def test_what_a_server_says_under_a_bad_status_is_told_without_secrets(server: OddServer) -> None:
    known = Redactor()
    known.guard(SECRET)
    answer = {"status": 403, "body": f"not with {SECRET}", "kind": JSON}
    async with connected(HttpTransport(server.url(), redactor=known)) as client:
        with pytest.raises(MCPError, match="HTTP 403: not with") as caught:
            await client.call_tool("status", answer)
        assert SECRET not in caught.value.message


async def test_a_call_that_needs_more_rights_than_were_granted_asks_for_a_sign_in(server: OddServer) -> None:
    transport = HttpTransport(server.url())
    challenge = 'Bearer error="insufficient_scope", scope="write"'
    answer = {"status": 403, "body": "", "headers": {"www_authenticate": challenge}}
    async with connected(transport) as client:
        with pytest.raises(MCPError, match="HTTP 403") as caught:
            await client.call_tool("status", answer)
        assert caught.value.code == UNAUTHORIZED
        assert transport.unauthorized == Unauthorized(403, challenge)


async def test_a_server_that_lets_nobody_in_asks_for_a_sign_in(server: OddServer) -> None:
    transport = HttpTransport(server.url("/forbidden"))
    told = pytest.RaisesExc(MCPError, match="wants a sign-in .HTTP 403: not for you")
    with pytest.RaisesGroup(told, flatten_subgroups=True):
        async with connected(transport):
            pass
    assert transport.unauthorized == Unauthorized(403, None)


async def test_a_refusal_is_told_with_its_challenge(server: OddServer) -> None:
    transport = HttpTransport(server.url("/secret"))
    with pytest.RaisesGroup(
        pytest.RaisesExc(MCPError, match="HTTP 401: who are you"), flatten_subgroups=True
    ) as caught:
        async with connected(transport):
            pass
    [error] = caught.value.exceptions
    while isinstance(error, ExceptionGroup):
        [error] = error.exceptions
    assert isinstance(error, MCPError)
    assert error.code == UNAUTHORIZED
    assert transport.unauthorized == Unauthorized(401, "Bearer realm=odd")


@pytest.mark.parametrize("tool", ["forget", "status"], ids=["404", "400"])
async def test_a_session_that_the_server_forgot_is_told(server: OddServer, tool: str) -> None:
    transport = HttpTransport(server.url())
    async with connected(transport) as client:
        # The SDK lists the tools after the first call, which finds the session forgotten.
        with pytest.raises(MCPError) as caught:
            await client.call_tool(tool, {"status": 400, "body": "Bad Request: No valid session ID"})
        assert caught.value.code == STALE_SESSION
        assert transport.stale


async def test_a_server_that_does_not_let_go_is_left_in_bounded_time(server: OddServer) -> None:
    transport = HttpTransport(server.url("/clinging"))
    with anyio.fail_after(60):
        async with connected(transport) as client:
            await client.call_tool("echo", {})
    assert transport.closed.is_set()


class Witness(httpx2.Auth):
    """Sees when the session is being given up."""

    def __init__(self) -> None:
        self.leaving = asyncio.Event()

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, Any]:
        if request.method == "DELETE":
            self.leaving.set()
        yield request


async def test_a_native_cancel_while_closing_ends_it_and_is_not_swallowed(server: OddServer) -> None:
    witness = Witness()

    async def own() -> None:
        async with connected(HttpTransport(server.url("/clinging"), auth=witness)):
            pass

    owner = asyncio.ensure_future(own())
    async with asyncio.timeout(30):
        await witness.leaving.wait()
        owner.cancel()
        with pytest.raises(asyncio.CancelledError):
            await owner


async def test_malformed_tools_do_not_hide_the_others(server: OddServer) -> None:
    transport = HttpTransport(server.url())
    async with connected(transport) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["bare", "good"]
    assert [repair.item for repair in transport.diagnostics().repairs] == ["tool bare"]


async def test_half_a_surrogate_pair_in_the_arguments_costs_nobody_the_connection(server: OddServer) -> None:
    async with connected(HttpTransport(server.url())) as client:
        with pytest.raises(MCPError):
            await client.call_tool("echo", {"text": "a\ud800b"})
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


async def test_a_proxy_is_not_asked_for_this_machine(
    server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with connected(HttpTransport(server.url())) as client:
        assert text(await client.call_tool("echo", {"text": "direct"})) == "direct"


class Failing(httpx2.Auth):
    """Signs in once, then fails."""

    def __init__(self, error: Exception) -> None:
        self.works = True
        self.error = error

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, Any]:
        if not self.works:
            raise self.error
        yield request


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("the keyring is locked"), "RuntimeError: the keyring is locked"),
        (UnavailableError("The keyring is locked."), "^The keyring is locked.$"),
    ],
)
async def test_a_sign_in_that_fails_fails_its_call_and_no_other(
    server: OddServer, error: Exception, told: str
) -> None:
    auth = Failing(error)
    async with connected(HttpTransport(server.url(), auth=auth)) as client:
        auth.works = False
        with pytest.raises(MCPError, match=told):
            await client.call_tool("echo", {})
        auth.works = True
        assert text(await client.call_tool("echo", {"text": "still here"})) == "still here"


async def test_headers_are_sent_and_secrets_in_a_url_are_not_shown() -> None:
    assert shown_url("https://me:pw@host.example:8/mcp?key=secret#x") == "https://host.example:8/mcp?…"
    assert shown_url("https://host.example/mcp") == "https://host.example/mcp"


@pytest.mark.parametrize(
    ("url", "stays_here"),
    [
        ("http://127.0.0.1:1/", True),
        ("http://[::1]/", True),
        ("http://localhost/", True),
        ("http://app.localhost/", True),
        ("http://127.0.0.1.example/", False),
        ("http://10.0.0.1/", False),
    ],
)
async def test_what_this_machine_is(url: str, stays_here: bool) -> None:
    assert is_loopback(url) is stays_here


async def test_secrets_are_hidden_in_what_a_server_says(server: OddServer) -> None:
    known = Redactor()
    known.guard("hunter2-hunter2")
    transport = HttpTransport(server.url(), redactor=known)
    async with connected(transport) as client:
        said = await client.call_tool("echo", {"text": "it is hunter2-hunter2"})
    assert text(said) == f"it is {HIDDEN}"
