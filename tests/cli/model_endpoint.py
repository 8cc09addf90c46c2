"""A model server whose every word a test decides: OpenAI's chat completions, streamed, step by step.

Each request takes the next step of the script. A step is a text, tool calls, the status of a failure, or a
list of texts, calls and gates; at a gate nothing more is sent until the test opens it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ENOUGH_S = 120

Calls = tuple[tuple[str, Mapping[str, Any]], ...]
"""Names of tools with their arguments."""
Beat = str | Calls | threading.Event
Step = str | int | Calls | Sequence[Beat]


class ModelEndpoint(ThreadingHTTPServer):
    """The running server; `asked` holds the bodies of the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Step] = []
        self.asked: list[Any] = []
        self.taking = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def says(self, *steps: Step) -> None:
        """A new script."""
        self.script = list(steps)
        self.asked.clear()

    def next_step(self, body: Any) -> Step:
        with self.taking:
            self.asked.append(body)
            return self.script.pop(0) if self.script else "The script is over."


class _Handler(BaseHTTPRequestHandler):
    server: ModelEndpoint

    def do_GET(self) -> None:
        self._answer(200, {"data": []})

    def do_POST(self) -> None:
        step = self.server.next_step(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if isinstance(step, int):
            self._answer(step, {"error": {"message": "It refuses."}})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        beats = [step] if isinstance(step, str | tuple) else step
        with suppress(OSError):  # the reader has left
            for delta in _deltas(beats):
                self._send(delta, None)
            self._send({}, "tool_calls" if any(isinstance(beat, tuple) for beat in beats) else "stop")
            self.wfile.write(b"data: [DONE]\n\n")

    def _answer(self, status: int, value: Any) -> None:
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _send(self, delta: Mapping[str, Any], reason: str | None) -> None:
        chunk: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        chunk["choices"] = [{"index": 0, "delta": delta, "finish_reason": reason}]
        if reason:
            chunk["usage"] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _deltas(beats: Sequence[Beat]) -> Iterator[Mapping[str, Any]]:
    for beat in beats:
        if isinstance(beat, threading.Event):
            beat.wait(ENOUGH_S)
        elif isinstance(beat, str):
            for word in beat.splitlines(keepends=True):
                yield {"role": "assistant", "content": word}
        else:
            yield {"role": "assistant", "tool_calls": [_call(*call) for call in enumerate(beat)]}


def _call(index: int, call: tuple[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    name, arguments = call
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": index, "id": f"tc_{index}_{name[-20:]}", "type": "function", "function": function}


@contextmanager
def running_endpoint() -> Iterator[ModelEndpoint]:
    """Serve on a free port until the context ends."""
    with ModelEndpoint() as endpoint:
        thread = threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield endpoint
        finally:
            endpoint.shutdown()
            thread.join()
