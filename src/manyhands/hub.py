"""The hub: every service put together, without ways in. The daemon serves it, a program can hold one itself.

Owns the order of opening and closing, and what programs and ways in ask of all services at once. How the
services are made is in `hub_services.py`; what they do is theirs.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread

from manyhands.chat.hands import to_spec
from manyhands.chat.runners import Runner
from manyhands.chat.tracing import export_if_configured
from manyhands.chat.types import Channel, RunOptions
from manyhands.clock import Clock, SystemClock
from manyhands.errors import ManyhandsError
from manyhands.events import Event, EventBus
from manyhands.home import Home, find_home
from manyhands.hub_parts import background, guarded
from manyhands.hub_services import Services
from manyhands.models.types import Model, ToolSpec
from manyhands.restoring import finish_restore
from manyhands.secrets import Redactor, SecretStore
from manyhands.servers.sign_in import CALLBACK_PATH, SignIn
from manyhands.servers.views import Outcome, ServerView
from manyhands.store.engine import open_store
from manyhands.store.event_log import StoredEventLog
from manyhands.store.settings_store import SettingsService
from manyhands.system import HomeLock
from manyhands.tools.types import CallContext, CallRecord, Listing

log = logging.getLogger(__name__)

STOP_SERVERS_S = 25.0


class Hub(Services):
    """Connects to MCP servers and calls their tools, inside any program.

    One hub holds a home at a time; a daemon that runs for the same home is used over its API instead.

    >>> import sys, tempfile, anyio
    >>> from manyhands import Hub
    >>> async def main() -> None:
    ...     with tempfile.TemporaryDirectory() as home:
    ...         async with Hub(home) as hub:
    ...             await hub.add_server("time", command=sys.executable, args=["-m", "mcp_server_time"])
    ...             names = [listing.definition.full_name for listing in await hub.list_all_tools()]
    ...             print("mcp__time__get_current_time" in names)
    ...             record = await hub.call_tool("mcp__time__get_current_time", {"timezone": "Asia/Tokyo"})
    ...             print(record.status, "+09:00" in record.result)
    >>> anyio.run(main)
    True
    success True
    """

    started_at: datetime

    def __init__(
        self,
        home: Home | str | os.PathLike[str] | None = None,
        database_url: str | None = None,
        autostart: bool = False,
        *,
        clock: Clock | None = None,
        redactor: Redactor | None = None,
        lock: HomeLock | None = None,
        model: Model | None = None,
        resume: bool = True,
    ) -> None:
        """`home`: its directory, else `MANYHANDS_HOME`, else `~/.manyhands`. `autostart`: connect at once.

        `resume`: go on with the runs that a crash has cut; whoever stays only for a moment leaves them alone.

        `lock`: the home's lock, when whoever opens this holds it already and will release it.
        """
        found = home if isinstance(home, Home) else find_home(home)
        super().__init__(found, database_url, clock or SystemClock(), model, resume=resume)
        self._autostart = autostart
        self._servers_started = False
        self._redactor = redactor or Redactor()
        self._lock = lock
        self._stack = AsyncExitStack()
        self._began = 0.0

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self._stack.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What ended the block passes by as it is, not wrapped in a group.
        await self._stack.__aexit__(None, None, None)

    async def _open(self) -> None:
        """In order, each step resting on those before it; closing goes the other way round."""
        self.home.create()
        if self._lock is None:
            finish_restore(self.home)
            self._lock = self._stack.enter_context(HomeLock(self.home.lock_file))
        await anyio.to_thread.run_sync(export_if_configured)
        self.started_at, self._began = self._clock.now(), self._clock.monotonic()
        self.store = await self._stack.enter_async_context(open_store(self.database_url))
        self.bus = EventBus(StoredEventLog(self.store), self._clock)
        await self.bus.start()
        self._stack.push_async_callback(self.bus.close)
        self.settings = SettingsService(self.store, self.bus)
        await self.settings.load()
        self.secrets = SecretStore(self.home, redactor=self._redactor)
        guard = await self._stack.enter_async_context(guarded(self.home))
        self._tasks = await self._stack.enter_async_context(background())
        self.sign_in = await self._stack.enter_async_context(SignIn(self.secrets, self._clock))
        self._make_services(guard)
        await self._start_services()

    async def _start_services(self) -> None:
        alone = await self.durable.is_alone()
        await self.approvals.close_leftovers(alone=alone)
        await self._tasks.start(self.approvals.run)
        await self.agents.start()
        await self._tasks.start(self.agents.run)
        await self._tasks.start(self.webhook.run)
        await self._tasks.start(self.relay.run)
        await self._worktrees.load()
        await self.conversations.make_search_quick()
        self._agents.clear()
        self._stack.callback(self.tools.close)
        await self.tools.start(alone=alone)
        self._tasks.start_soon(self.upkeep.run)
        self._tasks.start_soon(self._scanners.run)
        self._stack.push_async_callback(self._stop_servers)
        await self.servers.start(connect=False)
        self._stack.push_async_callback(self.models.close)
        resume = self._resume and await self.runs.has_open()
        if self._autostart or resume:  # a run that goes on needs its tools
            self.start_servers()
        await self._tasks.start(partial(self.runs.serve, resume=resume))
        await self._tasks.start(partial(self.workflows.run, resume=self._resume))
        await self._tasks.start(self.durable.run)
        self._stack.push_async_callback(self.durable.close)
        if self._resume:
            await self._tasks.start(self.tasks.run)

    async def _stop_servers(self) -> None:
        with anyio.move_on_after(STOP_SERVERS_S, shield=True) as scope:
            await self.servers.stop()
        if scope.cancelled_caught:
            log.warning("some servers did not end in time; they are killed")

    # --- for ways in

    @property
    def uptime_s(self) -> float:
        """Seconds since it was opened."""
        return round(self._clock.monotonic() - self._began, 3)

    def now(self) -> datetime:
        """What its clock says."""
        return self._clock.now()

    def serve_at(self, url: str, socket: Path | None = None) -> None:
        """Say where this hub is reached, to whoever finds its lock and to browsers that come back.

        `socket`: the Unix socket of the same API, for agents that have no network.
        """
        self.url = url
        self.socket = socket
        assert self._lock is not None, "the hub is not open"
        self._lock.announce(url)
        self.sign_in.redirect_uri = f"{url}{CALLBACK_PATH}"

    async def channel(self, channel_id: str | None) -> Channel | None:
        """The channel of that id; nothing for none."""
        return None if channel_id is None else await self.channels.get(channel_id)

    async def set_runner(self, channel_id: str, runner: Runner | None) -> Channel:
        """Who works in a channel from now on; nothing means the built-in loop. Only the owner may say so."""
        values: dict[str, Any] | None = None
        if runner is not None:
            env = {
                name: await self.secrets.protect(f"runner-{channel_id}-{name}", value)
                for name, value in runner.env.items()
            }
            values = runner.model_dump(mode="json") | {"env": env}
        await self.channels.get(channel_id)
        return await self.channels.update(channel_id, {"runner": values})

    async def why(self, name: str, channel: Channel | None = None) -> dict[str, Any]:
        """Everything that decides about a tool, with how it goes out to the model that would be asked."""
        answer = await self.tools.why(name, channel)
        listing = await self.tools.find(name, channel)
        if listing is not None:
            answer["model"] = await self._sent_to_model(to_spec(listing), channel)
        return answer

    async def _sent_to_model(self, tool: ToolSpec, channel: Channel | None) -> dict[str, Any] | None:
        try:
            info, repair = await self.models.takes(tool, channel.model if channel else None)
        except ManyhandsError:  # a channel may name a model that is gone; that is not this tool's story
            return None
        notes = list(repair.notes) if repair else []
        return {"id": info.id, "name": info.name, "sent": not (repair and repair.dropped), "repairs": notes}

    async def keep(self, work: Callable[..., Coroutine[Any, Any, None]]) -> None:
        """Run something of a way in beside the services until the hub closes; returns when it has started.

        It is given `task_status`, as `TaskGroup.start` does.
        """
        await self._tasks.start(work)

    def start_servers(self) -> None:
        """Connect the enabled servers and follow the projects' files, all in the background; once."""
        if self._servers_started:
            return
        self._servers_started = True
        self.servers.connect_enabled()
        self._tasks.start_soon(self.servers.watch_projects)

    # --- for programs

    async def add_server(self, name: str, *, wait: bool = True, **config: Any) -> Outcome:
        """Save a server and connect it: `command`, `args`, `env`, `cwd`, or `url`, `headers`; `trust`, ….

        A name that exists replaces that server's configuration. What fails to connect is kept all the same.
        """
        return await self.servers.save({"name": name, **config}, wait=wait)

    async def remove_server(self, server: str | int) -> None:
        """End a server and forget it, with everything that was allowed to it."""
        found = (await self._find(server)).server
        await self.servers.remove(found.id)

    async def connect(self, server: str | int) -> Outcome:
        """Connect a server, by its name or id."""
        return await self.servers.connect((await self._find(server)).server.id)

    async def disconnect(self, server: str | int) -> None:
        """Disconnect a server; it stays so until it is connected again."""
        await self.servers.disconnect((await self._find(server)).server.id)

    async def connect_all(self) -> Sequence[Outcome]:
        """Connect every enabled server side by side; how each of them ended."""
        return await self.servers.reconnect_all()

    async def list_all_tools(self, channel_id: str | None = None) -> Sequence[Listing]:
        """Every tool that is known, native ones too, with whether it is offered to a model and why."""
        return await self.tools.list(await self.channel(channel_id))

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, channel_id: str | None = None
    ) -> CallRecord:
        """Call a tool; the program's own call is its own approval. What fails is in the record."""
        return await self.tools.call(name, arguments or {}, CallContext(channel_id=channel_id, direct=True))

    async def run(
        self,
        prompt: str,
        *,
        channel_id: str | None = None,
        directory: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> AsyncIterator[Event]:
        """Work on a prompt and tell what happens; the last event is `run.finished`.

        In a channel, or in the one of `directory`, by default the current one. `options`: `model`,
        `max_iterations`, `allow`, `attended`. Whoever stops listening stops the run.
        """
        if channel_id is None:
            channel, _ = await self.channels.find_or_create(dir_path=_absolute(directory))
            channel_id = channel.id
        run = await self.runs.start(channel_id, prompt, RunOptions(**options))
        try:
            async with self.bus.subscribe(run.first_seq) as events:
                async for event in events:
                    if run.id in (event.data.get("run_id"), event.data.get("id")):
                        yield event
                    if event.type == "run.finished" and event.data["id"] == run.id:
                        return
        finally:
            await self.runs.stop_soon(run.id)

    async def _find(self, server: str | int) -> ServerView:
        return await (self.servers.get(server) if isinstance(server, int) else self.servers.by_name(server))


def _absolute(directory: str | os.PathLike[str] | None) -> str:
    return str(Path(directory or ".").absolute())
