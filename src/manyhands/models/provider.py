"""A model behind a provider's API: asks through pydantic-ai and streams what comes back.

It asks once. Asking again, and asking another model instead, is the business of `asking`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from manyhands.errors import ManyhandsError
from manyhands.models.clients import Clients, answers_noted, hang_up
from manyhands.models.failures import broken_stream, to_model_error
from manyhands.models.schema import fit_tools
from manyhands.models.types import (
    ModelError,
    ModelInfo,
    ModelRequest,
    Piece,
    Reply,
    TextDelta,
    ThinkingDelta,
    ToolRepair,
    ToolsMended,
    ToolSpec,
)
from manyhands.models.wire import to_delta, to_messages, to_parameters, to_reply
from manyhands.secrets import Redactor

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as TheirModel
    from pydantic_ai.settings import ModelSettings

log = logging.getLogger(__name__)

Key = Callable[[], Awaitable[str | None]]


class ProviderModel:
    """`Model` of a provider. `key` finds the secret when it is needed; it is not kept here."""

    def __init__(self, info: ModelInfo, clients: Clients, key: Key, redactor: Redactor | None = None) -> None:
        self._info = info
        self._clients = clients
        self._key = key
        self._redactor = redactor or Redactor()
        self._connecting = anyio.Lock()
        self._connected: TheirModel | None = None
        self._fitted: tuple[Sequence[ToolSpec], Sequence[ToolSpec], Sequence[ToolRepair]] = ((), (), ())

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def warm(self) -> None:
        """Import and connect ahead of need."""
        async with self._connecting:
            if self._connected is None:
                self._connected = await self._clients.connect(self._info, await self._find_key())

    async def _find_key(self) -> str | None:
        try:
            return await self._key()
        except ManyhandsError as error:
            raise ModelError(f"{self._info.name} has no key that can be used: {error}") from error

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[Piece]]:
        pieces = self._pieces(request)
        async with aclosing(pieces):
            yield pieces

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        try:
            request, repairs = self._prepared(request)
            if repairs:
                yield ToolsMended(repairs)
            await self.warm()
            async with aclosing(self._asked(request)) as pieces:
                async for piece in pieces:
                    yield piece
        except ManyhandsError:
            raise
        except Exception as error:  # the border: SDKs raise whatever a malformed answer leads to
            log.debug("a request to %s failed", self._info.id, exc_info=True)
            raise self._understood(error) from error

    async def _asked(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        from pydantic_ai.direct import model_request_stream

        assert self._connected is not None
        messages = to_messages(request, self._info.modalities)
        opened = model_request_stream(
            self._connected,
            messages,
            model_settings=self._settings(request),
            model_request_parameters=to_parameters(request),
            instrument=False,
        )
        async with AsyncExitStack() as stack:
            with answers_noted() as answers:
                try:
                    answer = await stack.enter_async_context(opened)
                finally:
                    stack.push_async_callback(hang_up, answers)
            said, thought = self._redactor.hidden_pieces(), self._redactor.hidden_pieces()
            async for event in answer:
                delta = to_delta(event)
                if delta is not None:
                    text = (said if isinstance(delta, TextDelta) else thought).feed(delta.text)
                    if text:
                        yield replace(delta, text=text)
            response = answer.get()
        self._check_whole(response)
        if thought.rest:
            yield ThinkingDelta(thought.rest)
        if said.rest:
            yield TextDelta(said.rest)
        yield self._hidden(to_reply(response, [call.id for turn in request.turns for call in turn.calls]))

    def _hidden(self, reply: Reply) -> Reply:
        """The reply of an endpoint that may repeat the key which it was sent."""
        hide = self._redactor.hide
        return replace(
            reply,
            text=hide(reply.text),
            calls=tuple(replace(call, arguments=hide(call.arguments)) for call in reply.calls),
            thinking=self._redactor.hide_json(reply.thinking),
            model=hide(reply.model),
        )

    def _prepared(self, request: ModelRequest) -> tuple[ModelRequest, Sequence[ToolRepair]]:
        """The request with the tools that this provider takes; the same tools are looked at once."""
        offered = request.tools if self._info.tool_call else ()
        if offered != self._fitted[0]:
            self._fitted = (offered, *fit_tools(offered, self._info.provider))
        _, tools, repairs = self._fitted
        return replace(request, tools=tools), repairs

    def _settings(self, request: ModelRequest) -> ModelSettings:
        from pydantic_ai.models.openai import OpenAIResponsesModelSettings
        from pydantic_ai.settings import ModelSettings

        settings = ModelSettings(max_retries=0, cache=True)
        if request.max_output is not None:
            settings["max_tokens"] = request.max_output
        if self._info.provider == "openai":
            return OpenAIResponsesModelSettings(openai_store=False, **settings)  # type: ignore[typeddict-item]
        return settings

    def _check_whole(self, response: ModelResponse) -> None:
        """A stream that ended without saying why it ended was cut off."""
        said_why = "finish_reason" in (response.provider_details or {})
        if response.state != "complete" or not (said_why or response.finish_reason not in (None, "stop")):
            raise broken_stream(self._info)

    def _understood(self, error: Exception) -> ModelError:
        found = to_model_error(error, self._info, self._redactor.redact)
        if found.provider_status in (401, 403):
            self._connected = None  # the next request looks for the key again
        return found
