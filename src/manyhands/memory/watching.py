"""Follows changes of a collection's files while the daemon runs.

Owns the watch and what of it is worth telling. What changed is read by whoever is told.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
import anyio.to_thread

from manyhands.imports import import_aside
from manyhands.memory.roots import SUFFIXES, is_within
from manyhands.memory.walking import IGNORE_FILE, SKIPPED

log = logging.getLogger(__name__)

DEBOUNCE_MS = 300
DELETED = 3
"""The number that watchfiles gives to a path that is gone."""
MOST_PATHS = 500
"""More changes than this at a time are a reason to look at everything."""


async def watch(
    places: Sequence[str], began: Callable[[], None], changed: Callable[[list[str] | None], Awaitable[None]]
) -> None:
    """Tell of changed paths until cancelled; nothing means that everything has to be looked at.

    Raises OSError when the system cannot watch these places.
    """
    watchfiles = await import_aside("watchfiles")
    roots = [place for place in map(os.path.realpath, places) if await _exists(place)]
    if not roots:
        began()
        await anyio.sleep_forever()
    stop = anyio.Event()
    watcher = watchfiles.awatch(
        *roots,
        watch_filter=lambda change, path: matters(int(change), path, roots),
        stop_event=stop,
        debounce=DEBOUNCE_MS,
        step=50,
        ignore_permission_denied=True,
        yield_on_timeout=True,
        rust_timeout=1000,
    )
    async with anyio.create_task_group() as group:
        group.start_soon(_stop_when_cancelled, stop)
        ready = False
        async for changes in watcher:
            if not ready:  # what was written before the watch had begun is found by looking
                ready = True
                began()
                await changed(None)
            elif changes:
                await changed(to_read(changes))
        group.cancel_scope.cancel()


async def _exists(place: str) -> bool:
    return await anyio.to_thread.run_sync(os.path.exists, place)


async def _stop_when_cancelled(stop: anyio.Event) -> None:
    """The watching thread cannot be cancelled, and looks at the event."""
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()


def matters(change: int, path: str, roots: Sequence[str]) -> bool:
    """Whether a change can be one of the memory: a text, a list of what is ignored, a directory."""
    root = next((root for root in roots if is_within(path, [root])), None)
    parts = [] if root is None or root == path else os.path.relpath(path, root).split(os.sep)
    if any(part.startswith(".") or part in SKIPPED for part in parts[:-1]):
        return False
    name = os.path.basename(path)
    if name == IGNORE_FILE or os.path.splitext(name)[1].lower() in SUFFIXES:
        return True
    return not name.startswith(".") and name not in SKIPPED and (change == DELETED or os.path.isdir(path))


def to_read(changes: set[tuple[Any, str]]) -> list[str] | None:
    """The paths to read again; nothing when all has to be looked at."""
    if len(changes) > MOST_PATHS:
        return None
    for change, path in changes:
        new_directory = int(change) != DELETED and os.path.isdir(path)
        if os.path.basename(path) == IGNORE_FILE or new_directory:
            return None
    return sorted({path for _, path in changes})
