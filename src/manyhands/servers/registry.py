"""Every configured server and what was last known of it, in memory with the database behind.

Reading never waits. It knows no connection: catalogues come in from whoever is connected, are usable at once
and written behind.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar, cast

from sqlalchemy import Connection

from manyhands.clock import Clock
from manyhands.errors import NotFoundError
from manyhands.servers import store as rows
from manyhands.servers.changes import Changes, tool_changes
from manyhands.servers.config_secrets import mask_literals
from manyhands.servers.naming import ToolNames, name_key, tool_prefix
from manyhands.servers.pins import pinned_part
from manyhands.servers.types import Catalogue, NameChange, Server, ServerConfig, ServerTool, ToolPreference
from manyhands.store.engine import Store

T = TypeVar("T")

DEFAULT_POLICY = "default"

Follow = Callable[[Connection, NameChange], None]
"""Lets what is kept by a server's name follow it, in the transaction that changes or removes the server."""


class Known:
    """One server. What is derived from its catalogue is made once and forgotten with it."""

    def __init__(self, server: Server, preferences: Mapping[str, ToolPreference] | None = None) -> None:
        self.server = server
        self.catalogue = Catalogue()
        self.fetched_at: datetime | None = None
        self.tools: Mapping[str, ServerTool] = {}
        self._preferences = dict(preferences or {})
        self._derived: dict[Hashable, Any] = {}

    def replace_catalogue(self, catalogue: Catalogue, at: datetime) -> None:
        self.catalogue, self.fetched_at = catalogue, at
        self.tools = {tool.name: tool for tool in catalogue.tools}
        self._derived = {}

    def replace_server(self, server: Server) -> None:
        self.server, self._derived = server, {}

    def prefer(self, preferences: Mapping[str, ToolPreference]) -> None:
        self._preferences |= preferences
        self._derived = {}

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave the first time since something changed."""
        if key not in self._derived:
            self._derived[key] = make()
        return cast("T", self._derived[key])

    @property
    def names(self) -> ToolNames:
        return self.derived("names", lambda: ToolNames(self.server.safe_name, self.server.id, self.tools))

    def preference(self, tool: str) -> ToolPreference:
        return self._preferences.get(tool) or ToolPreference()

    def is_changed(self, tool: ServerTool) -> bool:
        """Whether its definition is another one than the one that was pinned."""
        pinned = self.preference(tool.name).pinned_hash
        return pinned is not None and pinned != tool.definition_hash


class Registry:
    """All of them. `renamed` is told when one has got another name, `follow` while its name changes."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        follow: Follow | None = None,
        renamed: Callable[[NameChange], None] = lambda change: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._follow = follow
        self._renamed = renamed
        self._known: dict[int, Known] = {}
        self._by_project: dict[str | None, list[Known]] = {}
        self.changes = 0
        """How often something has changed: whoever remembers what they found here looks at it."""

    def _changed(self) -> None:
        self.changes += 1
        self._by_project.clear()

    async def load(self) -> None:
        """Read everything once, at start."""
        servers = await self._store.read(rows.select_servers)
        catalogues = await self._store.read(rows.select_catalogues)
        preferences = await self._store.read(rows.select_preferences)
        for server in servers:
            known = Known(server, preferences.get(server.id))
            if stored := catalogues.get(server.id):
                known.replace_catalogue(stored.catalogue, stored.fetched_at)
            self._known[server.id] = known
        self._changed()

    # --- looking up

    def all(self) -> list[Known]:
        """In the order in which they were added."""
        return [self._known[server_id] for server_id in sorted(self._known)]

    def find(self, server_id: int) -> Known | None:
        return self._known.get(server_id)

    def get(self, server_id: int) -> Known:
        if (known := self._known.get(server_id)) is None:
            raise NotFoundError(
                f"There is no server {server_id}.", hint="`manyhands servers list` shows them all."
            )
        return known

    def by_name(self, name: str, project: str | None) -> Known | None:
        for known in self._known.values():
            if known.server.config.name == name and known.server.project == project:
                return known
        return None

    def of_project(self, directory: str | None) -> list[Known]:
        """The servers of a directory's file, or the global ones."""
        if directory not in self._by_project:
            self._by_project[directory] = [k for k in self.all() if k.server.project == directory]
        return list(self._by_project[directory])

    # --- changing

    async def add(self, config: ServerConfig, project: str | None) -> Known:
        written, now = _may_be_written(config, project), self._clock.now()
        server = await self._store.write(lambda conn: rows.insert_server(conn, written, project, now))
        known = self._known[server.id] = Known(replace(server, config=config))
        self._changed()
        return known

    async def change(self, server_id: int, config: ServerConfig) -> Known:
        written, now = _may_be_written(config, self.get(server_id).server.project), self._clock.now()
        renaming = self._name_change(server_id, config.name)

        def work(conn: Connection) -> Server | None:
            server = rows.update_server(conn, server_id, written, now)
            self._follow_name(conn, renaming)
            return server

        server = await self._store.write(work)
        known = self._replaced(server_id, server and replace(server, config=config))
        if renaming is not None:  # at once: nobody may call under the new name by the old rules
            self._renamed(renaming)
        known.catalogue = replace(known.catalogue, wants_roots=False)  # which no listing shows
        return known

    async def set(self, server_id: int, **values: Any) -> Known:
        """Set `enabled`, `held` or `approved_hash`."""
        server = await self._store.write(lambda conn: rows.set_fields(conn, server_id, **values))
        config = self.get(server_id).server.config
        if server is not None:
            config = replace(config, enabled=server.config.enabled)
        return self._replaced(server_id, server and replace(server, config=config))

    async def remove(self, server_id: int) -> None:
        removal = self._name_change(server_id, None)

        def work(conn: Connection) -> None:
            self._follow_name(conn, removal)
            rows.delete_server(conn, server_id)

        await self._store.write(work)
        self._forget(server_id)

    def _follow_name(self, conn: Connection, change: NameChange | None) -> None:
        if change is not None and self._follow is not None:
            self._follow(conn, change)

    def _name_change(self, server_id: int, after: str | None) -> NameChange | None:
        """What becomes of a server's name; nothing if it stays, or nobody has it."""
        known = self._known.get(server_id)
        if known is None or known.server.config.name == after:
            return None
        server, key = known.server, name_key(known.server.safe_name)
        others = [other.server for other in self._known.values() if other is not known]
        return NameChange(
            server.id,
            server.config.name,
            after,
            tool_prefix(server.safe_name),
            {known.names.shown(tool, "name"): tool for tool in known.tools},
            server.project,
            shared=any(name_key(other.safe_name) == key for other in others),
        )

    def _replaced(self, server_id: int, server: Server | None) -> Known:
        if server is None:
            self._forget(server_id)
        known = self.get(server_id)
        if server is not None:
            known.replace_server(server)
            self._changed()
        return known

    def _forget(self, server_id: int) -> None:
        self._known.pop(server_id, None)
        self._changed()

    # --- catalogues, preferences, pins

    def take_catalogue(self, server_id: int, catalogue: Catalogue) -> Changes:
        """Replace what was known of a server as a unit; tools seen for the first time are pinned."""
        known, now = self.get(server_id), self._clock.now()
        # A server that once asked for roots will ask again: only a new configuration forgets that.
        catalogue = replace(catalogue, wants_roots=catalogue.wants_roots or known.catalogue.wants_roots)
        changes = tool_changes(known.tools, catalogue.tools)
        known.replace_catalogue(catalogue, now)
        self._store.post(partial(_write_catalogue, server_id=server_id, catalogue=catalogue, now=now))
        fresh = [tool for tool in catalogue.tools if known.preference(tool.name).pinned_hash is None]
        if fresh:
            known.prefer({tool.name: _pinned(known.preference(tool.name), tool) for tool in fresh})
            self._store.post(partial(_write_pins, server_id=server_id, tools=fresh))
        self._changed()
        return changes

    async def prefer(
        self, server_id: int, tool: str, enabled: bool | None, policy: str | None
    ) -> ToolPreference:
        """Change what a person wants of a tool; what is not given stays, and `default` clears the policy."""
        after = self.get(server_id).preference(tool)
        if enabled is not None:
            after = replace(after, enabled=enabled)
        if policy is not None:
            after = replace(after, policy=None if policy == DEFAULT_POLICY else policy)
        await self._store.write(
            lambda conn: rows.put_preference(conn, server_id, tool, after.enabled, after.policy)
        )
        self.get(server_id).prefer({tool: after})
        self._changed()
        return after

    async def accept(self, server_id: int, tool: str) -> None:
        """Pin the definition as it is now."""
        known = self.get(server_id)
        if found := known.tools.get(tool):
            await self._store.write(lambda conn: rows.put_pins(conn, server_id, [found], anew=True))
            known.prefer({tool: _pinned(known.preference(tool), found)})
            self._changed()


def _may_be_written(config: ServerConfig, project: str | None) -> ServerConfig:
    """A project's secrets stay in its own file, from which they are read again at start."""
    return config if project is None else mask_literals(config)


def _pinned(preference: ToolPreference, tool: ServerTool) -> ToolPreference:
    return replace(
        preference, pinned_hash=tool.definition_hash, pinned_definition=pinned_part(tool.definition)
    )


def _write_catalogue(conn: Any, *, server_id: int, catalogue: Catalogue, now: datetime) -> None:
    rows.replace_catalogue(conn, server_id, catalogue, now)


def _write_pins(conn: Any, *, server_id: int, tools: Sequence[ServerTool]) -> None:
    rows.put_pins(conn, server_id, tools, anew=False)
