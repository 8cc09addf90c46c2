"""Who may speak to the hub, and what a browser is protected from."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import websockets
from fastapi import FastAPI
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from manyhands.api import security
from manyhands.api.app import create_app
from manyhands.hub import Hub
from tests.api.conftest import BASE, Served

pytestmark = pytest.mark.anyio

OPEN = {("/api/health", "GET"), ("/api/servers/login/callback", "GET")}
"""Health for everyone; a browser that comes back from signing in, which proves itself by its `state`."""


def routes(app: FastAPI) -> set[tuple[str, str]]:
    """Every route of the app, with something in the place of its parameters."""
    paths: dict[str, Any] = app.openapi()["paths"]
    found = {(path, method.upper()) for path, methods in paths.items() for method in methods}
    extra = {
        ("/api/servers/login/callback", "GET"),
        ("/", "GET"),
        ("/api/docs", "GET"),
        ("/servers", "GET"),
        ("/theme.js", "GET"),
        ("/ui/index.js", "GET"),
        ("/assets/docs.js", "GET"),
    }
    return {(path.replace("{", "").replace("}", ""), method) for path, method in found | extra}


async def test_every_route_but_health_wants_a_token(anonymous: httpx2.AsyncClient, app: FastAPI) -> None:
    asked = routes(app) | {("/api/openapi.json", "GET"), ("/api/no/such/route", "GET")}
    answers = {(path, method): await anonymous.request(method, path) for path, method in asked}
    refused = {route for route, answer in answers.items() if answer.status_code == 401}
    assert refused == asked - OPEN
    assert len(asked) > 50
    assert (await anonymous.get("/api/health")).json()["status"] == "ok"


@pytest.mark.parametrize(
    "authorization", ["Bearer wrong", "Bearer ", "Basic {token}", "{token}", "Bearer {token}x"]
)
async def test_a_wrong_token_is_refused_with_a_word_on_what_to_do(
    anonymous: httpx2.AsyncClient, hub: Hub, authorization: str
) -> None:
    headers = {"Authorization": authorization.format(token=hub.home.token())}
    answer = await anonymous.get("/api/servers", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["code"] == "unauthorized"
    assert "manyhands up" in answer.json()["hint"]


async def test_tokens_are_compared_in_constant_time(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[bytes, bytes]] = []
    original = security.hmac.compare_digest  # type: ignore[attr-defined]

    def watch(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return bool(original(one, other))

    monkeypatch.setattr(security.hmac, "compare_digest", watch)  # type: ignore[attr-defined]
    await client.get("/api/servers")
    assert len(compared) == 1


async def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(
    anonymous: httpx2.AsyncClient, hub: Hub
) -> None:
    token = hub.home.token()
    answer = await anonymous.get(f"/?token={token}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert token not in cookie
    assert "Manyhands" in (await anonymous.get("/")).text
    assert (await anonymous.get("/api/servers")).status_code == 200


async def test_a_wrong_token_in_the_address_sets_no_cookie(anonymous: httpx2.AsyncClient) -> None:
    answer = await anonymous.get("/?token=wrong")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


async def test_the_address_keeps_the_rest_of_its_query_and_leads_nowhere_else(
    anonymous: httpx2.AsyncClient, hub: Hub
) -> None:
    token = hub.home.token()
    kept = await anonymous.get(f"/?tab=tools&token={token}&q=a%26b")
    assert kept.headers["location"] == "/?tab=tools&q=a%26b"
    elsewhere = await anonymous.get(f"{BASE}//evil.example/?token={token}")
    assert elsewhere.headers["location"] == "/evil.example/"


async def test_the_token_in_the_query_opens_no_route_of_the_api(
    anonymous: httpx2.AsyncClient, hub: Hub
) -> None:
    answer = await anonymous.get(f"/api/servers?token={hub.home.token()}")
    assert answer.status_code == 401


async def test_a_browser_that_is_not_signed_in_gets_a_page_that_says_how(
    anonymous: httpx2.AsyncClient,
) -> None:
    answer = await anonymous.get("/", headers={"Accept": "text/html,*/*"})
    assert answer.status_code == 401
    assert "manyhands up" in answer.text


@pytest.fixture
async def browser(anonymous: httpx2.AsyncClient, hub: Hub) -> httpx2.AsyncClient:
    """A browser that is signed in."""
    await anonymous.get(f"/?token={hub.home.token()}")
    return anonymous


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (BASE, 200),
        ("http://127.0.0.1:9999", 403),
        ("http://evil.example", 403),
        ("null", 403),
        (None, 403),
    ],
)
async def test_a_change_by_cookie_must_come_from_our_own_page(
    browser: httpx2.AsyncClient, origin: str | None, status: int
) -> None:
    headers = {} if origin is None else {"Origin": origin}
    answer = await browser.patch("/api/settings", json={}, headers=headers)
    assert answer.status_code == status


async def test_a_foreign_page_may_change_nothing_even_with_the_token(client: httpx2.AsyncClient) -> None:
    evil = ("Origin", "http://evil.example")
    for origins in ([evil], [("Origin", "http://[")], [("Origin", BASE), evil]):
        answer = await client.patch("/api/settings", json={}, headers=origins)
        assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")


async def test_a_program_with_the_token_needs_no_origin(client: httpx2.AsyncClient) -> None:
    assert (await client.patch("/api/settings", json={})).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8222", 200),
        ("localhost:1", 200),
        ("[::1]:8222", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example:8222", 403),
        ("127.0.0.1:8222@evil.example", 403),
        ("evil.example@127.0.0.1:8222", 403),
        ("127.0.0.1/evil.example", 403),
        ("[::1", 403),
        ("", 403),
    ],
)
async def test_only_our_own_names_are_answered_to(client: httpx2.AsyncClient, host: str, status: int) -> None:
    assert (await client.get("/api/servers", headers={"Host": host})).status_code == status
    health = await client.get("/api/health", headers={"Host": host})
    assert health.status_code == status


@pytest.fixture
async def named(hub: Hub) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(create_app(hub, hosts=["Hub.Example"]))
    headers = {"Authorization": f"Bearer {hub.home.token()}"}
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://hub.example", headers=headers
    ) as client:
        yield client


async def test_a_configured_name_is_answered_to(named: httpx2.AsyncClient) -> None:
    assert (await named.get("/api/servers")).status_code == 200
    assert (await named.get("/api/servers", headers={"Host": "other.example"})).status_code == 403


async def test_cors_is_closed(client: httpx2.AsyncClient) -> None:
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    preflight = await client.options("/api/servers", headers=headers)
    assert preflight.status_code == 405
    read = await client.get("/api/servers", headers=headers)
    for answer in (preflight, read):
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "path", ["/", "/api/servers", "/api/docs", "/api/health", "/assets/pages.css", "/api/nothing"]
)
async def test_every_answer_carries_the_protecting_headers(client: httpx2.AsyncClient, path: str) -> None:
    headers = (await client.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/api/docs", "/assets/docs.js", "/assets/pages.css"])
async def test_pages_load_nothing_from_elsewhere(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 200
    assert "http://" not in answer.text
    assert "https://" not in answer.text
    assert "innerHTML" not in answer.text


async def test_a_body_that_is_too_large_is_refused_by_its_length_and_by_its_content(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security, "MAX_BODY", 1000)
    said = await client.post("/api/channels", json={"name": "x" * 2000})

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 100

    unsaid = await client.post("/api/channels", content=chunks())
    for answer in (said, unsaid):
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    lengths = {"Content-Length": "5", "Transfer-Encoding": "chunked"}
    twice = await client.post("/api/channels", content=b"hello", headers=lengths)
    assert (twice.status_code, twice.headers["connection"]) == (422, "close")
    assert (await client.post("/api/channels", json={"name": "small"})).status_code == 201


@pytest.mark.requirement("L28")
async def test_the_token_is_never_logged(served: Served, hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with httpx2.AsyncClient() as client:
        await client.get(f"{served.url}/?token={served.token}")
        await client.get(f"{served.url}/api/servers", headers=served.headers)
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert not [record for record in ours if served.token in record.getMessage()]
    assert hub.secrets.redactor.redact(f"see {served.token}") != f"see {served.token}"


# --- WebSockets


async def refused(served: Served, **headers: str) -> int:
    with pytest.raises(InvalidStatus) as caught:
        async with connect(served.websocket_url, additional_headers=headers, proxy=None):
            pass
    return caught.value.response.status_code


async def test_a_websocket_wants_a_token_or_the_cookie(served: Served) -> None:
    assert await refused(served) == 401
    assert await refused(served, Authorization="Bearer wrong") == 401
    async with connect(served.websocket_url, additional_headers=served.headers, proxy=None):
        pass


async def test_a_websocket_of_a_foreign_page_is_refused(served: Served) -> None:
    async with httpx2.AsyncClient() as client:
        cookie = (await client.get(f"{served.url}/?token={served.token}")).headers["set-cookie"].split(";")[0]
    assert await refused(served, Cookie=cookie, Origin="http://evil.example") == 403
    assert await refused(served, Cookie=cookie) == 403
    assert await refused(served, **served.headers, Origin="http://evil.example") == 403
    headers = {"Cookie": cookie, "Origin": served.url}
    async with connect(served.websocket_url, additional_headers=headers, proxy=None) as socket:
        assert socket.state is websockets.State.OPEN
