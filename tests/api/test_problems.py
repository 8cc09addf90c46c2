"""Errors are problems with a stable code, whatever went wrong."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from manyhands.errors import ConflictError, NeedsAuthError, NotConfiguredError, TooManyError, UnavailableError
from manyhands.hub import Hub

pytestmark = pytest.mark.anyio


def check(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    problem: dict[str, Any] = answer.json()
    assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["detail"]
    return problem


async def test_an_unknown_thing_is_not_found_with_a_hint(client: httpx2.AsyncClient) -> None:
    problem = check(await client.get("/api/channels/ch_nothing"), 404, "not_found")
    assert "manyhands channels list" in problem["hint"]


async def test_an_unknown_route_and_method_are_problems_too(client: httpx2.AsyncClient) -> None:
    assert "openapi" in check(await client.get("/api/nothing"), 404, "not_found")["hint"]
    check(await client.post("/api/health"), 405, "method_not_allowed")


async def test_a_wrong_body_names_the_place_of_every_mistake(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/tools/call", json={"name": 5, "colour": "red"})
    problem = check(answer, 422, "invalid")
    assert {error["path"] for error in problem["errors"]} == {"name", "colour"}
    assert problem["detail"].startswith("name: ")


async def test_a_body_that_is_no_json_says_so(client: httpx2.AsyncClient) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await client.post("/api/channels", content=b'{"name": ', headers=headers)
    assert "not valid JSON" in check(answer, 400, "invalid")["detail"]


async def test_a_wrong_query_says_which_one(client: httpx2.AsyncClient) -> None:
    problem = check(await client.get("/api/tool-calls?limit=0"), 422, "invalid")
    assert "limit" in problem["detail"]
    check(await client.get("/api/servers?cursor=nonsense"), 422, "invalid")


@pytest.mark.parametrize(
    ("error", "status", "code", "retry_after"),
    [
        (ConflictError("it clashes", data={"taken_by": "other", "code": "mine"}), 409, "conflict", None),
        (TooManyError("too many", retry_after=7), 429, "too_many", "7"),
        (NotConfiguredError("no model"), 501, "not_configured", None),
        (UnavailableError("later", retry_after=0.2), 503, "unavailable", "1"),
        (NeedsAuthError("sign in"), 503, "needs_auth", "1"),
    ],
)
async def test_each_of_our_errors_has_its_form(
    client: httpx2.AsyncClient,
    hub: Hub,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    code: str,
    retry_after: str | None,
) -> None:
    async def fail(channel_id: str) -> None:
        raise error

    monkeypatch.setattr(hub.channels, "get", fail)
    answer = await client.get("/api/channels/any")
    problem = check(answer, status, code)
    assert answer.headers.get("retry-after") == retry_after
    if status == 409:
        assert problem["taken_by"] == "other"


async def test_a_mistake_of_ours_is_logged_and_told_without_details(
    client: httpx2.AsyncClient, hub: Hub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(channel_id: str) -> None:
        raise RuntimeError("the inner workings")

    monkeypatch.setattr(hub.channels, "get", fail)
    problem = check(await client.get("/api/channels/any"), 500, "error")
    assert "inner workings" not in str(problem)
    assert problem["reference"] in problem["hint"]
    [record] = [record for record in caplog.records if "unexpectedly" in record.getMessage()]
    assert record.exc_info
    assert record.__dict__["reference"] == problem["reference"]
