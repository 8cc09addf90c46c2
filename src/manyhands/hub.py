"""The hub: every service put together, without ways in. The daemon serves it, a program can hold one itself.

Owns the order of opening and closing. What the services do is theirs.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread

from manyhands.access.service import AccessService
from manyhands.agents.relay import ChannelRelay
from manyhands.agents.service import AgentService
from manyhands.agents.types import OWNER
from manyhands.approvals.service import ApprovalService
from manyhands.approvals.webhook import Webhook
from manyhands.chat.agent_launch import Hands
from manyhands.chat.attachments import AttachmentStore
from manyhands.chat.budget import Budget
from manyhands.chat.command_agents import CommandAgents
from manyhands.chat.conversations import ConversationService
from manyhands.chat.hands import to_spec
from manyhands.chat.live_words import LiveWords
from manyhands.chat.names import NamesHere
from manyhands.chat.platforms import LocalPlatform, PlatformAdapter
from manyhands.chat.runners import Runner
from manyhands.chat.runs import RunService
from manyhands.chat.service import ChannelService
from manyhands.chat.speakers import ServerSpeakers
from manyhands.chat.threads import ThreadService
from manyhands.chat.tracing import export_if_configured
from manyhands.chat.types import Channel, Message, RunOptions
from manyhands.chat.work import Workshop
from manyhands.chat.worktrees import Worktrees, project_guard
from manyhands.clock import Clock, SystemClock
from manyhands.durable.engine import DurableEngine, durable_url
from manyhands.errors import ManyhandsError
from manyhands.events import Event, EventBus
from manyhands.guardian import Guardian
from manyhands.home import Home, find_home, read_bootstrap
from manyhands.hub_parts import ChannelTokens, OneModel, Said, background, guarded
from manyhands.memory.service import MemoryService
from manyhands.models.sampling import sample
from manyhands.models.service import ModelService
from manyhands.models.types import Model, ToolSpec
from manyhands.paging import MAX_LIMIT
from manyhands.playgrounds.service import PlaygroundService
from manyhands.quality.gate import Gate
from manyhands.quality.scanners import Scanners
from manyhands.quality.service import QualityService
from manyhands.sandbox import Mount
from manyhands.secrets import Redactor, SecretStore
from manyhands.servers.service import ServerService
from manyhands.servers.sign_in import CALLBACK_PATH, SignIn
from manyhands.servers.views import Outcome, ServerView
from manyhands.store.engine import Store, open_store
from manyhands.store.event_log import StoredEventLog
from manyhands.store.settings_store import SettingsService
from manyhands.store.urls import is_sqlite
from manyhands.system import HomeLock
from manyhands.tasks.neighbours import Neighbours
from manyhands.tasks.service import TaskService
from manyhands.tools.service import ToolService
from manyhands.tools.types import CallContext, CallRecord, Listing
from manyhands.upkeep import Upkeep
from manyhands.workflows.chat_ends import ChatEnds
from manyhands.workflows.service import WorkflowService
from manyhands.workflows.shelter import Shelter
from manyhands.workflows.steps import Hands as StepHands

log = logging.getLogger(__name__)

STOP_SERVERS_S = 25.0


class Hub:
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

    store: Store
    bus: EventBus
    settings: SettingsService
    secrets: SecretStore
    channels: ChannelService
    access: AccessService
    agents: AgentService
    relay: ChannelRelay
    approvals: ApprovalService
    webhook: Webhook
    servers: ServerService
    tools: ToolService
    models: ModelService
    runs: RunService
    conversations: ConversationService
    threads: ThreadService
    local: PlatformAdapter
    words: LiveWords
    playgrounds: PlaygroundService
    quality: QualityService
    durable: DurableEngine
    tasks: TaskService
    workflows: WorkflowService
    memory: MemoryService
    upkeep: Upkeep
    sign_in: SignIn
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
        self.home = home if isinstance(home, Home) else find_home(home)
        self.url: str | None = None
        self.socket: Path | None = None
        self._given_url = database_url
        self._autostart = autostart
        self._servers_started = False
        self._clock = clock or SystemClock()
        self._redactor = redactor or Redactor()
        self._model = model
        self._resume = resume
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

    def _make_services(self, guard: Guardian) -> None:
        self.durable = DurableEngine(
            durable_url(self.home, self.database_url),
            self.store,
            self._clock,
            home=self._holder or "",
            resume=self._resume,
        )
        self.channels = ChannelService(self.store, self.bus, self._clock)
        self.access = AccessService(self.store, self._clock, self.secrets.redactor.register)
        self.bus.observe(self._follow_channels)
        self.agents = AgentService(self.store, self.bus, self._clock, self.settings)
        self.approvals = ApprovalService(self.store, self.bus, self._clock, self.settings)
        self.webhook = Webhook(self.bus, self._clock, self.settings, self.secrets)
        self.servers = ServerService(
            self.store,
            self.bus,
            self._clock,
            self.settings,
            self.secrets,
            self._tasks,
            sign_in=self.sign_in,
            asking=self.approvals.ask,
            channels=self.channels,
            guardian=guard,
            sampler=lambda wanted: sample(self.models.resolve, wanted),
        )
        self._worktrees = Worktrees(self.store, self._clock, self._worktree_root)
        self.tools = ToolService(
            self.store,
            self.bus,
            self._clock,
            self.settings,
            self.approvals,
            self.servers,
            self.channels,
            self.home,
            self.secrets.redactor.redact_json,
            guard,
            self._worktrees.mounts_of,
        )
        self.models = ModelService(self.store, self.bus, self.secrets, self.settings, self._clock)
        self._agents = self._make_command_agents(guard)
        self.runs = self._make_runs()
        self.threads = ThreadService(self.store, self.channels, self.runs, self._worktrees)
        self.local = LocalPlatform(self.channels, Said(self.runs))
        self.relay = ChannelRelay(
            self.bus, self._clock, self.approvals, self.servers, self._say_for_server, self._server_of_call
        )
        self.playgrounds = PlaygroundService(self.home, self.bus, self._clock, self._projects)
        self._make_late_services(guard)

    def _make_late_services(self, guard: Guardian) -> None:
        """Those that stand on conversations."""
        self.workflows = self._make_workflows(guard)
        self.tasks = self._make_tasks()
        self.tasks.use_workflows(self.workflows)
        self._scanners = Scanners(guard, lambda: self.settings.current.quality_wait_s)
        self.quality = QualityService(
            self.store,
            self.bus,
            self._clock,
            self.settings,
            self.channels,
            self.home,
            self._scanners,
            self._tasks,
        )
        self.memory = MemoryService(
            self.store,
            self.bus,
            self._clock,
            self.settings,
            self.secrets,
            self.home,
            self.channels,
            self._said_in,
        )
        self.upkeep = Upkeep(self.store, self.home, self.settings, self.bus, self._clock)

    def _make_runs(self) -> RunService:
        attachments = AttachmentStore(self.home.attachments)
        workshop = Workshop(
            self.store,
            self.bus,
            self._clock,
            self.settings,
            self.channels,
            self.models if self._model is None else OneModel(self._model),
            self.tools,
            ServerSpeakers(self.servers, self.bus),
            attachments,
            Budget(self.store, self.settings, self.approvals.ask),
            self._agents,
        )
        names = NamesHere(self.settings, self._agents_of, self._tell_agent)
        runs = RunService(
            self.store,
            self.bus,
            self._clock,
            self.channels,
            attachments,
            workshop,
            self.servers,
            names,
            holder=self._holder,
        )
        self.words = runs.words
        self.conversations = ConversationService(
            self.store, self.bus, self._clock, self.channels, runs, attachments
        )
        return runs

    def _make_workflows(self, guard: Guardian) -> WorkflowService:
        hands = StepHands(
            self.tools,
            self.runs,
            self.threads,
            self.channels,
            ChatEnds(self.bus, self.runs).wait,
            self._gate,
            guard,
            self.home.results,
            Shelter(self.settings, [str(self.home.path)], self._mounts_of),
        )
        return WorkflowService(
            self.store,
            self.bus,
            self._clock,
            self.settings,
            self.home.workflows,
            self.durable,
            self.approvals,
            hands,
        )

    async def _gate(self, directory: str, base: str | None, rules: Mapping[str, Any] | None) -> Gate:
        return await self.quality.gate(directory, base, rules)

    def _make_tasks(self) -> TaskService:
        near = Neighbours(
            self.channels, self.threads, self.runs, self.tools, self.models, self.runs.writer.tell
        )
        return TaskService(self.store, self.bus, self._clock, self.settings, self.durable, near)

    def _make_command_agents(self, guard: Guardian) -> CommandAgents:
        return CommandAgents(
            self.store,
            self.bus,
            self._clock,
            self.home,
            self.secrets,
            ChannelTokens(self.access),
            self._hands,
            self._mounts_of,
            self.secrets.redactor.redact,
            guard,
        )

    def _mounts_of(self, directory: str) -> Sequence[Mount]:
        return self._worktrees.mounts_of(directory) or project_guard(directory)

    def _hands(self) -> Hands | None:
        return None if self.url is None else Hands(self.url, str(self.socket) if self.socket else None)

    def _worktree_root(self) -> Path:
        chosen = self.settings.current.worktree_directory
        return Path(chosen) if chosen else self.home.worktrees

    async def _agents_of(self, channel_id: str) -> Sequence[tuple[str, str]]:
        return [(view.agent.id, view.agent.name) for view in await self.agents.list(channel_id)]

    async def _tell_agent(self, message: Message, agent_id: str) -> None:
        sender = OWNER if message.speaker == "person" else message.author_id
        await self.agents.send(message.channel_id, sender, agent_id, message.content)

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

    async def _projects(self) -> Mapping[str, str]:
        """The directories of all channels, each with the id of one: that of a channel before a thread's."""
        found: dict[str, str] = {}
        cursor: str | None = None
        while True:
            page = await self.channels.list(limit=MAX_LIMIT, cursor=cursor)
            for channel in sorted(page.items, key=lambda one: one.parent_id is not None):
                if channel.dir_path is not None:
                    found.setdefault(channel.dir_path, channel.id)
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def _said_in(self, channel_id: str) -> Sequence[Message]:
        """All that was said in a channel, oldest first."""
        found: list[Message] = []
        cursor: str | None = None
        while True:
            page = await self.runs.messages(channel_id, MAX_LIMIT, cursor)
            found += page.items
            cursor = page.next_cursor
            if cursor is None:
                return found[::-1]

    async def _say_for_server(self, channel_id: str, content: str, author_id: str) -> None:
        await self.runs.post(channel_id, content, author_id=author_id, speaker="agent")

    async def _server_of_call(self, call_id: str) -> int | None:
        record = await self.tools.find_call(call_id)
        return record.server_id if record else None

    def _follow_channels(self, event: Event) -> None:
        if event.type == "channel.deleted":
            self.access.forget()

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
    def database_url(self) -> str:
        """Where the data are."""
        return self._given_url or read_bootstrap(self.home).database_url

    @property
    def _holder(self) -> str | None:
        """Whose work is whose, where several homes share a database; a file has one hub at a time."""
        return None if is_sqlite(self.database_url) else f"{platform.node()}:{self.home.path.absolute()}"

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
        await self.tools.forget_server(found.config.name, found.project)

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
