"""The threads of a hub's durable engine: started before a test begins, so that they belong to none."""

from __future__ import annotations

import threading

import anyio

from manyhands import Hub

SOON_S = 60


async def start_engine(hub: Hub) -> None:
    """Returns when all of its threads run: that of its queue comes a moment later, and tells nobody."""
    await hub.durable.find("nothing")
    with anyio.fail_after(SOON_S):
        while not any(one.name.startswith("queue-worker-") for one in threading.enumerate()):  # noqa: ASYNC110
            await anyio.sleep(0.01)
