"""The ASGI door at `/mcp`: whose channel it is about, how many may be in, and the server behind it.

It brings in the server, and with it the SDK, when the first agent comes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from manyhands.access.types import PRINCIPAL, Principal
from manyhands.api.access import Crowd, Crowds
from manyhands.api.problems import problem_of
from manyhands.errors import ManyhandsError
from manyhands.hub import Hub
from manyhands.imports import import_aside

if TYPE_CHECKING:
    from manyhands.mcp_server.server import AgentEndpoint

CHANNEL_HEADER = "x-manyhands-channel"
LISTEN = "subscriptions/listen"


class McpDoor:
    """Serves the MCP server of a hub."""

    def __init__(self, hub: Hub, crowds: Crowds) -> None:
        self._hub = hub
        self._crowds = crowds
        self._endpoint: AgentEndpoint | None = None
        self._opening = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            scope = {**scope, PRINCIPAL: await self._principal(scope[PRINCIPAL], headers)}
            endpoint = self._endpoint or await self._open()
            with self._crowd(scope, headers).enter():
                await endpoint.serve(scope, receive, send)
        except ManyhandsError as error:
            await problem_of(error)(scope, receive, send)

    async def _principal(self, principal: Principal, headers: Headers) -> Principal:
        """The owner names a channel in a header; an agent's token has one."""
        named = headers.get(CHANNEL_HEADER)
        if principal.kind == "agent" or not named:
            return principal
        return replace(principal, channel_id=(await self._hub.channels.get(named)).id)

    def _crowd(self, scope: Scope, headers: Headers) -> Crowd:
        listens = scope["method"] == "GET" or headers.get("mcp-method") == LISTEN
        return self._crowds.agents if listens else self._crowds.calls

    async def _open(self) -> AgentEndpoint:
        async with self._opening:
            if self._endpoint is None:
                module = await import_aside("manyhands.mcp_server.server")
                endpoint: AgentEndpoint = module.AgentEndpoint(self._hub)
                await self._hub.keep(endpoint.run)
                self._endpoint = endpoint
        return self._endpoint
