"""Channels: found or made by directory or name, changed, deleted, trusted.

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
from manyhands.errors import InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.store.engine import Store

DirectoryObserver = Callable[[Channel | None, Channel | None], None]
"""Told about a channel before and after a change of its directory or trust; nothing means made or gone."""

_CHANGEABLE = frozenset({"name", "dir_path", "active", "branch", "worktree", "system_prompt", "model"})


class ChannelService:
    """The use cases of channels."""

    def __init__(self, store: Store, bus: EventBus, clock: Clock) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._observers: list[DirectoryObserver] = []

    def observe(self, observer: DirectoryObserver) -> None:
        """Call `observer` when a channel with a directory appears, moves, changes trust or goes."""
        self._observers.append(observer)

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
            fresh = self._new_channel(wanted, None, platform)
            rows.insert_channel(conn, fresh)
            return fresh

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
            trusted=parent.trusted,
            model=parent.model,
            runner=parent.runner,
            system_prompt=parent.system_prompt,
        )

    async def add(self, fresh: Channel, also: Callable[[Connection], None] | None = None) -> Channel:
        """Store a new thread, and in the same transaction whatever else belongs to it.

        One whose id is there already is left as it is.
        """

        def work(conn: Connection) -> bool:
            is_new = rows.insert_channel(conn, fresh)
            if also is not None:
                also(conn)
            return is_new

        if await self._store.write(work):
            self._announce("channel.created", None, fresh)
        return fresh

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
        if values.get("dir_path"):
            values = values | {"dir_path": clean_directory(values["dir_path"])}
        if "name" in values:
            values = values | {"name": check_name(values["name"] or "")}
        return await self._change(channel_id, values)

    async def trust(self, channel_id: str, trusted: bool) -> Channel:
        """Say whether the servers of the directory's `.mcp.json` may start. Only a person may."""
        return await self._change(channel_id, {"trusted": trusted})

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
                rows.update_channel(conn, channel_id, values)
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
    if found is None and rows.insert_channel(conn, fresh):
        return fresh, True
    found = found or _find_same(conn, fresh)
    assert found is not None
    return found, False


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
