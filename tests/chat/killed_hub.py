"""A hub as a process of its own, to be killed: `python -m tests.chat.killed_hub HOME SCRIPT`.

SCRIPT is a JSON file with the replies of its model, `{"calls": [[name, arguments]…]}` or a text.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from manyhands import Hub
from manyhands.testing.scripted import ScriptedModel, calls
from tests.hub_process import tell


def step(written: Any) -> Any:
    if isinstance(written, str):
        return written
    return calls(*((name, arguments) for name, arguments in written["calls"]))


async def serve(home: Path, script: list[Any], prompts: list[str]) -> None:
    model = ScriptedModel([step(written) for written in script])
    async with Hub(home, model=model, autostart=True) as hub, anyio.create_task_group() as group:
        await group.start(tell, hub, "run.")
        channel, _ = await hub.channels.find_or_create(name="work")
        for prompt in prompts:
            await hub.runs.start(channel.id, prompt)
        await anyio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)
        group.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(serve, Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()), sys.argv[3:])
