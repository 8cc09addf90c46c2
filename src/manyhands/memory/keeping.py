"""Keeps collections up to date: when they are read, by whom, how far that is, what is watched meanwhile.

In a daemon the work goes on in the background and files are watched. A hub that stays only for a moment looks
at the files before each question instead.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from manyhands.chat.types import Channel, Message
from manyhands.clock import Clock
from manyhands.events import Event, EventBus
from manyhands.memory import store as rows
from manyhands.memory.conversations import CONVERSATION, documents_of
from manyhands.memory.embedders import Embedder
from manyhands.memory.indexing import Hide, Indexer
from manyhands.memory.learning import Learner
from manyhands.memory.records import Records
from manyhands.memory.roots import (
    CHANNEL,
    GLOBAL,
    Roots,
    directory_of,
    global_roots,
    is_project,
    project_roots,
    scope_name,
)
from manyhands.memory.types import FileFacts, IndexReport
from manyhands.memory.walking import current_mark
from manyhands.memory.watching import watch
from manyhands.settings import CurrentSettings

log = logging.getLogger(__name__)

QUICK_S = 0.1
LOOK_SHARE = 20
"""Where nothing watches the files, they are looked at before a question. If that takes longer than a moment,
it is done only when the time of so many looks has passed."""
FIRST_WAIT_S = 10.0
"""How long questions wait for files that are being read for the first time, from when that began."""
RETRY_EVERY_S = 15.0
TOUCH_S = 60.0
FOLLOWED_DAYS = 30
KEPT_DAYS = 180
MOST_FOLLOWED = 8
"""Collections that are watched at a time; who was not asked for longest makes room."""
PROGRESS_S = 0.25


_TALK = ("message.created", "message.updated", "run.finished", "settings.changed", "channel.deleted")


@dataclass
class CollectionState:
    """What this process does about a collection."""

    writing: anyio.Lock = field(default_factory=anyio.Lock)
    rereading: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while single files are written for a question, beside whoever reads everything."""
    learning: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while vectors are made, which may take long: nobody waits for it with a question."""
    phase: str = "idle"
    done: int = 0
    total: int = 0
    told_at: float = 0.0
    looked_at: float | None = None
    """When all its files were looked at last, by the monotonic clock."""
    look_took: float = 0.0
    touched_at: float | None = None
    read: anyio.Event = field(default_factory=anyio.Event)
    """Its words are up to date for the first time."""
    used_at: float = 0.0
    followed: bool = False
    followed_at: float = 0.0
    """Since when, by the monotonic clock."""
    following: anyio.CancelScope | None = None
    watched: bool = False
    watch_problem: str | None = None
    talk_changed: bool = True
    has_talk: bool = True
    """Conversations are kept of it, as far as is known."""
    pending: int = 0
    """Files that were seen to change and are not read again yet."""
    reading_since: float | None = None
    """Since when all its files are looked at and read, by the monotonic clock, while that goes on."""
    roots: Roots | None = None
    embedder: Embedder | None = None
    warmed: bool = False
    """Somebody has got ready for questions to it."""

    @property
    def stale(self) -> int:
        """Files that are new or have changed and are not read yet, as far as that is known."""
        return self.pending + (self.total - self.done if self.phase == "reading" else 0)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the texts come from, besides files."""

    channels: Callable[[str], Awaitable[Sequence[Channel]]]
    """The channels whose talk belongs to a collection."""
    said: Callable[[str], Awaitable[Sequence[Message]]]
    """All messages of a channel, oldest first."""


class Keeper:
    """The one who writes the index."""

    def __init__(
        self,
        records: Records,
        bus: EventBus,
        clock: Clock,
        settings: CurrentSettings,
        learner: Learner,
        marks: dict[int, str],
        folder: Path,
        sources: Sources,
        warm: Callable[[str], Awaitable[None]],
        hide: Hide,
    ) -> None:
        """`folder`: that of the global memory. `warm`: get ready for questions to a collection.

        `hide` takes secrets out of texts.
        """
        self._records = records
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._learner = learner
        self._folder = folder
        self._sources = sources
        self._warm = warm
        self._indexer = Indexer(records, marks, hide)
        self._states: dict[str, CollectionState] = {}
        self._group: TaskGroup | None = None
        self._looking = anyio.CapacityLimiter(2)
        bus.observe(self._notice, *_TALK)

    def state(self, collection: str) -> CollectionState:
        return self._states.setdefault(collection, CollectionState())

    def roots(self, collection: str) -> Roots | None:
        """Where its files are; nothing for a channel without a directory."""
        current = self._settings.current
        if collection == GLOBAL:
            return global_roots(str(self._folder), current.memory_global_paths)
        return project_roots(collection, current.memory_paths) if is_project(collection) else None

    def is_learning(self, collections: Sequence[str]) -> bool:
        return any(self.state(one).phase == "embedding" for one in collections)

    # --- up to date

    async def make_ready(self, collections: Sequence[str]) -> list[str]:
        """Bring them up to date before a question, as far as that is quick; what is not is said."""
        notes = []
        for collection in collections:
            self.state(collection).used_at = self._clock.monotonic()
            if self._group is not None:
                notes += await self._ready_meanwhile(collection)
            elif await self._should_look(collection):
                await self.look(collection)
            await self._take_talk(collection)
        return notes

    async def _ready_meanwhile(self, collection: str) -> list[str]:
        """Reading goes on in the background; whoever asks waits for it only for a while."""
        state = self.state(collection)
        followed = self._settings.current.memory_watch
        if followed and not state.followed:
            self._follow(collection)
        elif not followed or (state.read.is_set() and not state.watched):
            await self._look_meanwhile(collection)
        if followed and not state.read.is_set():
            with anyio.move_on_after(max(state.followed_at + FIRST_WAIT_S - self._clock.monotonic(), 0)):
                await state.read.wait()
        if state.read.is_set() and not self._is_late(state):
            return []
        far = (
            f"{state.done:,} of {state.total:,} files so far"
            if state.total
            else "the files are being looked for"
        )
        return [f"The memory is still being read ({far}); ask again later for more."]

    async def _look_meanwhile(self, collection: str) -> None:
        state, over = self.state(collection), anyio.Event()

        async def look() -> None:
            await self._changed(collection, None)
            over.set()

        if self._is_late(state) or not await self._should_look(collection):
            return
        if self._group is not None:
            self._group.start_soon(look)
            with anyio.move_on_after(self._patience(state)):
                await over.wait()

    def _patience(self, state: CollectionState) -> float:
        """How long a question waits for its files to be read."""
        if state.reading_since is None:
            return FIRST_WAIT_S
        return max(state.reading_since + FIRST_WAIT_S - self._clock.monotonic(), 0)

    def _is_late(self, state: CollectionState) -> bool:
        """Whether its files are being read, and nobody waits for that any longer."""
        return state.reading_since is not None and not self._patience(state)

    async def _should_look(self, collection: str) -> bool:
        """Unless that was just done and takes long: then most of the time would go into looking."""
        state = self.state(collection)
        now = self._clock.monotonic()
        is_old = state.looked_at is None or now - state.looked_at > LOOK_SHARE * state.look_took
        embedder = await self._learner.embedder()
        is_other = self.roots(collection) != state.roots or state.embedder != embedder
        return is_old or is_other or state.look_took < QUICK_S

    async def reread(self, collections: Sequence[str], files: Sequence[FileFacts]) -> None:
        """Files of which somebody saw that they are not what they were."""
        gone = await anyio.to_thread.run_sync(
            lambda: [file for file in files if current_mark(file.path) is None]
        )
        for collection in collections:
            roots, state = self.roots(collection), self.state(collection)
            if roots is None:
                continue
            paths = [file.path for file in files]
            if state.reading_since is not None:  # which may take long, and who writes a file writes it whole
                async with state.rereading:
                    largest = self._settings.current.memory_file_bytes
                    await self._indexer.index_paths(collection, roots, largest, paths)
                continue
            await self._read_paths(collection, roots, paths)
            if gone and not state.watched:  # it may have another name now
                await self.look(collection)

    # --- indexing

    async def index(self, collection: str, *, again: bool = False) -> IndexReport:
        """Read what changed, forget what is gone, then give vectors to what has none. `again`: all of it."""
        state = self.state(collection)
        async with state.writing:
            if again:
                self._learner.start_over()
                await self.drop(collection)
            self._tell(collection, "looking", 0, 0)
            report = await self._index(collection, state)
        report = await self._learn(collection, report)
        self._tell_indexed(collection, report)
        return report

    async def look(self, collection: str) -> None:
        """The same by ourselves: when there is nothing to do, nobody hears of it."""
        state = self.state(collection)
        async with state.writing:
            report = await self._index(collection, state)
        if not state.learning.locked():
            report = await self._learn(collection, report)
        if report.did_something:
            self._tell_indexed(collection, report)

    async def _index(self, collection: str, state: CollectionState) -> IndexReport:
        state.reading_since = self._clock.monotonic()
        try:
            return await self._bring_up_to_date(collection, state)
        finally:
            state.phase, state.done, state.total = "idle", 0, 0
            state.reading_since = None

    async def _touch(self, collection: str, state: CollectionState) -> None:
        """There is such a collection, and it is used; written now and then alone."""
        now = self._clock.monotonic()
        if state.touched_at is None or now - state.touched_at > TOUCH_S:
            moment = self._clock.now()
            await self._records.write(partial(rows.touch_collection, collection=collection, now=moment))
            state.touched_at = now

    async def _bring_up_to_date(self, collection: str, state: CollectionState) -> IndexReport:
        is_first = state.touched_at is None
        await self._touch(collection, state)
        tell = partial(self._tell, collection)
        roots, looked = self.roots(collection), self._clock.monotonic()
        report = IndexReport()
        if roots is not None:
            largest = self._settings.current.memory_file_bytes
            report = await self._indexer.index(collection, roots, largest, tell)
        if not report.did_something:
            state.look_took = self._clock.monotonic() - looked
        report += await self._talk(collection)
        if is_first or report.did_something:
            moment = self._clock.now()
            await self._records.write(partial(rows.mark_indexed, collection=collection, now=moment))
        state.looked_at, state.roots, state.pending = looked, roots, 0
        state.embedder = await self._learner.embedder()
        state.read.set()
        return report

    def _warm_soon(self, collection: str, *, again: bool) -> None:
        """In a daemon the first question is not to wait for what can be done before."""
        state = self.state(collection)
        if self._group is not None and (again or not state.warmed):
            state.warmed = True
            self._group.start_soon(self._warm_quietly, collection)

    async def _warm_quietly(self, collection: str) -> None:
        try:
            await self._warm(collection)
        except Exception as error:  # border: whoever asks hears what is wrong
            log.warning("the memory of %s could not be made ready for questions", collection, exc_info=error)

    async def drop(self, collection: str) -> None:
        """Forget all of it, in small pieces, so that nobody waits long for the writer."""
        while await self._records.write(partial(rows.remove_some, collection=collection)):
            pass
        await self._records.write(partial(rows.delete_collection, collection=collection))
        self.state(collection).touched_at = None

    async def _read_paths(self, collection: str, roots: Roots, paths: Sequence[str]) -> None:
        state = self.state(collection)
        state.pending += len(paths)
        async with state.writing:
            try:
                largest = self._settings.current.memory_file_bytes
                report = await self._indexer.index_paths(collection, roots, largest, paths)
            finally:
                state.pending = max(state.pending - len(paths), 0)
        await self._tell_of_changes(collection, report)

    async def _tell_of_changes(self, collection: str, report: IndexReport) -> None:
        """Somebody may wait for it: if vectors are being made, those of the changes follow."""
        if report.did_something:
            if not self.state(collection).learning.locked():
                report = await self._learn(collection, report)
            self._tell_indexed(collection, report)

    async def _learn(self, collection: str, report: IndexReport) -> IndexReport:
        """Vectors for what has none, and who reads need not wait; what became of it is in the report."""
        state = self.state(collection)
        async with state.learning:
            try:
                learned = await self._learner.learn(collection, partial(self._tell, collection))
            finally:
                state.phase, state.done, state.total = "idle", 0, 0
        self._warm_soon(collection, again=learned.embedded > 0)
        return replace(report, embedded=learned.embedded, waiting=learned.waiting, notes=learned.notes)

    # --- conversations

    async def _take_talk(self, collection: str) -> None:
        """What was said since the last question; who reads everything for the first time takes it along."""
        state = self.state(collection)
        wanted = self._settings.current.memory_conversations or state.has_talk
        if not (state.talk_changed and wanted and state.read.is_set()):
            return
        with anyio.move_on_after(self._patience(state)) as waiting:
            await state.writing.acquire()
        if waiting.cancelled_caught:
            return
        try:
            await self._touch(collection, state)
            report = await self._talk(collection)
        finally:
            state.writing.release()
        await self._tell_of_changes(collection, report)

    async def _talk(self, collection: str) -> IndexReport:
        """The conversations of a collection; none when they are not wanted."""
        if collection == GLOBAL:
            return IndexReport()
        self.state(collection).talk_changed = False
        documents = []
        if self._settings.current.memory_conversations:
            for channel in await self._sources.channels(collection):
                documents += documents_of(channel, await self._sources.said(channel.id))
        report = await self._indexer.put_documents(collection, CONVERSATION, documents)
        self.state(collection).has_talk = bool(documents)
        return report

    def _notice(self, event: Event) -> None:
        """Something was said, or the settings are others now."""
        for state in self._states.values():
            state.talk_changed = True
        if event.type == "channel.deleted":  # what was said there is gone with it
            name = f"{CHANNEL}{event.data['id']}"
            self._records.post(partial(rows.delete_collection, collection=name))
        if event.type == "settings.changed" and self._group is not None:
            self._group.start_soon(self._take_settings)

    async def _take_settings(self) -> None:
        """Other roots are followed from now on, and another embedder makes its vectors."""
        for collection, state in self._states.items():
            if not self._settings.current.memory_watch:
                self._release(state)
            elif state.following is not None and state.roots != self.roots(collection):
                state.following.cancel()
        await self._try_again()

    # --- in a daemon

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Follow what was used lately, and try again what an embedder could not do; until cancelled."""
        await anyio.Path(self._folder).mkdir(mode=0o700, exist_ok=True)  # to be watched it has to be there
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                task_status.started()
                if self._settings.current.memory_watch:
                    await self._follow_used()
                while True:
                    await self._clock.sleep(RETRY_EVERY_S)
                    await self._try_again()
            finally:
                self._group = None

    async def _follow_used(self) -> None:
        """What was used lately is followed, and what was not for long is forgotten: it can be read again."""
        now = self._clock.now()
        known = await self._records.read(rows.select_collections)
        for collection in known:
            if collection.used_at < now - timedelta(days=KEPT_DAYS):
                await self.drop(collection.id)
        used = [one for one in known if one.used_at >= now - timedelta(days=FOLLOWED_DAYS)]
        newest = sorted(used, key=lambda one: one.used_at, reverse=True)
        for collection in newest[:MOST_FOLLOWED]:
            self._follow(collection.id)

    def _follow(self, collection: str) -> None:
        """Read it in the background, and watch it from now on."""
        state = self.state(collection)
        if self._group is None or state.followed:
            return
        followed = [one for one in self._states.values() if one.followed]
        if len(followed) >= MOST_FOLLOWED:
            self._release(min(followed, key=lambda one: one.used_at))
        state.followed, state.followed_at = True, self._clock.monotonic()
        self._group.start_soon(self._keep, collection)

    def _release(self, state: CollectionState) -> None:
        """Watch it no longer: each watch holds a thread. When it is used again it is looked at anew."""
        scope, state.following = state.following, None
        state.followed = state.watched = False
        state.read = anyio.Event()
        if scope is not None:
            scope.cancel()

    async def _keep(self, collection: str) -> None:
        """Until its roots are others; then with those."""
        state = self.state(collection)
        again = True
        while again:
            with anyio.CancelScope() as scope:
                state.following = scope
                await self._watch(collection, state, scope)
            again = scope.cancelled_caught and state.following is scope

    async def _watch(self, collection: str, state: CollectionState, scope: anyio.CancelScope) -> None:
        try:
            roots = self.roots(collection)
            if roots is not None and await anyio.to_thread.run_sync(_any_exists, roots.places):
                began = partial(setattr, state, "watched", True)
                await watch(roots, began, partial(self._changed, collection))
        except Exception as error:  # border: a system that cannot watch ends no daemon
            log.warning("the files of %s cannot be watched", collection, exc_info=error)
            state.watch_problem = f"Its files cannot be watched: {error}"
        finally:
            if state.following is scope:  # else somebody else follows it by now
                state.watched = False
        await self._changed(collection, None)

    async def _changed(self, collection: str, paths: list[str] | None) -> None:
        roots = self.roots(collection)
        try:
            if paths is None or roots is None:
                async with self._looking:
                    await self.look(collection)
            else:
                await self._read_paths(collection, roots, paths)
        except Exception as error:  # border: the watch goes on, and the next change may find a database again
            log.warning("changes in %s were not read", collection, exc_info=error)

    async def _try_again(self) -> None:
        """Ask an embedder again that has failed, or one that a person has just chosen."""
        await self._learner.embedder()
        if self._learner.resting:
            return
        for collection, state in list(self._states.items()):
            if state.read.is_set() and not state.learning.locked():
                report = await self._learn(collection, IndexReport())
                if report.embedded:
                    self._tell_indexed(collection, report)

    # --- news

    def _tell(self, collection: str, phase: str, done: int, total: int) -> None:
        state = self.state(collection)
        now = self._clock.monotonic()
        is_news = phase != state.phase or now - state.told_at >= PROGRESS_S
        state.phase, state.done, state.total = phase, done, total
        if is_news:
            state.told_at = now
            data = {"scope": scope_name(collection), "directory": directory_of(collection)}
            self._bus.publish("memory.progress", {**data, "phase": phase, "done": done, "total": total})

    def _tell_indexed(self, collection: str, report: IndexReport) -> None:
        self._bus.publish("memory.indexed", report_json(collection, report))


def _any_exists(places: Sequence[str]) -> bool:
    return any(map(os.path.exists, places))


def report_json(collection: str, report: IndexReport) -> dict[str, Any]:
    """A report as events and the API show it."""
    return {
        "scope": scope_name(collection),
        "directory": directory_of(collection),
        "files": {
            "added": report.added,
            "changed": report.changed,
            "removed": report.removed,
            "unchanged": report.unchanged,
        },
        "chunks": {"added": report.chunks_added, "removed": report.chunks_removed},
        "embedded": report.embedded,
        "waiting": report.waiting,
        "problems": [{"path": path, "problem": problem} for path, problem in report.problems[:100]],
        "notes": list(report.notes),
    }
