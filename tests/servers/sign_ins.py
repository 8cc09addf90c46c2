"""What the tests of signing in share: a home without a keyring, a server, a browser, a request."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import httpx2

from manyhands.home import Home
from manyhands.secrets import SecretStore
from manyhands.secrets.system_keyring import SystemKeyring
from manyhands.servers.sign_in import LoginStart, SignIn
from manyhands.servers.sign_in_store import Grant, GrantStore
from manyhands.servers.types import Server, ServerConfig

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
NOW = datetime(2030, 1, 1, tzinfo=UTC)


class NoKeyring(SystemKeyring):
    """So that no test touches the keyring of whoever runs it."""

    def _find(self) -> None:
        return None


def secrets_in(path: Path) -> SecretStore:
    return SecretStore(Home(path), keyring=NoKeyring("none"), env={})


def configured(
    url: str, *, env: dict[str, str] | None = None, headers: dict[str, str] | None = None
) -> Server:
    config = ServerConfig("files", transport="http", url=url, env=env or {}, headers=headers or {})
    return Server(7, config, "files", None, False, None, NOW, NOW)


async def browse(start: LoginStart) -> str:
    """Open the address as a browser would; where that leads."""
    async with httpx2.AsyncClient(trust_env=False, verify=False) as browser:
        return str((await browser.get(start.url)).headers["location"])


async def signed_in(sign_in: SignIn, server: Server) -> None:
    start = await sign_in.start(server)
    await sign_in.finish(start.state, await browse(start))


async def ask(sign_in: SignIn, server: Server, query: str = "") -> int:
    """One request of a connection; the status it got."""
    async with httpx2.AsyncClient(auth=sign_in.auth(server), trust_env=False, verify=False) as client:
        return (await client.post(f"{server.config.url}{query}", json=PING)).status_code


async def stored(path: Path, server: Server) -> Grant | None:
    return await GrantStore(secrets_in(path)).load(server.id, server.config.url or "")
