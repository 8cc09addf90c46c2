"""Threads: conversations below a channel, some of them with a worktree of their own.

Nothing is half done: a thread whose worktree cannot be made is not made, and a worktree is removed before its
thread is, with nothing of the work in it lost unless that was said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import anyio
import anyio.to_thread
from sqlalchemy import Connection

from manyhands.chat import store as channel_rows
from manyhands.chat import worktree_store
from manyhands.chat.channel_rules import check_name
from manyhands.chat.types import Channel, Run, RunOptions, Speaker
from manyhands.chat.worktree_diff import WorktreeDiff, diff_of
from manyhands.chat.worktree_holdings import size_of
from manyhands.chat.worktree_rules import Deleted, Worktree, WorktreeView
from manyhands.chat.worktrees import Worktrees, checkout_of
from manyhands.chat.writing import check_text
from manyhands.errors import InvalidError, NotFoundError
from manyhands.models.types import Attachment
from manyhands.store.engine import Store

AT_ONCE = 4


class Channels(Protocol):
    """What is needed of the channel service."""

    async def get(self, channel_id: str) -> Channel: ...

    async def thread_of(self, parent_id: str, name: str) -> Channel: ...

    async def add(self, fresh: Channel, also: Callable[[Connection], None]) -> Channel: ...

    async def delete(self, channel_id: str) -> None: ...

    async def update(self, channel_id: str, values: dict[str, Any]) -> Channel: ...


class Runs(Protocol):
    """What is needed of the run service."""

    async def start(
        self,
        channel_id: str,
        prompt: str,
        options: RunOptions | None = None,
        attachments: Sequence[Attachment] = (),
        author_id: str = "owner",
    ) -> Run: ...

    async def options_of(self, speaker: Speaker, own_channel: str | None) -> RunOptions: ...

    async def stop_channel(self, channel_id: str) -> None: ...

    def is_working(self, channel_id: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What a clean-up did."""

    removed: Sequence[WorktreeView]
    kept: Sequence[WorktreeView]

    @property
    def freed(self) -> int:
        return sum(view.size for view in self.removed)


class ThreadService:
    """The use cases of threads and worktrees."""

    def __init__(self, store: Store, channels: Channels, runs: Runs, worktrees: Worktrees) -> None:
        self._store = store
        self._channels = channels
        self._runs = runs
        self._worktrees = worktrees

    # --- making

    async def create(
        self,
        parent_id: str,
        name: str,
        message: str | None = None,
        author_id: str = "owner",
        *,
        speaker: Speaker = "person",
        own_channel: str | None = None,
    ) -> Channel:
        """A thread in the parent's directory; with a message, a run starts in it at once."""
        options = await self._check(name, message, speaker, own_channel)
        thread = await self._channels.add(await self._channels.thread_of(parent_id, name), _nothing)
        await self._begin(thread, message, options, author_id)
        return thread

    async def create_worktree(
        self,
        parent_id: str,
        branch: str | None,
        name: str | None = None,
        message: str | None = None,
        author_id: str = "owner",
        *,
        speaker: Speaker = "person",
        own_channel: str | None = None,
        also: Callable[[Connection, Channel], None] | None = None,
    ) -> Channel:
        """A thread with a worktree of its own, on a new branch that starts from `branch`.

        `also`: what else is stored together with the thread, so that a crash leaves both or neither.
        """
        label = name if name is not None else (branch or "worktree")
        options = await self._check(label, message, speaker, own_channel)
        fresh = await self._channels.thread_of(parent_id, label)
        parent = await self._channels.get(parent_id)
        if parent.dir_path is None:
            raise InvalidError("This channel has no directory.", hint="Use the channel of a repository.")
        tree, directory = await self._worktrees.make(
            fresh.id, parent.dir_path, branch, name, trusted=parent.trusted
        )
        thread = replace(
            fresh,
            dir_path=directory,
            branch=tree.branch,
            worktree=tree.path,
            # Another branch may name other servers in its .mcp.json: a person has not seen those.
            trusted=False,
        )

        def store(conn: Connection) -> None:
            worktree_store.mark_ready(conn, tree.id)
            if also is not None:
                also(conn, thread)

        try:
            await self._channels.add(thread, store)
        except BaseException:
            await self._worktrees.undo(tree)
            raise
        self._worktrees.finished(tree)
        await self._begin(thread, message, options, author_id)
        return thread

    async def _check(
        self, name: str, message: str | None, speaker: Speaker, own_channel: str | None
    ) -> RunOptions:
        """Everything that can be wrong is found before anything is made."""
        check_name(name)
        if message is None:
            return RunOptions()
        check_text(message)
        return await self._runs.options_of(speaker, own_channel)

    async def _begin(self, thread: Channel, message: str | None, options: RunOptions, author_id: str) -> None:
        if message is not None:
            await self._runs.start(thread.id, message, options, author_id=author_id)

    # --- deleting

    async def delete(self, thread_id: str, force: bool = False) -> Deleted:
        """A thread with what is below it. If a worktree holds work, nothing is touched, unless `force`."""
        thread = await self._channels.get(thread_id)
        if thread.parent_id is None:
            raise NotFoundError(
                f"{thread_id!r} is a channel, not a thread.", hint="Delete the channel instead."
            )
        family = await self._family(thread_id)
        trees = [tree for tree in await self._worktrees.all() if tree.id in family]
        if lost := await self._would_lose(trees, force=force):
            return Deleted(True, lost)
        await self._stop(family)
        lost = await self._remove(trees, force=force)
        if lost and not force:  # its run had time to write something before it was stopped
            return Deleted(True, lost)
        await self._channels.delete(thread_id)
        return Deleted(False, lost)

    async def delete_channel(self, channel_id: str) -> None:
        """A channel with its threads; what runs in them is stopped, files and worktrees stay."""
        await self._channels.get(channel_id)
        await self._stop(await self._family(channel_id))
        await self._channels.delete(channel_id)

    async def delete_worktree(self, worktree_id: str, force: bool = False) -> Deleted:
        """A worktree with its thread, or alone when that is gone."""
        tree = await self._worktrees.get(worktree_id)
        if await self._thread(worktree_id) is not None:
            return await self.delete(worktree_id, force)
        held = await self._worktrees.remove(tree, force=force)
        lost = held.would_lose(tree)
        return Deleted(bool(lost) and not force, lost)

    async def _family(self, channel_id: str) -> list[str]:
        """The channel and everything below it."""
        return await self._store.read(lambda conn: channel_rows.select_below(conn, channel_id))

    async def _would_lose(self, trees: Sequence[Worktree], *, force: bool) -> list[str]:
        if force:
            return []
        found = []
        for tree in trees:
            found += (await self._worktrees.holdings(tree)).would_lose(tree)
        return found

    async def _stop(self, family: Sequence[str]) -> None:
        async with anyio.create_task_group() as group:
            for channel_id in family:
                group.start_soon(self._runs.stop_channel, channel_id)

    async def _remove(self, trees: Sequence[Worktree], *, force: bool) -> list[str]:
        lost = []
        for tree in trees:
            held = await self._worktrees.remove(tree, force=force)
            lost += held.would_lose(tree)
        return lost

    # --- worktrees

    async def worktrees(self) -> Sequence[WorktreeView]:
        """All of them with size and state, newest first."""
        trees = await self._worktrees.all()
        views: list[WorktreeView | None] = [None] * len(trees)
        limit = anyio.CapacityLimiter(AT_ONCE)

        async def look(index: int) -> None:
            async with limit:
                views[index] = await self._view(trees[index])

        async with anyio.create_task_group() as group:
            for index in range(len(trees)):
                group.start_soon(look, index)
        return [view for view in views if view is not None]

    async def worktree(self, worktree_id: str) -> WorktreeView:
        return await self._view(await self._worktrees.get(worktree_id))

    async def diff(self, worktree_id: str) -> WorktreeDiff:
        """The files that differ from its base."""
        tree = await self._worktrees.get(worktree_id)
        return await diff_of(tree, checkout_of(tree))

    async def clean_merged(self, *, unchanged: bool = False) -> Cleaned:
        """Remove worktrees whose work is merged; with `unchanged` also those that nothing was done in.

        Their conversations stay and go on in the channel's own directory.
        """
        removed, kept = [], []
        for view in await self.worktrees():
            wanted = view.state in ("merged", "missing") or (unchanged and view.state == "unchanged")
            if wanted and not await self._is_in_use(view.worktree) and await self._clean(view):
                removed.append(view)
            else:
                kept.append(view)
        return Cleaned(removed, kept)

    async def _is_in_use(self, tree: Worktree) -> bool:
        return any(self._runs.is_working(channel_id) for channel_id in await self._family(tree.id))

    async def _clean(self, view: WorktreeView) -> bool:
        tree = view.worktree
        held = await self._worktrees.remove(tree, force=False)
        if held.would_lose(tree):
            return False
        thread = await self._thread(tree.id)
        if thread is not None and thread.parent_id is not None:
            parent = await self._channels.get(thread.parent_id)
            values = {"dir_path": parent.dir_path, "worktree": None, "branch": None, "active": False}
            await self._channels.update(thread.id, values)
        return True

    async def _view(self, tree: Worktree) -> WorktreeView:
        thread = await self._thread(tree.id)
        held = await self._worktrees.holdings(tree)
        size = await anyio.to_thread.run_sync(size_of, tree.path)
        return WorktreeView(tree, held, size, thread.name if thread else None)

    async def _thread(self, channel_id: str) -> Channel | None:
        try:
            return await self._channels.get(channel_id)
        except NotFoundError:
            return None


def _nothing(conn: Connection) -> None:
    """Nothing else is stored."""
