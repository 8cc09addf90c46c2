"""The services of a hub: how each is made from those below it, and what they ask of one another.

Owns no lifetime: `hub.py` opens what they stand on before they are made, starts them and closes them.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anyio.abc import TaskGroup

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
from manyhands.chat.live_words import LiveWords
from manyhands.chat.names import NamesHere
from manyhands.chat.platforms import LocalPlatform, PlatformAdapter
from manyhands.chat.runs import RunService
from manyhands.chat.service import ChannelService
from manyhands.chat.speakers import ServerSpeakers
from manyhands.chat.threads import ThreadService
from manyhands.chat.types import Message
from manyhands.chat.work import Workshop
from manyhands.chat.worktrees import Worktrees, project_guard
from manyhands.clock import Clock
from manyhands.durable.engine import DurableEngine, durable_url
from manyhands.events import Event, EventBus
from manyhands.guardian import Guardian
from manyhands.home import Home, read_bootstrap
from manyhands.hub_parts import ChannelTokens, OneModel, Said
from manyhands.memory.service import MemoryService
from manyhands.models.sampling import sample
from manyhands.models.service import ModelService
from manyhands.models.types import Model
from manyhands.paging import MAX_LIMIT
from manyhands.playgrounds.service import PlaygroundService
from manyhands.quality.gate import Gate
from manyhands.quality.scanners import Scanners
from manyhands.quality.service import QualityService
from manyhands.sandbox import Mount
from manyhands.secrets import SecretStore
from manyhands.servers.service import ServerService
from manyhands.servers.sign_in import SignIn
from manyhands.store.engine import Store
from manyhands.store.settings_store import SettingsService
from manyhands.store.urls import is_sqlite
from manyhands.tasks.neighbours import Neighbours
from manyhands.tasks.service import TaskService
from manyhands.tools.rules_store import follow_name
from manyhands.tools.service import ToolService
from manyhands.upkeep import Upkeep
from manyhands.workflows.chat_ends import ChatEnds
from manyhands.workflows.service import WorkflowService
from manyhands.workflows.shelter import Shelter
from manyhands.workflows.steps import Hands as StepHands


class Services:
    """Every service, by its name. To make them opens and starts nothing."""

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
    _tasks: TaskGroup

    def __init__(
        self, home: Home, database_url: str | None, clock: Clock, model: Model | None, *, resume: bool
    ) -> None:
        self.home = home
        self.url: str | None = None
        self.socket: Path | None = None
        self._given_url = database_url
        self._clock = clock
        self._model = model
        self._resume = resume

    @property
    def database_url(self) -> str:
        """Where the data are."""
        return self._given_url or read_bootstrap(self.home).database_url

    @property
    def _holder(self) -> str | None:
        """Whose work is whose, where several homes share a database; a file has one hub at a time."""
        return None if is_sqlite(self.database_url) else f"{platform.node()}:{self.home.path.absolute()}"

    def _make_services(self, guard: Guardian) -> None:
        """From the store, the events, the settings and the secrets, which are open, upwards."""
        self.durable = DurableEngine(
            durable_url(self.home, self.database_url),
            self.store,
            self._clock,
            home=self._holder or "",
            resume=self._resume,
        )
        self.channels = ChannelService(self.store, self.bus, self._clock)
        self.access = AccessService(self.store, self._clock)
        self.bus.observe(self._forget_access, "channel.deleted")
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
            follow_name=follow_name,
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
            self.secrets.redactor,
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
            self.secrets.redactor.hide_cut,
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
            self.channels,
            ChatEnds(self.bus, self.runs).wait,
            self._gate,
            guard,
            self.home.results,
            Shelter(self.settings, [str(self.home.path)], self._mounts_of),
            self.secrets.redactor,
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
            self.secrets.redactor,
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

    def _forget_access(self, event: Event) -> None:
        self.access.forget()
