"""One server's tokens as its connections use them: all share one account, and it is renewed once for all.

It never starts a sign-in: without tokens that work the server's own refusal goes back to the connection.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import anyio
import httpx2

from manyhands.clock import Clock
from manyhands.errors import ManyhandsError, UnavailableError
from manyhands.servers.sign_in_http import RenewalRefused, renew
from manyhands.servers.sign_in_store import Grant, GrantStore

logger = logging.getLogger(__name__)

_RENEWAL_SECONDS = 30.0
# A refresh token that was refused is not offered again for this long, however many calls fail.
_REFUSAL_SECONDS = 60.0
# An authorization server that is down is not asked again by every call.
_REST_SECONDS = 5.0

Alone = Callable[["Challenge"], Coroutine[Any, Any, None]]
"""Signs in without a person, for the server that asked in this way; raises why it could not."""
StartTask = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]


@dataclass(frozen=True, slots=True)
class Challenge:
    """How a server asked for a sign-in; `header` is its `WWW-Authenticate`."""

    status: int
    header: str | None


class Account:
    """The grant of one server at one address. `start_task` runs a renewal that no caller's end cuts short."""

    def __init__(
        self, server_id: int, url: str, store: GrantStore, clock: Clock, start_task: StartTask
    ) -> None:
        self.url = url
        self.challenge: Challenge | None = None
        self._server_id = server_id
        self._store = store
        self._clock = clock
        self._start_task = start_task
        self._access = anyio.Lock()
        self._loaded = False
        self._grant: Grant | None = None
        self._renewal: anyio.Event | None = None
        self._problem: UnavailableError | None = None
        self._rest_until = 0.0
        self._refused: tuple[str, float] | None = None
        self.alone: Alone | None = None
        self._alone_turn = anyio.Lock()

    async def grant(self) -> Grant | None:
        """The grant as it is now."""
        if not self._loaded:
            async with self._access:
                if not self._loaded:
                    self._grant = await self._store.load(self._server_id, self.url)
                    self._loaded = True
        return self._grant

    async def usable(self) -> Grant | None:
        """The grant, renewed when its time has come. One that cannot be goes out too: the server decides."""
        grant = await self.grant()
        if grant is not None and grant.is_due(self._now()):
            with suppress(UnavailableError):
                return await self.renewed(grant) or grant
        return grant

    async def renewed(self, used: Grant) -> Grant | None:
        """A grant newer than the one that was used, or nothing when there can be none without a person."""
        if self._is_current(used):
            await self._renewal_of(used)
        if not self._is_current(used):
            return self._grant
        if self._problem is not None:
            raise UnavailableError(self._problem.message, hint=self._problem.hint)
        return None

    async def _renewal_of(self, used: Grant) -> None:
        if self._renewal is None:
            resting = self._problem is not None and self._clock.monotonic() < self._rest_until
            if resting or not self._candidates(used):
                return
            event = anyio.Event()
            self._start_task(self._renew)
            self._renewal = event
        await self._renewal.wait()

    def _is_current(self, used: Grant) -> bool:
        return self._grant is not None and self._grant.access_token == used.access_token

    async def replace(self, grant: Grant) -> None:
        """Use and keep what a person has just signed in for."""
        self._loaded, self._grant, self._refused, self.challenge = True, grant, None, None
        async with self._access:
            await self._store.save(self._server_id, grant)

    async def signed_in_alone(self, used: Grant | None, challenge: Challenge) -> Grant | None:
        """A grant for the credentials of the server's own config; nothing where a person must sign in."""
        if self.alone is None:
            return None
        async with self._alone_turn:
            if self._grant is not None and self._grant is not used:
                return self._grant  # somebody was faster
            if self._problem is not None and self._clock.monotonic() < self._rest_until:
                raise UnavailableError(self._problem.message, hint=self._problem.hint)
            try:
                await self.alone(challenge)
            except UnavailableError as error:
                self._problem, self._rest_until = error, self._clock.monotonic() + _REST_SECONDS
                raise
            self._problem = None
        return self._grant

    async def forget(self) -> Grant | None:
        """Sign out; the answer is what there was."""
        grant = await self.grant()
        self._grant = None
        async with self._access:
            await self._store.delete(self._server_id)
        return grant

    async def confirm(self, used: Grant) -> None:
        """The server has accepted this one: what it replaced is not needed any more."""
        if self._grant is not None and self._grant.earlier_refresh_token and self._is_current(used):
            self._grant = replace(self._grant, earlier_refresh_token=None)
            await self._save()

    def _candidates(self, grant: Grant) -> list[str]:
        """Refresh tokens worth a try, the newest first."""
        if self._refused is not None:
            access_token, until = self._refused
            if access_token == grant.access_token and self._clock.monotonic() < until:
                return []
        tokens = dict.fromkeys((grant.refresh_token, grant.earlier_refresh_token))
        return [token for token in tokens if token]

    async def _renew(self) -> None:
        source, self._problem = self._grant, None
        try:
            # Shielded: an answer that gets lost here may be the only copy of the next refresh token.
            with anyio.move_on_after(_RENEWAL_SECONDS, shield=True):
                if source is not None:
                    await self._renew_from(source)
        except UnavailableError as error:
            self._problem = error
            self._rest_until = self._clock.monotonic() + _REST_SECONDS
        finally:
            event, self._renewal = self._renewal, None
            if event is not None:
                event.set()

    async def _renew_from(self, source: Grant) -> None:
        for refresh_token in self._candidates(source):
            try:
                grant = await renew(source, refresh_token, self._now())
            except RenewalRefused as refusal:
                logger.info("The refresh token of server %s was refused: %s", self._server_id, refusal)
                continue
            if self._grant is source:  # nobody signed in or out in the meantime
                self._grant = grant
                await self._save()
            return
        self._refused = (source.access_token, self._clock.monotonic() + _REFUSAL_SECONDS)

    async def _save(self) -> None:
        """Write down what holds now, which may be newer than what the caller has seen."""
        async with self._access:
            if self._grant is None:
                return
            try:
                await self._store.save(self._server_id, self._grant)
            except ManyhandsError as error:
                logger.error(
                    "The new tokens of server %s are used but not stored: %s", self._server_id, error
                )

    def _now(self) -> float:
        return self._clock.now().timestamp()


class AccountAuth(httpx2.Auth):
    """Signs the requests of one connection. `fixed`: the server's config has a header that does it."""

    def __init__(self, account: Account, *, fixed: bool) -> None:
        self._account = account
        self._fixed = fixed
        self._origin = httpx2.URL(account.url)

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if self._fixed or not self._is_ours(request.url):
            yield request
            return
        grant = await self._account.usable()
        response = yield _signed(request, grant)
        if response.status_code == 401:
            newer = None if grant is None else await self._account.renewed(grant)
            newer = newer or await self._account.signed_in_alone(grant, _challenge(response))
            if newer is not None:
                grant = newer
                response = yield _signed(request, grant)
        await self._judge(response, grant)

    def _is_ours(self, url: httpx2.URL) -> bool:
        """Tokens go to the server they were granted for, or to its https side, and to nobody else."""
        ours = self._origin
        if url.host != ours.host:
            return False
        return (url.scheme, url.port) == (ours.scheme, ours.port) or (url.scheme, url.port) == ("https", None)

    async def _judge(self, response: httpx2.Response, grant: Grant | None) -> None:
        header = response.headers.get("www-authenticate")
        if response.status_code == 401 or (
            response.status_code == 403 and "insufficient_scope" in (header or "")
        ):
            self._account.challenge = _challenge(response)
        elif grant is not None and response.status_code < 400:
            await self._account.confirm(grant)


def _signed(request: httpx2.Request, grant: Grant | None) -> httpx2.Request:
    if grant is not None:
        request.headers["Authorization"] = f"Bearer {grant.access_token}"
    return request


def _challenge(response: httpx2.Response) -> Challenge:
    return Challenge(response.status_code, response.headers.get("www-authenticate"))
