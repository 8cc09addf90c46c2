"""One request over HTTP/1.1 and its answer, whole or line by line, on a socket of its own.

The standard library's client brings the parsers of mail and TLS along, which takes longer to import than a
command takes; it is still the one for addresses that begin with https. Nothing here knows what is sent.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import BinaryIO

MAX_HEAD = 65_536


class BadAnswerError(OSError):
    """What came back is no HTTP, or only half of it."""


class PlainConnection:
    """As `http.client.HTTPConnection`, as far as it is needed here: one exchange, then it is closed."""

    def __init__(self, host: str, port: int | None, timeout: float) -> None:
        self._host = host
        self._port = port or 80
        self._timeout = timeout
        self._file: BinaryIO | None = None
        self.sock: socket.socket | None = None

    def connect(self) -> None:
        self.sock = socket.create_connection((self._host, self._port), timeout=self._timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def request(
        self, method: str, target: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        if self.sock is None:
            self.connect()
        assert self.sock is not None
        host = f"[{self._host}]" if ":" in self._host else self._host
        sent = {"Host": f"{host}:{self._port}", "Connection": "close", **(headers or {})}
        if body is not None:
            sent["Content-Length"] = str(len(body))
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
        if any("\n" in line or "\r" in line for line in lines):
            raise BadAnswerError("a header must not hold a line break")
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""))

    def getresponse(self) -> PlainResponse:
        assert self.sock is not None
        self._file = self.sock.makefile("rb")
        return PlainResponse(self._file)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self.sock is not None:
            self.sock.close()
            self.sock = None


class PlainResponse:
    """The answer, read as far as somebody wants it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.status, self._headers = _read_head(file)
        self._is_chunked = "chunked" in self._headers.get("transfer-encoding", "").lower()
        length = self._headers.get("content-length")
        self._left = int(length) if length is not None and length.isdecimal() else None
        self._chunk = b""
        self._is_over = self.status in (204, 304)

    def getheader(self, name: str) -> str | None:
        return self._headers.get(name.lower())

    def read(self) -> bytes:
        """All of it."""
        if self._is_over:
            return b""
        if self._is_chunked:
            return self._chunk + b"".join(iter(self._next_chunk, b""))
        data = self._file.read() if self._left is None else self._file.read(self._left)
        if self._left is not None and len(data) < self._left:
            raise BadAnswerError("the answer ended in the middle")
        return data

    def readline(self) -> bytes:
        """The next line; nothing at the end."""
        if not self._is_chunked:
            return self._file.readline()
        while b"\n" not in self._chunk:
            more = self._next_chunk()
            if not more:
                break
            self._chunk += more
        line, end, self._chunk = self._chunk.partition(b"\n")
        return line + end

    def _next_chunk(self) -> bytes:
        if self._is_over:
            return b""
        size = self._chunk_size()
        data = self._file.read(size) if size else b""
        if len(data) < size:
            raise BadAnswerError("the answer ended in the middle")
        self._file.readline()
        self._is_over = not size
        return data

    def _chunk_size(self) -> int:
        try:
            return int(self._file.readline().partition(b";")[0], 16)
        except ValueError:
            raise BadAnswerError("the answer ended in the middle") from None

    def close(self) -> None:
        self._file.close()


def _read_head(file: BinaryIO) -> tuple[int, dict[str, str]]:
    """The status and the headers, names in lower case; what only announces the real answer is passed over."""
    while True:
        first, *lines = _head_lines(file)
        version, _, rest = first.partition(" ")
        status = rest[:3]
        if not version.startswith("HTTP/1.") or not status.isdecimal():
            raise BadAnswerError("the answer is no HTTP")
        if status[0] != "1":
            pairs = (line.partition(":") for line in lines)
            return int(status), {name.strip().lower(): value.strip() for name, _, value in pairs}


def _head_lines(file: BinaryIO) -> list[str]:
    lines: list[str] = []
    size = 0
    while line := file.readline(MAX_HEAD):
        size += len(line)
        if size > MAX_HEAD:
            raise BadAnswerError("the answer's head is too long")
        if line in (b"\r\n", b"\n"):
            if lines:
                return lines
            continue
        lines.append(line.decode("latin-1").rstrip("\r\n"))
    raise BadAnswerError("the connection was closed without an answer")
