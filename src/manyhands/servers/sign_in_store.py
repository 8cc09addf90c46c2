"""What signing in to a server has given us, and keeping it with the other secrets.

One record for each server, written as a whole: the tokens, the client they were given to and where they are
renewed, so that a restart renews them at the right place.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from manyhands.secrets import SecretStore

logger = logging.getLogger(__name__)

# Renew before the server's clock says so; a short-lived token keeps most of its life.
_MARGIN_S = 30.0
_MARGIN_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Grant:
    """The right to use one server at one address. `client` is the registered client as wire JSON.

    `earlier_refresh_token` is kept until the tokens that replaced it have worked.
    """

    server_url: str
    client: Mapping[str, Any] = field(repr=False)
    access_token: str = field(repr=False)
    token_endpoint: str
    refresh_token: str | None = field(default=None, repr=False)
    earlier_refresh_token: str | None = field(default=None, repr=False)
    scope: str | None = None
    renew_at: float | None = None
    resource: str | None = None
    revocation_endpoint: str | None = None

    def is_due(self, now: float) -> bool:
        """Whether the access token is about to end, or has ended."""
        return self.renew_at is not None and now >= self.renew_at


def renewal_time(now: float, lifetime_s: int | None) -> float | None:
    """When a token that lives this long should be renewed; without a sensible lifetime the server decides."""
    if lifetime_s is None or lifetime_s <= 0:
        return None
    return now + lifetime_s - min(_MARGIN_S, lifetime_s * _MARGIN_SHARE)


class GrantStore:
    """Grants by server."""

    def __init__(self, secrets: SecretStore) -> None:
        self._secrets = secrets

    async def load(self, server_id: int, url: str) -> Grant | None:
        """The grant for this server at this address; what was granted for another address stays there."""
        text = await self._secrets.get(_name(server_id), redact=False)
        grant = _parse(text) if text else None
        if grant is None or grant.server_url != url:
            return None
        self._register(server_id, grant)
        return grant

    async def save(self, server_id: int, grant: Grant) -> None:
        """Keep it, in place of the one before."""
        self._register(server_id, grant)
        await self._secrets.put(_name(server_id), json.dumps(asdict(grant)), redact=False)

    async def delete(self, server_id: int) -> None:
        """Forget it."""
        await self._secrets.delete(_name(server_id))

    def _register(self, server_id: int, grant: Grant) -> None:
        tokens = (grant.access_token, grant.refresh_token, grant.earlier_refresh_token)
        self._secrets.redactor.guard(grant.client.get("client_secret"))
        self._secrets.redactor.guard(*tokens, of=_name(server_id))


def _name(server_id: int) -> str:
    return f"sign-in/{server_id}"


def _parse(text: str) -> Grant | None:
    try:
        return Grant(**json.loads(text))
    except (ValueError, TypeError):
        logger.warning("A stored sign-in cannot be read and is passed over; sign in again to replace it.")
        return None
