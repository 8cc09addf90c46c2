"""Where homes of hubs are below a directory: nothing may move them, and no command in a sandbox sees them."""

from __future__ import annotations

import os
from collections import deque
from typing import NamedTuple

from manyhands.home import HOME_MARK


class FoundHomes(NamedTuple):
    """`complete`: there are no others."""

    paths: list[str]
    complete: bool


def find_homes(directory: str, most: int) -> FoundHomes:
    """The homes below a directory, or it alone if it is one; links are not followed.

    So many directories are looked at, those near the top first, which is where homes are.
    """
    homes: list[str] = []
    waiting = deque([directory])
    for _ in range(most):
        if not waiting:
            break
        path = waiting.popleft()
        deeper = _directories_in(path)
        if deeper is None:
            homes.append(path)
        else:
            waiting += deeper
    return FoundHomes(homes, not waiting)


def _directories_in(path: str) -> list[str] | None:
    """Nothing for a home. One that may not be looked into has none."""
    try:
        with os.scandir(path) as found:
            entries = list(found)
    except OSError:
        return []
    if any(entry.name == HOME_MARK for entry in entries):
        return None
    return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
