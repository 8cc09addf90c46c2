"""Calling tools over a connection: repeated where that is safe, and every failure told as a result.

A call runs in its caller's task and adds none of its own. Its time limit is the caller's business.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from mcp.shared.exceptions import MCPError
from mcp.types import URL_ELICITATION_REQUIRED, CallToolResult
from pydantic import ValidationError

from manyhands.errors import ManyhandsError
from manyhands.servers.calls import (
    SERVERS_FAULT,
    Call,
    CallsInFlight,
    current_call,
    failed_call,
    tool_result,
)
from manyhands.servers.client_features import ServerRequests
from manyhands.servers.line import Line
from manyhands.servers.transports.types import STALE_SESSION
from manyhands.strange_schema import SchemaFault, StrangeSchema
from manyhands.tools.types import Invocation, ToolResult, text_result

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp.types import RequestParamsMeta

log = logging.getLogger(__name__)

_VISIT_ROUNDS = 3


class ToolCalls:
    """The tools of one server. `line` gives a line that can be used, or raises why there is none."""

    def __init__(
        self,
        server: str,
        calls: CallsInFlight,
        requests: ServerRequests,
        line: Callable[[], Awaitable[Line]],
    ) -> None:
        self._server = server
        self._calls = calls
        self._requests = requests
        self._line = line

    async def call(
        self, name: str, arguments: Mapping[str, Any], invocation: Invocation, meta: Mapping[str, Any] | None
    ) -> ToolResult:
        """Call a tool. Only a cancellation is raised, after the server was told."""
        call = Call(name, invocation)
        with self._calls.entered(call):
            try:
                return await self._call(call, dict(arguments), _request_meta(meta))
            except ManyhandsError as error:
                text = f"Tool {name!r} of server {self._server!r} was not called: {error}"
                return text_result(text, is_error=True, code=error.code)

    async def _call(
        self, call: Call, arguments: dict[str, Any], meta: RequestParamsMeta | None
    ) -> ToolResult:
        visits, fresh = 0, False
        while True:
            line = await self._line()
            try:
                with line.used() as client:
                    result = await client.call_tool(
                        call.tool, arguments, progress_callback=call.progress, meta=meta
                    )
            except MCPError as error:
                line.judge(error)
                if error.code == STALE_SESSION and not fresh:
                    fresh = True
                elif error.code == URL_ELICITATION_REQUIRED and visits < _VISIT_ROUNDS:
                    visits += 1
                    if refusal := await self._requests.visit_required(error):
                        return failed_call(self._server, call.tool, error, f" It cannot go on: {refusal}.")
                else:
                    return failed_call(self._server, call.tool, error)
            except Exception as error:  # the border of a call: no answer of a server may end the caller
                log.info("An answer of %s was not understood", self._server, exc_info=True)
                return self._misunderstood(call, error)
            else:
                return tool_result(result, call.note)

    def _misunderstood(self, call: Call, error: Exception) -> ToolResult:
        who = f"Tool {call.tool!r} of server {self._server!r}"
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        text = f"{who} answered with something that is not a tool result: {reason}. {SERVERS_FAULT}"
        return text_result(text, is_error=True, code="bad_answer")


def keep_odd_results(session: ClientSession) -> None:
    """Note results that do not fit their tool's output schema; the SDK would throw them away."""
    fits = session.validate_tool_result

    async def check(name: str, result: CallToolResult) -> None:
        try:
            await fits(name, result)
        except (RuntimeError, MCPError, ValidationError) as error:
            if call := current_call.get():
                call.note = f"This result does not match the output schema of the tool: {str(error)[:500]}"

    session.validate_tool_result = check  # type: ignore[method-assign]
    # The SDK's own validator searches by a stranger's patterns for as long as that takes.
    session._output_schema_validator = _OutputSchemas().of  # type: ignore[method-assign,assignment]


class _OutputSchemas:
    """What a session's tools say of their results, read once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mapping[str, Any], OutputSchema]] = {}

    def of(self, name: str, schema: Mapping[str, Any]) -> OutputSchema:
        """What the SDK calls for a tool that has one."""
        known = self._known.get(name)
        if known is None or known[0] is not schema:
            known = self._known[name] = (schema, OutputSchema(schema))
        return known[1]


class OutputSchema:
    """Stands where the SDK has a validator. A schema that is broken or without end fits everything."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        try:
            self._schema = StrangeSchema(schema)
        except SchemaFault:
            self._schema = StrangeSchema({})

    def iter_errors(self, content: Any) -> Iterator[Exception]:
        """Nothing, or raises what does not fit: an error of jsonschema would print all of the content."""
        if error := next(self._schema.misfits(content), None):
            where = ".".join(str(part) for part in error.absolute_path)
            raise RuntimeError(f"{where}: {error.message}" if where else error.message)
        return iter(())


def _request_meta(meta: Mapping[str, Any] | None) -> RequestParamsMeta | None:
    return cast("RequestParamsMeta", dict(meta)) if meta else None
