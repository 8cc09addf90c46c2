"""A model for real agents, on loopback: asked for anything, it calls one tool until that is there, and then
says that it has.

It speaks the three ways in which agents ask (Anthropic's messages, OpenAI's chat and responses), streamed,
and keeps every request. It knows nothing of the agents but how each writes the name of a server's tool.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]
SAID = "I have said it."
OTHERWISE = "Hello"
"""What it says when it has no tools: agents ask for the titles of their conversations that way."""
NOT_YET = ("No such tool available", "unsupported call")
"""What agents say of a server's tool while they still wait for the server; a model tries again then."""
MOST_TRIES = 30
THINKS_S = 1.0


class Model:
    """What the agents of one test ask, and what they are told."""

    def __init__(self, tool: str, arguments: Json) -> None:
        self.tool = tool
        self.arguments = arguments
        self.asked: list[Json] = []
        self.url = ""

    def offered(self) -> set[str]:
        """The full names of all tools that were offered."""
        return {name for body in self.asked for name in _offered(body)}

    def results(self) -> list[str]:
        """What the agent gave back as results of its calls."""
        return [json.dumps(result) for body in self.asked for result in _results(body)]

    def is_called(self, body: Json) -> str | None:
        """The tool's full name, when it is to be called now."""
        results = list(_results(body))
        if not body.get("tools") or len(results) == MOST_TRIES:
            return None
        if results:
            if not any(words in json.dumps(results[-1]) for words in NOT_YET):
                return None
            time.sleep(THINKS_S)
        offered = [name for name in _offered(body) if name.endswith(self.tool)]
        # Claude Code keeps the tools of servers back until they are searched for, and takes their names.
        return offered[0] if offered else f"mcp__manyhands__{self.tool}"


def _offered(body: Json) -> Iterator[str]:
    for tool in body.get("tools") or ():
        if tool.get("type") == "namespace":
            yield from (f"{tool['name']}{one['name']}" for one in tool["tools"])
        else:
            yield str((tool.get("function") or tool).get("name"))


def _call_id(body: Json) -> str:
    return f"call_{len(list(_results(body))) + 1}"


def _results(body: Json) -> Iterator[Any]:
    for message in body.get("messages") or ():
        if message["role"] == "tool":
            yield message["content"]
        elif isinstance(message["content"], list):
            yield from (one.get("content") for one in message["content"] if one.get("type") == "tool_result")
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if item.get("type") == "function_call_output":
            yield item["output"]


# --- the three ways of saying it


def _messages(model: Model, body: Json) -> Iterable[Json]:
    called = model.is_called(body)
    about = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    usage = {"input_tokens": 1, "output_tokens": 1}
    yield {"type": "message_start", "message": {**about, "stop_reason": None, "usage": usage}}
    if called is None:
        block: Json = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": _words(body)}
    else:
        block = {"type": "tool_use", "id": _call_id(body), "name": called, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(model.arguments)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "end_turn" if called is None else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    yield {"type": "message_stop"}


def _chat(model: Model, body: Json) -> Iterable[Json]:
    called = model.is_called(body)
    about = {"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    delta: Json = {"role": "assistant", "content": _words(body)}
    if called is not None:
        function = {"name": called, "arguments": json.dumps(model.arguments)}
        call = {"index": 0, "id": _call_id(body), "type": "function", "function": function}
        delta = {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "stop" if called is None else "tool_calls"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


def _responses(model: Model, body: Json) -> Iterable[Json]:
    called = model.is_called(body)
    if called is None:
        content = [{"type": "output_text", "text": _words(body), "annotations": []}]
        item: Json = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    else:
        item = {"type": "function_call", "id": "fc_1", "call_id": _call_id(body)}
        item |= _named(called, body) | {"arguments": json.dumps(model.arguments)}
    item["status"] = "completed"
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    about = {"id": "resp_1", "object": "response", "model": body["model"], "usage": usage}
    yield {"type": "response.created", "response": {**about, "status": "in_progress", "output": []}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {**about, "status": "completed", "output": [item]}}


def _named(called: str, body: Json) -> Json:
    """A tool of a namespace is called by both its names."""
    for tool in body["tools"]:
        if tool.get("type") == "namespace" and called.startswith(tool["name"]):
            return {"namespace": tool["name"], "name": called.removeprefix(tool["name"])}
    return {"name": called}


def _words(body: Json) -> str:
    return SAID if body.get("tools") else OTHERWISE


WAYS: dict[str, Callable[[Model, Json], Iterable[Json]]] = {
    "/messages": _messages,
    "/chat/completions": _chat,
    "/responses": _responses,
}


class _Door(BaseHTTPRequestHandler):
    model: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        way = next((way for ending, way in WAYS.items() if path.endswith(ending)), None)
        if way is None:
            self.send_error(404)
            return
        self.model.asked.append(body)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in way(self.model, body):
            named = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{named}data: {json.dumps(event)}\n\n".encode())
        if way is _chat:
            self.wfile.write(b"data: [DONE]\n\n")

    def do_GET(self) -> None:
        listed = json.dumps({"object": "list", "data": [{"id": "mock", "object": "model"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(listed)))
        self.end_headers()
        self.wfile.write(listed)

    def log_message(self, format: str, *args: object) -> None:
        """What was asked is kept, not printed."""


@contextmanager
def running_model(tool: str, arguments: Json) -> Iterator[Model]:
    """The model behind its door."""
    model = Model(tool, arguments)
    door = type("Door", (_Door,), {"model": model})
    with ThreadingHTTPServer(("127.0.0.1", 0), door) as server:
        model.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
