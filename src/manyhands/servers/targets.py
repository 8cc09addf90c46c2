"""From a server's configuration to a transport: references are resolved here, just before they are used."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from manyhands.secrets import SecretStore
from manyhands.servers.types import Server

if TYPE_CHECKING:
    from manyhands.guardian import Guardian
    from manyhands.servers.endpoints import Target
    from manyhands.servers.sign_in import SignIn
    from manyhands.servers.transports.types import TransportHandle


class Targets:
    """Makes the targets of all servers."""

    def __init__(
        self,
        secrets: SecretStore,
        sign_in: SignIn,
        guardian: Guardian | None = None,
        *,
        listener: Callable[[int], Callable[[str], None]] | None = None,
    ) -> None:
        """`listener` answers who hears what the server of an id writes to stderr."""
        self._secrets = secrets
        self._sign_in = sign_in
        self._guardian = guardian
        self._listener = listener

    def of(self, server: Server) -> Target:
        """How to reach this server; every new transport sees the secrets as they are then."""
        from manyhands.servers.endpoints import Target

        async def open_transport() -> TransportHandle:
            return await self._open(server)

        config = server.config
        return Target(
            config.name,
            open_transport,
            config.transport,
            config.connect_timeout / 1000,
            has_authorization=config.has_authorization,
        )

    async def _open(self, server: Server) -> TransportHandle:
        return await (self._local(server) if server.config.transport == "stdio" else self._remote(server))

    async def _local(self, server: Server) -> TransportHandle:
        from manyhands.servers.transports.stdio import StdioTransport

        config = server.config
        command = [config.command or "", *config.args]
        plain = {
            str(index): word for index, word in enumerate([config.cwd or server.project or "", *command])
        }
        cwd, program, *args = (await self._secrets.expand(plain)).values()
        return StdioTransport(
            _from_home(program),
            args,
            env=await self._secrets.reveal(config.env),
            cwd=_from_home(cwd) or None,
            guardian=self._guardian,
            on_stderr=self._listener(server.id) if self._listener else None,
            shown=self._secrets.redactor.redact(shlex.join(command)),
            redactor=self._secrets.redactor,
        )

    async def _remote(self, server: Server) -> TransportHandle:
        config = server.config
        url = (await self._secrets.expand({"url": config.url or ""}))["url"]
        headers = await self._secrets.reveal(config.headers)
        auth = self._sign_in.auth(server, url)
        if config.transport == "sse":
            from manyhands.servers.transports.sse import SseTransport

            return SseTransport(url, headers=headers, auth=auth, redactor=self._secrets.redactor)
        from manyhands.servers.transports.http import HttpTransport

        return HttpTransport(url, headers=headers, auth=auth, redactor=self._secrets.redactor)


def _from_home(path: str) -> str:
    return os.path.expanduser(path)
