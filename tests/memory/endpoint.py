"""An embeddings endpoint that does what a test tells it to, on a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from manyhands.embedding import embed
from manyhands.memory.words import meaning


@dataclass
class Endpoint:
    """Answers with the static vectors, cut to `dimensions`."""

    url: str = ""
    dimensions: int = 64
    status: int = 200
    answer: Any = None
    """Sent in place of vectors."""
    asked: list[tuple[str, dict[str, Any], str | None]] = field(default_factory=list)
    silent: threading.Event | None = None
    """It does not answer before this is set."""

    def vectors(self, texts: list[str]) -> list[list[float]]:
        found = embed([meaning(text) for text in texts])[:, : self.dimensions]
        return [[float(number) for number in row] for row in found]

    def reply(self, path: str, body: dict[str, Any]) -> Any:
        if self.answer is not None:
            return self.answer
        vectors = self.vectors(body["input"])
        if path.endswith("/api/embed"):
            return {"embeddings": vectors}
        items = [{"index": number, "embedding": vector} for number, vector in enumerate(vectors)]
        return {"data": items[::-1]}


@contextmanager
def running_endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            endpoint.asked.append((self.path, body, self.headers.get("authorization")))
            if endpoint.silent is not None:
                endpoint.silent.wait(60)
            said = json.dumps(endpoint.reply(self.path, body)).encode()
            self.send_response(endpoint.status)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
