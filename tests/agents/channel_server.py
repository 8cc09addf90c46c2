"""A server that takes part in a channel, of the standard library: pushes messages, answers approvals."""

from __future__ import annotations

import json
import sys
from typing import Any

ASKED: list[dict[str, Any]] = []
TOOLS = ("push", "asked", "answer", "work")
ANY = {"type": "object", "additionalProperties": True}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(name: str, arguments: dict[str, Any]) -> str:
    if name == "push":
        say({"method": "notifications/claude/channel", "params": arguments})
    elif name == "answer":
        say({"method": "notifications/claude/channel/permission", "params": arguments})
    elif name == "asked":
        return json.dumps(ASKED)
    return "done"


def answer(message: dict[str, Any]) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "serverInfo": {"name": "phone", "version": "1"},
                "capabilities": {"tools": {}, "experimental": {"claude/channel": {}}},
            }
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": ANY} for name in TOOLS]}
        case "tools/call":
            params = message["params"]
            text = call(params["name"], params.get("arguments") or {})
            return {"content": [{"type": "text", "text": text}]}
        case "ping":
            return {}
    raise KeyError(message["method"])


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "notifications/claude/channel/permission_request":
        ASKED.append(message["params"])
    if "id" in message and "method" in message:
        try:
            say({"id": message["id"], "result": answer(message)})
        except KeyError as error:
            say({"id": message["id"], "error": {"code": -32601, "message": f"no method {error}"}})
