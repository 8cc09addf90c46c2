"""Finding the daemon and speaking to it, against a real HTTP server that plays the daemon."""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from manyhands.cli.client import Address, HttpApi, find_daemon, pages, segment, target
from manyhands.errors import ConflictError, InvalidError, NeedsAuthError, UnauthorizedError, UnavailableError
from manyhands.home import Home
from manyhands.system import HomeLock


class Recorder(ThreadingHTTPServer):
    """Answers every request with the next of `answers` and keeps what was asked."""

    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[tuple[int, str, bytes]] = []
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Recorder

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        status, kind, payload = self.server.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = answer  # noqa: N815 (the names are http.server's)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Recorder]:
    with running() as recorder:
        yield recorder


@contextmanager
def running() -> Iterator[Recorder]:
    with Recorder() as recorder:
        thread = threading.Thread(target=recorder.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield recorder
        finally:
            recorder.shutdown()
            thread.join()


def as_json(value: Any, status: int = 200) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps(value).encode()


def problem(status: int, **fields: Any) -> tuple[int, str, bytes]:
    return status, "application/problem+json", json.dumps({"status": status, **fields}).encode()


def test_a_request_carries_the_token_and_the_body(server: Recorder) -> None:
    server.answers.append(as_json({"ok": True}))
    api = HttpApi(Address(server.url, "secret"))
    assert api.request("POST", "/servers", {"name": "time"}, query={"wait": False, "x": None}) == {"ok": True}
    method, path, headers, body = server.asked[0]
    assert (method, path) == ("POST", "/api/servers?wait=false")
    assert headers["Authorization"] == "Bearer secret"
    assert json.loads(body) == {"name": "time"}


def test_every_page_is_fetched(server: Recorder) -> None:
    server.answers += [
        as_json({"items": [{"id": 1}, {"id": 2}], "next_cursor": "c"}),
        as_json({"items": [{"id": 3}], "next_cursor": None}),
    ]
    assert pages(HttpApi(Address(server.url, "")), "/servers") == [{"id": 1}, {"id": 2}, {"id": 3}]
    assert "cursor=c" in server.asked[1][1]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (problem(409, code="conflict", detail="It clashes.", hint="Rename it."), ConflictError),
        (problem(503, code="needs_auth", detail="It clashes.", hint="Rename it."), NeedsAuthError),
        (problem(422, detail="It clashes.", hint="Rename it."), InvalidError),
    ],
)
def test_a_problem_comes_back_as_the_error_it_stands_for(
    server: Recorder, answer: tuple[int, str, bytes], kind: type[Exception]
) -> None:
    server.answers.append(answer)
    with pytest.raises(kind, match=r"^It clashes\. Rename it\.$"):
        HttpApi(Address(server.url, "")).request("GET", "/x")


def test_a_refused_token_says_where_tokens_come_from(server: Recorder) -> None:
    server.answers.append(problem(401, code="unauthorized", detail="The token is wrong."))
    with pytest.raises(UnauthorizedError, match="MANYHANDS_TOKEN"):
        HttpApi(Address(server.url, "")).request("GET", "/x")


def test_an_answer_that_is_no_json_is_told_as_such(server: Recorder) -> None:
    server.answers.append((200, "application/json", b"<html>"))
    with pytest.raises(UnavailableError, match="not JSON"):
        HttpApi(Address(server.url, "")).request("GET", "/x")


def test_a_daemon_that_is_gone_says_how_to_start_one() -> None:
    with running() as recorder:
        url = recorder.url
    with pytest.raises(UnavailableError, match=r"cannot be reached.*manyhands up"):
        HttpApi(Address(url, "")).request("GET", "/x")


@pytest.mark.parametrize("url", ["ftp://x", "127.0.0.1:8222", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidError, match="MANYHANDS_URL"):
        HttpApi(Address(url, ""))


def test_the_environment_names_the_daemon_first(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.token_file.write_text("stored\n")
    found = find_daemon(home, {"MANYHANDS_URL": "http://elsewhere:1/", "MANYHANDS_TOKEN": "given"})
    assert found == Address("http://elsewhere:1", "given", chosen=True)


def test_the_lock_tells_where_the_daemon_serves(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.token_file.write_text("stored\n")
    lock = HomeLock(home.lock_file)
    assert find_daemon(home, {}) is None
    with lock:
        assert find_daemon(home, {}) is None, "a holder that does not serve is no daemon"
        lock.announce("http://127.0.0.1:8222")
        assert find_daemon(home, {}) == Address("http://127.0.0.1:8222", "stored")
    assert find_daemon(home, {}) is None


def test_events_are_told_until_the_listener_leaves(server: Recorder) -> None:
    frames = b': hello\n\nid: 1\nevent: a\ndata: {"seq": 1}\n\n: still here\n\nid: 2\ndata: {"seq": 2}\n\n'
    server.answers.append((200, "text/event-stream", frames))
    told: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    with HttpApi(Address(server.url, "")).follow(told.put):
        assert [told.get(timeout=10)["seq"], told.get(timeout=10)["seq"]] == [1, 2]


@pytest.mark.parametrize("headers", [b"", b"Transfer-Encoding: chunked\r\n"])
def test_leaving_ends_the_thread_that_waits_for_events(headers: bytes) -> None:
    greeting = b"9\r\n: hello\n\n\r\n" if headers else b": hello\n\n"
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + greeting)
                connection.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        with HttpApi(Address(f"http://127.0.0.1:{listener.getsockname()[1]}", "")).follow(print):
            assert "events" in {thread.name for thread in threading.enumerate()}
        assert "events" not in {thread.name for thread in threading.enumerate()}
        thread.join(timeout=10)


def test_names_are_quoted_in_paths() -> None:
    assert segment("a/b ?#é") == "a%2Fb%20%3F%23%C3%A9"
    assert target("/tools", {"q": "a b&c", "limit": 5}) == "/api/tools?q=a+b%26c&limit=5"
