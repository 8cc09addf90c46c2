"""Servers of projects: kept in step with their `.mcp.json`, started only as a person has approved them.

An approval is for an entry as it was shown: `approved_hash` remembers it, and an entry that says something
else asks anew. The directory's trust approves what its file says at that moment, and no approval outlives it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import anyio
from anyio.abc import TaskGroup

from manyhands.approvals.types import Question
from manyhands.chat.types import Channel
from manyhands.clock import Clock
from manyhands.errors import ManyhandsError
from manyhands.servers.config_secrets import mask_literals
from manyhands.servers.naming import name_key, safe_server_name
from manyhands.servers.projects import (
    PROJECT_FILE,
    Project,
    ProjectEntry,
    ProjectWatch,
    approved_fields,
    read_project,
)
from manyhands.servers.registry import Known, Registry
from manyhands.servers.types import Server
from manyhands.tools.types import Asking

log = logging.getLogger(__name__)

_QUEUE = 1024


class Channels(Protocol):
    """What is needed of channels: their directories, and whether a person trusts them."""

    def observe(self, observer: Callable[[Channel | None, Channel | None], None]) -> None: ...

    def observe_trust(self, observer: Callable[[str, bool], None]) -> None: ...

    async def with_directories(self) -> Sequence[Channel]: ...

    async def mark_trusted(self, directory: str) -> None: ...


class Connecting(Protocol):
    """What is needed of connections."""

    async def connect(self, known: Known, *, anew: bool, wait: bool) -> str | None: ...

    async def disconnect(self, server_id: int) -> None: ...

    async def move_root(self, old: str, new: str | None) -> None: ...


class ProjectServers:
    """The servers of all directories that have a channel."""

    def __init__(
        self,
        registry: Registry,
        tasks: TaskGroup,
        clock: Clock,
        channels: Channels | None,
        asking: Asking | None,
    ) -> None:
        self._registry = registry
        self._tasks = tasks
        self._channels = channels
        self._asking = asking
        self._connecting: Connecting | None = None
        self._watch = ProjectWatch(clock)
        self._projects: dict[str, Project] = {}
        self.changes = 0
        """How often a file has said something else."""
        self._questions: dict[str, anyio.CancelScope] = {}
        self._asked: dict[str, frozenset[str]] = {}
        self._busy = anyio.Lock()

    def attach(self, connecting: Connecting) -> None:
        """Who connects; it in turn asks here whether it may."""
        self._connecting = connecting

    # --- what is known

    def project(self, directory: str) -> Project:
        """What a directory's file said when it was last read."""
        return self._projects.get(directory) or Project(directory)

    def entry(self, server: Server) -> ProjectEntry | None:
        """What the file says of a server; nothing when it is no longer in it."""
        return self.project(server.project or "").entries.get(server.config.name)

    def is_present(self, server: Server) -> bool:
        return server.project is None or self.entry(server) is not None

    def is_trusted(self, server: Server) -> bool:
        """Whether it is global, or approved as its file describes it now."""
        if server.project is None:
            return True
        entry = self.entry(server)
        return entry is not None and entry.hash == server.approved_hash

    def shadows(self, directory: str | None) -> set[str]:
        """Names that a directory's approved servers take from global ones in its channel."""
        if directory is None:
            return set()
        servers = [known.server for known in self._registry.of_project(directory)]
        return {name_key(server.safe_name) for server in servers if self.is_trusted(server)}

    # --- keeping in step

    async def run(self) -> None:
        """Follow files and channels, for ever."""
        if self._channels is None:
            return
        send, receive = anyio.create_memory_object_stream[Callable[[], Awaitable[object]]](_QUEUE)

        def follow(step: Callable[..., Awaitable[object]], *told: object) -> None:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                send.send_nowait(partial(step, *told))

        self._channels.observe(partial(follow, self._channel_changed))
        self._channels.observe_trust(partial(follow, self._trust_said))
        async with anyio.create_task_group() as tasks, send, receive:
            tasks.start_soon(self._watch.run, self._files_changed)
            await self._carefully(self._follow_directories())
            async for step in receive:
                await self._carefully(step())

    async def sync(self, directory: str) -> Project:
        """Read the file and bring servers and connections in step; only what changed is touched."""
        async with self._busy:
            project = await read_project(directory)
            if project.unreadable:  # half written, or mistyped: what runs goes on until the file is good
                project = replace(project, entries=self.project(directory).entries)
            self._projects[directory] = project
            self.changes += 1
            for note in (*project.notes, *([project.problem] if project.problem else [])):
                log.warning("%s", note)
            for known in self._registry.of_project(directory):
                if not self.is_present(known.server):
                    await self._disconnect(known)
            for entry in project.entries.values():
                await self._take(directory, entry)
            await self._connect_trusted(directory)
        self._ask_if_needed(directory)
        return project

    async def _take(self, directory: str, entry: ProjectEntry) -> None:
        name = entry.config.name
        known = self._registry.by_name(name, directory)
        if known is None:
            for other in self._registry.of_project(directory):  # a name that was spelled otherwise before
                if name_key(other.server.safe_name) == _key(entry) and not self.is_present(other.server):
                    await self._registry.remove(other.server.id)
            await self._registry.add(entry.config, directory)
            return
        before = known.server.config
        trusted = known.server.approved_hash == entry.hash
        config = replace(
            entry.config,
            enabled=entry.config.enabled and before.enabled,
            trust=before.trust if trusted else "ask",
            channel_push=before.channel_push if trusted else None,
        )
        if config == before:
            return
        await self._registry.change(known.server.id, config)
        if trusted and config.enabled:
            await self._connect(known, anew=mask_literals(config) != before)
        else:
            await self._disconnect(known)

    async def _files_changed(self, directories: set[str]) -> None:
        for directory in sorted(directories & set(self._projects)):
            await self._carefully(self.sync(directory))

    async def _carefully(self, work: Awaitable[object]) -> None:
        """One project that cannot be followed now must not end the following of all others."""
        try:
            await work
        except ManyhandsError as error:
            log.error("Project servers are not in step with their files: %s", error)

    async def _follow_directories(self) -> None:
        """At start: read every channel's file and connect what was approved before."""
        directories = await self._directories()
        await self._forget_untrusted(directories)
        for directory in sorted(directories):
            await self._carefully(self.sync(directory))

    async def _directories(self) -> Mapping[str, bool]:
        """The directories of all channels, which are watched from now on, and whether they are trusted."""
        assert self._channels is not None
        found: dict[str, bool] = {}
        for channel in await self._channels.with_directories():
            if channel.dir_path is not None:
                found[channel.dir_path] = channel.trusted or found.get(channel.dir_path, False)
        self._watch.watch(set(found))
        return found

    async def _channel_changed(self, old: Channel | None, new: Channel | None) -> None:
        """What a channel is trusted with stays where it was: no change of a channel approves anything."""
        before = old.dir_path if old else None
        after = new.dir_path if new else None
        directories = await self._directories()
        for left in sorted({*self._projects} - {*directories}):  # its own, and those of threads below it
            await self._leave(left, after if left == before else None)
        await self._forget_untrusted(directories)
        if after is not None and after in directories and after not in self._projects:
            await self.sync(after)

    async def _leave(self, directory: str, moved_to: str | None) -> None:
        if self._connecting is not None:
            await self._connecting.move_root(directory, moved_to)
        self._take_back_question(directory)
        self._projects.pop(directory, None)
        self.changes += 1
        await self._forget_approvals(self._registry.of_project(directory))

    # --- trust

    async def approve(self, directory: str, entries: Iterable[ProjectEntry] | None = None) -> None:
        """A person trusts these entries of a directory's file; without them, all that it says now."""
        if self._channels is not None:  # first, since no approval holds where no channel shows the trust
            await self._channels.mark_trusted(directory)
        await self._approve(
            directory, self.project(directory).entries.values() if entries is None else entries
        )

    async def _approve(self, directory: str, entries: Iterable[ProjectEntry]) -> None:
        self._take_back_question(directory)
        for entry in entries:
            known = self._registry.by_name(entry.config.name, directory)
            if known is not None and known.server.approved_hash != entry.hash:
                await self._registry.set(known.server.id, approved_hash=entry.hash)
        await self._connect_trusted(directory)
        self._ask_if_needed(directory)

    async def revoke(self, directory: str) -> None:
        """A person no longer trusts the directory, and is not asked at once about what they turn down."""
        self._take_back_question(directory)
        async with self._busy:
            await self._forget_approvals(self._registry.of_project(directory))
            self._asked[directory] = _hashes(self._unapproved(directory))

    async def _trust_said(self, directory: str, trusted: bool) -> None:
        """A person spoke about the directory as it is now, whatever was true before."""
        if not trusted:
            await self.revoke(directory)
        elif (await self._directories()).get(directory):  # nobody has taken it back meanwhile
            project = await self.sync(directory)
            await self._approve(directory, project.entries.values())

    async def _forget_untrusted(self, directories: Mapping[str, bool]) -> None:
        """No approval holds in a directory that no channel shows as trusted."""
        approved = [known for known in self._registry.all() if known.server.approved_hash is not None]
        await self._forget_approvals(
            known for known in approved if not directories.get(known.server.project or "")
        )

    async def _forget_approvals(self, servers: Iterable[Known]) -> None:
        for known in servers:
            await self._registry.set(known.server.id, approved_hash=None)
            await self._disconnect(known)

    def ask_again(self, directory: str) -> None:
        """Put the question into the inbox again, if it is not there."""
        self._asked.pop(directory, None)
        self._ask_if_needed(directory)

    def _ask_if_needed(self, directory: str) -> None:
        """One question for all entries of a directory that nobody has approved as they are."""
        wanted = self._unapproved(directory)
        hashes = _hashes(wanted)
        if self._asked.get(directory, frozenset()) == hashes:
            return
        self._take_back_question(directory)
        self._asked[directory] = hashes
        if wanted and self._asking is not None:
            scope = self._questions[directory] = anyio.CancelScope()
            self._tasks.start_soon(self._ask, directory, wanted, self._asking, scope)

    def _unapproved(self, directory: str) -> list[tuple[Known, ProjectEntry]]:
        found = []
        for known in self._registry.of_project(directory):
            entry = self.entry(known.server)
            if entry is not None and entry.config.enabled and not self.is_trusted(known.server):
                found.append((known, entry))
        return found

    async def _ask(
        self,
        directory: str,
        wanted: Sequence[tuple[Known, ProjectEntry]],
        asking: Asking,
        scope: anyio.CancelScope,
    ) -> None:
        with scope:
            await self._carefully(self._ask_person(directory, wanted, asking))

    async def _ask_person(
        self, directory: str, wanted: Sequence[tuple[Known, ProjectEntry]], asking: Asking
    ) -> None:
        names = ", ".join(known.server.config.name for known, _ in wanted)
        question = Question(
            kind="tool",
            title=f"Start servers of {directory}/{PROJECT_FILE}: {names}?",
            detail={
                "reason": "A project's file names servers that would run on this machine.",
                "directory": directory,
                "servers": [_shown(known, entry) for known, entry in wanted],
            },
            channel_id=await self._channel_of(directory),
        )
        answer = await asking(question)
        self._questions.pop(directory, None)
        if answer.approved:
            await self.approve(directory, [entry for _, entry in wanted])

    def _take_back_question(self, directory: str) -> None:
        self._asked.pop(directory, None)
        if scope := self._questions.pop(directory, None):
            scope.cancel()

    async def _channel_of(self, directory: str) -> str | None:
        channels = await self._channels.with_directories() if self._channels else []
        return next((channel.id for channel in channels if channel.dir_path == directory), None)

    # --- connections

    async def _connect_trusted(self, directory: str) -> None:
        for known in self._registry.of_project(directory):
            if self.is_trusted(known.server) and known.server.config.enabled and not known.server.held:
                await self._connect(known, anew=False)

    async def _connect(self, known: Known, *, anew: bool) -> None:
        if self._connecting is not None:
            await self._connecting.connect(known, anew=anew, wait=False)

    async def _disconnect(self, known: Known) -> None:
        if self._connecting is not None:
            await self._connecting.disconnect(known.server.id)


def _hashes(wanted: Iterable[tuple[Known, ProjectEntry]]) -> frozenset[str]:
    return frozenset(entry.hash for _, entry in wanted)


def _key(entry: ProjectEntry) -> str:
    return name_key(safe_server_name(entry.config.name))


def _shown(known: Known, entry: ProjectEntry) -> dict[str, Any]:
    """What would run, and whether something else was approved before."""
    shown = approved_fields(mask_literals(entry.config))
    return {**shown, "change": "changed since it was approved" if known.server.approved_hash else "new"}
