"""A server's tool in the shape that every tool has: it reaches its server first, connecting it if it must."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from manyhands.errors import ManyhandsError
from manyhands.tools.types import Invocation, ToolChanged, ToolDefinition, ToolResult, text_result


class CallableServer(Protocol):
    """The part of a connection that a tool needs."""

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        invocation: Invocation,
        meta: Mapping[str, Any] | None = None,
    ) -> ToolResult: ...


AtHand = Callable[[], CallableServer | None]
Reach = Callable[[], Awaitable[CallableServer]]


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool of one server.

    `at_hand` gives the connection if it can be used as it is; `reach` connects first, or says why it cannot.
    `is_current`: whether the server still lists it like this, which connecting may show to be otherwise.
    """

    definition: ToolDefinition
    timeout_ms: int
    at_hand: AtHand
    reach: Reach
    is_current: Callable[[], bool]

    async def call(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        """Call it; the time for connecting has a limit of its own and does not count."""
        if (connection := self.at_hand()) is None:
            try:
                with invocation.pause():
                    connection = await self.reach()
            except ManyhandsError as error:
                text = (
                    f"Tool {self.definition.name!r} of server {self.definition.server!r} was not called:"
                    f" {error}"
                )
                return text_result(text, is_error=True, code=error.code)
        if not self.is_current():
            raise ToolChanged
        return await connection.call_tool(self.definition.name, arguments, invocation)
