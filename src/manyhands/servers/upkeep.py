"""What goes on beside the calls while a line is up: the catalogue is kept fresh, watched resources are told.

Change notices come as notifications (until 2025-11-25) or on a stream that we open (since 2026-07-28).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import anyio.abc
from mcp.client.subscriptions import ResourceUpdated, SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.types import (
    METHOD_NOT_FOUND,
    EmptyResult,
    SetLevelRequest,
    SetLevelRequestParams,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from manyhands.clock import Clock
from manyhands.errors import InvalidError
from manyhands.servers.catalogue import fetch_catalogue
from manyhands.servers.endpoints import Limits, LogLevel
from manyhands.servers.failures import is_connection_error
from manyhands.servers.line import Line
from manyhands.servers.types import Catalogue
from manyhands.servers.watched import WatchedTransport

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client.subscriptions import Subscription

log = logging.getLogger(__name__)

_ACK_S = 2.0
_REREAD_S = 5.0
_RELISTEN_S = (1.0, 30.0)


class Upkeep(Line):
    """A line that is looked after from its handshake to its end."""

    def __init__(
        self,
        client: Client,
        transport: WatchedTransport,
        *,
        clock: Clock,
        limits: Limits,
        first_fetch_s: float,
        fetch_s: float,
        level: LogLevel,
        resources: set[str],
        known: Catalogue | None,
        publish: Callable[[Catalogue], None],
        resource_updated: Callable[[str], None],
    ) -> None:
        super().__init__(client, transport, limits)
        self.catalogue: Catalogue | None = None
        self._clock = clock
        self._first_fetch_s = first_fetch_s
        self._fetch_s = fetch_s
        self._level = level
        self._resources = resources
        self._known = known
        self._publish = publish
        self._resource_updated = resource_updated
        self._dirty = anyio.Event()
        self._current = anyio.Event()
        self._fetching = anyio.Lock()
        self._watched_resources: anyio.CancelScope | None = None

    def changed(self) -> None:
        """The server says that something in its lists has changed."""
        self._dirty.set()
        if self._current.is_set():
            self._current = anyio.Event()

    async def up_to_date(self) -> None:
        """Wait until every change that the server has told of has been read."""
        await self._current.wait()

    async def run(self, ready: Callable[[], None]) -> None:
        """Read the catalogue, say that the connection is ready, and look after it until it is over."""
        async with self.watched() as tasks:
            tasks.start_soon(self._begin, ready)
            await self.over.wait()

    async def _begin(self, ready: Callable[[], None]) -> None:
        try:
            await self._listen_for_changes()
            await self.refresh()
            await self._set_first_log_level()
        except MCPError as error:
            self.end(error)
            return
        ready()
        await self._subscribe_again()
        await self._refresh_when_changed()

    # The catalogue.

    async def refresh(self) -> None:
        """Read everything anew and replace it as a unit."""
        async with self._fetching:
            self._dirty = anyio.Event()
            seconds = self._fetch_s if self.catalogue else self._first_fetch_s
            known = self.catalogue or self._known
            found = await fetch_catalogue(self.client, self._limits, seconds, known)
            mended = self.transport.diagnostics().repairs
            found = replace(found, repairs=(*mended, *found.repairs))
            if found != self.catalogue:
                self.catalogue = found
                self._publish(found)
            if not self._dirty.is_set():
                self._current.set()

    async def _refresh_when_changed(self) -> None:
        while True:
            await self._dirty.wait()
            await self._clock.sleep(self._limits.debounce_s)
            try:
                await self.refresh()
            except MCPError as error:
                log.info("The catalogue of %s could not be read again: %s", self._name, error)
                self.judge(error)
                await self._clock.sleep(_REREAD_S)
                self.changed()

    # Change notices.

    async def _listen_for_changes(self) -> None:
        """Before the lists are read, so that no change falls between reading and listening."""
        tasks = self.tasks
        listening = anyio.Event()
        if self.modern and any(self._announced()):
            tasks.start_soon(self._keep_listening, listening)
            with anyio.move_on_after(_ACK_S):
                await listening.wait()
        elif not self.modern:
            self.transport.handle.on_stream = self._stream_changed
        listening.set()

    def _stream_changed(self, is_open: bool) -> None:
        """What a server sent before its stream was open is lost, so the lists are read (again) after that."""
        self.changed() if is_open else self.doubt()

    async def _keep_listening(self, listening: anyio.Event) -> None:
        shortest, longest = _RELISTEN_S
        pause = shortest
        while True:
            began = self._clock.monotonic()
            worthwhile = await self._listen(listening)
            listening.set()
            if not worthwhile:
                return
            lived = self._clock.monotonic() - began
            pause = shortest if lived > longest else min(pause * 2, longest)
            await self._clock.sleep(pause)

    async def _listen(self, listening: anyio.Event) -> bool:
        """Until the stream ends; whether it is worth opening another one."""
        try:
            async with self._change_stream() as changes:
                if listening.is_set():
                    self.changed()  # late, or once more: what happened meanwhile is not told again
                listening.set()
                async for _ in changes:
                    self.changed()
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND:
                return False
            self.judge(error)
        except SubscriptionLost:
            self.doubt()
        return True

    def _change_stream(self) -> AbstractAsyncContextManager[Subscription]:
        tools, prompts, resources = self._announced()
        return self.client.listen(
            tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
        )

    def _announced(self) -> tuple[bool, bool, bool]:
        """Which lists the server says it tells changes of."""
        offers = self.client.server_capabilities
        return (
            bool(offers.tools and offers.tools.list_changed),
            bool(offers.prompts and offers.prompts.list_changed),
            bool(offers.resources and offers.resources.list_changed),
        )

    # Resources that somebody watches.

    async def watch_resource(self, uri: str, *, on: bool) -> None:
        """Begin or end to be told of changes of a resource; the set of watched ones already says which."""
        offers = self.client.server_capabilities.resources
        if offers is None or not (offers.subscribe or self.modern):
            raise InvalidError(
                "The server does not tell of changes in its resources.", hint="Read it again instead."
            )
        if self.modern:
            await self._open_resource_stream()
        elif on:
            request = SubscribeRequest(params=SubscribeRequestParams(uri=uri))
            await self.client.session.send_request(request, EmptyResult)
        else:
            leave = UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri))
            await self.client.session.send_request(leave, EmptyResult)

    async def _subscribe_again(self) -> None:
        for uri in sorted(self._resources):
            try:
                await self.watch_resource(uri, on=True)
            except (MCPError, InvalidError) as error:
                log.info("%s no longer tells of changes of %s: %s", self._name, uri, error)
            if self.modern:
                break  # one stream has them all

    async def _open_resource_stream(self) -> None:
        """The new stream is open before the old one ends, so that no notice is lost between them."""
        old, self._watched_resources = self._watched_resources, None
        try:
            if self._resources:
                self._watched_resources = await self.tasks.start(self._listen_to, sorted(self._resources))
        finally:
            if old is not None:
                old.cancel()

    async def _listen_to(
        self, uris: list[str], *, task_status: anyio.abc.TaskStatus[anyio.CancelScope]
    ) -> None:
        with anyio.CancelScope() as scope:
            async with self.client.listen(resource_subscriptions=uris) as changes:
                task_status.started(scope)
                try:
                    async for change in changes:
                        if isinstance(change, ResourceUpdated):
                            self._resource_updated(change.uri)
                except SubscriptionLost:
                    self.doubt()

    # Its log.

    async def _set_first_log_level(self) -> None:
        if not self.modern and self.client.server_capabilities.logging:
            try:
                await self.set_log_level(self._level)
            except MCPError as error:
                if is_connection_error(error):
                    raise
                log.info("%s does not set its log level: %s", self._name, error)

    async def set_log_level(self, level: LogLevel) -> None:
        """How much the server tells (until 2025-11-25; later it is said with every request)."""
        request = SetLevelRequest(params=SetLevelRequestParams(level=level))
        await self.client.session.send_request(request, EmptyResult)
