"""A small MCP server on stdio, standard library only, so that tests of the command line start it in no time.

It has a prompt, `greet`, and a resource, `note://one`. Its tools: `echo`, `fail`, `picture`, `count` (tells
progress), `ask` (asks the person), `wait` (until it is told to stop, which it writes to the file that is its
argument).
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name"},
        "age": {"type": "integer", "description": "In years"},
        "colour": {"type": "string", "enum": ["red", "blue"]},
    },
    "required": ["name", "colour"],
}
ONE_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def tool(name: str, description: str, *required: str, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"name": name, "description": description, "inputSchema": {**schema, "required": list(required)}}


TOOLS = [
    tool("echo", "Says what it was told.", "text", text="string"),
    tool("fail", "Never works."),
    tool("picture", "One pixel."),
    tool("count", "Counts and tells how far it is.", "to", to="integer"),
    tool("ask", "Asks the person who they are."),
    tool("wait", "Waits until it is told to stop.", "file", file="string"),
]


OFFERS: dict[str, Any] = {
    "prompts/list": {"prompts": [{"name": "greet", "arguments": [{"name": "name", "required": True}]}]},
    "resources/list": {"resources": [{"uri": "note://one", "name": "one"}]},
    "resources/templates/list": {"resourceTemplates": []},
}


def _greeting(name: str) -> dict[str, str]:
    return {"type": "text", "text": f"Greet {name} warmly."}


class Server:
    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._asked: dict[str, tuple[threading.Event, dict[str, Any]]] = {}
        self._cancelled: dict[Any, threading.Event] = {}
        self._files: dict[Any, str] = {}

    def send(self, message: dict[str, Any]) -> None:
        with self._writing:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def serve(self) -> None:
        print(f"hello from {os.getpid()}", file=sys.stderr, flush=True)
        for line in sys.stdin:
            message = json.loads(line)
            if "method" not in message:
                event, slot = self._asked.pop(message["id"])
                slot.update(message)
                event.set()
            elif "id" in message:
                self._cancelled[message["id"]] = threading.Event()
                threading.Thread(target=self.answer, args=(message,), daemon=True).start()
            elif message["method"] == "notifications/cancelled":
                self.stop(message["params"]["requestId"])

    def answer(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            result: Any = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
                "serverInfo": {"name": "hand", "version": "1.2.3"},
                "instructions": "Be kind.",
            }
        elif method == "ping":
            result = {}
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method in OFFERS:
            result = OFFERS[method]
        elif method == "prompts/get":
            result = {"messages": [{"role": "user", "content": _greeting(params["arguments"]["name"])}]}
        elif method == "resources/read":
            result = {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": "It is blue."}]}
        elif method == "tools/call":
            result = getattr(self, params["name"])(
                message["id"], params.get("arguments") or {}, params.get("_meta") or {}
            )
        else:
            self.send({"id": message["id"], "error": {"code": -32601, "message": f"no {method}"}})
            return
        self.send({"id": message["id"], "result": result})

    def echo(self, _: Any, arguments: dict[str, Any], __: Any) -> dict[str, Any]:
        return text(arguments["text"])

    def fail(self, *_: Any) -> dict[str, Any]:
        return {**text("it cannot be done\nand never could"), "isError": True}

    def picture(self, *_: Any) -> dict[str, Any]:
        return {"content": [{"type": "image", "mimeType": "image/png", "data": ONE_PIXEL}]}

    def count(self, _: Any, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        for number in range(1, arguments["to"] + 1):
            told = {"progressToken": meta.get("progressToken"), "progress": number, "total": arguments["to"]}
            if told["progressToken"] is not None:
                self.send({"method": "notifications/progress", "params": {**told, "message": f"at {number}"}})
            threading.Event().wait(0.3)
        return text(f"counted to {arguments['to']}")

    def ask(self, *_: Any) -> dict[str, Any]:
        waiting: tuple[threading.Event, dict[str, Any]] = (threading.Event(), {})
        self._asked["q1"] = waiting
        params = {"message": "Who are you?", "requestedSchema": FORM}
        self.send({"id": "q1", "method": "elicitation/create", "params": params})
        waiting[0].wait()
        return text(json.dumps(waiting[1].get("result") or waiting[1].get("error"), sort_keys=True))

    def wait(self, request_id: Any, arguments: dict[str, Any], _: Any) -> dict[str, Any]:
        self._files[request_id] = arguments["file"]
        Path(arguments["file"]).write_text("waiting")
        self._cancelled[request_id].wait()
        return text("stopped")

    def stop(self, request_id: Any) -> None:
        if request_id in self._files:
            Path(self._files[request_id]).write_text("told to stop")
        self._cancelled[request_id].set()


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


if __name__ == "__main__":
    Server().serve()
