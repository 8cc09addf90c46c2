"""A server's tool behaves like any other: it connects first, and what fails is a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from manyhands.approvals.types import Answer, Question
from manyhands.errors import NeedsAuthError, UnavailableError
from manyhands.servers.mcp_tools import CallableServer, McpTool
from manyhands.tools.types import (
    CallContext,
    Invocation,
    ToolChanged,
    ToolDefinition,
    ToolResult,
    text_result,
)

pytestmark = pytest.mark.anyio

DEFINITION = ToolDefinition("mcp__time__now", "now", "", {"type": "object"}, "time", 1)


class Running:
    """A call while it runs; it notes whether its time stands still."""

    call_id = "call_1"
    context = CallContext()
    paused = 0

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...

    async def ask(self, question: Question) -> Answer:
        raise AssertionError(question)

    @contextmanager
    def pause(self) -> Iterator[None]:
        self.paused += 1
        yield
        self.paused -= 1


class Clocked:
    """A server that answers with what it was asked and whether time ran meanwhile."""

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        invocation: Invocation,
        meta: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        assert isinstance(invocation, Running)
        return text_result(f"{name} {dict(arguments)} paused={invocation.paused}")


async def test_connecting_does_not_count_as_the_calls_time_and_the_call_does() -> None:
    running, seen = Running(), []

    async def reach() -> CallableServer:
        seen.append(running.paused)
        return Clocked()

    result = await McpTool(DEFINITION, 30_000, lambda: None, reach, lambda: True).call({"a": 1}, running)
    assert seen == [1]
    assert result.text == "now {'a': 1} paused=0"


async def test_what_is_connected_is_called_as_it_is() -> None:
    async def reach() -> CallableServer:
        raise AssertionError("there was nothing to connect")

    result = await McpTool(DEFINITION, 30_000, Clocked, reach, lambda: True).call({"a": 1}, Running())
    assert result.text == "now {'a': 1} paused=0"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnavailableError("Server 'time' was disconnected.", hint="Connect it."), "unavailable"),
        (NeedsAuthError("Sign in first."), "needs_auth"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_a_result_with_the_reason(
    error: UnavailableError, code: str
) -> None:
    async def reach() -> CallableServer:
        raise error

    result = await McpTool(DEFINITION, 30_000, lambda: None, reach, lambda: True).call({}, Running())
    assert (result.is_error, result.code) == (True, code)
    assert result.text == f"Tool 'now' of server 'time' was not called: {error}"


async def test_what_connecting_shows_to_be_another_tool_is_not_called() -> None:
    connected: list[bool] = []

    async def reach() -> CallableServer:
        connected.append(True)
        return Clocked()

    with pytest.raises(ToolChanged):
        await McpTool(DEFINITION, 30_000, lambda: None, reach, lambda: not connected).call({}, Running())
