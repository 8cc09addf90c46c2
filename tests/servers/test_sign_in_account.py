from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import httpx2
import pytest

from manyhands.errors import (
    NotAllowedError,
    UnavailableError,
)
from manyhands.secrets import MASK
from manyhands.servers.sign_in import SignIn
from manyhands.servers.sign_in_store import GrantStore
from manyhands.servers.types import Server
from manyhands.testing.clock import FakeClock
from tests.servers.authorization_server import AuthorizationServer, running_authorization_server
from tests.servers.sign_ins import PING, ask, browse, configured, secrets_in, signed_in, stored

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def remote() -> AsyncIterator[AuthorizationServer]:
    async with running_authorization_server() as server:
        yield server


@pytest.fixture
def server(remote: AuthorizationServer) -> Server:
    return configured(remote.mcp)


@pytest.fixture
async def sign_in(tmp_path: Path, clock: FakeClock) -> AsyncIterator[SignIn]:
    async with SignIn(secrets_in(tmp_path), clock) as started:
        yield started


def everything_below(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())


# --- renewing


@pytest.mark.requirement("L27")
async def test_many_requests_of_several_connections_renew_ended_tokens_once(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, clock: FakeClock, tmp_path: Path
) -> None:
    await signed_in(sign_in, server)
    clock.advance(3600)
    remote.forget_access()
    statuses: list[int] = []

    async def one() -> None:
        statuses.append(await ask(sign_in, server))

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(one)
    assert statuses == [200] * 12
    assert remote.seen["refresh"] == 1
    grant = await stored(tmp_path, server)
    assert grant is not None
    assert grant.access_token in remote.access


@pytest.mark.requirement("L27")
async def test_tokens_that_the_server_ends_early_are_renewed_once_and_the_requests_repeated(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    await signed_in(sign_in, server)
    remote.forget_access()
    statuses: list[int] = []

    async def one() -> None:
        statuses.append(await ask(sign_in, server))

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(one)
    assert statuses == [200] * 12
    assert remote.seen["refresh"] == 1


@pytest.mark.requirement("L27")
async def test_a_restart_renews_where_the_tokens_came_from(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, tmp_path: Path, clock: FakeClock
) -> None:
    await signed_in(sign_in, server)
    clock.advance(3600)
    async with SignIn(secrets_in(tmp_path), clock) as restarted:
        assert await ask(restarted, server) == 200
    assert remote.seen["refresh"] == 1


async def test_a_refresh_token_that_is_not_replaced_is_kept(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    remote.rotate = False
    await signed_in(sign_in, server)
    for _ in range(3):
        remote.forget_access()
        assert await ask(sign_in, server) == 200
    assert remote.seen["refresh"] == 3


@pytest.mark.requirement("L27")
async def test_a_refused_renewal_wants_a_person_keeps_the_tokens_and_is_not_repeated_for_every_call(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, tmp_path: Path, clock: FakeClock
) -> None:
    await signed_in(sign_in, server)
    before = await stored(tmp_path, server)
    remote.forget_access()
    remote.refresh.clear()
    assert [await ask(sign_in, server) for _ in range(3)] == [401, 401, 401]
    assert remote.seen["refresh"] == 1
    assert await stored(tmp_path, server) == before
    clock.advance(61)
    assert await ask(sign_in, server) == 401
    assert remote.seen["refresh"] == 2
    await signed_in(sign_in, server)
    assert await ask(sign_in, server) == 200


@pytest.mark.requirement("L27")
async def test_a_refusal_under_status_200_is_one(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    await signed_in(sign_in, server)
    remote.forget_access()
    remote.refresh_body = b'{"error": "bad_refresh_token"}'
    assert await ask(sign_in, server) == 401


async def test_tokens_that_could_not_be_renewed_in_time_are_used_while_the_server_takes_them(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, clock: FakeClock
) -> None:
    await signed_in(sign_in, server)
    clock.advance(3590)
    remote.refresh_status = 503
    assert await ask(sign_in, server) == 200
    assert remote.seen["refresh"] == 1


async def test_tokens_without_a_lifetime_are_used_until_the_server_refuses_them(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, clock: FakeClock
) -> None:
    remote.expires_in = 0
    await signed_in(sign_in, server)
    clock.advance(1_000_000)
    assert await ask(sign_in, server) == 200
    assert remote.seen["refresh"] == 0


@pytest.mark.requirement("L27")
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (503, None),
        (429, None),
        (302, None),
        (400, b'{"error": "temporarily_unavailable"}'),
        (200, b"<html>"),
        (200, b"x" * 2_000_000),
    ],
    ids=["503", "429", "redirect", "said so", "no token", "too large"],
)
async def test_a_renewal_that_fails_for_now_is_no_reason_to_sign_in(
    remote: AuthorizationServer,
    sign_in: SignIn,
    server: Server,
    tmp_path: Path,
    clock: FakeClock,
    status: int,
    body: bytes | None,
) -> None:
    await signed_in(sign_in, server)
    before = await stored(tmp_path, server)
    remote.forget_access()
    remote.refresh_status, remote.refresh_body = status, body
    with pytest.raises(UnavailableError, match=r"could not be renewed at .*They are kept"):
        await ask(sign_in, server)
    assert await stored(tmp_path, server) == before
    with pytest.raises(UnavailableError, match="could not be renewed"):
        await ask(sign_in, server)
    assert remote.seen["refresh"] == 1
    remote.refresh_status, remote.refresh_body = 200, None
    clock.advance(6)
    assert await ask(sign_in, server) == 200


@pytest.mark.requirement("L27")
async def test_the_old_refresh_token_is_kept_until_the_new_tokens_have_worked(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, tmp_path: Path
) -> None:
    await signed_in(sign_in, server)
    first = await stored(tmp_path, server)
    assert first is not None
    assert first.refresh_token is not None
    remote.forget_access()
    remote.accepts = False
    assert await ask(sign_in, server) == 401
    second = await stored(tmp_path, server)
    assert second is not None
    assert second.earlier_refresh_token == first.refresh_token
    remote.accepts = True
    remote.refresh = {first.refresh_token}
    assert await ask(sign_in, server) == 200
    assert remote.seen["refused refresh"] == 1
    third = await stored(tmp_path, server)
    assert third is not None
    assert third.earlier_refresh_token is None


@pytest.mark.requirement("L27")
async def test_a_caller_who_gives_up_does_not_lose_the_renewed_tokens(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    await signed_in(sign_in, server)
    remote.forget_access()
    remote.token_gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, sign_in, server)
        await remote.token_arrived.wait()
        tasks.cancel_scope.cancel()
    remote.token_gate.set()
    assert await ask(sign_in, server) == 200
    assert remote.seen["refresh"] == 1


@pytest.mark.requirement("L27")
async def test_a_renewal_under_way_is_finished_and_stored_before_the_end(
    remote: AuthorizationServer, server: Server, tmp_path: Path
) -> None:
    async with SignIn(secrets_in(tmp_path)) as sign_in:
        await signed_in(sign_in, server)
        before = await stored(tmp_path, server)
        remote.forget_access()
        remote.token_gate = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, sign_in, server)
            await remote.token_arrived.wait()
            tasks.cancel_scope.cancel()
        remote.token_gate.set()
    after = await stored(tmp_path, server)
    assert after is not None
    assert after != before
    assert after.access_token in remote.access


async def test_a_slow_request_does_not_hold_up_the_others(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    await signed_in(sign_in, server)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, sign_in, server, "?slow=1")
        await remote.slow_arrived.wait()
        assert await ask(sign_in, server) == 200
        remote.slow_gate.set()


async def test_new_tokens_that_the_server_does_not_take_leave_the_old_ones_in_place(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, tmp_path: Path
) -> None:
    await signed_in(sign_in, server)
    before = await stored(tmp_path, server)
    remote.accepts = False
    start = await sign_in.start(server)
    with pytest.raises(NotAllowedError, match="does not accept the new tokens"):
        await sign_in.finish(start.state, await browse(start))
    assert await stored(tmp_path, server) == before
    assert await ask(sign_in, server) == 200


# --- keeping tokens where they belong


@pytest.mark.requirement("L28")
async def test_tokens_go_to_no_other_address(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    await signed_in(sign_in, server)
    async with running_authorization_server() as other:
        async with httpx2.AsyncClient(auth=sign_in.auth(server), trust_env=False) as client:
            await client.post(other.mcp, json=PING)
        moved = configured(other.mcp)
        assert await ask(sign_in, moved) == 401
        assert other.seen == {"unsigned": 2}
    assert await ask(sign_in, server) == 200


@pytest.mark.requirement("L28")
async def test_tokens_are_redacted_and_stored_where_nobody_can_read_them(
    remote: AuthorizationServer, server: Server, tmp_path: Path
) -> None:
    secrets = secrets_in(tmp_path)
    async with SignIn(secrets) as sign_in:
        await signed_in(sign_in, server)
    grant = await stored(tmp_path, server)
    assert grant is not None
    held = [grant.access_token, grant.refresh_token or "", grant.client["client_secret"]]
    assert secrets.redactor.redact(" ".join(held)) == " ".join([MASK] * 3)
    assert not [secret for secret in held if secret in repr(grant)]
    assert not [secret for secret in held if secret.encode() in everything_below(tmp_path)]


async def test_signing_out_revokes_and_forgets_the_tokens(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, tmp_path: Path
) -> None:
    await signed_in(sign_in, server)
    assert await sign_in.logout(server)
    assert remote.seen["revoke"] == 2
    assert not remote.access
    assert not remote.refresh
    assert await stored(tmp_path, server) is None
    assert await ask(sign_in, server) == 401
    assert remote.seen["unsigned"] == 2
    assert not await sign_in.logout(server)


async def test_signing_out_during_a_renewal_stays_signed_out(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, tmp_path: Path
) -> None:
    await signed_in(sign_in, server)
    remote.forget_access()
    remote.token_gate = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, sign_in, server)
        await remote.token_arrived.wait()
        await sign_in.logout(server)
        remote.token_gate.set()
    assert await stored(tmp_path, server) is None
    assert not await sign_in.is_signed_in(server)


async def test_signing_out_works_when_the_authorization_server_is_gone(
    sign_in: SignIn, server: Server, tmp_path: Path
) -> None:
    await signed_in(sign_in, server)
    grant = await stored(tmp_path, server)
    assert grant is not None
    await GrantStore(secrets_in(tmp_path)).save(
        server.id, replace(grant, revocation_endpoint="http://127.0.0.1:9/revoke")
    )
    async with SignIn(secrets_in(tmp_path)) as restarted:
        assert not await restarted.logout(server)
    assert await stored(tmp_path, server) is None


async def test_a_stored_sign_in_that_cannot_be_read_counts_as_none(server: Server, tmp_path: Path) -> None:
    await secrets_in(tmp_path).put(f"sign-in/{server.id}", "{", redact=False)
    assert await stored(tmp_path, server) is None
