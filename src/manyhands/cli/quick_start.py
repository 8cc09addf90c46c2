"""Helps a command that becomes a hub for a moment to start and end sooner; a daemon has no use for it."""

from __future__ import annotations

import gc
import sys

OBJECTS = 100_000
"""So many new ones before garbage is looked for: imports make more than that, and hardly any garbage."""
UNUSED = ("openai._vendor.httpx_aiohttp", "httpx._main")
"""What libraries import if they can and nobody here uses: a client of openai's, httpx's command line."""


def start_quickly() -> None:
    """Before the first heavy import."""
    gc.set_threshold(OBJECTS)
    for name in UNUSED:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # to import it fails, which they expect


def end_quickly() -> None:
    """After the last work: what is left goes with the process, nobody has to look through it for garbage."""
    gc.freeze()
