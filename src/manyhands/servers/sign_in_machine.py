"""Signing in without a person: a server's own client credentials are exchanged for tokens.

The credentials go to the authorization server that they are of (`OAUTH_ISSUER`) and to no other, whatever the
MCP server says.
"""

from __future__ import annotations

from shlex import quote

from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)

from manyhands.errors import NotConfiguredError
from manyhands.servers.sign_in_flow import CLIENT_ID, CLIENT_SECRET, KnownBefore, Login

GRANT = "OAUTH_GRANT"
GRANTS = ("client_credentials",)
ISSUER = "OAUTH_ISSUER"
SCOPE = "OAUTH_SCOPE"
PRIVATE_KEY = "OAUTH_PRIVATE_KEY"
KEY_ALGORITHM = "OAUTH_KEY_ALGORITHM"


class MachineLogin(Login):
    """A sign-in that no browser takes part in."""

    def _provider(self) -> OAuthClientProvider:
        settings = self._request.settings
        if settings.get(GRANT) not in GRANTS:
            raise NotConfiguredError(
                f"Server {self._request.name!r} has {GRANT}={settings.get(GRANT)}, which is not known.",
                hint=f"Set it to {GRANTS[0]}, or remove it to sign in with a browser.",
            )
        client_id, issuer = self._given(CLIENT_ID), self._given(ISSUER)
        if key := settings.get(PRIVATE_KEY):
            signed = SignedJWTParameters(
                issuer=client_id,
                subject=client_id,
                signing_key=key,
                signing_algorithm=settings.get(KEY_ALGORITHM, "RS256"),
            )
            return PrivateKeyJWTOAuthProvider(
                self._request.url,
                KnownBefore(self._request),
                client_id,
                signed.create_assertion_provider(),
                settings.get(SCOPE),
                issuer=issuer,
            )
        return ClientCredentialsOAuthProvider(
            self._request.url,
            KnownBefore(self._request),
            client_id,
            self._given(CLIENT_SECRET),
            scope=settings.get(SCOPE),
            issuer=issuer,
        )

    def _given(self, name: str) -> str:
        if value := self._request.settings.get(name):
            return value
        raise NotConfiguredError(
            f"Server {self._request.name!r} signs in by itself and has no {name}.",
            hint=f"Run `manyhands servers edit {quote(self._request.name)} --env {name}=…`.",
        )
