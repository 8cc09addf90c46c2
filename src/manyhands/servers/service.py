"""Servers: saved, connected, listed, tried, imported; their tools, prompts, resources and skills.

The use cases, each a few steps over the parts that do them: `registry` (what is known), `supervision` (what
is connected), `shelf` (tools), `project_servers` (what projects bring), `saving`, `imports`, `probing`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from manyhands.chat.types import Channel
from manyhands.clock import Clock
from manyhands.errors import ConflictError, InvalidError, ManyhandsError, NotFoundError
from manyhands.events import EventBus
from manyhands.secrets import SecretStore
from manyhands.servers.config import Parsed
from manyhands.servers.config_secrets import keep_masked, refuse_masks
from manyhands.servers.endpoints import ClientFeatures, Sampler
from manyhands.servers.error_output import ErrorOutputs
from manyhands.servers.imports import Imports
from manyhands.servers.naming import prompt_commands
from manyhands.servers.project_servers import Channels, ProjectServers
from manyhands.servers.registry import DEFAULT_POLICY, Follow, Known, Registry
from manyhands.servers.saving import Saving, needs_reconnect, written_over
from manyhands.servers.shelf import ToolShelf
from manyhands.servers.sign_in import LoginStart, SignIn
from manyhands.servers.supervision import Supervision
from manyhands.servers.targets import Targets
from manyhands.servers.types import (
    Catalogue,
    ChannelNotice,
    NameChange,
    Server,
    ServerConfig,
    ServerStatus,
    ToolPreference,
    Trust,
)
from manyhands.servers.views import Export, ImportReport, Outcome, ServerLog, ServerView, TestReport
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store
from manyhands.tools.types import Asking, Effect, Listing, ServerPolicy, Tool

if TYPE_CHECKING:
    from manyhands.guardian import Guardian
    from manyhands.servers.connection import Connection

log = logging.getLogger(__name__)

Json = Mapping[str, Any]

_POLICIES = {*(effect.value for effect in Effect), DEFAULT_POLICY}
_MEMORY_S = 2.0
_SIGN_OUT_S = 10.0
CHANNEL_CAPABILITY = "claude/channel"


class ServerService:
    """The use cases of servers. Connections run in `tasks`; `stop` ends them."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        settings: CurrentSettings,
        secrets: SecretStore,
        tasks: TaskGroup,
        *,
        sign_in: SignIn,
        asking: Asking | None = None,
        channels: Channels | None = None,
        guardian: Guardian | None = None,
        sampler: Sampler | None = None,
        follow_name: Follow | None = None,
    ) -> None:
        self._tasks = tasks
        self._clock = clock
        self._secrets = secrets
        self._sign_in = sign_in
        sign_in.ended = self._tell_of_sign_in
        self._registry = Registry(store, clock, follow_name, self._tell_of_name)
        self._bus = bus
        self._targets = Targets(secrets, sign_in, guardian)
        heard = ErrorOutputs(bus, secrets.redactor)
        self._projects = ProjectServers(self._registry, tasks, clock, channels, asking)
        self._live = Supervision(
            self._registry,
            Targets(secrets, sign_in, guardian, listener=heard.listener),
            tasks,
            bus,
            clock,
            secrets.redactor,
            ClientFeatures(asking, sampler),
            settings,
            self._projects.is_trusted,
        )
        self._projects.attach(self._live)
        self._shelf = ToolShelf(self._registry, self._live, self._projects, settings)
        self._saving = Saving(self._registry, secrets)
        self._imports = Imports(self._registry, secrets, self._save_quietly)
        self._memory: tuple[float, dict[int, int]] = (-math.inf, {})

    # --- life

    async def start(self, *, connect: bool = True) -> None:
        """Read what is known; connect the enabled servers in the background, which nobody waits for."""
        await self._registry.load()
        self._tasks.start_soon(self._live.run)
        if connect:
            self.connect_enabled()

    def connect_enabled(self) -> None:
        """Connect the enabled servers in the background."""
        self._live.connect_in_background(known.server for known in self._registry.of_project(None))

    async def watch_projects(self) -> None:
        """Keep the servers of projects in step with their files, for ever."""
        await self._projects.run()

    async def stop(self) -> None:
        """End every connection; bounded."""
        await self._live.stop()

    # --- looking

    async def list(self, channel: Channel | None = None) -> list[ServerView]:
        """Every server; with a channel those that it can see. Reading waits for no server."""
        await self._measure_memory()
        return [await self._view(known) for known in self._present(channel)]

    def connected(self, channel: Channel | None) -> Sequence[tuple[Server, Catalogue]]:
        """Connected servers that a channel can see, with what they offer."""
        present = self._present(channel)
        return [(known.server, known.catalogue) for known in present if self._is_connected(known)]

    def connecting(self) -> Sequence[str]:
        """The names of those that are on the way."""
        present, connecting = self._present(None), ServerStatus.CONNECTING
        return [known.server.config.name for known in present if self._status(known) is connecting]

    def _present(self, channel: Channel | None) -> Sequence[Known]:
        found = [known for known in self._registry.all() if self._projects.is_present(known.server)]
        if channel is None:
            return found
        return [known for known in found if known.server.project in (None, channel.dir_path)]

    async def get(self, server_id: int) -> ServerView:
        known = self._registry.get(server_id)
        await self._measure_memory()
        return await self._view(known)

    async def by_name(self, name: str, project: str | None = None) -> ServerView:
        """By its name, or by its id written as text. With a project, its own approved server comes first."""
        known = self._registry.by_name(name, project)
        if known is None or not self._projects.is_trusted(known.server):
            known = self._registry.by_name(name, None) or known
        if known is None and name.isdecimal():
            known = self._registry.find(int(name))
        if known is None:
            raise NotFoundError(
                f"There is no server {name!r}.", hint="`manyhands servers list` shows them all."
            )
        return await self._view(known)

    async def log(self, server_id: int) -> ServerLog:
        """What the server wrote to stderr, and how it ended if it did."""
        self._registry.get(server_id)
        state = self._live.state(server_id)
        text = self._live.stderr_tail(server_id)
        return ServerLog(text, state.exit_code, state.pid, state.restarts, state.error)

    # --- saving

    async def save(
        self,
        config: ServerConfig | Json,
        *,
        server_id: int | None = None,
        wait: bool = True,
    ) -> Outcome:
        """Save a server and connect it. A name that exists replaces that server's configuration.

        With `server_id` that server is changed: what is not given stays, and it is connected anew only if it
        would be another connection.
        """
        known = self._registry.get(server_id) if server_id is not None else None
        before = known.server.config if known else None
        parsed = Parsed(config) if isinstance(config, ServerConfig) else written_over(config, before)
        known = known or self._registry.by_name(parsed.config.name, None)
        saved = await self._saving.save(parsed.config, known)
        anew = before is None or needs_reconnect(before, saved.server.config) or not self._is_connected(saved)
        self._tell_of_change(saved.server.id)
        outcome = await self._apply(saved, anew=anew, wait=wait)
        return replace(outcome, notes=parsed.notes)

    async def remove(self, server_id: int) -> None:
        """End its connections and forget it, with its sign-in and the secrets that were stored for it."""
        known = self._registry.get(server_id)
        if known.server.project is None:
            await self._live.disconnect(server_id)
            await self._sign_out(known)
        await self._saving.remove(known)
        self._live.forget(known)

    async def enable(self, server_id: int, enabled: bool, *, wait: bool = True) -> Outcome:
        """Switch a server on, which connects it, or off, which ends it."""
        known = await self._registry.set(server_id, enabled=enabled, held=False)
        return await self._apply(known, anew=False, wait=wait)

    async def test(self, config: ServerConfig | Json, *, server_id: int | None = None) -> TestReport:
        """Connect once without saving. With `server_id` what is not given, and masks, are that server's."""
        from manyhands.servers.probing import UNSAVED, probe

        before = self._registry.get(server_id).server if server_id is not None else None
        if before is not None and (refusal := self._live.distrust(before)):
            raise refusal
        if not isinstance(config, ServerConfig):
            config = written_over(config, before.config if before else None).config
        refuse_masks(config)
        config = keep_masked(config, before.config if before else None)
        now = self._clock.now()
        server = before or Server(UNSAVED, config, config.name, None, False, None, now, now)
        return await probe(replace(server, config=config), self._targets, self._secrets.redactor)

    async def import_json(
        self,
        content: str | Json,
        source: str = "paste",
        *,
        name: str | None = None,
        trust: Trust | None = None,
        dry_run: bool = False,
    ) -> ImportReport:
        """Take over the servers of another client's file, or one entry; they connect in the background."""
        return await self._imports.take(content, source, name=name, trust=trust, dry_run=dry_run)

    async def export(self, names: Sequence[str] = ()) -> Export:
        """The global servers, all or the named ones, as a file that other clients read, without secrets."""
        return self._imports.export(names)

    # --- connecting

    async def connect(self, server_id: int, *, wait: bool = True) -> Outcome:
        """Connect it, also one that was disconnected by hand."""
        return await self._connect(server_id, anew=False, wait=wait)

    async def reconnect(self, server_id: int, *, wait: bool = True) -> Outcome:
        """End what is there and connect anew."""
        return await self._connect(server_id, anew=True, wait=wait)

    async def disconnect(self, server_id: int) -> Outcome:
        """End its connections; nothing but a person connects it again."""
        known = await self._registry.set(server_id, held=True)
        await self._live.disconnect(server_id)
        return Outcome(True, await self._view(known))

    async def reconnect_all(self, *, wait: bool = True) -> Sequence[Outcome]:
        """Connect every enabled server anew, side by side; those disconnected by hand stay so."""
        wanted = [known for known in self._registry.all() if self._live.obstacle(known.server) is None]
        outcomes: dict[int, Outcome] = {}

        async def one(server_id: int) -> None:
            outcomes[server_id] = await self._connect(server_id, anew=True, wait=wait)

        async with anyio.create_task_group() as tasks:
            for known in wanted:
                tasks.start_soon(one, known.server.id)
        return [outcomes[known.server.id] for known in wanted]

    # --- sign-in

    async def login(self, server_id: int) -> LoginStart:
        """Begin a sign-in; the person opens the address that comes back."""
        return await self._sign_in.start(self._registry.get(server_id).server)

    async def finish_login(self, state: str | None, answer: str, *, server_id: int | None = None) -> Outcome:
        """End a sign-in with the address, or the code, that the browser was sent back with; then connect."""
        pending = self._sign_in.pending(server_id) if server_id is not None and state is None else None
        done = await self._sign_in.finish(pending.state if pending else state, answer, server_id=server_id)
        return await self._connect(done.server_id, anew=True, wait=True)

    async def logout(self, server_id: int) -> Outcome:
        """Forget the tokens and end the connection that used them."""
        known = self._registry.get(server_id)
        await self._sign_out(known)
        self._tell_of_change(server_id)
        if self._live.obstacle(known.server) is None:
            await self._live.connect(known, anew=True, wait=False)
        return Outcome(True, await self._view(known))

    # --- what servers offer

    async def listings(self, channel: Channel | None) -> Sequence[Listing]:
        """Every tool of every server that the channel can see, each with why it is offered or not."""
        return self._shelf.listings(channel)

    def version(self) -> object:
        """Another one as soon as a listing may be another one."""
        return self._shelf.version()

    async def listing(self, full_name: str, channel: Channel | None) -> Listing | None:
        return self._shelf.listing(full_name, channel)

    def tool(self, listing: Listing, channel: Channel | None) -> Tool | None:
        """A tool to be called; calling it connects its server if need be."""
        return self._shelf.tool(listing, channel)

    async def meet(self, full_name: str, channel: Channel | None) -> None:
        """Connect the server that the name of an unknown tool points to, unless a person keeps it down."""
        known = self._shelf.server_of(full_name, channel)
        if known is None or self._is_connected(known) or self._live.obstacle(known.server):
            return
        try:
            await self._live.reach(known.server.id, None)
        except ManyhandsError as error:
            log.info("Server %s was wanted and is not there: %s", known.server.config.name, error)

    async def up_to_date(self, timeout_s: float) -> None:
        """Wait a moment for lists that servers have said to have changed and that are being read."""
        await self._live.up_to_date(timeout_s)

    def server_policy(self, server_id: int) -> ServerPolicy:
        config = self._registry.get(server_id).server.config
        return ServerPolicy(config.trust, config.parallel)

    def obstacle(self, server_id: int) -> ManyhandsError | None:
        return self._live.obstacle(self._registry.get(server_id).server)

    async def tools(self, server_id: int) -> Sequence[Listing]:
        return self._shelf.of_server(self._registry.get(server_id))

    async def set_preference(
        self, server_id: int, tool: str, *, enabled: bool | None = None, policy: str | None = None
    ) -> ToolPreference:
        """Switch a tool on or off, or say what calls of it need; `default` takes a policy back."""
        known = self._registry.get(server_id)
        if policy is not None and policy not in _POLICIES:
            raise InvalidError(f"There is no policy {policy!r}.", hint=f"Use {', '.join(sorted(_POLICIES))}.")
        if tool not in known.tools and known.preference(tool) == ToolPreference():
            name = known.server.config.name
            raise NotFoundError(
                f"Server {name!r} has no tool {tool!r}.",
                hint=f"`manyhands tools list --server {quote(name)}` shows them.",
            )
        wanted = await self._registry.prefer(server_id, tool, enabled, policy)
        self._tell_of_change(server_id, tool)
        return wanted

    async def accept_definition(self, server_id: int, tool: str) -> None:
        """A person has seen the definition as it is now: pin it."""
        await self._registry.accept(server_id, tool)
        self._tell_of_change(server_id, tool)

    async def prompts(self, server_id: int) -> Sequence[Json]:
        """Its prompts; `command` is how a person calls one: `/server:prompt`."""
        known = self._registry.get(server_id)
        prompts = known.catalogue.prompts
        commands = prompt_commands(known.server.safe_name, (str(prompt["name"]) for prompt in prompts))
        return [{**prompt, "command": commands[str(prompt["name"])]} for prompt in prompts]

    async def commands(self, channel: Channel | None = None) -> Sequence[Json]:
        """The prompts of every server that the channel can see, as commands, with their server's id."""
        return [
            {**prompt, "server_id": known.server.id, "server": known.server.config.name}
            for known in self._shelf.visible(channel)
            for prompt in await self.prompts(known.server.id)
        ]

    async def resources(self, server_id: int) -> Sequence[Json]:
        return self._registry.get(server_id).catalogue.resources

    async def resource_templates(self, server_id: int) -> Sequence[Json]:
        return self._registry.get(server_id).catalogue.resource_templates

    async def skills(self, server_id: int) -> Sequence[Json]:
        return self._registry.get(server_id).catalogue.skills

    # --- asking a server

    async def read_resource(self, server_id: int, uri: str, channel: Channel | None = None) -> Json:
        return await (await self._reach(server_id, channel)).read_resource(uri)

    async def subscribe_resource(self, server_id: int, uri: str, channel: Channel | None = None) -> None:
        """Be told of changes by the event `mcp.resource_updated`."""
        await (await self._reach(server_id, channel)).subscribe(uri)

    async def unsubscribe_resource(self, server_id: int, uri: str, channel: Channel | None = None) -> None:
        await (await self._reach(server_id, channel)).unsubscribe(uri)

    async def get_prompt(
        self,
        server_id: int,
        name: str,
        arguments: Mapping[str, str] | None = None,
        channel: Channel | None = None,
    ) -> Json:
        return await (await self._reach(server_id, channel)).get_prompt(name, arguments)

    async def complete(
        self,
        server_id: int,
        kind: Literal["prompt", "resource"],
        of: str,
        argument: Mapping[str, str],
        context: Mapping[str, str] | None = None,
        channel: Channel | None = None,
    ) -> Json:
        """Suggestions for an argument `{name, value}` of a prompt or of a resource template."""
        return await (await self._reach(server_id, channel)).complete(kind, of, argument, context)

    # --- channels

    def on_notice(self, listener: Callable[[int, ChannelNotice], None]) -> None:
        """Who is told what servers push; it must return at once."""
        self._live.on_notice = listener

    async def notify(self, server_id: int, method: str, params: Json) -> bool:
        """Tell a connected server something that it does not answer; whether it was there."""
        return await self._live.notify(server_id, method, params)

    def speaker(self, server_id: int) -> Server | None:
        """A connected server that declares that it takes part in channels."""
        known = self._registry.find(server_id)
        if known is None or not self._is_connected(known):
            return None
        declared = known.catalogue.capabilities.get("experimental")
        return known.server if isinstance(declared, Mapping) and CHANNEL_CAPABILITY in declared else None

    def speakers_in(self, channel_id: str) -> Sequence[Server]:
        """Those that a person lets take part in a channel."""
        found = (self.speaker(known.server.id) for known in self._registry.all())
        return [server for server in found if server and server.config.channel_push == channel_id]

    # --- projects

    async def sync_project(self, directory: str) -> str | None:
        """Read a directory's `.mcp.json` now; what is wrong with it, if something is."""
        return (await self._projects.sync(directory)).problem

    async def approve_project(self, directory: str) -> None:
        """A person has seen what the directory's file says now and lets its servers start."""
        await self._projects.approve(directory)

    # --- parts

    def _tell_of_change(self, server_id: int, tool: str | None = None) -> None:
        """A person decided something about a server, or about one of its tools."""
        about = {} if tool is None else {"tool": tool}
        self._bus.publish("mcp.updated", {"server_id": server_id, **about})

    def _tell_of_name(self, change: NameChange) -> None:
        names = {"before": change.before, "name": change.after}
        self._bus.publish("mcp.renamed", {"server_id": change.server_id, **names})

    def _tell_of_sign_in(self, server_id: int, error: ManyhandsError | None) -> None:
        """To whoever started it, who may wait in another window, or on another machine."""
        about = {} if error is None else {"error": str(error)}
        self._bus.publish("mcp.sign_in_ended", {"server_id": server_id, "ok": error is None, **about})

    async def _sign_out(self, known: Known) -> None:
        """Tokens are forgotten at once; telling the authorization server is a courtesy with a limit."""
        with anyio.move_on_after(_SIGN_OUT_S):
            try:
                await self._sign_in.logout(known.server)
            except ManyhandsError as error:
                log.warning("Signing out of %s: %s", known.server.config.name, error)

    async def _save_quietly(self, config: ServerConfig) -> int:
        return (await self.save(config, wait=False)).view.server.id

    async def _apply(self, known: Known, *, anew: bool, wait: bool) -> Outcome:
        """Bring the connection in line with a configuration that was just saved."""
        server = known.server
        if server.held:
            known = await self._registry.set(server.id, held=False)
        if server.config.enabled:
            return await self._connect(server.id, anew=anew, wait=wait)
        await self._live.disconnect(server.id)
        self._live.announce(known)
        return Outcome(True, await self._view(known))

    async def _connect(self, server_id: int, *, anew: bool, wait: bool) -> Outcome:
        known = self._registry.get(server_id)
        if known.server.held:
            known = await self._registry.set(server_id, held=False)
        if known.server.project is not None and not self._projects.is_trusted(known.server):
            self._projects.ask_again(known.server.project)
        error = await self._live.connect(known, anew=anew, wait=wait)
        return Outcome(error is None, await self._view(known), error)

    async def _reach(self, server_id: int, channel: Channel | None) -> Connection:
        known = self._registry.get(server_id)
        if known.server.project is not None and (channel is None or channel.dir_path != known.server.project):
            raise ConflictError(
                f"Server {known.server.config.name!r} belongs to {known.server.project}.",
                hint="Use it in that directory's channel.",
            )
        return await self._live.reach(server_id, channel.dir_path if channel else None)

    def _is_connected(self, known: Known) -> bool:
        return self._status(known) is ServerStatus.CONNECTED

    def _status(self, known: Known) -> ServerStatus:
        enabled = known.server.config.enabled
        return self._live.state(known.server.id).status if enabled else ServerStatus.DISABLED

    async def _view(self, known: Known) -> ServerView:
        server = known.server
        memory = self._memory[1]
        pids = self._live.pids().get(server.id, [])
        return ServerView(
            server,
            self._live.state(server.id),
            known.catalogue,
            known.fetched_at,
            rss=sum(memory.get(pid, 0) for pid in pids) or None,
            trusted=self._projects.is_trusted(server),
            signed_in=await self._sign_in.is_signed_in(server),
        )

    async def _measure_memory(self) -> None:
        """Once in a while: looking at all processes takes longer than everything else here."""
        pids = [pid for several in self._live.pids().values() for pid in several]
        if pids and self._clock.monotonic() - self._memory[0] > _MEMORY_S:
            from manyhands.system import memory_of_trees

            self._memory = (self._clock.monotonic(), await anyio.to_thread.run_sync(memory_of_trees, pids))
