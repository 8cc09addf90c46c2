"""The MCP server of the benchmarks, made with the SDK: `python -m bench.peer stdio [LOG]` or `… http PORT`.

With a LOG it adds a line when a wait begins and when it ends.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("peer")


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Answer with the same text."""
    return text


@server.tool(structured_output=False)
def big(size: int) -> str:
    """Answer with that many characters."""
    return "x" * size


@server.tool(structured_output=False)
async def wait(seconds: float) -> str:
    """Answer after that many seconds."""
    _note("begins")
    await asyncio.sleep(seconds)
    _note("ends")
    return "waited"


def _note(what: str) -> None:
    if sys.argv[1] == "stdio" and sys.argv[2:]:
        with Path(sys.argv[2]).open("a", encoding="utf-8") as log:
            log.write(f"{what}\n")


def main() -> None:
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))


if __name__ == "__main__":
    main()
