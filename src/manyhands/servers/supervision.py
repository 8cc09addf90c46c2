"""Which servers are connected and how they stand: begins and ends connections, tells everyone what happens.

It knows whether a server may be connected (enabled, not held, trusted); what it offers is in `registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from manyhands.clock import Clock
from manyhands.errors import ConflictError, ManyhandsError, NotAllowedError
from manyhands.events import Event, EventBus
from manyhands.secrets import Redactor
from manyhands.servers.backoff import BackOff
from manyhands.servers.changes import Changes, other_changes
from manyhands.servers.endpoints import (
    ClientFeatures,
    ConnectionHooks,
    ConnectionKey,
    Limits,
    LogMessage,
)
from manyhands.servers.journal import Journal
from manyhands.servers.pool import Pool
from manyhands.servers.registry import Known, Registry
from manyhands.servers.targets import Targets
from manyhands.servers.types import (
    Catalogue,
    ChannelNotice,
    ConnectionState,
    Server,
    ServerConfig,
    ServerStatus,
)
from manyhands.settings import CurrentSettings

if TYPE_CHECKING:
    from manyhands.servers.connection import Connection

_LOG_CHARS = 8_000
_TOLD = 500
_GRACE_S = 2.0


Program = tuple[str | tuple[str, ...] | None, ...]


def program_of(config: ServerConfig) -> Program:
    """What is started or called; with another environment or name it is the same."""
    return (config.transport, config.command, tuple(config.args), config.cwd, config.url)


class Supervision:
    """All connections, seen from the servers. `is_trusted` says whether a project's server was approved."""

    def __init__(
        self,
        registry: Registry,
        targets: Targets,
        tasks: TaskGroup,
        bus: EventBus,
        clock: Clock,
        redactor: Redactor,
        features: ClientFeatures,
        settings: CurrentSettings,
        is_trusted: Callable[[Server], bool],
    ) -> None:
        self._registry = registry
        self._tasks = tasks
        self._bus = bus
        self._redactor = redactor
        self._is_trusted = is_trusted
        self._settings = settings
        self._journal = Journal()
        self.on_notice: Callable[[int, ChannelNotice], None] = lambda server_id, notice: None
        self._ending = False
        self._states: dict[int, ConnectionState] = {}
        self._listed_programs: dict[int, Program] = {}
        self.changes = 0
        """How often the state of a server has changed."""
        self._turns: dict[int, anyio.Lock] = {}
        self._pool = Pool(
            tasks,
            targets.of,
            features=features,
            hooks=ConnectionHooks(
                self._state_changed,
                self._listed,
                self._logged,
                self._resource_updated,
                self._noticed,
                self._known_lists,
            ),
            clock=clock,
            limits=Limits(backoff=BackOff(attempts=settings.current.reconnect_attempts)),
            parallel=settings.current.connect_parallel,
        )
        bus.observe(self._settings_changed, "settings.changed")

    def _settings_changed(self, event: Event) -> None:
        now = self._settings.current
        self._pool.adjust(parallel=now.connect_parallel, attempts=now.reconnect_attempts)

    # --- how they stand

    def state(self, server_id: int) -> ConnectionState:
        return self._states.get(server_id) or ConnectionState()

    def stderr_tail(self, server_id: int) -> str:
        connection = self._pool.get(server_id)
        text = connection.stderr_tail if connection else self.state(server_id).stderr_tail
        return self._redactor.redact(text)

    def pids(self) -> dict[int, list[int]]:
        """The processes of each server, those for single directories too."""
        found: dict[int, list[int]] = {}
        for connection in self._pool.all():
            if connection.state.pid is not None:
                found.setdefault(connection.key.server_id, []).append(connection.state.pid)
        return found

    async def up_to_date(self, timeout_s: float) -> None:
        """Wait until the lists have every change that servers have told of, but not for longer than that."""
        with anyio.move_on_after(timeout_s):
            for connection in self._pool.all():
                await connection.up_to_date()

    # --- connecting

    def connect_in_background(self, servers: Iterable[Server]) -> None:
        """Begin with all of them; each has its turn and its own time, and nobody waits."""
        waiting = [server for server in servers if self.obstacle(server) is None]
        for server in waiting:
            # From now on and not from its turn on: a run that begins meanwhile waits for it.
            self._suppose(server.id, ServerStatus.CONNECTING)
        if waiting:
            self._tasks.start_soon(self._connect_each, waiting)

    async def _connect_each(self, servers: Iterable[Server]) -> None:
        for server in servers:
            known = self._registry.find(server.id)
            if known is not None and self.obstacle(known.server) is None:
                async with self._turn(server.id):
                    await self._pool.open(known.server)
            else:
                self._suppose(server.id, ServerStatus.DISCONNECTED)

    def _suppose(self, server_id: int, status: ServerStatus) -> None:
        """How a server stands that has no connection which could tell."""
        if self._pool.get(server_id) is None:
            self._state_changed(ConnectionKey(server_id, None), ConnectionState(status))

    async def connect(self, known: Known, *, anew: bool, wait: bool) -> str | None:
        """Connect a server, ending what is there first if `anew`; why it failed, or nothing."""
        server_id = known.server.id
        async with self._turn(server_id):
            if anew:
                await self._pool.drop(server_id)
            if refusal := self.obstacle(self._registry.get(server_id).server):
                return str(refusal)
            server = self._registry.get(server_id).server
            connection = await self._pool.open(server)
        if not wait:
            return None
        try:
            await connection.connected(server.config.connect_timeout / 1000 + _GRACE_S)
        except ManyhandsError as error:
            return self._redactor.redact(str(error))
        return None

    async def disconnect(self, server_id: int) -> None:
        """End every connection of a server."""
        async with self._turn(server_id):
            await self._pool.drop(server_id)

    def forget(self, known: Known) -> None:
        """The server is no longer there."""
        server_id = known.server.id
        self._states.pop(server_id, None)
        self._listed_programs.pop(server_id, None)
        self.changes += 1
        self._turns.pop(server_id, None)
        if known.tools:
            self._publish("mcp.tools_changed", server_id, Changes(removed=list(known.tools)))
        self._journal.forget(server_id)
        self._bus.publish("mcp.removed", {"server_id": server_id, "name": known.server.config.name})

    async def reach(self, server_id: int, directory: str | None) -> Connection:
        """A connection that can be used, connecting first if need be; raises why there is none."""
        known = self._registry.get(server_id)
        if refusal := self.obstacle(known.server):
            raise refusal
        return await self._pool.for_call(known.server, directory, wants_roots=known.catalogue.wants_roots)

    def at_hand(self, server_id: int, directory: str | None) -> Connection | None:
        """The same if it can be used at once."""
        known = self._registry.get(server_id)
        if self.obstacle(known.server):
            return None
        return self._pool.at_hand(server_id, directory, wants_roots=known.catalogue.wants_roots)

    async def notify(self, server_id: int, method: str, params: Mapping[str, Any]) -> bool:
        """Tell a connected server something; whether it was there."""
        connection = self._pool.get(server_id)
        if connection is None or self.state(server_id).status is not ServerStatus.CONNECTED:
            return False
        return await connection.notify(method, params)

    def distrust(self, server: Server) -> NotAllowedError | None:
        """Why nothing of a server may run, not even to try it."""
        if self._is_trusted(server):
            return None
        return NotAllowedError(
            f"Server {server.config.name!r} comes from {server.project}/.mcp.json and is not approved as it"
            " is now.",
            hint=f"Look at it, then run `manyhands channels trust {quote(server.project or '')}`.",
        )

    def obstacle(self, server: Server) -> ManyhandsError | None:
        """Why a server may not be connected now, with what to do about it."""
        name = server.config.name
        if not server.config.enabled:
            return ConflictError(
                f"Server {name!r} is disabled.", hint=f"Run `manyhands servers enable {quote(name)}` first."
            )
        if refusal := self.distrust(server):
            return refusal
        if server.held:
            return ConflictError(
                f"Server {name!r} was disconnected by hand.",
                hint=f"Run `manyhands servers connect {quote(name)}`.",
            )
        return None

    async def move_root(self, old: str, new: str | None) -> None:
        """A channel's directory is another one now, or none."""
        await self._pool.move_root(old, new)

    async def run(self) -> None:
        """Close what nobody uses, for ever."""
        await self._pool.run()

    async def stop(self) -> None:
        """End every connection; bounded."""
        self._ending = True
        await self._pool.stop_all()

    def _turn(self, server_id: int) -> anyio.Lock:
        return self._turns.setdefault(server_id, anyio.Lock())

    # --- what connections tell

    def announce(self, known: Known) -> None:
        """Tell everyone how a server stands."""
        state = self.state(known.server.id)
        status = state.status if known.server.config.enabled else ServerStatus.DISABLED
        data: dict[str, Any] = {"server_id": known.server.id, "name": known.server.config.name}
        data |= {"status": status.value, "pid": state.pid, "restarts": state.restarts}
        if state.attempt:
            data |= {"attempt": state.attempt, "attempts_max": state.attempts_max}
        if state.error:
            data["error"] = state.error
        self._bus.publish("mcp.status", data)

    def _state_changed(self, key: ConnectionKey, state: ConnectionState) -> None:
        known = self._registry.find(key.server_id)
        if key.root is not None or known is None:
            return
        error = state.error and self._redactor.redact(state.error)
        state = replace(state, error=error, stderr_tail=self._redactor.redact(state.stderr_tail))
        before, self._states[key.server_id] = self.state(key.server_id), state
        self.changes += 1
        if replace(before, since=state.since) != state:
            self.announce(known)
            if not self._ending:
                self._journal.note_state(known.server, before, state, known.catalogue)

    def _listed(self, key: ConnectionKey, catalogue: Catalogue) -> None:
        known = self._registry.find(key.server_id)
        if known is None:
            return
        if key.root is not None:
            if catalogue.wants_roots and not known.catalogue.wants_roots:
                self._registry.take_catalogue(key.server_id, replace(known.catalogue, wants_roots=True))
            return
        self._listed_programs[key.server_id] = program_of(known.server.config)
        before = known.catalogue
        changes = self._registry.take_catalogue(key.server_id, catalogue)
        if self.state(key.server_id).status is ServerStatus.CONNECTED:
            self._journal.note_lists(known.server, catalogue)
        else:
            self._journal.note_repairs(known.server, catalogue)
        others = other_changes(before, catalogue)
        self._publish("mcp.tools_changed", key.server_id, changes)
        self._publish("mcp.prompts_changed", key.server_id, others["prompts"])
        self._publish("mcp.resources_changed", key.server_id, others["resources"])
        self._publish("mcp.skills_changed", key.server_id, others["skills"])

    def _known_lists(self, key: ConnectionKey) -> Catalogue | None:
        """What a server listed before; nothing that another program may have listed under its name."""
        known = self._registry.find(key.server_id)
        if known is None or known.fetched_at is None:
            return None
        config, listed = known.server.config, self._listed_programs.get(key.server_id)
        same = known.fetched_at >= known.server.updated_at if listed is None else listed == program_of(config)
        return known.catalogue if same else None

    def _publish(self, type: str, server_id: int, changes: Changes) -> None:
        if not changes:
            return
        lists: dict[str, Any] = {}
        for name in ("added", "removed", "changed"):
            items = getattr(changes, name)
            lists[name] = list(items[:_TOLD])
            if len(items) > _TOLD:
                lists[f"{name}_count"] = len(items)
        self._bus.publish(type, {"server_id": server_id, **lists})

    def _logged(self, key: ConnectionKey, message: LogMessage) -> None:
        data = self._redactor.redact_json(message.data)
        if len(str(data)) > _LOG_CHARS:
            data = f"{str(data)[:_LOG_CHARS]}…"
        about = {"server_id": key.server_id, "level": message.level, "logger": message.logger}
        self._bus.publish("mcp.log", {**about, "data": data})

    def _noticed(self, key: ConnectionKey, notice: ChannelNotice) -> None:
        if key.root is None:  # one of its processes speaks for it
            self.on_notice(key.server_id, notice)

    def _resource_updated(self, key: ConnectionKey, uri: str) -> None:
        self._bus.publish("mcp.resource_updated", {"server_id": key.server_id, "uri": uri})
