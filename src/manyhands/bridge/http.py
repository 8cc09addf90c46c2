"""HTTP/1.1 to the daemon over TCP, TLS or a Unix socket, with connections that are used again.

The standard library's client brings the parsers of mail along, which takes longer to import than the bridge
may take to answer, or a command to do its work. Nothing here knows what is sent.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

CONNECT_S = 5.0
SILENCE_S = 120.0
"""The daemon says something on every open stream at least each 15 s; a body may take as long as it takes."""
MAX_HEAD = 65_536
MOST_IDLE = 8
LONGEST_SOCKET_PATH = 100


class UnreachableError(OSError):
    """Nobody was there; nothing was sent."""


class LostError(OSError):
    """The connection ended after something was sent."""


class Address:
    """Where the daemon serves: `http://host:port`, `https://…` or `unix:PATH`."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.path = ""
        self.unix: str | None = None
        self.is_secure = False
        self.host, self.port = "localhost", 80
        if url.startswith("unix:"):
            self.unix = url.removeprefix("unix:").removeprefix("//")
        else:
            self._split(self.url)
        shown = f"[{self.host}]" if ":" in self.host else self.host
        self.host_header = "localhost" if self.unix else f"{shown}:{self.port}"

    def _split(self, url: str) -> None:
        scheme, separator, rest = url.partition("://")
        if not separator or scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is no address of a daemon; use http://…, https://… or unix:PATH")
        self.is_secure = scheme == "https"
        where, slash, path = rest.partition("/")
        self.path = slash + path
        host, port = where, ""
        if where.startswith("["):
            host, _, port = where[1:].partition("]")
            port = port.removeprefix(":")
        elif ":" in where:
            host, _, port = where.rpartition(":")
        if not host or (port and not port.isdecimal()):
            raise ValueError(f"{url!r} is no address of a daemon; use http://host:port")
        self.host = host
        self.port = int(port or (443 if self.is_secure else 80))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)


class Connection:
    """One socket, for one exchange after the other."""

    def __init__(self, address: Address, silence_s: float = SILENCE_S) -> None:
        self.address = address
        self._socket = _connect(address)
        self._socket.settimeout(silence_s)
        self._file: IO[bytes] = self._socket.makefile("rb")

    def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Response:
        """Send it and read the head of the answer."""
        sent = {"Host": self.address.host_header, **headers}
        if body is not None:
            sent["Content-Length"] = str(len(body))
        lines = [f"{method} {self.address.path}{target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in sent.items()]
        if any("\n" in line or "\r" in line for line in lines):
            raise ValueError("a header must not hold a line break")
        try:
            self._socket.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""))
            return Response(self._file)
        except (OSError, ValueError) as error:  # ValueError: closed by another thread meanwhile
            raise LostError(str(error) or "the connection was closed") from error

    def leave_http(self) -> tuple[socket.socket, IO[bytes]]:
        """The socket and what reads from it, for another protocol."""
        return self._socket, self._file

    @property
    def is_stale(self) -> bool:
        """Whether the other side has hung up, or has said something that nobody asked for."""
        try:
            return bool(select.select([self._socket], [], [], 0)[0])
        except (OSError, ValueError):
            return True

    def close(self) -> None:
        """End it, also for a thread that reads from it: that one is woken first."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError, ValueError):
            self._file.close()
        self._socket.close()


def _connect(address: Address) -> socket.socket:
    try:
        if address.unix is not None:
            opened = _connect_unix(address.unix)
        else:
            opened = socket.create_connection((address.host, address.port), timeout=CONNECT_S)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if address.is_secure:
            import ssl

            opened = ssl.create_default_context().wrap_socket(opened, server_hostname=address.host)
    except (OSError, AttributeError) as error:
        raise UnreachableError(getattr(error, "strerror", None) or str(error)) from error
    return opened


def _connect_unix(path: str) -> socket.socket:
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    opened.settimeout(CONNECT_S)
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        opened.connect(path)
        return opened
    # Through the handle of its directory a longer path will do, too.
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        opened.connect(f"/proc/self/fd/{directory}/{os.path.basename(path)}")
    finally:
        os.close(directory)
    return opened


class Response:
    """An answer, read as far as somebody wants it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.status, self.headers = _read_head(file)
        self._chunked = "chunked" in self.headers.get("transfer-encoding", "").lower()
        length = self.headers.get("content-length", "")
        self._left = int(length) if length.isdecimal() else None
        self._is_over = self.status in (101, 204, 304) or self._left == 0
        self.may_stay = (self._chunked or self._left is not None or self._is_over) and (
            self.headers.get("connection", "").lower() != "close"
        )

    @property
    def kind(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def read(self) -> bytes:
        """All of it."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """It, as it comes."""
        try:
            while not self._is_over and (piece := self._next()):
                yield piece
        except (OSError, ValueError) as error:
            raise LostError(str(error) or "the connection was closed") from error

    def _next(self) -> bytes:
        if self._chunked:
            return self._next_chunk()
        if self._left is None:
            data = self._file.read1(65_536)  # type: ignore[attr-defined]
            self._is_over = not data
            return bytes(data)
        data = self._file.read(self._left)
        if len(data) < self._left:
            raise LostError("the answer ended in the middle")
        self._is_over = True
        return data

    def _next_chunk(self) -> bytes:
        line = self._file.readline(MAX_HEAD)
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:
            raise LostError("the answer ended in the middle") from None
        data = self._file.read(size) if size else b""
        end = self._file.readline(MAX_HEAD)
        if len(data) < size or not end:
            raise LostError("the answer ended in the middle")
        self._is_over = not size
        return data


def events(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The data of server-sent events, as they come."""
    rest = bytearray()
    data: list[bytes] = []
    for piece in pieces:
        start = len(rest)
        rest += piece
        while (end := rest.find(b"\n", start)) >= 0:
            line = bytes(rest[:end]).rstrip(b"\r")
            del rest[: end + 1]
            start = 0
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data)
                data.clear()


def _read_head(file: IO[bytes]) -> tuple[int, dict[str, str]]:
    while True:
        first, *lines = _head_lines(file)
        version, _, rest = first.partition(" ")
        status = rest[:3]
        if not version.startswith("HTTP/1.") or not status.isdecimal():
            raise LostError("the answer is no HTTP")
        if status == "101" or status[0] != "1":
            pairs = (line.partition(":") for line in lines)
            return int(status), {name.strip().lower(): value.strip() for name, _, value in pairs}


def _head_lines(file: IO[bytes]) -> list[str]:
    lines: list[str] = []
    size = 0
    while line := file.readline(MAX_HEAD):
        size += len(line)
        if size > MAX_HEAD:
            raise LostError("the answer's head is too long")
        if line in (b"\r\n", b"\n"):
            if lines:
                return lines
            continue
        lines.append(line.decode("latin-1").rstrip("\r\n"))
    raise LostError("the connection was closed without an answer")


class Pool:
    """Connections that wait to be used again."""

    def __init__(self) -> None:
        self._idle: list[Connection] = []
        self._lock = threading.Lock()

    def take(self, address: Address) -> Connection:
        """One that is open, else a new one."""
        while True:
            with self._lock:
                found = self._idle.pop() if self._idle else None
            if found is None:
                return Connection(address)
            if found.address == address and not found.is_stale:
                return found
            found.close()

    def give(self, connection: Connection, response: Response) -> None:
        """Its answer has been read to the end."""
        with self._lock:
            if response.may_stay and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Let go of those that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
