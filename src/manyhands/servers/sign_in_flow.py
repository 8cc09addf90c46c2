"""One sign-in of one person to one server, on the SDK's OAuth client: discovery, registration, PKCE, tokens.

The SDK's flow runs in one task from the server's challenge to the tokens; it shows the address to open, waits
for what the browser brings back, and is ended by its deadline. Where tokens are kept is not known here.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urljoin, urlsplit

import anyio
import httpx2
from mcp.client.auth import (
    AuthorizationCodeResult,
    OAuthClientProvider,
    OAuthFlowError,
    OAuthRegistrationError,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from manyhands.clock import Clock
from manyhands.errors import (
    InvalidError,
    ManyhandsError,
    NotAllowedError,
    NotConfiguredError,
    UnavailableError,
)
from manyhands.servers.sign_in_account import Challenge
from manyhands.servers.sign_in_http import send, wire_client
from manyhands.servers.sign_in_store import Grant, renewal_time
from manyhands.servers.transports.http_client import shown_url
from manyhands.servers.types import Transport

logger = logging.getLogger(__name__)

CLIENT_ID = "OAUTH_CLIENT_ID"
CLIENT_SECRET = "OAUTH_CLIENT_SECRET"  # noqa: S105 (the name of a variable)
CLIENT_METADATA_URL = "OAUTH_CLIENT_METADATA_URL"
_STREAM = {"Accept": "text/event-stream"}
_METADATA: Mapping[str, type[BaseModel]] = {
    "oauth-protected-resource": ProtectedResourceMetadata,
    "oauth-authorization-server": OAuthMetadata,
    "openid-configuration": OAuthMetadata,
}
_LONGEST_FAULT = 200
_MESSAGE = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class LoginRequest:
    """What a sign-in starts from. `settings`: the server's env; it may name a client registered by hand."""

    name: str
    url: str
    transport: Transport
    headers: Mapping[str, str]
    settings: Mapping[str, str]
    redirect_uri: str
    challenge: Challenge | None
    before: Grant | None


@dataclass(frozen=True, slots=True)
class Callback:
    """What the browser brings back."""

    code: str
    state: str | None
    iss: str | None


class Login:
    """A sign-in in progress. `run` is its one owner; the others look at it from outside."""

    def __init__(
        self, request: LoginRequest, clock: Clock, keep: Callable[[Grant], Awaitable[None]], seconds: float
    ) -> None:
        self.url: str | None = None
        self.grant: Grant | None = None
        self.error: ManyhandsError | None = None
        self.shown = anyio.Event()
        self.over = anyio.Event()
        self._request = request
        self._clock = clock
        self._keep = keep
        self._seconds = seconds
        self._scope = anyio.CancelScope()
        self._callback: Callback | None = None
        self._answered = anyio.Event()
        self._faults: list[str] = []

    @property
    def state(self) -> str:
        """What the browser's answer must carry."""
        return parse_qs(urlsplit(self.url or "").query).get("state", [""])[0]

    def answer(self, callback: Callback) -> None:
        """Hand over what the browser brought; only the first counts."""
        if self._callback is None:
            self._callback = callback
            self._answered.set()

    def end(self, error: ManyhandsError) -> None:
        """Give up, for this reason."""
        self.error = self.error or error
        self._scope.cancel()

    async def run(self) -> None:
        """The sign-in from beginning to end; how it ended is in `grant` and `error`."""
        self._scope.deadline = anyio.current_time() + self._seconds
        try:
            with self._scope:
                await self._sign_in()
        except Exception as error:  # noqa: BLE001 (the border of a sign-in: one that fails harms nobody else)
            self.error = self.error or self._explain(error)
        finally:
            if self.grant is None and self.error is None:
                self.error = UnavailableError("The sign-in took too long.", hint="Start it again.")
            self.shown.set()
            self.over.set()

    # --- the SDK's flow

    async def _sign_in(self) -> None:
        provider = self._provider()
        await self._drive(provider)
        grant = self._granted(provider)
        # From here on the tokens are ours: what ends the sign-in now must not lose them.
        with anyio.CancelScope(shield=True):
            await self._keep(grant)
        self.grant = grant

    def _provider(self) -> OAuthClientProvider:
        metadata = OAuthClientMetadata(
            client_name="Manyhands",
            redirect_uris=[AnyUrl(self._request.redirect_uri)],
            grant_types=["authorization_code", "refresh_token"],
        )
        holder: list[OAuthClientProvider] = []

        async def show(url: str) -> None:
            self._check_pkce(holder[0].context.oauth_metadata)
            _choose_authentication(holder[0])
            self.url = url
            self.shown.set()

        provider = OAuthClientProvider(
            self._request.url,
            metadata,
            KnownBefore(self._request),
            redirect_handler=show,
            callback_handler=self._wait_for_browser,
            client_metadata_url=self._request.settings.get(CLIENT_METADATA_URL),
        )
        holder.append(provider)
        return provider

    def _check_pkce(self, metadata: OAuthMetadata | None) -> None:
        """The specification: without it in the metadata a client must not go on."""
        if metadata is not None and "S256" not in (metadata.code_challenge_methods_supported or []):
            raise NotAllowedError(
                f"The authorization server of {self._request.name!r} does not say that it protects sign-ins"
                " with PKCE (S256 in code_challenge_methods_supported of its metadata), so none was begun.",
                hint="Ask whoever runs it to switch that on.",
            )

    async def _wait_for_browser(self) -> AuthorizationCodeResult:
        await self._answered.wait()
        assert self._callback is not None
        return AuthorizationCodeResult(
            code=self._callback.code, state=self._callback.state, iss=self._callback.iss
        )

    async def _drive(self, provider: OAuthClientProvider) -> None:
        """Run the SDK's flow from the challenge on and send its requests; the last one tries the tokens."""
        request = self._probe()
        flow = provider.async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            response = await self._challenge(outgoing)
            while True:
                outgoing = await flow.asend(response)
                response = await (self._try(outgoing) if outgoing is request else send(outgoing))
                self._note_metadata(response, provider.context.auth_server_url)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    def _note_metadata(self, response: httpx2.Response, named: str | None) -> None:
        """Keep what is wrong with it. Only an authorization server that was named must have metadata."""
        model = _metadata_model(response)
        if model is None:
            return
        if response.status_code == 200 and response.content.lstrip().startswith(b"{"):
            fault = _metadata_fault(response, model)
            self._faults = [fault, *self._faults] if fault else []
        elif model is OAuthMetadata and named is not None:
            self._faults.append(f"there is none at {_address(response)} (HTTP {response.status_code})")

    def _probe(self) -> httpx2.Request:
        if self._request.transport == "sse":
            return httpx2.Request("GET", self._request.url, headers={**self._request.headers, **_STREAM})
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        return httpx2.Request(
            "POST", self._request.url, headers={**self._request.headers, **_MESSAGE}, json=message
        )

    async def _challenge(self, request: httpx2.Request) -> httpx2.Response:
        known = self._request.challenge
        if known is not None:
            headers = {"WWW-Authenticate": known.header} if known.header else {}
            return httpx2.Response(known.status, headers=headers, request=request)
        response = await send(request, read=False)
        if response.status_code != 401:
            raise InvalidError(
                f"Server {self._request.name!r} did not ask for a sign-in (HTTP {response.status_code}).",
                hint="Connect it as it is; if a tool of it needs a sign-in, call that tool first.",
            )
        return response

    async def _try(self, request: httpx2.Request) -> httpx2.Response:
        """Whether the server takes the new tokens: asked without sending it anything to do."""
        headers = {**self._request.headers, **_STREAM, "Authorization": request.headers["Authorization"]}
        response = await send(httpx2.Request("GET", self._request.url, headers=headers), read=False)
        if response.status_code == 401:
            raise NotAllowedError(
                f"You are signed in, but server {self._request.name!r} does not accept the new tokens.",
                hint="The old ones were kept. Ask whoever runs the server.",
            )
        return response

    def _granted(self, provider: OAuthClientProvider) -> Grant:
        context = provider.context
        tokens, client, metadata = context.current_tokens, context.client_info, context.oauth_metadata
        assert tokens is not None
        assert client is not None
        resource = context.get_resource_url() if context.should_include_resource_param() else None
        endpoint = str(metadata.token_endpoint) if metadata else urljoin(self._request.url, "/token")
        revocation = metadata.revocation_endpoint if metadata else None
        return Grant(
            server_url=self._request.url,
            client=wire_client(client),
            access_token=tokens.access_token,
            refresh_token=tokens.refresh_token,
            scope=tokens.scope,
            token_endpoint=endpoint,
            revocation_endpoint=str(revocation) if revocation else None,
            resource=resource,
            renew_at=renewal_time(self._clock.now().timestamp(), tokens.expires_in),
        )

    def _explain(self, error: Exception) -> ManyhandsError:
        name = self._request.name
        if isinstance(error, ManyhandsError):
            return error
        if isinstance(error, OAuthRegistrationError) and self._faults:
            return UnavailableError(
                f"The metadata for signing in to {name!r} cannot be used: {self._faults[0]}.",
                hint="Ask whoever runs the server to correct that.",
            )
        if isinstance(error, OAuthRegistrationError):
            return NotConfiguredError(
                f"The authorization server of {name!r} does not let us register: {error}.",
                hint=f"Register a client there with the redirect URI {self._request.redirect_uri} and save "
                f"the server with its id: --env {CLIENT_ID}=… --env {CLIENT_SECRET}=….",
            )
        if isinstance(error, OAuthFlowError):
            return NotAllowedError(f"The sign-in to {name!r} failed: {error}.", hint="Start it again.")
        if isinstance(error, httpx2.HTTPError | TimeoutError | ValidationError):
            reason = str(error) or type(error).__name__
            return UnavailableError(f"The sign-in to {name!r} failed: {reason}.", hint="Try again later.")
        logger.error("A sign-in to %s failed", name, exc_info=error)
        return UnavailableError(f"The sign-in to {name!r} failed: {error}.", hint="The log says more.")


class KnownBefore:
    """What the SDK's flow starts from. What it finds out stays in its context until the sign-in is over."""

    def __init__(self, request: LoginRequest) -> None:
        self._request = request

    async def get_tokens(self) -> OAuthToken | None:
        """Only what more is to be granted to: a fresh sign-in starts without tokens."""
        before, challenge = self._request.before, self._request.challenge
        if before is None or challenge is None or challenge.status != 403:
            return None
        return OAuthToken(access_token=before.access_token, scope=before.scope)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        settings, before = self._request.settings, self._request.before
        if client_id := settings.get(CLIENT_ID):
            secret = settings.get(CLIENT_SECRET)
            return OAuthClientInformationFull(client_id=client_id, client_secret=secret)
        if before is None or CLIENT_METADATA_URL in settings:
            return None
        client = OAuthClientInformationFull.model_validate(before.client)
        # A client is registered for one redirect address: when ours has changed it is of no use.
        ours = AnyUrl(self._request.redirect_uri) in (client.redirect_uris or [])
        return client if ours and not client.client_secret_expires_at else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """They are taken from the context at the end."""

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Likewise."""


def _metadata_model(response: httpx2.Response) -> type[BaseModel] | None:
    """What an answer should hold, if it is one to a search for metadata."""
    path = response.request.url.path
    return next((model for place, model in _METADATA.items() if f"/.well-known/{place}" in path), None)


def _metadata_fault(response: httpx2.Response, model: type[BaseModel]) -> str | None:
    """What the SDK passes over without a word."""
    try:
        model.model_validate_json(response.content)
    except ValidationError as error:
        fault = error.errors()[0]
        where = "".join(f"{part}: " for part in fault["loc"])
        return f"{where}{fault['msg'][:_LONGEST_FAULT]} ({_address(response)})"
    return None


def _address(response: httpx2.Response) -> str:
    return shown_url(str(response.request.url))


def _choose_authentication(provider: OAuthClientProvider) -> None:
    """A client registered by hand says nothing about how to authenticate: use what the server offers."""
    client, metadata = provider.context.client_info, provider.context.oauth_metadata
    if client is None or client.client_secret is None or client.token_endpoint_auth_method:
        return
    offered = (metadata and metadata.token_endpoint_auth_methods_supported) or ["client_secret_basic"]
    basic = "client_secret_basic" in offered or "client_secret_post" not in offered
    client.token_endpoint_auth_method = "client_secret_basic" if basic else "client_secret_post"
