"""A hub as a process of its own, to be killed: `python -m tests.tasks.working_hub HOME DATABASE_URL ACTION`.

ACTION `work` serves what is due; `wait` does, too, but its model answers only after a line of input. It
writes a line for every event of tasks and runs, and ends when its input does.
"""

from __future__ import annotations

import sys
from typing import Any

import anyio
import anyio.to_thread

from manyhands import Hub
from manyhands.models.types import Reply
from manyhands.testing.scripted import Gate, ScriptedModel
from tests.hub_process import tell

LEASE_S = 3.0


async def serve(home: str, url: str, action: str) -> None:
    gate = anyio.Event()
    step: Any = [Gate(gate), Reply(text="went on")] if action == "wait" else "went on"
    async with Hub(home, url or None, model=ScriptedModel([step], repeat=True)) as hub:
        hub.durable.lease_s = LEASE_S
        async with anyio.create_task_group() as group:
            group.start_soon(tell, hub, "task.", "run.")
            while await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
                gate.set()
            group.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1], sys.argv[2], sys.argv[3])
