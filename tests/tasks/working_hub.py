"""A hub as a process of its own, to be killed: `python -m tests.tasks.working_hub HOME DATABASE_URL ACTION`.

ACTION `work` serves what is due; `wait` does, too, but its model never answers. It writes a line for every
event of tasks and runs, and ends when its input does.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import anyio.to_thread

from manyhands import Hub
from manyhands.testing.scripted import Gate, ScriptedModel

LEASE_S = 3.0


async def serve(home: str, url: str, action: str) -> None:
    step: Any = [Gate(anyio.Event())] if action == "wait" else "went on"
    async with Hub(home, url or None, model=ScriptedModel([step], repeat=True)) as hub:
        hub.durable.lease_s = LEASE_S
        async with anyio.create_task_group() as group:
            group.start_soon(follow, hub)
            await anyio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)
            group.cancel_scope.cancel()


async def follow(hub: Hub) -> None:
    async with hub.bus.subscribe() as events:
        say("ready", {})
        async for event in events:
            if event.type.startswith(("task.", "run.")):
                say(event.type, event.data)


def say(kind: str, data: dict[str, Any]) -> None:
    print(json.dumps({"type": kind, "data": data}), flush=True)


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1], sys.argv[2], sys.argv[3])
