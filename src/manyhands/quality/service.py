"""The use cases of quality: scans of channels, their snapshots, comparisons with a base.

It owns which scans go on and what is kept of them. Measuring happens in other processes (`scanners`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup
from sqlalchemy import Connection

from manyhands.chat.types import Channel
from manyhands.clock import Clock
from manyhands.errors import (
    ConflictError,
    InvalidError,
    ManyhandsError,
    NotFoundError,
    UnavailableError,
)
from manyhands.events import EventBus
from manyhands.git import Checkout
from manyhands.home import Home
from manyhands.ids import new_id
from manyhands.paging import Page, cut_page
from manyhands.quality import excerpts
from manyhands.quality import store as rows
from manyhands.quality.base import checked_out
from manyhands.quality.branches import current_branch
from manyhands.quality.gate import Gate, GateProblem, GateRules, parse_rules
from manyhands.quality.packing import unpack
from manyhands.quality.scanners import Scanners
from manyhands.quality.types import Json, Part, Piece, Rows, Running, Shown, Snapshot, Source
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store

log = logging.getLogger(__name__)

Started = Literal["started", "in_progress"]


class Channels(Protocol):
    """What is needed of the channel service."""

    async def get(self, channel_id: str) -> Channel: ...


class NoScanYet(NotFoundError):
    """Nothing is known of this channel's code yet."""


@dataclass
class _Going:
    """A scan that goes on, as those who wait for it see it."""

    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)
    running: Running = field(default_factory=Running)
    snapshot: Snapshot | None = None
    error: ManyhandsError | None = None


class QualityService:
    """How healthy the code of each channel is."""

    parse_rules = staticmethod(parse_rules)

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        settings: CurrentSettings,
        channels: Channels,
        home: Home,
        scanners: Scanners,
        tasks: TaskGroup,
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._channels = channels
        self._room = home.quality
        self._scanners = scanners
        self._tasks = tasks
        self._going: dict[str, _Going] = {}

    # --- scans

    async def start_scan(self, channel_id: str) -> Started:
        """Begin to scan a channel's directory, unless that goes on already; the end is an event."""
        directory = await self._directory(channel_id)
        if channel_id in self._going:
            return "in_progress"
        going = self._going[channel_id] = _Going()
        self._tasks.start_soon(self._scan, channel_id, directory, going)
        return "started"

    async def scan(self, channel_id: str) -> Shown:
        """Scan and wait for it; a scan that goes on already is waited for."""
        await self.start_scan(channel_id)
        going = self._going[channel_id]
        await going.over.wait()
        if going.error is not None:
            raise going.error
        return await self.snapshot(channel_id)

    async def cancel(self, channel_id: str) -> bool:
        """End a scan that goes on; whether there was one."""
        await self._channels.get(channel_id)
        going = self._going.get(channel_id)
        if going is None:
            return False
        going.scope.cancel()
        await going.over.wait()
        return True

    def running(self, channel_id: str) -> Running | None:
        """How far a scan is that goes on."""
        going = self._going.get(channel_id)
        return None if going is None else going.running

    async def _scan(self, channel_id: str, directory: str, going: _Going) -> None:
        going.error = _cancelled()
        try:
            with going.scope:
                going.snapshot = await self._measure(channel_id, directory, going)
                going.error = None
        except ManyhandsError as error:
            going.error = error
        except Exception as error:  # border: a mistake of ours must not end the hub
            log.exception("the scan of %s failed", directory)
            going.error = UnavailableError(f"The scan failed: {error}", hint="The log says more.")
        finally:
            del self._going[channel_id]
            going.over.set()
        if going.error is not None:
            said = {"code": going.error.code, "error": going.error.message, "hint": going.error.hint}
            self._bus.publish("quality.failed", said, channel_id=channel_id)

    async def _measure(self, channel_id: str, directory: str, going: _Going) -> Snapshot:
        branch = await anyio.to_thread.run_sync(current_branch, directory)
        commit = await _commit_of(directory) if branch else None
        pieces: list[Piece] = []
        summary: Json = {}

        def take(message: Json) -> None:
            if "part" in message:
                pieces.append(Piece(**message))
            elif "summary" in message:
                summary.update(message["summary"])
            else:
                self._tell_progress(channel_id, going, message["progress"])

        await self._scanners.ask(directory, self._request("scan", directory), take)
        if branch != await anyio.to_thread.run_sync(current_branch, directory):
            raise ConflictError("The branch was changed during the scan.", hint="Scan again.")
        return await self._keep(channel_id, directory, branch, commit, summary, pieces)

    def _tell_progress(self, channel_id: str, going: _Going, progress: Json) -> None:
        going.running = Running(**progress)
        self._bus.publish("quality.progress", going.running.wire(), channel_id=channel_id)

    async def _keep(
        self,
        channel_id: str,
        directory: str,
        branch: str,
        commit: str | None,
        summary: Json,
        pieces: Sequence[Piece],
    ) -> Snapshot:
        now = self._clock.now()
        signal = summary["quality_signal"]
        snapshot = Snapshot(new_id("scan"), channel_id, branch, commit, directory, signal, summary, now)
        most = self._settings.current.quality_history

        def work(conn: Connection) -> Snapshot | None:
            if not rows.has_channel(conn, channel_id):
                raise NotFoundError("The channel was deleted during the scan.", hint="Scan another one.")
            before = rows.newest(conn, channel_id, branch)
            rows.add_snapshot(conn, snapshot, pieces, most)
            return before

        before = await self._store.write(work)
        shown = Shown(snapshot, branch, before)
        self._bus.publish("quality.scanned", shown.wire(), channel_id=channel_id)
        return snapshot

    def _request(self, kind: str, directory: str) -> Json:
        settings = self._settings.current
        return {
            "kind": kind,
            "root": directory,
            "exclude": list(settings.quality_exclude),
            "limits": {"files": settings.quality_max_files, "total_bytes": settings.quality_max_bytes},
            "workers": settings.quality_workers,
            "cache": str(self._room),
        }

    # --- what was found

    async def snapshot(self, channel_id: str) -> Shown:
        """The newest of the branch that is checked out, else the newest of all."""
        channel = await self._channels.get(channel_id)
        branch = await anyio.to_thread.run_sync(current_branch, channel.dir_path) if channel.dir_path else ""

        def work(conn: Connection) -> Shown | None:
            found = rows.newest(conn, channel_id, branch) or rows.newest(conn, channel_id)
            if found is None:
                return None
            older = rows.history(conn, channel_id, found.branch, 1, before=found.id)
            return Shown(found, branch, older[0] if older else None)

        shown = await self._store.read(work)
        if shown is None:
            raise NoScanYet(
                "This channel has not been scanned yet.",
                hint="Scan it first: the tool quality_scan, or `manyhands quality scan`.",
            )
        return shown

    async def rows(self, channel_id: str, part: Part, offset: int = 0, limit: int | None = None) -> Rows:
        """Rows of a list of the snapshot; without a limit all of them."""
        shown = await self.snapshot(channel_id)
        snapshot_id = shown.snapshot.id

        def work(conn: Connection) -> tuple[int, list[Piece]]:
            total = rows.count_rows(conn, snapshot_id, part)
            end = total if limit is None else min(total, offset + limit)
            return total, rows.pieces_between(conn, snapshot_id, part, offset, end)

        total, pieces = await self._store.read(work)
        found = await anyio.to_thread.run_sync(unpack, pieces)
        skip = offset - pieces[0].start if pieces else 0
        return Rows(shown, found[skip:][: len(found) if limit is None else limit], total)

    async def history(
        self, channel_id: str, branch: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Page[Snapshot]:
        """Snapshots newest first, of one branch or of all."""
        await self._channels.get(channel_id)
        found = await self._store.read(
            partial(rows.history, channel_id=channel_id, branch=branch, limit=limit + 1, before=cursor)
        )
        page, more = cut_page(found, limit)
        return Page(page, page[-1].id if more else None)

    async def source(self, channel_id: str, path: str, start_line: int, end_line: int) -> Source:
        """Lines of a file of the snapshot, as they are on disk now."""
        found = await self.rows(channel_id, "files")
        row = next((row for row in found.items if row["path"] == path), None)
        if row is None:
            raise NotFoundError(
                f"The snapshot has no file {path!r}.", hint="Take a path from one of its lists."
            )
        root = Path(found.shown.snapshot.directory)
        return await anyio.to_thread.run_sync(
            excerpts.read, root, path, row["language"], row["hash"], start_line, end_line
        )

    # --- comparisons

    async def gate(
        self, directory: str | Path, base: str | None = None, rules: Mapping[str, Any] | None = None
    ) -> Gate:
        """Compare a directory with a base ref; fails on new problems only.

        Without `base`: where the work left the main branch, or the last commit.
        """
        place = os.path.abspath(directory)  # noqa: ASYNC240 (no I/O)
        return await self._compare(place, base, parse_rules(rules), lambda running: None)

    async def compare(
        self, channel_id: str, base: str | None = None, rules: Mapping[str, Any] | None = None
    ) -> Gate:
        """The same for the directory of a channel; events say how far it is."""

        def tell(running: Running) -> None:
            self._bus.publish("quality.comparing", running.wire(), channel_id=channel_id)

        return await self._compare(await self._directory(channel_id), base, parse_rules(rules), tell)

    async def _compare(
        self, directory: str, base: str | None, rules: GateRules, tell: Callable[[Running], None]
    ) -> Gate:
        found: Json = {}

        def take(message: Json) -> None:
            if "progress" in message:
                tell(Running(**message["progress"]))
            else:
                found.update(message["compared"])

        tell(Running("checking out the base"))
        async with checked_out(directory, base, self._room) as earlier:
            request = self._request("compare", directory)
            request |= {"base_root": earlier.directory, "rules": rules.wire()}
            await self._scanners.ask(directory, request, take)
        found["problems"] = tuple(GateProblem(*problem) for problem in found["problems"])
        found["changes"] = tuple(found["changes"])
        return Gate(base=earlier.ref, base_commit=earlier.commit, **found)

    async def _directory(self, channel_id: str) -> str:
        channel = await self._channels.get(channel_id)
        if channel.dir_path is None:
            raise InvalidError(
                f"The channel {channel.name!r} has no directory.", hint="Use the channel of a project."
            )
        return channel.dir_path


async def _commit_of(directory: str) -> str | None:
    with suppress(ManyhandsError):  # a scan does not need git, and a repository may have no commit
        said = await Checkout(directory).run("rev-parse", "--verify", "--quiet", "HEAD", accepts=(0, 1, 128))
        return said.text.strip() or None
    return None


def _cancelled() -> ManyhandsError:
    return ConflictError("The scan was cancelled.", hint="Start it again when you want its numbers.")
