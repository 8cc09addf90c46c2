"""Tool calls under way on a connection, and what comes back from them as a `ToolResult`.

Which question of a server belongs to which call is decided here; asking it is `client_features`' business.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from shlex import quote
from typing import TYPE_CHECKING

import anyio
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, METHOD_NOT_FOUND, URL_ELICITATION_REQUIRED
from pydantic import ValidationError

from manyhands.errors import InvalidError, ManyhandsError, NeedsAuthError, NotFoundError, UnavailableError
from manyhands.servers.failures import has_hung_up
from manyhands.servers.transports.types import (
    BAD_ANSWER,
    FRAME_TOO_LARGE,
    STALE_SESSION,
    TRANSPORT_FAILED,
    UNAUTHORIZED,
)
from manyhands.tools.types import Invocation, ToolResult, text_result

if TYPE_CHECKING:
    from mcp.types import CallToolResult

SERVERS_FAULT = "The fault is the server's: update it, or tell its authors."
_MOST_DATA = 2000
_CODES = {
    TRANSPORT_FAILED: "unavailable",
    STALE_SESSION: "unavailable",
    UNAUTHORIZED: "needs_auth",
    FRAME_TOO_LARGE: "too_large",
    BAD_ANSWER: "bad_answer",
    INVALID_PARAMS: "invalid",
    URL_ELICITATION_REQUIRED: "elicitation_required",
}


@dataclass(eq=False, slots=True)
class Call:
    """One tool call under way. `note`: something about its result that the reader should know."""

    tool: str
    invocation: Invocation
    note: str | None = None
    _scopes: list[anyio.CancelScope] = field(default_factory=list)

    def scope(self) -> anyio.CancelScope:
        """What is done inside is given up when the call ends."""
        self._scopes.append(anyio.CancelScope())
        return self._scopes[-1]

    def end(self) -> None:
        """It is over: nobody needs what was asked for it."""
        for scope in self._scopes:
            scope.cancel()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """What the SDK calls when the server says how far it is."""
        self.invocation.progress(progress, total, message)


# The SDK hands it on: over HTTP a server's request comes in on the stream of the call that caused it, and an
# input-required result is answered in the caller's own task.
current_call: ContextVar[Call | None] = ContextVar("current_call", default=None)


class CallsInFlight:
    """The calls of one connection."""

    def __init__(self) -> None:
        self._calls: dict[Call, None] = {}
        self._others = 0

    def __len__(self) -> int:
        return len(self._calls) + self._others

    @contextmanager
    def entered(self, call: Call) -> Iterator[None]:
        """While a call runs."""
        self._calls[call] = None
        token = current_call.set(call)
        try:
            yield
        finally:
            current_call.reset(token)
            del self._calls[call]
            call.end()

    @contextmanager
    def other(self) -> Iterator[None]:
        """While something runs that is no tool call (a resource is read, a prompt fetched)."""
        self._others += 1
        try:
            yield
        finally:
            self._others -= 1

    def asking(self) -> Call | None:
        """The call that a request of the server belongs to, if that can be told."""
        call = current_call.get()
        if call is not None and call in self._calls:
            return call
        return next(iter(self._calls)) if len(self._calls) == 1 and not self._others else None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While a person is asked and nobody knows for which of the calls."""
        with ExitStack() as stack:
            for call in self._calls:
                stack.enter_context(call.invocation.pause())
            yield


def tool_result(result: CallToolResult, note: str | None) -> ToolResult:
    """All of it: text and structured content, images, the error flag; a note as a text of its own."""
    content = [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in result.content]
    if note:
        content.append({"type": "text", "text": f"[{note}]"})
    return ToolResult(content, structured=result.structured_content, is_error=bool(result.is_error))


def failed_call(server: str, tool: str, error: MCPError, more: str = "") -> ToolResult:
    """An error of the protocol as a result that a model can act on."""
    text = f"Tool {tool!r} of server {server!r} failed: {_story(error)}{more}{_advice(server, error)}"
    code = "unavailable" if has_hung_up(error) else _CODES.get(error.code, "tool_fault")
    return text_result(text, is_error=True, code=code)


def request_error(server: str, what: str, error: MCPError | ValidationError) -> ManyhandsError:
    """Why something other than a tool call failed, by what the receiver should do."""
    if isinstance(error, ValidationError):
        reason = error.errors()[0]["msg"]
        return UnavailableError(f"Server {server!r} answered for {what} with something else: {reason}.")
    text = f"Server {server!r} gave no answer for {what}: {_story(error)}"
    match error.code:
        case -32002:  # what revisions before 2026-07-28 say of an unknown resource
            return NotFoundError(text)
        case _ if error.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
            return InvalidError(text)
        case _ if error.code == UNAUTHORIZED:
            return NeedsAuthError(text, hint=f"Sign in with `manyhands servers login {quote(server)}`.")
        case _:
            return UnavailableError(text)


def _advice(server: str, error: MCPError) -> str:
    """What to do next, where it is not the tool that must say so."""
    match error.code:
        case _ if has_hung_up(error):
            log = f"`manyhands servers log {quote(server)}`"
            return f" The next call connects it again; {log} shows what it wrote."
        case _ if error.code == TRANSPORT_FAILED:
            return " Check that the server runs, then try again."
        case _ if error.code == BAD_ANSWER:
            return f" {SERVERS_FAULT}"
        case _ if error.code == UNAUTHORIZED:
            return f" Sign in with `manyhands servers login {quote(server)}`."
        case _:
            return ""


def _story(error: MCPError) -> str:
    if has_hung_up(error):
        return (
            "the server ended or hung up before it answered. It may have carried out the call all the same."
        )
    text = error.message.strip() or "no reason given"
    data = f" {json.dumps(error.data, ensure_ascii=False, default=str)[:_MOST_DATA]}" if error.data else ""
    return f"{text} (MCP error {error.code}){data}"
