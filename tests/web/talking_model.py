"""A model on a local port that speaks OpenAI's streaming protocol and says what a test tells it to say.

A step of its script is a function of the request's messages, or the pieces themselves: texts, `Call`s,
thoughts (`Thought`), and `threading.Event`s at which it waits until the test sets them.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WAIT_S = 60


@dataclass(frozen=True)
class Call:
    """A tool that the model asks for."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Thought:
    """Words that the model thinks before it speaks."""

    text: str


@dataclass(frozen=True)
class Pause:
    """Seconds between two pieces; for demonstrations, never to coordinate a test."""

    seconds: float


Piece = str | Call | Thought | Pause | threading.Event
Step = Sequence[Piece] | Callable[[list[dict[str, Any]]], Iterable[Piece]]


class TalkingModel:
    """Answers each request with the next step; the last step is repeated."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.asked: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self.port = 0

    def pieces(self, request: dict[str, Any]) -> Iterable[Piece]:
        with self._lock:
            step = self.steps[min(len(self.asked), len(self.steps) - 1)]
            self.asked.append(request)
        return step(request["messages"]) if callable(step) else step

    @property
    def config(self) -> dict[str, Any]:
        """What `POST /api/models` takes."""
        return {
            "name": "Talking",
            "provider": "openai-compatible",
            "model": "talking-1",
            "base_url": f"http://127.0.0.1:{self.port}/v1",
            "api_key": "none-needed",
            "tool_call": 1,
            "context": 32_000,
            "price": {"input": 3.0, "output": 15.0},
            "default": True,
        }


@contextmanager
def talking(*steps: Step) -> Iterator[TalkingModel]:
    """A model that answers while the block lasts."""
    model = TalkingModel(*steps)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            # Nothing of it stays when the model ends, though whoever asked lives on.
            self.send_header("connection", "close")
            self.end_headers()
            try:
                for chunk in _chunks(model.pieces(body)):
                    self._send(f"data: {json.dumps(chunk)}\n\n".encode())
                self._send(b"data: [DONE]\n\n")
                self.wfile.write(b"0\r\n\r\n")
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the run was stopped

        def _send(self, data: bytes) -> None:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _chunks(pieces: Iterable[Piece]) -> Iterator[dict[str, Any]]:
    calls = 0
    said = 0
    for piece in pieces:
        match piece:
            case threading.Event():
                piece.wait(WAIT_S)
            case Pause(seconds):
                time.sleep(seconds)
            case Thought(text):
                yield _chunk({"reasoning_content": text})
            case Call(name, arguments):
                function = {"name": name, "arguments": json.dumps(arguments)}
                call = {
                    "index": calls,
                    "id": f"call_{calls}_{name}",
                    "type": "function",
                    "function": function,
                }
                calls += 1
                yield _chunk({"tool_calls": [call]})
            case str():
                said += len(piece)
                yield _chunk({"content": piece})
    yield _chunk({}, "tool_calls" if calls else "stop")
    usage = {"prompt_tokens": 4200, "completion_tokens": max(1, said // 4), "total_tokens": 4200 + said // 4}
    yield _chunk(None, None) | {"usage": usage}


def _chunk(delta: dict[str, Any] | None, finish: str | None = None) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "talking-1",
        "choices": choices,
    }
