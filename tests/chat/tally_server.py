"""An MCP server on stdio with slow tools that leave a mark in a file: `python tally_server.py FILE`.

`strike` (changes things) and `look` (only reads) write a line when they begin. They then wait until a file
FILE.go is there.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

FILE = Path(sys.argv[1])
GO = FILE.with_suffix(".go")
LOCK = threading.Lock()
TOOLS = [
    {"name": "strike", "description": "Changes something.", "inputSchema": {"type": "object"}},
    {
        "name": "look",
        "description": "Only reads.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    },
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tally", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            with LOCK, FILE.open("a") as file:
                file.write(f"{params['name']}\n")
            while not GO.exists():
                time.sleep(0.01)
            return {"content": [{"type": "text", "text": f"{params['name']} done"}]}
    return {}


def reply(message: dict[str, Any]) -> None:
    result = answer(message["method"], message.get("params") or {})
    with LOCK:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


for line in sys.stdin:
    received = json.loads(line)
    if "id" in received and "method" in received:
        threading.Thread(target=reply, args=(received,), daemon=True).start()
