"""The model of the comparison: an OpenAI-compatible endpoint on loopback that streams a fixed script.

`python model_server.py [PORT]` prints its port. Asked with tools it calls the one named `…wait` three
times at once; asked with their results it closes; asked without tools (for a title, say) it says a few words.
`GET /seen` tells what happened since it was asked last. Standard library only.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from typing import Any

MODEL = "scripted"
CLOSING = "All three have waited."
CALLS = 3
SECONDS = 1.0
ANSWER = "waited"
"""What the tool says."""


@dataclass
class Seen:
    """One run, as the model sees it."""

    requests: int = 0
    results: int = 0


class ModelServer(ThreadingHTTPServer):
    """Remembers what it has seen."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.seen = Seen()

    def take(self) -> Seen:
        seen, self.seen = self.seen, Seen()
        return seen


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ModelServer

    def do_GET(self) -> None:
        if self.path == "/seen":
            self._json(asdict(self.server.take()))
        else:
            self._json({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "bench"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if not self.path.endswith("/chat/completions"):
            self.send_error(404)
            return
        message = self._answer(body)
        if body.get("stream"):
            self._stream(_chunks(message))
        else:
            self._json(_whole(message))

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        seen = self.server.seen
        seen.requests += 1
        wait = _find_wait(body.get("tools") or [])
        if wait is None:
            return {"content": "Three waits"}
        if results := _latest_results(body["messages"]):
            seen.results = sum(ANSWER in json.dumps(message["content"]) for message in results)
            return {"content": CLOSING}
        return {"content": None, "tool_calls": [_call(wait, number) for number in range(CALLS)]}

    def _json(self, answer: Any) -> None:
        payload = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _stream(self, chunks: Iterator[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self._event(json.dumps(chunk))
        self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, data: str) -> None:
        payload = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(payload), payload))

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


def _latest_results(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results since the person spoke last."""
    news = takewhile(lambda message: message["role"] != "user", reversed(messages))
    return [message for message in news if message["role"] == "tool"]


def _find_wait(tools: list[dict[str, Any]]) -> str | None:
    names = (str(tool["function"]["name"]) for tool in tools)
    return next((name for name in names if name.endswith("wait")), None)


def _call(name: str, number: int) -> dict[str, Any]:
    arguments = json.dumps({"seconds": SECONDS})
    return {
        "index": number,
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": MODEL}


def _chunks(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Words and calls one by one, then the reason of the end, then the usage."""
    calls, words = message.get("tool_calls") or [], (message["content"] or "").split(" ")
    deltas: list[dict[str, Any]] = [{"tool_calls": [call]} for call in calls]
    if not calls:
        deltas = [{"content": word if first else f" {word}"} for first, word in _marked(words)]
    head = _envelope("chat.completion.chunk")
    yield head | {"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]}
    for delta in deltas:
        yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if calls else "stop"
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield head | {"choices": [], "usage": _usage()}


def _marked(words: list[str]) -> Iterator[tuple[bool, str]]:
    return ((number == 0, word) for number, word in enumerate(words))


def _whole(message: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return _envelope("chat.completion") | {"choices": [choice], "usage": _usage()}


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}


def main() -> None:
    server = ModelServer(*map(int, sys.argv[1:]))
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
