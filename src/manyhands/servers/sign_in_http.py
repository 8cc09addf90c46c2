"""Requests to authorization servers: bounded in time and size, never redirected elsewhere.

Renewing and revoking tokens; how a person signs in is in `sign_in_flow`.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import anyio
import httpx2
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import ValidationError

from manyhands.errors import UnavailableError
from manyhands.servers.sign_in_store import Grant, renewal_time
from manyhands.servers.transports.http_client import is_loopback, shown_url

REQUEST_SECONDS = 10.0
_LARGEST_ANSWER = 1024 * 1024
# Answers by which an authorization server says no; everything else may be different the next time.
_REFUSALS = frozenset({200, 400, 401, 403})  # some say what is wrong under 200
_PASSING = frozenset({"temporarily_unavailable", "server_error"})


class RenewalRefused(Exception):
    """The refresh token is not accepted: a person has to sign in again."""


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > _LARGEST_ANSWER:
                raise httpx2.ReadError("the answer is too large")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


@cache
def _tls() -> ssl.SSLContext:
    """Certificates are read once: that takes longer than most requests."""
    return httpx2.create_ssl_context()


async def send(request: httpx2.Request, *, read: bool = True) -> httpx2.Response:
    """One request and its answer; `read=False` leaves the body out."""
    if "accept" not in request.headers:  # without it some answer with a form
        request.headers["Accept"] = "application/json"
    local = is_loopback(str(request.url))
    async with httpx2.AsyncClient(timeout=REQUEST_SECONDS, trust_env=not local, verify=_tls()) as client:
        with anyio.fail_after(REQUEST_SECONDS):
            response = await client.send(request, stream=True, follow_redirects=False)
            try:
                if read:
                    assert isinstance(response.stream, httpx2.AsyncByteStream)
                    response.stream = _Capped(response.stream)
                    await response.aread()
            finally:
                await response.aclose()
    return response


async def renew(grant: Grant, refresh_token: str, now: float) -> Grant:
    """A new grant for this refresh token; the token itself is kept in it until the new ones have worked."""
    data = {
        "grant_type": "refresh_token",
        "refresh_token": refresh_token,
        "client_id": _client(grant).client_id,
    }
    if grant.resource:
        data["resource"] = grant.resource
    response = await _post(grant, grant.token_endpoint, data)
    token = _token(response, grant.token_endpoint)
    return replace(
        grant,
        access_token=token.access_token,
        refresh_token=token.refresh_token or refresh_token,
        earlier_refresh_token=refresh_token if token.refresh_token else None,
        scope=token.scope or grant.scope,
        renew_at=renewal_time(now, token.expires_in),
    )


def _token(response: httpx2.Response, url: str) -> OAuthToken:
    status, error = response.status_code, _error(response)
    if status in _REFUSALS and error not in _PASSING and (error or status != 200):
        raise RenewalRefused(error or f"HTTP {status}")
    if status != 200:
        raise _unreachable(url, f"it answered HTTP {status}")
    try:
        return OAuthToken.model_validate_json(response.content)
    except ValidationError:
        raise _unreachable(url, "its answer is not a token") from None


def _error(response: httpx2.Response) -> str | None:
    try:
        body = response.json()
    except ValueError:
        return None
    error = body.get("error") if isinstance(body, dict) else None
    return error[:100] if isinstance(error, str) else None


async def revoke(grant: Grant) -> bool:
    """Tell the authorization server that the tokens are not needed any more; whether it agreed."""
    if grant.revocation_endpoint is None:
        return False
    tokens = {"refresh_token": grant.refresh_token, "access_token": grant.access_token}
    agreed = True
    for kind, token in tokens.items():
        if token is not None:
            data = {"token": token, "token_type_hint": kind, "client_id": _client(grant).client_id}
            try:
                answer = await _post(grant, grant.revocation_endpoint, data)
            except UnavailableError:
                return False
            agreed = agreed and answer.status_code == 200
    return agreed


async def _post(grant: Grant, url: str, data: dict[str, str]) -> httpx2.Response:
    context = OAuthContext(
        server_url=grant.server_url,
        client_metadata=OAuthClientMetadata(redirect_uris=None),
        storage=_NoStorage(),
        redirect_handler=None,
        callback_handler=None,
        client_info=_client(grant),
    )
    data, headers = context.prepare_token_auth(data, {})
    try:
        return await send(httpx2.Request("POST", url, data=data, headers=headers))
    except (httpx2.HTTPError, TimeoutError) as error:
        raise _unreachable(url, str(error) or type(error).__name__) from error


def _client(grant: Grant) -> OAuthClientInformationFull:
    return OAuthClientInformationFull.model_validate(grant.client)


def _unreachable(url: str, reason: str) -> UnavailableError:
    return UnavailableError(
        f"The tokens could not be renewed at {shown_url(url)}: {reason}.",
        hint="They are kept; try again in a few seconds.",
    )


class _NoStorage:
    """A context must have one; ours are kept by `GrantStore`."""

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        raise NotImplementedError

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        raise NotImplementedError


def wire_client(client: OAuthClientInformationFull) -> Mapping[str, Any]:
    """A client as it is stored."""
    return client.model_dump(mode="json", exclude_none=True)
