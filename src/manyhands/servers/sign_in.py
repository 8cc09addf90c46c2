"""Signing in to servers that ask for it: starting, finishing and undoing it, and the tokens for connections.

Only a person's wish starts a sign-in. The browser may be on another machine: what it is sent back to can be
pasted. How the protocol goes is known to `sign_in_flow`, how tokens are renewed to `sign_in_account`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from shlex import quote
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs

import anyio
from anyio.abc import TaskGroup

from manyhands.clock import Clock, SystemClock
from manyhands.errors import InvalidError, ManyhandsError, NotAllowedError, NotFoundError, UnavailableError
from manyhands.imports import import_aside
from manyhands.secrets import SecretStore
from manyhands.servers.sign_in_store import Grant, GrantStore
from manyhands.servers.types import Server

if TYPE_CHECKING:
    import httpx2

    from manyhands.servers.sign_in_account import Account, Challenge
    from manyhands.servers.sign_in_flow import Login, LoginRequest

CALLBACK_PATH = "/api/servers/login/callback"
_DEFAULT_REDIRECT = f"http://127.0.0.1:8222{CALLBACK_PATH}"
_START_SECONDS = 60.0
_EXCHANGE_SECONDS = 60.0
_CLOSE_SECONDS = 10.0
_MOST_PENDING = 64


@dataclass(frozen=True, slots=True)
class LoginStart:
    """A sign-in that waits for the person: `url` is to be opened in a browser, `state` finishes it."""

    server_id: int
    url: str
    state: str
    redirect_uri: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A sign-in that succeeded."""

    server_id: int
    scope: str | None


@dataclass(frozen=True, slots=True)
class _Pending:
    start: LoginStart
    login: Login


class SignIn:
    """All sign-ins of a hub; an async context manager, since sign-ins and renewals run while others wait.

    `redirect_uri` is where browsers are sent back to: whoever serves it sets it. `ended` is told of every
    answer that ended a sign-in, with why it failed if it did.
    """

    def __init__(self, secrets: SecretStore, clock: Clock | None = None, *, login_s: float = 600.0) -> None:
        self.redirect_uri = _DEFAULT_REDIRECT
        self.ended: Callable[[int, ManyhandsError | None], None] = lambda _server_id, _error: None
        self._secrets = secrets
        self._clock = clock or SystemClock()
        self._login_s = login_s
        self._store = GrantStore(secrets)
        self._accounts: dict[int, Account] = {}
        self._pending: dict[str, _Pending] = {}
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._tasks is not None
        for pending in list(self._pending.values()):
            pending.login.end(UnavailableError("The hub is shutting down."))
        # A renewal under way may finish: its answer may be the only copy of the next refresh token.
        self._tasks.cancel_scope.deadline = anyio.current_time() + _CLOSE_SECONDS
        tasks, self._tasks = self._tasks, None
        await tasks.__aexit__(None, None, None)  # what ended the hub passes by, not wrapped in a group

    # --- connections

    def auth(self, server: Server, url: str | None = None) -> httpx2.Auth | None:
        """What signs a connection's requests; nothing for a local server. `url`: its address, resolved."""
        if server.config.transport == "stdio":
            return None
        from manyhands.servers.sign_in_account import AccountAuth

        account = self._account(server, url or server.config.url or "")
        account.alone = partial(self._sign_in_alone, server, account) if _has_own_grant(server) else None
        return AccountAuth(account, fixed=server.config.has_authorization)

    async def _sign_in_alone(self, server: Server, account: Account, challenge: Challenge) -> None:
        """With the client credentials in the server's config; no person takes part."""
        module = await import_aside("manyhands.servers.sign_in_machine")
        request = replace(await self._request(server, account), challenge=challenge)
        login: Login = module.MachineLogin(request, self._clock, account.replace, _START_SECONDS)
        await login.run()
        if login.error is not None:
            raise UnavailableError(
                login.error.message,
                hint="Check its OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET or OAUTH_PRIVATE_KEY, OAUTH_ISSUER.",
            )

    async def is_signed_in(self, server: Server) -> bool | None:
        """Whether there are tokens for it, which may have ended; nothing where no person can sign in."""
        if server.config.transport == "stdio" or server.config.has_authorization or _has_own_grant(server):
            return None
        try:
            url = await self._url(server)
            account = self._accounts.get(server.id)
            if account is not None and account.url == url:
                return await account.grant() is not None
            return await self._store.load(server.id, url) is not None
        except ManyhandsError:
            return False  # its address, or what is stored, cannot be read now: nothing is granted for it

    # --- signing in and out

    async def start(self, server: Server) -> LoginStart:
        """Begin a sign-in that a person asked for; an earlier one that still waits is given up."""
        self._check(server)
        flow = await import_aside("manyhands.servers.sign_in_flow")
        account = self._account(server, await self._url(server))
        request = await self._request(server, account)
        login: Login = flow.Login(request, self._clock, account.replace, self._login_s)
        self._start_task(login.run)
        try:
            with anyio.move_on_after(_START_SECONDS):
                await login.shown.wait()
        finally:
            if login.url is None:
                login.end(UnavailableError("The authorization server is too slow.", hint="Try again later."))
        if login.error is not None:
            raise login.error
        return self._remember(server.id, login, request.redirect_uri)

    def pending(self, server_id: int) -> LoginStart | None:
        """The sign-in to this server that waits for its person, if one does."""
        return next((p.start for p in self._alive() if p.start.server_id == server_id), None)

    async def finish(self, state: str | None, answer: str, *, server_id: int | None = None) -> SignedIn:
        """End a sign-in with what the browser brought: the address it was sent back to, or the code alone.

        `server_id`: the server that it must be a sign-in to, where that was said.
        """
        answers = _parameters(answer)
        pending = self._of_state(state or answers.get("state"))
        strange = server_id is not None and pending.start.server_id != server_id
        if strange or answers.get("state", pending.start.state) != pending.start.state:
            raise InvalidError(
                "This address belongs to another sign-in.", hint="Paste the one that this sign-in led to."
            )
        if "error" in answers:
            pending.login.end(_refusal(answers))
        elif not answers.get("code"):
            raise InvalidError(
                "There is no code in it.", hint="Paste the whole address that the browser was sent back to."
            )
        else:
            from manyhands.servers.sign_in_flow import Callback

            pending.login.answer(Callback(answers["code"], pending.start.state, answers.get("iss")))
        return await self._outcome(pending)

    async def logout(self, server: Server) -> bool:
        """Forget the tokens; whether the authorization server was told and agreed."""
        self._give_up(server.id)
        if server.config.transport == "stdio":
            return False
        account = self._account(server, await self._url(server))
        grant = await account.forget()
        return await self._revoke(grant) if grant is not None else False

    async def _revoke(self, grant: Grant) -> bool:
        flow = await import_aside("manyhands.servers.sign_in_http")
        return bool(await flow.revoke(grant))

    # --- parts

    def _account(self, server: Server, url: str) -> Account:
        from manyhands.servers.sign_in_account import Account

        known = self._accounts.get(server.id)
        if known is None or known.url != url:
            known = Account(server.id, url, self._store, self._clock, self._start_task)
            self._accounts[server.id] = known
        return known

    def _start_task(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if self._tasks is None:
            raise UnavailableError("The hub is not running.")
        self._tasks.start_soon(work)

    async def _url(self, server: Server) -> str:
        url = server.config.url or ""
        return (await self._secrets.expand({"url": url}))["url"] if "$" in url else url

    async def _request(self, server: Server, account: Account) -> LoginRequest:
        from manyhands.servers.sign_in_flow import LoginRequest

        config = server.config
        return LoginRequest(
            name=config.name,
            url=account.url,
            transport=config.transport,
            headers=await self._secrets.reveal(config.headers),
            settings=await self._secrets.reveal(config.env),
            redirect_uri=self.redirect_uri,
            challenge=account.challenge,
            before=await account.grant(),
        )

    def _check(self, server: Server) -> None:
        name = server.config.name
        if server.config.transport == "stdio":
            hint = "Give it what it needs in its environment: --env NAME=VALUE."
            raise InvalidError(f"Server {name!r} is a local program; there is no sign-in to it.", hint=hint)
        if server.config.has_authorization:
            raise InvalidError(
                f"Server {name!r} has an Authorization header, which takes the place of a sign-in.",
                hint=f"Remove it with `manyhands servers edit {quote(name)} --unset-header Authorization`,"
                " then sign in.",
            )
        if _has_own_grant(server):
            raise InvalidError(
                f"Server {name!r} signs in by itself, with its client credentials.",
                hint=f"Run `manyhands servers reconnect {quote(name)}`, or remove OAUTH_GRANT"
                " to sign in yourself.",
            )
        if len(self._alive()) >= _MOST_PENDING:
            raise UnavailableError("Too many sign-ins wait to be finished.", hint="Finish one of them first.")

    def _remember(self, server_id: int, login: Login, redirect_uri: str) -> LoginStart:
        assert login.url is not None
        self._give_up(server_id)
        expires_at = self._clock.now() + timedelta(seconds=self._login_s)
        start = LoginStart(server_id, login.url, login.state, redirect_uri, expires_at)
        self._pending[start.state] = _Pending(start, login)
        return start

    def _alive(self) -> list[_Pending]:
        for state, pending in list(self._pending.items()):
            if pending.login.over.is_set():
                del self._pending[state]
        return list(self._pending.values())

    def _give_up(self, server_id: int) -> None:
        for pending in self._alive():
            if pending.start.server_id == server_id:
                pending.login.end(NotFoundError("Another sign-in to this server took its place."))
                del self._pending[pending.start.state]

    def _of_state(self, state: str | None) -> _Pending:
        pending = {p.start.state: p for p in self._alive()}.get(state or "")
        if pending is None:
            raise NotFoundError(
                "No sign-in waits for this answer: it is finished, took too long, or never began.",
                hint="Start it again: Sign in at the server in the web UI, or run `manyhands servers login`.",
            )
        return pending

    async def _outcome(self, pending: _Pending) -> SignedIn:
        with suppress(TimeoutError), anyio.fail_after(_EXCHANGE_SECONDS):
            await pending.login.over.wait()
        self._pending.pop(pending.start.state, None)
        if pending.login.grant is not None:
            self.ended(pending.start.server_id, None)
            return SignedIn(pending.start.server_id, pending.login.grant.scope)
        error: ManyhandsError = pending.login.error or UnavailableError(
            "The authorization server is too slow."
        )
        pending.login.end(error)
        self.ended(pending.start.server_id, error)
        raise error


def _has_own_grant(server: Server) -> bool:
    return "OAUTH_GRANT" in server.config.env


def _parameters(answer: str) -> dict[str, str]:
    """From a whole address, its query, or a code alone."""
    answer = answer.strip()
    _, mark, query = answer.partition("?")
    if not mark:
        if "://" in answer:
            return {}
        if not answer.startswith(("code=", "state=", "error=", "iss=")):
            return {"code": answer}
        query = answer
    return {name: values[0] for name, values in parse_qs(query.partition("#")[0]).items()}


def _refusal(answers: dict[str, str]) -> NotAllowedError:
    text = answers.get("error_description") or answers["error"]
    return NotAllowedError(f"The sign-in was refused: {text[:500]}.", hint="Start it again to try once more.")
