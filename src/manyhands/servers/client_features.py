"""What we do for a server when it asks: roots, elicitation, sampling, its log. One instance per connection.

Registering a callback with the SDK declares a feature, so nothing is declared here that is not done here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from mcp.types import (
    INVALID_PARAMS,
    CreateMessageResult,
    ElicitationRequiredErrorData,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    Root,
)
from pydantic import ValidationError

from manyhands.approvals.types import Answer, ApprovalState, Question
from manyhands.errors import ManyhandsError
from manyhands.servers.calls import Call, CallsInFlight
from manyhands.servers.elicitation import (
    address_problem,
    form_data,
    form_problem,
    form_question,
    refusal,
    schema_problem,
    url_question,
)
from manyhands.servers.endpoints import ClientFeatures, LogMessage

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext
    from mcp.shared.exceptions import MCPError
    from mcp.types import CreateMessageRequestParams, LoggingMessageNotificationParams

T = TypeVar("T")

_REFUSED = -1
"""The code that the specification shows for a sampling request that a person turned down."""
_FORM_ROUNDS = 3
_REMEMBERED = 100
_MOST_OPEN = 20
"""Questions of one server that wait for a person at the same time."""
_BUSY = -32000


class ServerRequests:
    """Answers the requests of one server. `root` is the directory that this connection is for."""

    def __init__(
        self,
        server: str,
        root: str | None,
        features: ClientFeatures,
        calls: CallsInFlight,
        *,
        on_log: Callable[[LogMessage], None],
        on_roots_wanted: Callable[[], None],
    ) -> None:
        self.root = root
        self._server = server
        self._features = features
        self._calls = calls
        self._on_log = on_log
        self._on_roots_wanted = on_roots_wanted
        self._completed: deque[str] = deque(maxlen=_REMEMBERED)
        self._waiting: dict[str, anyio.Event] = {}
        self._open = 0

    @property
    def can_sample(self) -> bool:
        """Whether sampling may be declared."""
        return self._features.sampler is not None

    async def list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        """The directory of this connection and no other one."""
        self._on_roots_wanted()
        if self.root is None:
            return ListRootsResult(roots=[])
        path = Path(self.root)
        return ListRootsResult(roots=[Root.model_validate({"uri": path.as_uri(), "name": path.name})])

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        """A line for the log."""
        self._on_log(LogMessage(params.level, params.logger, params.data))

    async def elicit(
        self, context: ClientRequestContext, params: ElicitRequestFormParams | ElicitRequestURLParams
    ) -> ElicitResult | ErrorData:
        """Ask the person."""
        if isinstance(params, ElicitRequestURLParams):
            return await self._opened(partial(self._visit, params))
        return await self._opened(partial(self._fill_in, params))

    async def _opened(self, ask: Callable[[], Awaitable[T]]) -> T | ErrorData:
        """A question more, if there are not too many."""
        if self._open >= _MOST_OPEN:
            waiting = f"{self._open} questions of this server wait for the person already."
            return ErrorData(code=_BUSY, message=f"{waiting} Ask again when some are answered.")
        self._open += 1
        try:
            return await ask()
        finally:
            self._open -= 1

    async def _fill_in(self, params: ElicitRequestFormParams) -> ElicitResult | ErrorData:
        if fault := schema_problem(params.requested_schema):
            return ErrorData(code=INVALID_PARAMS, message=f"The requested schema is not valid: {fault}")
        call = self._calls.asking()
        problem: str | None = None
        for _ in range(_FORM_ROUNDS):
            question = form_question(self._server, call.tool if call else None, params, problem)
            answer = await self._ask(question, call)
            if not answer.approved:
                return refusal(answer)
            data = form_data(params.requested_schema, answer.response)
            problem = form_problem(params.requested_schema, data)
            if problem is None:
                return ElicitResult(action="accept", content=data)
        return ElicitResult(action="cancel")

    async def _visit(self, params: ElicitRequestURLParams) -> ElicitResult | ErrorData:
        if fault := address_problem(params.url):
            return ErrorData(code=INVALID_PARAMS, message=fault)
        call = self._calls.asking()
        question = url_question(self._server, call.tool if call else None, params)
        answer = await self._ask_until_completed(question, call, params.elicitation_id)
        return ElicitResult(action="accept") if answer.approved else refusal(answer)

    async def visit_required(self, error: MCPError) -> str | None:
        """Ask for every address that a refused call needs visited; why it cannot go on, if it cannot."""
        try:
            needed = ElicitationRequiredErrorData.model_validate(error.data).elicitations
        except ValidationError:
            return "it wants an address to be visited and does not say which"
        for params in needed:
            outcome = await self._opened(partial(self._visit, params))
            if isinstance(outcome, ErrorData):
                return outcome.message
            if outcome.action != "accept":
                return f"the person did not agree to visit {params.url}"
        return None

    def completed(self, elicitation_id: str) -> None:
        """The server says that what it asked for at an address is done."""
        self._completed.append(elicitation_id)
        if waiting := self._waiting.get(elicitation_id):
            waiting.set()

    async def _ask_until_completed(
        self, question: Question, call: Call | None, elicitation_id: str | None
    ) -> Answer:
        """The person's answer, or a yes as soon as the server says that it is done."""
        if elicitation_id is None:
            return await self._ask(question, call)
        done = self._waiting.setdefault(elicitation_id, anyio.Event())
        answer = Answer(ApprovalState.APPROVED)
        try:
            async with anyio.create_task_group() as tasks:

                async def ask() -> None:
                    nonlocal answer
                    answer = await self._ask(question, call)
                    tasks.cancel_scope.cancel()

                if elicitation_id not in self._completed:
                    tasks.start_soon(ask)
                    await done.wait()
                    tasks.cancel_scope.cancel()
        finally:
            self._waiting.pop(elicitation_id, None)
        return answer

    async def sample(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        """Let a model answer, if the person agrees to what it is asked."""
        if params.tools is not None or params.tool_choice is not None:
            return ErrorData(
                code=INVALID_PARAMS, message="Sampling with tools is not supported: it was not declared."
            )
        return await self._opened(partial(self._sample, params))

    async def _sample(self, params: CreateMessageRequestParams) -> CreateMessageResult | ErrorData:
        sampler = self._features.sampler
        assert sampler is not None, "sampling is declared only with a sampler"
        call = self._calls.asking()
        wanted = params.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"meta"})
        answer = await self._ask(_sampling_question(self._server, call, wanted), call)
        if not answer.approved:
            return ErrorData(
                code=_REFUSED, message=f"The person refused the request. {answer.reason or ''}".strip()
            )
        try:
            return CreateMessageResult.model_validate(await sampler(wanted))
        except ManyhandsError as error:
            return ErrorData(code=_REFUSED, message=str(error))

    async def _ask(self, question: Question, call: Call | None) -> Answer:
        if call is not None:
            return await self._ask_for(call, question)
        if self._features.asking is None:
            return Answer(ApprovalState.REJECTED, reason="There is nobody to ask.")
        with self._calls.paused():
            return await self._features.asking(question)

    async def _ask_for(self, call: Call, question: Question) -> Answer:
        """Within the call; a question whose call was stopped is taken back, although the server waits."""
        context, call_id = call.invocation.context, call.invocation.call_id
        ours = replace(question, channel_id=context.channel_id, run_id=context.run_id, call_id=call_id)
        with call.scope():
            return await call.invocation.ask(ours)
        return Answer(ApprovalState.CANCELLED)


def _sampling_question(server: str, call: Call | None, wanted: Mapping[str, Any]) -> Question:
    detail = {"server": server, "tool": call.tool if call else None, **wanted}
    return Question("sampling", f"{server} wants to ask a model", detail)
