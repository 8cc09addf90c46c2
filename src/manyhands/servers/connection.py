"""One connection to one server: what others may ask of it. Holding the line is its owner's business.

Calls run in their callers' tasks and add none of their own.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import anyio
from mcp import Client
from mcp.client import advertise
from mcp.shared.exceptions import MCPError
from mcp.types import (
    ElicitCompleteNotification,
    Implementation,
    ListRootsResult,
    PromptListChangedNotification,
    PromptReference,
    ResourceListChangedNotification,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    RootsListChangedNotification,
    ToolListChangedNotification,
)
from pydantic import BaseModel, ValidationError

import manyhands
from manyhands.clock import Clock, SystemClock
from manyhands.servers.calls import CallsInFlight, request_error
from manyhands.servers.catalogue import SKILLS_EXTENSION
from manyhands.servers.channel_notices import ChannelNotices, custom_notification
from manyhands.servers.client_features import ServerRequests
from manyhands.servers.endpoints import (
    ClientFeatures,
    ConnectionHooks,
    ConnectionKey,
    Limits,
    LogLevel,
    LogMessage,
    Target,
)
from manyhands.servers.owner import Owner, Turn
from manyhands.servers.tool_calls import ToolCalls, keep_odd_results
from manyhands.servers.transports.types import STALE_SESSION
from manyhands.servers.types import Catalogue, ChannelNotice, ConnectionState
from manyhands.servers.upkeep import Upkeep
from manyhands.servers.watched import WatchedTransport
from manyhands.tools.types import Invocation, ToolResult

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext, IncomingMessage

log = logging.getLogger(__name__)

T = TypeVar("T")
Json = Mapping[str, Any]

_TAKE_BACK_S = 5.0
_LIST_CHANGES = (ToolListChangedNotification, PromptListChangedNotification, ResourceListChangedNotification)


class Connection:
    """A server as the rest of the hub sees it. `run` owns it; everything else may be called from any task."""

    def __init__(
        self,
        key: ConnectionKey,
        target: Target,
        features: ClientFeatures | None = None,
        hooks: ConnectionHooks | None = None,
        clock: Clock | None = None,
        limits: Limits | None = None,
        *,
        turn: Turn | None = None,
        random: Random | None = None,
    ) -> None:
        self.key = key
        self.catalogue: Catalogue | None = None
        self._target = target
        self._features = features or ClientFeatures()
        self._hooks = hooks or ConnectionHooks()
        self._clock = clock or SystemClock()
        self._limits = limits or Limits()
        self._calls = CallsInFlight()
        self._watched_resources: set[str] = set()
        self._wants_roots = False
        self._root_told_at: float | None = None
        self._lent_to: Invocation | None = None
        self._requests = ServerRequests(
            target.name,
            key.root,
            self._features,
            self._calls,
            on_log=self._logged,
            on_roots_wanted=self._roots_wanted,
        )
        self._tools = ToolCalls(target.name, self._calls, self._requests, self._line)
        self._owner = Owner(
            target,
            clock=self._clock,
            limits=self._limits,
            random=random or Random(),
            turn=turn,
            on_state=self._state_changed,
            make_client=self._make_client,
            make_line=self._make_line,
        )

    # Its life.

    async def run(self) -> None:
        """Connect, serve, and connect again after a loss, until `stop`."""
        await self._owner.run()

    def stop(self) -> None:
        """End it; `stopped` waits for that."""
        self._owner.stop()

    async def stopped(self) -> None:
        """Wait until no task and no process of it is left."""
        await self._owner.stopped()

    async def connected(self, timeout_s: float) -> None:
        """Wait until it can be used, or raise why it cannot."""
        await self._owner.connected(timeout_s)

    def adjust(self, limits: Limits) -> None:
        """Other bounds from the next attempt on."""
        self._limits = limits
        self._owner.limits = limits

    @property
    def state(self) -> ConnectionState:
        """Where it stands; a new one after every change."""
        return self._owner.state

    @property
    def stderr_tail(self) -> str:
        """The last of what the server wrote to stderr, also of one that has ended."""
        line = self._owner.serving
        return line.transport.diagnostics().stderr_tail if line else self.state.stderr_tail

    @property
    def is_up(self) -> bool:
        """Whether it can be used now."""
        return self._owner.line is not None

    @property
    def in_use(self) -> bool:
        """Whether somebody waits for an answer, or to be told of a change."""
        return len(self._calls) > 0 or bool(self._watched_resources)

    @property
    def wants_roots(self) -> bool:
        """Whether the server has asked which directories it may work in."""
        return self._wants_roots

    async def up_to_date(self) -> None:
        """Wait until its catalogue has every change that the server has told of."""
        if (line := self._owner.serving) is not None:
            await line.up_to_date()

    # Tools.

    async def call_tool(
        self, name: str, arguments: Json, invocation: Invocation, meta: Json | None = None
    ) -> ToolResult:
        """Call a tool. Every failure is a result; a cancellation is raised, after the server was told."""
        try:
            return await self._tools.call(name, arguments, invocation, meta)
        finally:
            if self._lent_to is invocation:
                await self._take_back()

    async def _line(self) -> Upkeep:
        line = self._owner.line or await self._owner.connected(self._target.connect_timeout_s)
        if (told_at := self._root_told_at) is not None:
            left = self._limits.root_s - (anyio.current_time() - told_at)
            if left > 0:
                await line.settle(left)
        return line

    # Everything else that a server offers. Answers are wire JSON.

    async def refresh(self) -> None:
        """Read the catalogue anew now."""
        await self._request("its lists", lambda line: line.refresh())

    async def read_resource(self, uri: str) -> Json:
        """The contents of a resource."""
        return _wire(await self._request(f"resource {uri}", lambda line: line.client.read_resource(uri)))

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> Json:
        """A prompt with its arguments filled in."""
        given = dict(arguments) if arguments else None
        return _wire(await self._request(f"prompt {name}", lambda line: line.client.get_prompt(name, given)))

    async def complete(
        self,
        kind: Literal["prompt", "resource"],
        of: str,
        argument: Mapping[str, str],
        context: Mapping[str, str] | None = None,
    ) -> Json:
        """Suggestions for an argument `{name, value}` of a prompt, or of a resource template."""
        ref = PromptReference(name=of) if kind == "prompt" else ResourceTemplateReference(uri=of)
        known = dict(context) if context else None
        result = await self._request(
            f"completion for {of}", lambda line: line.client.complete(ref, dict(argument), known)
        )
        return _wire(result)

    async def subscribe(self, uri: str) -> None:
        """Be told when a resource changes, also after a reconnect."""
        await self._watch_resource(uri, on=True)

    async def unsubscribe(self, uri: str) -> None:
        """No longer be told."""
        await self._watch_resource(uri, on=False)

    async def _watch_resource(self, uri: str, *, on: bool) -> None:
        before = set(self._watched_resources)
        (self._watched_resources.add if on else self._watched_resources.discard)(uri)
        try:
            await self._request(f"changes of {uri}", lambda line: line.watch_resource(uri, on=on))
        except BaseException:
            self._watched_resources.clear()
            self._watched_resources.update(before)
            raise

    async def set_log_level(self, level: LogLevel) -> None:
        """How much a server of the older revisions tells from now on."""
        await self._request("its log", lambda line: line.set_log_level(level))

    async def roots_changed(self, root: str | None) -> None:
        """The directory that this connection is for has moved."""
        self.key = replace(self.key, root=root)
        self._requests.root = root
        line = self._owner.line
        if line is not None and not line.modern:
            self._root_told_at = anyio.current_time()
            await line.client.session.send_notification(RootsListChangedNotification())

    async def notify(self, method: str, params: Json) -> bool:
        """Tell the server something that it does not answer; whether it is there to be told."""
        line = self._owner.line
        if line is not None:
            await line.client.session.send_notification(custom_notification(method, params))
        return line is not None

    async def _request(self, what: str, send: Callable[[Upkeep], Awaitable[T]]) -> T:
        fresh = False
        with self._calls.other():
            while True:
                line = await self._line()
                try:
                    with line.used():
                        return await send(line)
                except MCPError as error:
                    line.judge(error)
                    if error.code != STALE_SESSION or fresh:
                        raise request_error(self._target.name, what, error) from error
                    fresh = True
                except ValidationError as error:
                    raise request_error(self._target.name, what, error) from error

    # What the owner and the SDK call.

    def _make_client(self, transport: WatchedTransport) -> Client:
        return Client(
            transport,
            mode="auto",
            cache=None,
            client_info=Implementation(name="manyhands", version=manyhands.__version__),
            list_roots_callback=self._list_roots,
            elicitation_callback=self._requests.elicit,
            sampling_callback=self._requests.sample if self._requests.can_sample else None,
            logging_callback=self._requests.log,
            log_level=self._features.log_level,
            message_handler=self._notified,
            extensions=[advertise(SKILLS_EXTENSION), ChannelNotices(self._noticed)],
        )

    def _make_line(self, client: Client, transport: WatchedTransport, seconds: float) -> Upkeep:
        line = Upkeep(
            client,
            transport,
            clock=self._clock,
            limits=self._limits,
            first_fetch_s=seconds,
            fetch_s=self._target.connect_timeout_s,
            level=self._features.log_level,
            resources=self._watched_resources,
            known=self.catalogue or self._hooks.known(self.key),
            publish=self._publish,
            resource_updated=self._resource_updated,
        )
        keep_odd_results(client.session)
        return line

    async def _notified(self, message: IncomingMessage) -> None:
        line = self._owner.serving
        if line is None:
            return
        if isinstance(message, _LIST_CHANGES):
            line.changed()
        elif isinstance(message, ResourceUpdatedNotification) and not line.modern:
            self._resource_updated(str(message.params.uri))
        elif isinstance(message, ElicitCompleteNotification):
            self._requests.completed(message.params.elicitation_id)

    def _publish(self, catalogue: Catalogue) -> None:
        self.catalogue = replace(catalogue, wants_roots=self._wants_roots)
        self._tell(self._hooks.on_catalogue, self.catalogue)
        self._owner.note_problem(catalogue.problem)

    # Roots. A server may ask for them for the first time within a call on the connection that is everyone's.

    async def _list_roots(self, context: ClientRequestContext) -> ListRootsResult:
        self._requests.root = self.key.root or self._lent_root()
        return await self._requests.list_roots(context)

    def _lent_root(self) -> str | None:
        """The directory of the call that the server asks for, if nobody else could come to see it."""
        call, line = self._calls.asking(), self._owner.serving
        if call is None or line is None or call.invocation.context.directory is None:
            return None
        if not line.modern:  # such a server may keep the answer, for all that it does on this connection
            if len(self._calls) > 1:
                return None
            self._lent_to = call.invocation
        return call.invocation.context.directory

    async def _take_back(self) -> None:
        self._lent_to = None
        with anyio.move_on_after(_TAKE_BACK_S, shield=True):
            await self.roots_changed(None)

    def _roots_wanted(self) -> None:
        line = self._owner.serving
        if self.key.root is not None and (line is None or not line.in_use):
            self._root_told_at = anyio.current_time()
        if not self._wants_roots:
            self._wants_roots = True
            if self.catalogue is not None:
                self._publish(self.catalogue)

    def _state_changed(self, state: ConnectionState) -> None:
        self._tell(self._hooks.on_state, state)

    def _resource_updated(self, uri: str) -> None:
        self._tell(self._hooks.on_resource_updated, uri)

    def _noticed(self, notice: ChannelNotice) -> None:
        self._tell(self._hooks.on_notice, notice)

    def _logged(self, message: LogMessage) -> None:
        self._tell(self._hooks.on_log, message)

    def _tell(self, hook: Callable[[ConnectionKey, T], None], news: T) -> None:
        try:
            hook(self.key, news)
        except Exception:  # a listener that fails must not end the connection
            log.exception("A listener of the connection to %s failed", self._target.name)


def _wire(result: BaseModel) -> Json:
    return result.model_dump(by_alias=True, mode="json", exclude_unset=True)
