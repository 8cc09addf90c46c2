"""Whoever asks while the hub begins or ends gets an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import httpx2
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from manyhands.api.security import Gate
from manyhands.api.waiting import Waiting, refusing
from manyhands.errors import UnavailableError

pytestmark = pytest.mark.anyio
OWNER = {"Authorization": "Bearer secret"}


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


@pytest.fixture
async def client(waiting: Waiting) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(waiting)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=None) as client:
        yield client


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("hello")(scope, receive, send)


async def never(scope: Scope, receive: Receive, send: Send) -> None:
    await anyio.sleep_forever()


async def test_whoever_comes_before_the_app_waits_for_it(
    waiting: Waiting, client: httpx2.AsyncClient
) -> None:
    answers: list[httpx2.Response] = []

    async def ask() -> None:
        answers.append(await client.get("/api/servers"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert (await client.get("/api/health")).json()["status"] == "starting"
        assert not answers
        waiting.serve(hello)
    assert answers[0].text == "hello"


@pytest.mark.parametrize("is_there", [True, False])
async def test_whoever_has_no_answer_when_it_ends_is_told_so(
    waiting: Waiting, client: httpx2.AsyncClient, is_there: bool
) -> None:
    answers: list[httpx2.Response] = []

    async def ask(path: str) -> None:
        answers.append(await client.get(path))

    if is_there:
        waiting.serve(never)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "/api/servers")
        await anyio.wait_all_tasks_blocked()
        waiting.send_home()
    await ask("/api/servers")  # too late
    for answer in answers:
        assert answer.status_code == 503
        assert answer.json()["detail"] == "The hub is shutting down."
    assert "shutting down" in (await client.get("/v1/models")).json()["error"]["message"]


async def test_why_it_does_not_start_is_told_to_those_who_may_know(
    waiting: Waiting, client: httpx2.AsyncClient
) -> None:
    error = UnavailableError("The disk of /home/me is full.", hint="Free some.")
    waiting.serve(Gate(refusing(error), token="secret"))
    told = await client.get("/api/servers", headers=OWNER)
    assert told.headers["content-type"] == "application/problem+json"
    assert (told.status_code, told.json()["detail"]) == (503, "The disk of /home/me is full.")
    assert told.json()["hint"] == "Free some."
    assert (await client.get("/api/servers")).status_code == 401
    health = await client.get("/api/health")
    assert (health.status_code, health.json()["detail"]) == (503, "The hub does not start.")
