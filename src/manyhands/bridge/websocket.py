"""The client's side of a WebSocket (RFC 6455), as far as the bridge needs it: text, pings, the end."""

from __future__ import annotations

import base64
import contextlib
import os
import socket
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

TEXT, CLOSE, PING, PONG, MORE = 0x1, 0x8, 0x9, 0xA, 0x0
MAX_MESSAGE = 16 * 1024 * 1024


def handshake_headers() -> dict[str, str]:
    """What asks a server to leave HTTP."""
    return {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
    }


class WebSocket:
    """An open one."""

    def __init__(self, sock: socket.socket, reads: IO[bytes]) -> None:
        self._socket = sock
        self._reads = reads
        self._sending = threading.Lock()

    def receive(self) -> str | None:
        """The next text; nothing when the other side closes it."""
        message = bytearray()
        while True:
            is_last, kind, payload = self._frame()
            if kind == CLOSE:
                return None
            if kind == PING:
                self._send(PONG, payload)
            elif kind in (TEXT, MORE):
                message += payload
                if len(message) > MAX_MESSAGE:
                    raise OSError("a message is too large")
                if is_last:
                    return message.decode("utf-8", "replace")

    def send(self, text: str) -> None:
        self._send(TEXT, text.encode())

    def close(self) -> None:
        """Say that this is the end."""
        with contextlib.suppress(OSError):
            self._send(CLOSE, (1000).to_bytes(2, "big"))

    def _frame(self) -> tuple[bool, int, bytes]:
        first, second = self._exactly(2)
        size = second & 0x7F
        if size >= 126:
            size = int.from_bytes(self._exactly(2 if size == 126 else 8), "big")
        if size > MAX_MESSAGE:
            raise OSError("a message is too large")
        mask = self._exactly(4) if second & 0x80 else b""
        payload = self._exactly(size)
        return bool(first & 0x80), first & 0x0F, _masked(payload, mask) if mask else payload

    def _exactly(self, size: int) -> bytes:
        data = self._reads.read(size)
        if len(data) < size:
            raise OSError("the socket was closed")
        return data

    def _send(self, kind: int, payload: bytes) -> None:
        size = len(payload)
        if size < 126:
            head = bytes([0x80 | kind, 0x80 | size])
        elif size < 1 << 16:
            head = bytes([0x80 | kind, 0x80 | 126]) + size.to_bytes(2, "big")
        else:
            head = bytes([0x80 | kind, 0x80 | 127]) + size.to_bytes(8, "big")
        mask = os.urandom(4)
        with self._sending:
            self._socket.sendall(head + mask + _masked(payload, mask))


def _masked(payload: bytes, mask: bytes) -> bytes:
    repeated = mask * (len(payload) // 4 + 1)
    return bytes(one ^ other for one, other in zip(payload, repeated, strict=False))
