"""The daemon as a process of its own: start, serve, stop, be killed, come back."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from manyhands.daemon import run_daemon
from manyhands.errors import ConflictError, InvalidError
from manyhands.home import Home
from manyhands.system import HomeLock, read_lock

HAND_SERVER = str(Path(__file__).parent / "cli" / "hand_server.py")
RUN = """
import json, sys
from pathlib import Path
from manyhands.daemon import run_daemon
from manyhands.home import Home
sys.exit(run_daemon(Home(Path(sys.argv[1])), **json.loads(sys.argv[2])))
"""
SOON_S = 60


@dataclass(frozen=True)
class Daemon:
    """A daemon that has said that it is ready."""

    process: subprocess.Popen[str]
    home: Home
    url: str
    token: str

    def ask(self, method: str, path: str, body: Any = None) -> http.client.HTTPConnection:
        """Without waiting for the answer."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=SOON_S)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, f"/api{path}", None if body is None else json.dumps(body), headers)
        return connection

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return answer_of(self.ask(method, path, body))

    def get(self, path: str) -> Any:
        status, answer = self.request("GET", path)
        assert status == 200, answer
        return answer

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(SOON_S)


Start = Callable[..., Daemon]


def answer_of(connection: http.client.HTTPConnection) -> tuple[int, Any]:
    with closing(connection):
        response = connection.getresponse()
        content = response.read()
        return response.status, json.loads(content) if content else None


def ready(process: subprocess.Popen[str], home: Home) -> Daemon:
    """What it is once it has said so."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("ready: "), line + (process.stderr.read() if process.stderr else "")
    url, _, token = line.removeprefix("ready: ").strip().partition("/?token=")
    return Daemon(process, home, url, token)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def start(home: Home) -> Iterator[Start]:
    """Starts daemons of the home, which are ended at the end of the test."""
    with ExitStack() as stack:

        def begin(**options: Any) -> Daemon:
            return ready(stack.enter_context(running(home, **options)), home)

        yield begin


@contextmanager
def running(home: Home, **options: Any) -> Iterator[subprocess.Popen[str]]:
    environment = os.environ | {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    command = [sys.executable, "-c", RUN, str(home.path), json.dumps({"port": 0, **options})]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=SOON_S)


def until(what: Callable[[], Any]) -> Any:
    """Wait for something that another process does."""
    deadline = time.monotonic() + SOON_S
    while not (found := what()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return found


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def add_hand(daemon: Daemon) -> dict[str, Any]:
    body = {"name": "hand", "command": sys.executable, "args": [HAND_SERVER]}
    status, outcome = daemon.request("POST", "/servers", body)
    assert (status, outcome.get("ok")) == (201, True), outcome
    server: dict[str, Any] = outcome["server"]
    return server


def test_it_says_where_it_is_ready_and_answers_there(start: Start, home: Home) -> None:
    daemon = start()
    assert daemon.token == home.token()
    assert daemon.get("/health")["name"] == "manyhands"
    status = daemon.get("/status")
    assert (status["pid"], status["url"], status["home"]) == (daemon.process.pid, daemon.url, str(home.path))
    holder = read_lock(home.lock_file)
    assert holder is not None
    assert (holder.pid, holder.url) == (daemon.process.pid, daemon.url)
    assert urlsplit(daemon.url).hostname == "127.0.0.1"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_everything_it_started(start: Start, home: Home, number: int) -> None:
    daemon = start()
    server = add_hand(daemon)
    children = psutil.Process(daemon.process.pid).children(recursive=True)
    assert server["pid"] in {child.pid for child in children}
    assert daemon.end(number) == 0
    assert not [child for child in children if alive(child.pid)]
    assert read_lock(home.lock_file) is None
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", urlsplit(daemon.url).port or 0)) != 0


def test_the_api_can_end_it(start: Start) -> None:
    daemon = start()
    assert daemon.request("POST", "/shutdown")[0] == 202
    assert daemon.process.wait(SOON_S) == 0


def test_a_call_under_way_is_cancelled_in_bounded_time_when_it_stops(start: Start, tmp_path: Path) -> None:
    daemon = start()
    add_hand(daemon)
    told = tmp_path / "told"
    connection = http.client.HTTPConnection(urlsplit(daemon.url).netloc, timeout=SOON_S)
    body = {"name": "mcp__hand__wait", "arguments": {"file": str(told)}}
    headers = {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json"}
    connection.request("POST", "/api/tools/call", json.dumps(body), headers)
    until(lambda: daemon.get("/tool-calls?status=pending")["items"])
    assert daemon.end() == 0
    response = connection.getresponse()
    assert (response.status, json.loads(response.read())["code"]) == (503, "unavailable")
    connection.close()
    [call] = start().get("/tool-calls")["items"]
    assert (call["status"], call["tool"]) == ("cancelled", "wait")


def test_a_second_signal_forces_it(start: Start, tmp_path: Path) -> None:
    """The first one waits for a call; the second does not, and still nothing stays behind."""
    daemon = start()
    server = add_hand(daemon)
    connection = http.client.HTTPConnection(urlsplit(daemon.url).netloc, timeout=SOON_S)
    body = {"name": "mcp__hand__wait", "arguments": {"file": str(tmp_path / "told")}}
    headers = {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json"}
    connection.request("POST", "/api/tools/call", json.dumps(body), headers)
    until(lambda: daemon.get("/tool-calls?status=pending")["items"])
    daemon.process.send_signal(signal.SIGINT)
    assert daemon.process.stderr is not None
    while "a second signal" not in daemon.process.stderr.readline():
        pass
    assert daemon.end(signal.SIGINT) == 130
    connection.close()
    until(lambda: not alive(server["pid"]))


def run_two_commands(daemon: Daemon, project: Path) -> list[str]:
    """A run whose command is under way and will not end, and another one that waits behind it."""
    channel = daemon.request("POST", "/channels", {"dir_path": str(project)})[1]["id"]
    script = "if [ -e begun ]; then echo done; else touch begun; sleep 600; fi"
    runner = {"command": "sh", "args": ["-c", script]}
    daemon.request("PATCH", f"/channels/{channel}", {"runner": runner})
    runs = [daemon.request("POST", f"/channels/{channel}/runs", {"prompt": "go"})[1] for _ in range(2)]
    until((project / "begun").exists)
    return [run["run_id"] for run in runs]


@pytest.mark.requirement("L03")
def test_killed_it_leaves_no_process_and_comes_back_knowing_what_was_cut_and_what_waits(
    start: Start, tmp_path: Path
) -> None:
    daemon = start()
    server = add_hand(daemon)
    cut, waiting = run_two_commands(daemon, tmp_path)
    seq = daemon.get("/status")["seq"]
    family = psutil.Process(daemon.process.pid).children(recursive=True)
    connection = http.client.HTTPConnection(urlsplit(daemon.url).netloc, timeout=SOON_S)
    body = {"name": "mcp__hand__wait", "arguments": {"file": str(tmp_path / "told")}}
    headers = {"Authorization": f"Bearer {daemon.token}", "Content-Type": "application/json"}
    connection.request("POST", "/api/tools/call", json.dumps(body), headers)
    [pending] = until(lambda: daemon.get("/tool-calls?status=pending")["items"])
    assert daemon.end(signal.SIGKILL) == -signal.SIGKILL
    connection.close()
    until(lambda: not [process for process in family if alive(process.pid)])
    again = start()
    call = again.get(f"/tool-calls/{pending['id']}")
    assert (call["status"], call["code"], call["isError"]) == ("error", "interrupted", True)
    assert again.get("/status")["seq"] > seq
    until(lambda: again.get(f"/servers/{server['id']}")["status"] == "connected")
    until(lambda: again.get(f"/runs/{waiting}")["status"] not in ("queued", "running"))
    ended = [again.get(f"/runs/{run}") for run in (cut, waiting)]
    assert [run["status"] for run in ended] == ["failed", "completed"], ended


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_events_are_replayed_across_a_restart(start: Start, number: int) -> None:
    first = start()
    seq = first.get("/status")["seq"]
    first.request("POST", "/channels", {"name": "kept"})
    first.end(number)
    second = start()
    connection = http.client.HTTPConnection(urlsplit(second.url).netloc, timeout=SOON_S)
    headers = {"Authorization": f"Bearer {second.token}", "Last-Event-ID": str(seq)}
    connection.request("GET", "/api/events", headers=headers)
    response = connection.getresponse()
    lines = iter(response.readline, b"")
    events = (json.loads(line.removeprefix(b"data: ")) for line in lines if line.startswith(b"data: "))
    event = next(events)
    assert event["seq"] > seq
    if number == signal.SIGTERM:
        assert (event["type"], event["data"]["name"]) == ("channel.created", "kept")
    else:
        # It may have been killed before the event was kept; either way the client learns to look again.
        assert event["type"] == "gap" or next(events)["type"] == "gap"
    connection.close()


def test_a_home_has_one_daemon_and_the_second_learns_where_it_is(start: Start, home: Home) -> None:
    daemon = start()
    with pytest.raises(ConflictError, match=rf"process {daemon.process.pid} at {daemon.url}"):
        run_daemon(home, port=0)


def test_a_port_that_is_taken_is_named_with_the_way_out(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConflictError, match=rf"Port {port} is taken.*--port"):
            run_daemon(home, port=port)
    assert read_lock(home.lock_file) is None


def test_a_host_that_others_can_reach_must_be_meant(home: Home, start: Start) -> None:
    with pytest.raises(InvalidError, match=r"other machines.*--allow-remote"):
        run_daemon(home, host="0.0.0.0", port=0)
    with pytest.raises(InvalidError, match="no host"):
        run_daemon(home, host="no.such.host.invalid", port=0, allow_remote=True)
    daemon = start(host="0.0.0.0", allow_remote=True)
    assert daemon.get("/health")["status"] in ("ok", "starting")
    daemon.end()
    assert daemon.process.stderr is not None
    assert "warning: the hub can be reached from other machines" in daemon.process.stderr.read()


def test_a_home_that_others_can_write_is_warned_of(home: Home, start: Start) -> None:
    home.create()
    home.path.chmod(0o777)
    daemon = start()
    daemon.end()
    assert daemon.process.stderr is not None
    assert f"warning: {home.path} can be written by others" in daemon.process.stderr.read()


def test_a_database_that_cannot_be_used_ends_it_before_it_says_that_it_is_ready(home: Home) -> None:
    home.create()
    home.database_file.write_text("this is no database")
    with running(home) as process:
        out, err = process.communicate(timeout=SOON_S)
    assert process.returncode != 0
    assert "ready" not in out
    assert "cannot be used" in err.splitlines()[-1]  # the error itself and no group that holds it


def test_whoever_asks_while_it_fails_to_open_is_told_why(home: Home, sqlite_template: Path) -> None:
    home.create()
    shutil.copy(sqlite_template, home.database_file)
    with closing(sqlite3.connect(home.database_file, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("BEGIN IMMEDIATE")  # for which the hub waits
        with running(home) as process:
            daemon = ready(process, home)
            asked = daemon.ask("GET", "/servers")
            assert daemon.get("/health")["status"] == "starting"
            database.execute("DROP TABLE meta")
            database.execute("COMMIT")
            status, problem = answer_of(asked)
            _, err = process.communicate(timeout=SOON_S)
    assert (status, problem["code"]) == (503, "unavailable")
    assert "cannot be used: no such table" in problem["detail"]
    assert "Check the file" in problem["hint"]
    assert process.returncode != 0
    assert "cannot be used: no such table" in err.splitlines()[-1]
    assert "ASGI" not in err


def test_whoever_waits_for_a_server_to_connect_when_it_stops_is_told_so(start: Start, home: Home) -> None:
    daemon = start()
    daemon.get("/status")
    hung = {"name": "hung", "command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]}
    asked = daemon.ask("POST", "/servers", hung)
    until(lambda: [one for one in daemon.get("/servers")["items"] if one["status"] == "connecting"])
    assert daemon.end() == 0
    status, problem = answer_of(asked)
    assert (status, problem["code"], problem["detail"]) == (503, "unavailable", "The hub is shutting down.")
    assert daemon.process.stderr is not None
    logged = daemon.process.stderr.read() + (home.logs / "manyhands.log").read_text()
    assert "Traceback" not in logged
    assert "ASGI" not in logged


@pytest.mark.requirement("L28")
def test_the_token_is_in_no_log(start: Start, home: Home) -> None:
    daemon = start()
    connection = http.client.HTTPConnection(urlsplit(daemon.url).netloc, timeout=SOON_S)
    connection.request("GET", f"/?token={daemon.token}")
    assert connection.getresponse().status == 303
    connection.close()
    add_hand(daemon)
    daemon.end()
    assert daemon.process.stderr is not None
    logged = daemon.process.stderr.read() + (home.logs / "manyhands.log").read_text()
    assert " serves " in logged
    assert daemon.token not in logged


@pytest.mark.requirement("L04")
def test_a_slow_or_hung_server_does_not_delay_readiness(start: Start) -> None:
    first = start()
    hung = {"name": "hung", "command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]}
    assert first.request("POST", "/servers?wait=false", hung)[0] == 201
    add_hand(first)
    first.end()
    again = start()
    servers = until(lambda: {one["name"]: one["status"] for one in again.get("/servers")["items"]})
    assert servers["hung"] in ("connecting", "disconnected")
    until(
        lambda: {one["name"]: one["status"] for one in again.get("/servers")["items"]}["hand"] == "connected"
    )


def test_it_works_on_postgresql_too(start: Start, postgres_url: str, home: Home) -> None:
    daemon = start(database_url=postgres_url)
    assert daemon.get("/status")["database"] == "postgresql"
    add_hand(daemon)
    body = {"name": "mcp__hand__echo", "arguments": {"text": "hello"}}
    assert daemon.request("POST", "/tools/call", body)[1]["result"] == "hello"
    assert daemon.end() == 0
    assert not home.database_file.exists()


def test_the_lock_alone_is_no_daemon(home: Home) -> None:
    """A command that holds the home for a moment serves nowhere."""
    with HomeLock(home.lock_file), pytest.raises(ConflictError, match="in use by process"):
        run_daemon(home, port=0)


def test_the_api_is_on_a_socket_of_the_home_too_and_asks_for_a_token_there(start: Start, home: Home) -> None:
    daemon = start(port=0)
    path = home.run / "api.sock"
    assert path.stat().st_mode & 0o777 == 0o600
    assert ask_locally(path, None) == 401
    assert ask_locally(path, daemon.token) == 200
    assert daemon.end() == 0
    assert not path.exists()


def ask_locally(path: Path, token: str | None) -> int:
    handle = os.open(path.parent, os.O_RDONLY)  # the path itself may be too long for a socket
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(SOON_S)
            connection.connect(f"/proc/self/fd/{handle}/{path.name}")
            proof = f"Authorization: Bearer {token}\r\n" if token else ""
            request = f"GET /api/status HTTP/1.1\r\nHost: localhost\r\n{proof}Connection: close\r\n\r\n"
            connection.sendall(request.encode())
            return int(connection.makefile("rb").readline().split()[1])
    finally:
        os.close(handle)
