"""The tool that explains the hub."""

from __future__ import annotations

import anyio.to_thread

from manyhands.mcp_server.entries import READS, Answer, Caller, Json, ToolEntry, gives, takes, text


async def get_readme(caller: Caller, arguments: Json) -> Answer:
    from manyhands.api.system import read_readme

    found = await anyio.to_thread.run_sync(read_readme)
    return Answer(found, {"readme": found})


ENTRIES = (
    ToolEntry(
        "get_readme",
        "Read the README",
        "Read Manyhands' README: set-up, configuration, commands and architecture. "
        "Use it when you are asked how this hub works or is configured.",
        takes(),
        gives(readme=text("The README, in Markdown.")),
        get_readme,
        READS,
    ),
)
