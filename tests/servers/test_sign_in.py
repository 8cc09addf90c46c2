from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import httpx2
import pytest

from manyhands.errors import (
    InvalidError,
    NotAllowedError,
    NotConfiguredError,
    NotFoundError,
    UnavailableError,
)
from manyhands.home import Home
from manyhands.servers.sign_in import SignIn
from manyhands.servers.types import Server, ServerConfig
from manyhands.testing.clock import FakeClock
from tests.servers.authorization_server import AuthorizationServer, running_authorization_server
from tests.servers.sign_ins import PING, ask, browse, configured, secrets_in, signed_in

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


# --- signing in


@pytest.mark.requirement("L27")
async def test_a_connection_without_tokens_is_refused_and_starts_no_sign_in(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    assert await ask(sign_in, server) == 401
    assert await ask(sign_in, server) == 401
    assert remote.seen == {"unsigned": 2}
    assert sign_in.pending(server.id) is None
    assert not await sign_in.is_signed_in(server)


async def test_after_a_sign_in_requests_are_signed_also_after_a_restart(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, tmp_path: Path, clock: FakeClock
) -> None:
    start = await sign_in.start(server)
    assert start.redirect_uri == "http://127.0.0.1:8222/api/servers/login/callback"
    assert sign_in.pending(server.id) == start
    outcome = await sign_in.finish(start.state, await browse(start))
    assert (outcome.server_id, outcome.scope) == (server.id, "basic")
    assert sign_in.pending(server.id) is None
    assert await ask(sign_in, server) == 200
    async with SignIn(secrets_in(tmp_path), clock) as restarted:
        assert await ask(restarted, server) == 200
        assert await restarted.is_signed_in(server)
    assert remote.seen["refresh"] == 0


@pytest.mark.requirement("L27")
@pytest.mark.parametrize("form", ["address", "address without state given", "query", "code", "no scheme"])
async def test_what_a_browser_elsewhere_was_sent_back_to_can_be_pasted(
    sign_in: SignIn, server: Server, form: str
) -> None:
    start = await sign_in.start(server)
    address = await browse(start)
    query = address.partition("?")[2]
    pasted = {
        "address": address,
        "address without state given": f"  {address}#_=_\n",
        "query": query,
        "code": query.partition("code=")[2].partition("&")[0],
        "no scheme": address.removeprefix("http://"),
    }[form]
    state = None if form == "address without state given" else start.state
    await sign_in.finish(state, pasted)
    assert await ask(sign_in, server) == 200


@pytest.mark.requirement("L27")
async def test_an_unknown_state_is_refused(sign_in: SignIn, server: Server) -> None:
    start = await sign_in.start(server)
    address = await browse(start)
    with pytest.raises(NotFoundError, match="No sign-in waits"):
        await sign_in.finish("guessed", address.replace(start.state, "guessed"))
    with pytest.raises(NotFoundError, match="No sign-in waits"):
        await sign_in.finish(None, "a-code-alone")
    with pytest.raises(InvalidError, match="belongs to another sign-in"):
        await sign_in.finish(start.state, address.replace(start.state, "other"))
    assert not await sign_in.is_signed_in(server)
    await sign_in.finish(start.state, address)
    assert await sign_in.is_signed_in(server)


async def test_whoever_waits_is_told_how_a_sign_in_ended(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    told: list[tuple[int, str | None]] = []
    sign_in.ended = lambda server_id, error: told.append((server_id, error.message if error else None))
    remote.consents = False
    start = await sign_in.start(server)
    with pytest.raises(NotAllowedError):
        await sign_in.finish(start.state, await browse(start))
    remote.consents = True
    await signed_in(sign_in, server)
    assert told == [(server.id, "The sign-in was refused: The person said no."), (server.id, None)]


async def test_a_server_whose_address_cannot_be_told_is_not_signed_in_to(sign_in: SignIn) -> None:
    assert await sign_in.is_signed_in(configured("${NOT_SET}/mcp")) is False


async def test_a_sign_in_that_cannot_be_read_any_more_is_none(
    sign_in: SignIn, server: Server, tmp_path: Path
) -> None:
    await signed_in(sign_in, server)
    Home(tmp_path).secrets_key_file.unlink()
    async with SignIn(secrets_in(tmp_path)) as restarted:
        assert await restarted.is_signed_in(server) is False


@pytest.mark.requirement("L27")
@pytest.mark.parametrize("state_given", [True, False])
async def test_an_answer_for_one_server_does_not_finish_the_sign_in_to_another(
    sign_in: SignIn, server: Server, state_given: bool
) -> None:
    start = await sign_in.start(server)
    address, state = await browse(start), start.state if state_given else None
    with pytest.raises(InvalidError, match="belongs to another sign-in"):
        await sign_in.finish(state, address, server_id=server.id + 1)
    assert not await sign_in.is_signed_in(server)
    await sign_in.finish(state, address, server_id=server.id)
    assert await sign_in.is_signed_in(server)


@pytest.mark.requirement("L27")
@pytest.mark.parametrize("offered", [None, [], ["plain"]])
async def test_no_sign_in_begins_where_it_would_not_be_protected(
    remote: AuthorizationServer, sign_in: SignIn, server: Server, offered: list[str] | None
) -> None:
    remote.metadata_changes = {"code_challenge_methods_supported": offered}
    with pytest.raises(NotAllowedError, match="does not say that it protects sign-ins with PKCE"):
        await sign_in.start(server)
    assert sign_in.pending(server.id) is None


@pytest.mark.parametrize(
    ("of_server", "of_resource", "told"),
    [
        (
            {"authorization_endpoint": "javascript:alert(1)"},
            {},
            "authorization_endpoint: URL scheme should be",
        ),
        ({}, {"authorization_servers": ["file:///etc"]}, "authorization_servers: 0: URL scheme should be"),
        ({}, {"authorization_servers": ["{url}/elsewhere"]}, r"there is none at .*/elsewhere .HTTP 404"),
    ],
)
async def test_metadata_that_cannot_be_used_is_told_with_what_is_wrong_in_it(
    remote: AuthorizationServer,
    sign_in: SignIn,
    server: Server,
    of_server: dict[str, object],
    of_resource: dict[str, list[str]],
    told: str,
) -> None:
    remote.metadata_changes = of_server
    remote.resource_changes = {
        name: [value.format(url=remote.url) for value in values] for name, values in of_resource.items()
    }
    with pytest.raises(UnavailableError, match=f"cannot be used: {told}"):
        await sign_in.start(server)


async def test_an_answer_works_only_once(sign_in: SignIn, server: Server) -> None:
    start = await sign_in.start(server)
    address = await browse(start)
    await sign_in.finish(start.state, address)
    with pytest.raises(NotFoundError, match="it is finished"):
        await sign_in.finish(start.state, address)


async def test_an_address_without_a_code_is_sent_back_and_the_sign_in_goes_on(
    sign_in: SignIn, server: Server
) -> None:
    start = await sign_in.start(server)
    for pasted in (start.redirect_uri, f"{start.redirect_uri}?state={start.state}"):
        with pytest.raises(InvalidError, match="no code in it"):
            await sign_in.finish(start.state, pasted)
    await sign_in.finish(start.state, await browse(start))


async def test_a_person_who_says_no_ends_the_sign_in(sign_in: SignIn, server: Server) -> None:
    start = await sign_in.start(server)
    answer = f"{start.redirect_uri}?error=access_denied&error_description=Not+today&state={start.state}"
    with pytest.raises(NotAllowedError, match="refused: Not today"):
        await sign_in.finish(start.state, answer)
    assert sign_in.pending(server.id) is None


async def test_a_code_that_the_authorization_server_does_not_know_is_refused(
    sign_in: SignIn, server: Server
) -> None:
    start = await sign_in.start(server)
    with pytest.raises(NotAllowedError, match="invalid_grant"):
        await sign_in.finish(start.state, "made-up-code")
    assert not await sign_in.is_signed_in(server)


async def test_a_sign_in_that_nobody_finishes_expires(sign_in: SignIn, server: Server) -> None:
    start = await sign_in.start(server)
    login = sign_in._pending[start.state].login
    login._scope.deadline = anyio.current_time()  # as if ten minutes had passed
    await login.over.wait()
    assert sign_in.pending(server.id) is None
    with pytest.raises(NotFoundError, match="took too long"):
        await sign_in.finish(start.state, "code")


async def test_a_second_sign_in_takes_the_place_of_the_first(sign_in: SignIn, server: Server) -> None:
    first = await sign_in.start(server)
    second = await sign_in.start(server)
    assert sign_in.pending(server.id) == second
    with pytest.raises(NotFoundError):
        await sign_in.finish(first.state, await browse(first))
    await sign_in.finish(second.state, await browse(second))


async def test_a_sign_in_that_waits_does_not_hold_up_the_end(tmp_path: Path, server: Server) -> None:
    with anyio.fail_after(60):
        async with SignIn(secrets_in(tmp_path)) as sign_in:
            begun = await sign_in.start(server)
            assert sign_in.pending(server.id) == begun


async def test_an_error_inside_leaves_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with SignIn(secrets_in(tmp_path)):
            raise ZeroDivisionError


# --- who can be signed in to


async def test_a_local_server_needs_no_sign_in(sign_in: SignIn) -> None:
    local = replace(configured(""), config=ServerConfig("local", command="python"))
    assert sign_in.auth(local) is None
    assert await sign_in.is_signed_in(local) is None
    assert not await sign_in.logout(local)
    with pytest.raises(InvalidError, match="is a local program"):
        await sign_in.start(local)


async def test_a_header_from_the_config_takes_the_place_of_a_sign_in(
    remote: AuthorizationServer, sign_in: SignIn
) -> None:
    server = configured(remote.mcp, headers={"authorization": "Bearer mine"})
    remote.access["mine"] = "basic"
    async with httpx2.AsyncClient(
        auth=sign_in.auth(server), headers=dict(server.config.headers), trust_env=False
    ) as client:
        assert (await client.post(remote.mcp, json=PING)).status_code == 200
    assert await sign_in.is_signed_in(server) is None
    with pytest.raises(InvalidError, match="has an Authorization header"):
        await sign_in.start(server)


async def test_a_server_of_the_older_transport_is_signed_in_to_as_well(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    older = replace(server, config=replace(server.config, transport="sse"))
    await signed_in(sign_in, older)
    assert await ask(sign_in, older) == 200


async def test_a_server_that_asks_for_nothing_is_not_signed_in_to(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    remote.wants_sign_in = False
    with pytest.raises(InvalidError, match="did not ask for a sign-in"):
        await sign_in.start(server)


async def test_a_server_that_cannot_be_reached_says_so(sign_in: SignIn) -> None:
    with pytest.raises(UnavailableError, match="sign-in to 'files' failed"):
        await sign_in.start(configured("http://127.0.0.1:9/mcp"))


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_client_registered_by_hand_is_used_as_the_server_wants(
    remote: AuthorizationServer, sign_in: SignIn, method: str
) -> None:
    remote.open_registration = False
    with pytest.raises(NotConfiguredError, match="--env OAUTH_CLIENT_ID="):
        await sign_in.start(configured(remote.mcp))
    remote.clients["by-hand"] = "hand-secret"
    remote.methods = (method,)
    server = configured(remote.mcp, env={"OAUTH_CLIENT_ID": "by-hand", "OAUTH_CLIENT_SECRET": "hand-secret"})
    await signed_in(sign_in, server)
    remote.forget_access()
    assert await ask(sign_in, server) == 200
    assert remote.authentications == [method.removeprefix("client_secret_")] * 2


async def test_a_client_is_registered_once_for_each_redirect_address(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    await signed_in(sign_in, server)
    await signed_in(sign_in, server)
    assert remote.seen["register"] == 1
    sign_in.redirect_uri = "http://127.0.0.1:9999/api/servers/login/callback"
    await signed_in(sign_in, server)
    assert remote.seen["register"] == 2


@pytest.mark.requirement("L27")
async def test_a_call_that_needs_more_rights_asks_for_them_beside_the_old_ones(
    remote: AuthorizationServer, sign_in: SignIn, server: Server
) -> None:
    await signed_in(sign_in, server)
    remote.needed_scope = "write"
    assert await ask(sign_in, server) == 403
    assert remote.seen["refresh"] == 0
    await signed_in(sign_in, server)
    assert remote.scopes == ["basic", "basic write"]
    assert await ask(sign_in, server) == 200
