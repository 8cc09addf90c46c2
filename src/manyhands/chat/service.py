"""Channels: found or made by directory or name, changed, deleted, trusted.

Trust is of a directory: all channels that have it say the same, and one that moves takes nothing along.
What is said in them is the business of `runs.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from manyhands.chat import store as rows
from manyhands.chat.channel_rules import check_name, check_query
from manyhands.chat.types import Channel
from manyhands.clock import Clock
from manyhands.errors import ConflictError, InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.store.engine import Store

DirectoryObserver = Callable[[Channel | None, Channel | None], None]
"""Told about a channel before and after a change; nothing means made or gone."""

TrustObserver = Callable[[str, bool], None]
"""Told that a person said whether a directory is trusted, also when it was so before."""

_CHANGEABLE = frozenset({"name", "dir_path", "active", "branch", "worktree", "system_prompt", "model"})


class ChannelService:
    """The use cases of channels."""

    def __init__(self, store: Store, bus: EventBus, clock: Clock) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._observers: list[DirectoryObserver] = []
        self._trust_observers: list[TrustObserver] = []

    def observe(self, observer: DirectoryObserver) -> None:
        """Call `observer` when a channel appears, changes or goes."""
        self._observers.append(observer)

    def observe_trust(self, observer: TrustObserver) -> None:
        """Call `observer` when a person trusts a directory as it is now, or no longer."""
        self._trust_observers.append(observer)

    async def find_or_create(
        self, *, dir_path: str | None = None, platform: str = "local", name: str | None = None
    ) -> tuple[Channel, bool]:
        """The channel of a directory, or of a name; the flag says whether it was made just now."""
        directory = None if dir_path is None else clean_directory(dir_path)
        given = check_name(name) if name and name.strip() else None
        if directory is None and given is None:
            raise InvalidError("A channel needs a directory or a name.", hint="Give dir_path or name.")
        label = given or os.path.basename(directory or "") or str(directory)
        fresh = self._new_channel(label, directory, platform)
        channel, created = await self._store.write(lambda conn: _find_or_insert(conn, fresh))
        if created:
            self._announce("channel.created", None, channel)
        return channel, created

    async def create(self, name: str, platform: str = "local") -> Channel:
        """A new channel without a directory, whatever there is; a name that is taken gets a number."""
        plain = check_name(name)

        def work(conn: Connection) -> Channel:
            wanted, number = plain, 1
            while rows.find_by_name(conn, wanted, platform) is not None:
                number += 1
                wanted = f"{plain} {number}"
            return _insert(conn, self._new_channel(wanted, None, platform))[0]

        channel = await self._store.write(work)
        self._announce("channel.created", None, channel)
        return channel

    async def create_thread(self, parent_id: str, name: str, *, system_prompt: str | None = None) -> Channel:
        """A conversation below a channel, in the same directory and with the same model."""
        fresh = await self.thread_of(parent_id, name)
        return await self.add(replace(fresh, system_prompt=system_prompt or fresh.system_prompt))

    async def thread_of(self, parent_id: str, name: str) -> Channel:
        """A thread that is not stored yet: it has the parent's directory, model, runner and permissions."""
        parent = await self.get(parent_id)
        return replace(
            self._new_channel(name, parent.dir_path, parent.platform),
            parent_id=parent.id,
            model=parent.model,
            runner=parent.runner,
            system_prompt=parent.system_prompt,
        )

    async def add(self, fresh: Channel, also: Callable[[Connection], None] | None = None) -> Channel:
        """Store a new thread, and in the same transaction whatever else belongs to it.

        One whose id is there already is left as it is.
        """

        def work(conn: Connection) -> tuple[Channel, bool]:
            inserted = _insert(conn, fresh)
            if also is not None:
                also(conn)
            return inserted

        thread, is_new = await self._store.write(work)
        if is_new:
            self._announce("channel.created", None, thread)
        return thread

    async def get(self, channel_id: str) -> Channel:
        channel = await self._store.read_now(lambda conn: rows.select_channel(conn, channel_id))
        return _found(channel, channel_id)

    async def list(
        self,
        query: str | None = None,
        platform: str | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[Channel]:
        wanted = check_query(query)
        found = await self._store.read(
            lambda conn: rows.select_channels(conn, wanted, platform, limit + 1, cursor)
        )
        items, more = cut_page(found, limit)
        return Page(items, items[-1].id if more else None)

    async def with_directories(self) -> Sequence[Channel]:
        """Every channel that has a directory."""
        return await self._store.read(rows.select_directories)

    async def patch(self, channel_id: str, values: dict[str, Any]) -> Channel:
        """Change some fields."""
        if unknown := sorted(set(values) - _CHANGEABLE):
            raise InvalidError(
                f"A channel's {unknown[0]!r} cannot be changed.",
                hint=f"Fields: {', '.join(sorted(_CHANGEABLE))}.",
            )
        if "dir_path" in values:
            given = values["dir_path"]
            values = values | {"dir_path": clean_directory(given) if given else None}
        if "name" in values:
            values = values | {"name": check_name(values["name"] or "")}
        return await self._change(channel_id, values)

    async def trust(self, channel_id: str, trusted: bool) -> Channel:
        """Say whether the servers of the directory's `.mcp.json` may start. Only a person may."""

        def work(conn: Connection) -> tuple[Channel, Sequence[Channel]]:
            channel = _found(rows.select_channel(conn, channel_id), channel_id)
            place = [channel] if channel.dir_path is None else rows.select_in(conn, channel.dir_path)
            return channel, _set_trust(conn, place, trusted)

        channel, changed = await self._store.write(work)
        if channel.dir_path is not None:
            for observer in self._trust_observers:
                observer(channel.dir_path, trusted)
        self._announce_trust(changed, trusted)
        return replace(channel, trusted=trusted)

    async def mark_trusted(self, directory: str) -> None:
        """Let the channels of a directory say that it is trusted; whoever calls has approved its servers."""
        changed = await self._store.write(
            lambda conn: _set_trust(conn, rows.select_in(conn, directory), trusted=True)
        )
        self._announce_trust(changed, trusted=True)

    def _announce_trust(self, changed: Sequence[Channel], trusted: bool) -> None:
        for old in changed:
            self._announce("channel.updated", old, replace(old, trusted=trusted))

    async def delete(self, channel_id: str) -> None:
        """Remove the channel and its threads. Files are never touched."""
        old = await self.get(channel_id)
        await self._store.write(lambda conn: rows.delete_channel(conn, channel_id))
        self._announce("channel.deleted", old, None)

    async def update(self, channel_id: str, values: dict[str, Any]) -> Channel:
        """Change fields that are not for everybody to change; whoever calls has checked them."""
        return await self._change(channel_id, values)

    async def _change(self, channel_id: str, values: dict[str, Any]) -> Channel:
        def work(conn: Connection) -> tuple[Channel, Channel]:
            old = _found(rows.select_channel(conn, channel_id), channel_id)
            if values:
                _check_free(conn, old, values.get("dir_path"))
                rows.update_channel(conn, channel_id, values | _trust_after(conn, old, values))
            return old, _found(rows.select_channel(conn, channel_id), channel_id)

        old, new = await self._store.write(work)
        self._announce("channel.updated", old, new)
        return new

    def _announce(self, event: str, old: Channel | None, new: Channel | None) -> None:
        channel = new or old
        assert channel is not None
        self._bus.publish(event, channel_json(channel), channel_id=channel.id)
        for observer in self._observers:
            observer(old, new)

    def _new_channel(self, name: str, directory: str | None, platform: str) -> Channel:
        return Channel(
            id=new_id("ch"),
            name=name,
            dir_path=directory,
            platform=platform,
            parent_id=None,
            branch=None,
            worktree=None,
            active=True,
            trusted=False,
            created_at=self._clock.now(),
        )


def clean_directory(path: str) -> str:
    """An existing directory as one absolute path, links resolved, so that one directory has one channel."""
    if "\0" in path:
        raise InvalidError("The directory's path holds a NUL character.", hint="Give a plain path.")
    real = os.path.realpath(os.path.expanduser(path))
    if not os.path.isabs(os.path.expanduser(path)):
        raise InvalidError(f"The directory {path!r} is relative.", hint="Give an absolute path.")
    if not os.path.isdir(real):
        raise InvalidError(f"There is no directory {path!r}.", hint="Make it first, or check the path.")
    return real


def channel_json(channel: Channel) -> dict[str, Any]:
    """A channel as the API and events show it."""
    return {
        "id": channel.id,
        "name": channel.name,
        "dir_path": channel.dir_path,
        "platform": channel.platform,
        "parent_id": channel.parent_id,
        "branch": channel.branch,
        "worktree": channel.worktree,
        "active": channel.active,
        "trusted": channel.trusted,
        "system_prompt": channel.system_prompt,
        "model": channel.model,
        "runner": None if channel.runner is None else dict(channel.runner),
    }


def _find_or_insert(conn: Connection, fresh: Channel) -> tuple[Channel, bool]:
    found = _find_same(conn, fresh)
    if found is None:
        channel, is_new = _insert(conn, fresh)
        if is_new:
            return channel, True
    found = found or _find_same(conn, fresh)
    assert found is not None
    return found, False


def _insert(conn: Connection, fresh: Channel) -> tuple[Channel, bool]:
    """Add it, as trusted as its directory is; the flag says whether it was not there yet."""
    channel = replace(fresh, trusted=rows.is_trusted(conn, fresh.dir_path))
    return channel, rows.insert_channel(conn, channel)


def _set_trust(conn: Connection, channels: Sequence[Channel], trusted: bool) -> Sequence[Channel]:
    """Those that said otherwise, as they were."""
    changed = [channel for channel in channels if channel.trusted != trusted]
    for channel in changed:
        rows.update_channel(conn, channel.id, {"trusted": trusted})
    return changed


def _check_free(conn: Connection, channel: Channel, directory: str | None) -> None:
    """A directory has one channel; threads may share it."""
    if directory is None or channel.parent_id is not None:
        return
    other = rows.find_by_directory(conn, directory, channel.platform)
    if other is not None and other.id != channel.id:
        raise ConflictError(
            f"The directory {directory} has a channel, {other.name!r}.",
            hint="Use that one, or remove it first.",
        )


def _trust_after(conn: Connection, old: Channel, values: dict[str, Any]) -> dict[str, Any]:
    """The trust of the directory that a channel moves to: what a person has seen is in the old one."""
    directory = values.get("dir_path", old.dir_path)
    return {} if directory == old.dir_path else {"trusted": rows.is_trusted(conn, directory)}


def _find_same(conn: Connection, fresh: Channel) -> Channel | None:
    if fresh.dir_path is not None:
        return rows.find_by_directory(conn, fresh.dir_path, fresh.platform)
    return rows.find_by_name(conn, fresh.name, fresh.platform)


def _found(channel: Channel | None, channel_id: str) -> Channel:
    if channel is None:
        raise NotFoundError(
            f"There is no channel {channel_id!r}.", hint="`manyhands channels list` shows them."
        )
    return channel
