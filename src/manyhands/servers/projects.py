"""A project's `.mcp.json`: reading it, telling whether an entry is still the approved one, watching it.

Nothing here starts a server or decides about trust. A permission that the file grants itself is passed over.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from manyhands.clock import Clock
from manyhands.errors import InvalidError
from manyhands.imports import import_aside
from manyhands.servers.config_files import read_config_file
from manyhands.servers.naming import name_key, safe_server_name
from manyhands.servers.types import ServerConfig

log = logging.getLogger(__name__)

PROJECT_FILE = ".mcp.json"
MAX_BYTES = 1_000_000
# What decides about what runs and what it is told; a new timeout needs no new approval.
_APPROVED_FIELDS = ("name", "transport", "command", "args", "env", "cwd", "url", "headers")
_RETRY_S = 5.0


@dataclass(frozen=True, slots=True)
class ProjectEntry:
    """One server of a project's file."""

    config: ServerConfig
    hash: str
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """What a directory's file says now; `problem` is why it, or some of it, cannot be used.

    `unreadable`: nobody knows what the file means, so that nothing may be concluded from what is not there.
    """

    directory: str
    entries: Mapping[str, ProjectEntry] = field(default_factory=dict)
    problem: str | None = None
    notes: Sequence[str] = ()
    unreadable: bool = False


async def read_project(directory: str) -> Project:
    """Read the file; one that is not there has no servers, one that is wrong says why."""
    return await anyio.to_thread.run_sync(_read, directory)


def approved_fields(config: ServerConfig) -> dict[str, Any]:
    """What a person approves of a configuration."""
    fields = {name: getattr(config, name) for name in _APPROVED_FIELDS}
    fields |= {"args": list(config.args), "env": dict(config.env), "headers": dict(config.headers)}
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


def entry_hash(config: ServerConfig) -> str:
    """The same for the same entry, however the file is formatted."""
    text = json.dumps(approved_fields(config), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(directory: str) -> Project:
    path = Path(directory, PROJECT_FILE)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            return _unreadable(directory, f"{path}: it is larger than {MAX_BYTES} bytes; none was read")
        return _parse(directory, path, data.decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return Project(directory)
    except (OSError, UnicodeDecodeError) as error:
        return _unreadable(directory, f"{path}: it cannot be read: {error}")
    except InvalidError as error:
        return _unreadable(directory, str(error))


def _unreadable(directory: str, problem: str) -> Project:
    return Project(directory, problem=problem, unreadable=True)


def _parse(directory: str, path: Path, text: str) -> Project:
    file = read_config_file(text, str(path), strict=True)
    entries: dict[str, ProjectEntry] = {}
    problems = [entry.problem for entry in file.entries if entry.problem]
    seen: dict[str, str] = {}
    for entry in file.entries:
        if entry.config is None:
            continue
        key = name_key(safe_server_name(entry.name))
        if key in seen:
            problems.append(f"{entry.where}: reads as {seen[key]!r} in tool names, which is taken")
            continue
        seen[key] = entry.name
        entries[entry.name] = ProjectEntry(entry.config, entry_hash(entry.config), entry.notes)
    notes = [*file.notes, *(note for entry in file.entries for note in entry.notes)]
    return Project(directory, entries, "\n".join(problems) or None, notes)


class ProjectWatch:
    """Tells which directories' files have changed. The directories may change while it runs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._directories: set[str] = set()
        self._stop = anyio.Event()
        self._problem: str | None = None

    def watch(self, directories: set[str]) -> None:
        """Watch exactly these from now on."""
        if directories != self._directories:
            self._directories = set(directories)
            self._stop.set()

    async def run(self, changed: Callable[[set[str]], Awaitable[None]]) -> None:
        """Call `changed` with the directories whose file was written, made or removed; for ever."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._stop_when_cancelled)
            while True:
                self._stop = anyio.Event()
                present = [path for path in sorted(self._directories) if await anyio.Path(path).is_dir()]
                try:
                    await self._watch(present, changed)
                except* (
                    OSError,
                    RuntimeError,
                    ValueError,
                ) as failed:  # the last two of names that are no UTF-8
                    self._warn(str(failed.exceptions[0]))
                if not self._stop.is_set():  # a directory went away, or there are too many of them
                    await self._clock.sleep(_RETRY_S)
                    await changed(set(self._directories))

    async def _watch(
        self, directories: Sequence[str], changed: Callable[[set[str]], Awaitable[None]]
    ) -> None:
        if not directories:
            await self._stop.wait()
            return
        watchfiles = await import_aside("watchfiles")
        watcher = watchfiles.awatch(
            *directories,
            watch_filter=_is_project_file,
            recursive=False,
            stop_event=self._stop,
            debounce=400,
            yield_on_timeout=True,
        )
        checked = False
        async for changes in watcher:
            if changes:
                await changed({os.path.dirname(path) for _, path in changes})
            elif not checked:  # what was written before the watch had begun
                checked = True
                await changed(set(directories))

    def _warn(self, problem: str) -> None:
        """Once, however often it comes again: the watch is begun anew every few seconds."""
        if problem != self._problem:
            self._problem = problem
            log.warning("Project files cannot be watched, which is tried again: %s", problem)

    async def _stop_when_cancelled(self) -> None:
        """The watching thread cannot be cancelled, and looks at the event."""
        try:
            await anyio.sleep_forever()
        finally:
            self._stop.set()


def _is_project_file(_: Any, path: str) -> bool:
    return os.path.basename(path) == PROJECT_FILE
