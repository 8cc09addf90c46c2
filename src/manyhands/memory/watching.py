"""Follows changes of a collection's files while the daemon runs.

Owns the watch and what of it is worth telling. What changed is read by whoever is told.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable, Sequence

import anyio
import anyio.lowlevel
import anyio.to_thread

from manyhands.imports import import_aside
from manyhands.memory.roots import SUFFIXES, is_within
from manyhands.memory.walking import IGNORE_FILE, SKIPPED

DEBOUNCE_MS = 300
STEP_MS = 50
TIMEOUT_MS = 5000
DELETED = 3
"""The number that watchfiles gives to a path that is gone."""
MOST_PATHS = 500
"""More changes than this at a time are a reason to look at everything."""


async def watch(
    places: Sequence[str], began: Callable[[], None], changed: Callable[[list[str] | None], Awaitable[None]]
) -> None:
    """Tell of changed paths until cancelled; nothing means that everything has to be looked at.

    That is told first, when the watch has begun: what was written before is found by looking. Raises OSError
    when the system cannot watch these places.
    """
    roots = [place for place in map(os.path.realpath, places) if await _exists(place)]
    module = await import_aside("watchfiles._rust_notify")
    stop = threading.Event()
    # In a thread: every directory is visited, and meanwhile the loop has others to serve.
    watcher = await anyio.to_thread.run_sync(module.RustNotify, roots, False, False, 0, True, True)
    with watcher:
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_when_cancelled, stop)
            began()
            await changed(None)
            while True:
                found = await anyio.to_thread.run_sync(watcher.watch, DEBOUNCE_MS, STEP_MS, TIMEOUT_MS, stop)
                if isinstance(found, str):  # nothing happened; a cancelled task goes no further than this
                    await anyio.lowlevel.checkpoint()
                elif changes := {(change, path) for change, path in found if matters(change, path, roots)}:
                    await changed(to_read(changes))


async def _exists(place: str) -> bool:
    return await anyio.to_thread.run_sync(os.path.exists, place)


async def _stop_when_cancelled(stop: threading.Event) -> None:
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


def to_read(changes: set[tuple[int, str]]) -> list[str] | None:
    """The paths to read again; nothing when all has to be looked at."""
    if len(changes) > MOST_PATHS:
        return None
    for change, path in changes:
        new_directory = change != DELETED and os.path.isdir(path)
        if os.path.basename(path) == IGNORE_FILE or new_directory:
            return None
    return sorted({path for _, path in changes})
