"""Runs a hub whose disk gets full and has room again; prints how each step ended, as JSON.

`python -m tests.real.on_a_full_disk DIRECTORY [LIMIT]`. The directory is a small disk of its own. Where there
is none, LIMIT stands in for it: no file may grow beyond so many bytes.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

import anyio

from manyhands import Hub
from manyhands.errors import UnavailableError

ODD = Path(__file__).parents[1] / "servers" / "fixtures" / "odd_server.py"
TOOLS = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "large")]}
HUGE = 20_000_000


def fill(file: Path, leave: int) -> None:
    """Write until the disk is full, then give some of it back."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(descriptor, bytes(65536))
    except OSError:
        os.ftruncate(descriptor, max(0, os.fstat(descriptor).st_size - leave))
    finally:
        os.close(descriptor)


async def use(directory: Path, *, small_disk: bool) -> dict[str, Any]:
    ends: dict[str, Any] = {}
    home, filler = directory / "home", directory / "filler"
    (directory / "listing.json").write_text(json.dumps(TOOLS))
    odd: dict[str, Any] = {
        "command": sys.executable,
        "args": [str(ODD), "--listing", str(directory / "listing.json")],
    }

    async def call(step: str, tool: str, **arguments: Any) -> None:
        record = await hub.call_tool(f"mcp__odd__{tool}", arguments)
        ends[step] = {"status": record.status.value, "error": (record.error or "")[:400]}

    async with Hub(home) as hub:
        await hub.servers.save({"name": "odd", "trust": "trusted", **odd})
        await call("before", "echo")
        if small_disk:
            fill(filler, 600_000)
        await call("huge", "large", size=HUGE)
        await call("small beside it", "echo")
        if small_disk:
            fill(filler, 0)
            await call("full", "echo")
            await call("still full", "echo")
            ends["tools on a full disk"] = len(await hub.servers.listings(None))
            try:
                await hub.add_server("other", **odd)
            except UnavailableError as error:
                ends["saved on a full disk"] = str(error)
    filler.unlink(missing_ok=True)
    async with Hub(home) as hub:
        await call("after", "echo")
        calls = (await hub.tools.calls()).items
        ends["kept"] = [(record.tool, record.status.value) for record in reversed(calls)]
    return ends


if __name__ == "__main__":
    if limit := sys.argv[2:]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit[0]), int(limit[0])))
    print(json.dumps(anyio.run(lambda: use(Path(sys.argv[1]), small_disk=not limit))))
