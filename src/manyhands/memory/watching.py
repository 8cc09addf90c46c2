"""Follows changes of a collection's files while the daemon runs.

Owns the watch and what of it is worth telling. What changed is read by whoever is told.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from manyhands.imports import import_aside
from manyhands.memory.roots import SUFFIXES, Roots, is_within
from manyhands.memory.walking import IGNORE_FILE, SKIPPED, Walk
from manyhands.system import WATCHES_ONE_DIRECTORY

log = logging.getLogger(__name__)

DEBOUNCE_MS = 300
STEP_MS = 50
TIMEOUT_MS = 5000
DELETED = 3
"""The number that watchfiles gives to a path that is gone."""
MOST_DIRECTORIES = 10_000
"""Each takes the interpreter for a moment when the watch begins."""
ATTEMPTS = 3
RETRY_S = 5.0
"""Before a watch that failed is begun anew."""
MOST_PATHS = 500
"""More changes than this at a time are a reason to look at everything."""


async def watch(
    roots: Roots, began: Callable[[], None], changed: Callable[[list[str] | None], Awaitable[None]]
) -> None:
    """Tell of changed paths until cancelled; nothing means that everything has to be looked at.

    That is told first, when the watch has begun: what was written before is found by looking. Raises OSError
    when the system cannot watch these places.
    """
    places = await anyio.to_thread.run_sync(lambda: list(map(os.path.realpath, roots.places)))
    await import_aside("watchfiles._rust_notify")
    while True:
        with await anyio.to_thread.run_sync(_watcher, roots, places) as watcher:
            began()
            await changed(None)
            stop = threading.Event()
            async with anyio.create_task_group() as group:
                group.start_soon(_stop_when_cancelled, stop)
                await _tell(watcher, stop, places, changed)
                group.cancel_scope.cancel()


async def _tell(
    watcher: Any,
    stop: threading.Event,
    places: Sequence[str],
    changed: Callable[[list[str] | None], Awaitable[None]],
) -> None:
    """Until everything has to be looked at: then there may be other directories to watch."""
    while True:
        try:
            found = await anyio.to_thread.run_sync(watcher.watch, DEBOUNCE_MS, STEP_MS, TIMEOUT_MS, stop)
        except RuntimeError as error:  # of a name that is no UTF-8, for one; what else happened is lost
            log.warning("The files of the memory are watched anew: %s", error)
            await anyio.sleep(RETRY_S)
            return
        if isinstance(found, str):  # nothing happened; a cancelled task goes no further than this
            await anyio.lowlevel.checkpoint()
        elif changes := {(change, path) for change, path in found if matters(change, path, places)}:
            paths = to_read(changes)
            if paths is None:
                return
            await changed(paths)


def _watcher(roots: Roots, places: Sequence[str]) -> Any:
    """Who watches these roots.

    Where the system watches directories one by one we name them: whoever is told to find them by itself holds
    the interpreter until it has looked at every file, which takes seconds where there are many.
    """
    if not WATCHES_ONE_DIRECTORY:
        return _notify([place for place in places if os.path.exists(place)], recursive=True)
    named = _directories(roots)
    for _ in range(ATTEMPTS):
        try:
            watcher = _notify(named, recursive=False)
        except FileNotFoundError:  # one went between
            named = _directories(roots)
            continue
        now = _directories(roots)
        if now == named:  # none came between
            return watcher
        named = now
        watcher.close()
    return _notify([place for place in named if os.path.exists(place)], recursive=False)


def _directories(roots: Roots) -> list[str]:
    found = sorted(islice(filter(_is_utf8, Walk(roots).directories()), MOST_DIRECTORIES + 1))
    if len(found) > MOST_DIRECTORIES:
        raise OSError(f"there are more than {MOST_DIRECTORIES:,} directories")
    return found


def _is_utf8(path: str) -> bool:
    """Others cannot be watched, and no file below one is read."""
    return path.encode(errors="ignore").decode() == path


def _notify(paths: Sequence[str], *, recursive: bool) -> Any:
    from watchfiles._rust_notify import RustNotify

    return RustNotify(list(paths), False, False, 0, recursive, True)


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
