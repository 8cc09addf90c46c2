"""Imports in threads, one at a time.

Two threads that import parts of one large package at the same time can each wait for the other; Python ends
that by handing out a module that is half there, and the import fails.
"""

from __future__ import annotations

import importlib
import threading
from types import ModuleType

import anyio.to_thread

_alone = threading.Lock()


def import_alone(name: str) -> ModuleType:
    """Import a module while nobody else does so through here."""
    with _alone:
        return importlib.import_module(name)


async def import_aside(name: str) -> ModuleType:
    """The same in a thread, so that the loop goes on meanwhile."""
    return await anyio.to_thread.run_sync(import_alone, name)
