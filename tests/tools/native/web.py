"""A real web server on this machine, for tools that fetch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext

Handle = Callable[[BaseHTTPRequestHandler], None]


class Web:
    """Pages by path; every request is kept as (path, Host header)."""

    def __init__(self, server: ThreadingHTTPServer, scheme: str) -> None:
        self.port = server.server_address[1]
        self.scheme = scheme
        self.pages: dict[str, Handle] = {}
        self.requests: list[tuple[str, str | None]] = []

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def page(
        self, path: str, body: bytes, kind: str = "text/plain", status: int = 200, **headers: str
    ) -> str:
        """Serve this at the path; the answer is its address."""
        self.pages[path] = lambda request: answer(request, body, kind, status, headers)
        return self.url(path)

    def redirect(self, path: str, location: str, status: int = 302) -> str:
        return self.page(path, b"", "text/plain", status, Location=location)


def answer(
    request: BaseHTTPRequestHandler, body: bytes, kind: str, status: int, headers: dict[str, str]
) -> None:
    request.send_response(status)
    if kind:
        request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


@contextmanager
def serving(tls: SSLContext | None = None) -> Iterator[Web]:
    """A server on a free port of the loopback address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.requests.append((self.path, self.headers["Host"]))
            handle = web.pages.get(self.path.partition("?")[0])
            try:
                if handle is None:
                    answer(self, b"no such page", "text/plain", 404, {})
                else:
                    handle(self)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client had enough

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        web = Web(server, "https" if tls else "http")
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield web
        finally:
            server.shutdown()
            thread.join()
