"""Servers that sign in with their own client credentials, without a person."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from manyhands.errors import InvalidError, UnavailableError
from manyhands.servers.sign_in import SignIn
from manyhands.servers.types import Server
from manyhands.testing.clock import FakeClock
from tests.servers.authorization_server import AuthorizationServer, running_authorization_server
from tests.servers.sign_ins import ask, configured, secrets_in, stored

pytestmark = pytest.mark.anyio


@pytest.fixture
async def remote() -> AsyncIterator[AuthorizationServer]:
    async with running_authorization_server() as server:
        server.clients["robot"] = "robots-secret"
        yield server


@pytest.fixture
async def sign_in(tmp_path: Path) -> AsyncIterator[SignIn]:
    async with SignIn(secrets_in(tmp_path), FakeClock()) as started:
        yield started


def machine(remote: AuthorizationServer, **changes: str) -> Server:
    env = {
        "OAUTH_GRANT": "client_credentials",
        "OAUTH_ISSUER": f"{remote.url}/as",
        "OAUTH_CLIENT_ID": "robot",
        "OAUTH_CLIENT_SECRET": "robots-secret",
    }
    return configured(remote.mcp, env={name: value for name, value in (env | changes).items() if value})


async def test_tokens_are_fetched_when_the_server_asks_and_shared(
    remote: AuthorizationServer, sign_in: SignIn, tmp_path: Path
) -> None:
    server = machine(remote)
    statuses: list[int] = []

    async def one() -> None:
        statuses.append(await ask(sign_in, server))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(one)
    assert statuses == [200] * 4
    assert remote.seen["machine"] == 1
    assert await stored(tmp_path, server) is not None
    assert remote.authentications == ["basic"]


async def test_tokens_that_have_ended_are_replaced(remote: AuthorizationServer, sign_in: SignIn) -> None:
    server = machine(remote)
    assert await ask(sign_in, server) == 200
    remote.forget_access()
    assert await ask(sign_in, server) == 200
    assert remote.seen["machine"] == 2
    assert remote.seen["refresh"] == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"OAUTH_CLIENT_SECRET": "wrong"}, "401"),
        ({"OAUTH_ISSUER": ""}, "OAUTH_ISSUER"),
        ({"OAUTH_GRANT": "magic"}, "magic"),
    ],
)
async def test_credentials_that_do_not_work_say_which(
    remote: AuthorizationServer, sign_in: SignIn, changes: dict[str, str], said: str
) -> None:
    with pytest.raises(UnavailableError, match=said) as refused:
        await ask(sign_in, machine(remote, **changes))
    assert "OAUTH_CLIENT_ID" in (refused.value.hint or "")


async def test_an_authorization_server_that_is_down_or_refuses_is_not_asked_by_every_call(
    remote: AuthorizationServer, sign_in: SignIn
) -> None:
    server = machine(remote, OAUTH_CLIENT_SECRET="wrong")
    for _ in range(3):
        with pytest.raises(UnavailableError):
            await ask(sign_in, server)
    assert len(remote.authentications) == 1


@pytest.mark.requirement("L28")
async def test_credentials_go_to_their_issuer_and_nowhere_else(
    remote: AuthorizationServer, sign_in: SignIn
) -> None:
    with pytest.raises(UnavailableError):
        await ask(sign_in, machine(remote, OAUTH_ISSUER="https://login.example.com"))
    assert remote.authentications == []


async def test_nobody_is_asked_to_sign_in_to_it(remote: AuthorizationServer, sign_in: SignIn) -> None:
    with pytest.raises(InvalidError, match="signs in by itself"):
        await sign_in.start(machine(remote))
