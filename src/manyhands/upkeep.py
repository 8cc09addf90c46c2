"""Housekeeping: what is old goes, what is kept is measured, numbers for events never run out.

How long things are kept is a person's setting. Nothing here decides what a call or an event means.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from pathlib import Path

import anyio
from sqlalchemy import Column, ColumnElement, Connection, Table, Text, cast, delete, func, select

from manyhands.approvals.types import ApprovalState
from manyhands.clock import Clock
from manyhands.errors import ManyhandsError
from manyhands.events import Event, EventBus
from manyhands.home import Home
from manyhands.logs import log_size
from manyhands.settings import CurrentSettings, Settings
from manyhands.store.engine import Store
from manyhands.store.event_log import forget_events
from manyhands.store.tables import approvals, call_ended, events, messages, tool_calls

log = logging.getLogger(__name__)

FIRST_AFTER_S = 60.0
EVERY_S = 6 * 3600.0
CHUNK = 500
RENEW_EVERY = 1000
_ABANDONED = timedelta(days=1)
_PARTIAL = ".partial"
_STAGING = (".backup-*", ".restore-*")
_ANSWERED = approvals.c.state != ApprovalState.PENDING.value


@dataclass(frozen=True, slots=True)
class Kept:
    """How much is kept, in bytes unless it says otherwise."""

    database: int
    results: int
    logs: int
    disk_free: int
    disk_total: int
    calls_count: int
    events_count: int
    results_count: int
    oldest_call: datetime | None


@dataclass(frozen=True, slots=True)
class Cleaned:
    """How many of each were removed."""

    calls: int = 0
    approvals: int = 0
    events: int = 0
    results: int = 0
    attachments: int = 0
    staging: int = 0

    def __bool__(self) -> bool:
        return any(astuple(self))


@dataclass(frozen=True, slots=True)
class _Result:
    """The files of one large result, which come and go together."""

    paths: tuple[Path, ...]
    changed: float
    size: int

    @property
    def is_partial(self) -> bool:
        """Whether it is still being written."""
        return self.paths[0].name.endswith(_PARTIAL)


class Upkeep:
    """Keeps the home from growing without end."""

    def __init__(
        self, store: Store, home: Home, settings: CurrentSettings, bus: EventBus, clock: Clock
    ) -> None:
        self._store = store
        self._home = home
        self._settings = settings
        self._bus = bus
        self._clock = clock
        self._used_many = anyio.Event()

    async def run(self) -> None:
        """Clean now and then; runs as long as the hub does."""
        self._bus.observe(self._count)
        async with anyio.create_task_group() as group:
            group.start_soon(self._renew_numbers)
            await self._clock.sleep(FIRST_AFTER_S)
            while True:
                await self._clean_quietly()
                await self._clock.sleep(EVERY_S)

    async def clean(self) -> Cleaned:
        """Remove what is older, or larger, than the settings allow; what still waits stays, however old."""
        settings, now = self._settings.current, self._clock.now()
        calls_before = now - timedelta(days=settings.retention_calls_days)
        events_before = now - timedelta(days=settings.retention_events_days)
        return Cleaned(
            calls=await self._remove_old(tool_calls, tool_calls.c.at, calls_before, call_ended),
            approvals=await self._remove_old(approvals, approvals.c.created_at, calls_before, _ANSWERED),
            events=await self._store.write(lambda conn: forget_events(conn, events_before)),
            results=await anyio.to_thread.run_sync(_clean_results, self._home.results, settings, now),
            attachments=await self._clean_attachments(now),
            staging=await anyio.to_thread.run_sync(_clean_staging, self._home.path, now),
        )

    async def _clean_attachments(self, now: datetime) -> int:
        """Those that no message carries. One that was just attached may not be in its message yet."""
        abandoned = (now - _ABANDONED).timestamp()
        files = await anyio.to_thread.run_sync(lambda: list(_files(self._home.attachments)))
        old = {path for path, changed, _ in files if changed < abandoned}
        if not old:
            return 0
        carried = await self._store.read(_carried)
        unused = [path for path in old if path.name not in carried]
        await anyio.to_thread.run_sync(_remove, unused)
        return len(unused)

    async def measure(self) -> Kept:
        """How much there is now."""
        calls, kept_events, oldest = await self._store.read(_counts)
        results = await anyio.to_thread.run_sync(_results, self._home.results)
        logs = await anyio.to_thread.run_sync(log_size, self._home.logs)
        usage = await anyio.to_thread.run_sync(shutil.disk_usage, self._home.path)
        return Kept(
            database=await self._store.size(),
            results=sum(result.size for result in results),
            logs=logs,
            disk_free=usage.free,
            disk_total=usage.total,
            calls_count=calls,
            events_count=kept_events,
            results_count=len(results),
            oldest_call=oldest,
        )

    async def _remove_old(
        self, table: Table, moment: Column[datetime], before: datetime, ended: ColumnElement[bool]
    ) -> int:
        """In small pieces, so that nobody waits long for the writer."""
        removed = 0
        while count := await self._store.write(lambda conn: _remove_some(conn, table, moment, before, ended)):
            removed += count
        return removed

    async def _clean_quietly(self) -> None:
        try:
            if cleaned := await self.clean():
                log.info("removed what was old: %s", cleaned)
        except ManyhandsError as error:
            log.warning("cleaning did not work, it is tried again later: %s", error)
        except Exception:  # border: whatever cannot be removed, the hub goes on
            log.exception("cleaning did not work, it is tried again later")

    def _count(self, event: Event) -> None:
        if event.seq % RENEW_EVERY == 0:
            self._used_many.set()

    async def _renew_numbers(self) -> None:
        while True:
            await self._used_many.wait()
            self._used_many = anyio.Event()
            try:
                await self._bus.keep_reserved()
            except ManyhandsError as error:
                log.warning("no further event numbers could be reserved: %s", error)


def _remove_some(
    conn: Connection, table: Table, moment: Column[datetime], before: datetime, ended: ColumnElement[bool]
) -> int:
    """Ids sort by time, so the oldest stand first and no index on the time is needed."""
    oldest = conn.execute(select(table.c.id, moment).where(ended).order_by(table.c.id).limit(CHUNK)).all()
    old = [row[0] for row in oldest if row[1] < before]
    if old:
        conn.execute(delete(table).where(table.c.id.in_(old)))
    return len(old)


def _counts(conn: Connection) -> tuple[int, int, datetime | None]:
    calls = conn.execute(select(func.count()).select_from(tool_calls)).scalar_one()
    kept_events = conn.execute(select(func.count()).select_from(events)).scalar_one()
    oldest = conn.execute(select(tool_calls.c.at).order_by(tool_calls.c.id).limit(1)).scalar()
    return calls, kept_events, oldest


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _carried(conn: Connection) -> set[str]:
    """The attachments that messages carry."""
    query = select(messages.c.attachments).where(cast(messages.c.attachments, Text) != "[]")
    return {str(one.get("sha256")) for row in conn.execute(query).scalars() for one in row or ()}


def _clean_staging(home: Path, now: datetime) -> int:
    """What backups and restores that were killed have left."""
    abandoned = (now - _ABANDONED).timestamp()
    found = [path for pattern in _STAGING for path in home.glob(pattern) if path.is_dir()]
    old = [path for path in found if path.stat().st_mtime < abandoned]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return len(old)


def _clean_results(directory: Path, settings: Settings, now: datetime) -> int:
    """By age first, then the oldest until the rest fits."""
    old = now.timestamp() - settings.retention_results_days * 86_400
    abandoned = (now - _ABANDONED).timestamp()
    removed, left = 0, []
    for result in sorted(_results(directory), key=lambda one: one.changed):
        if result.changed < old or (result.is_partial and result.changed < abandoned):
            _remove(result.paths)
            removed += 1
        else:
            left.append(result)
    surplus = sum(result.size for result in left) - settings.retention_results_bytes
    for result in left:
        if surplus <= 0:
            break
        _remove(result.paths)
        removed, surplus = removed + 1, surplus - result.size
    return removed


def _results(directory: Path) -> list[_Result]:
    """Each large result with all of its files: its text, and what else belongs to it."""
    parts: dict[str, list[tuple[Path, float, int]]] = {}
    for file in _files(directory):
        name = file[0].name
        parts.setdefault(name if name.endswith(_PARTIAL) else name.partition(".")[0], []).append(file)
    return [
        _Result(
            tuple(path for path, _, _ in files),
            max(changed for _, changed, _ in files),
            sum(size for _, _, size in files),
        )
        for files in parts.values()
    ]


def _files(directory: Path) -> Iterator[tuple[Path, float, int]]:
    """Every file with when it was changed and how large it is; one that goes meanwhile is left out."""
    if not directory.is_dir():
        return
    for path in directory.iterdir():
        try:
            facts = path.stat()
        except FileNotFoundError:
            continue
        if path.is_file():
            yield path, facts.st_mtime, facts.st_size
