"""One small HTTP request to a server on this machine, bounded in its time, its size and where it goes."""

from __future__ import annotations

import json
import re
from typing import Any

import anyio

HOST = "127.0.0.1"
MOST_BYTES = 2_000_000


async def ask_json(port: int, path: str, *, body: Any = None, seconds: float = 0.5) -> Any:
    """The JSON that a server answers with; nothing when there is none, or it says something else."""
    data = b"" if body is None else json.dumps(body).encode()
    head = [
        f"{'GET' if body is None else 'POST'} {path} HTTP/1.0",
        f"Host: {HOST}:{port}",
        "Accept: application/json",
        "Connection: close",
    ]
    if body is not None:
        head += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
    answer = b""
    with anyio.move_on_after(seconds):
        answer = await _exchange(port, "\r\n".join([*head, "", ""]).encode() + data)
    return _parsed(answer)


async def _exchange(port: int, request: bytes) -> bytes:
    answer = bytearray()
    try:
        async with await anyio.connect_tcp(HOST, port) as stream:
            await stream.send(request)
            while len(answer) <= MOST_BYTES:
                answer += await stream.receive()
                if _is_whole(answer):
                    return bytes(answer)
    except anyio.EndOfStream:
        return bytes(answer)
    except (OSError, anyio.BrokenResourceError):
        return b""
    return b""


def _is_whole(answer: bytearray) -> bool:
    """Whether all of it is there although the server keeps the connection open."""
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    if _is_chunked(head):
        return body.endswith(b"0\r\n\r\n")
    length = re.search(rb"\r\ncontent-length:\s*(\d+)", bytes(head), re.IGNORECASE)
    return length is not None and len(body) >= int(length[1])


def _is_chunked(head: bytes | bytearray) -> bool:
    return re.search(rb"\r\ntransfer-encoding:\s*chunked", bytes(head), re.IGNORECASE) is not None


def _parsed(answer: bytes) -> Any:
    head, _, body = answer.partition(b"\r\n\r\n")
    if not re.match(rb"HTTP/1\.\d 200\b", head):
        return None
    if _is_chunked(head):
        body = _unchunked(body)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _unchunked(body: bytes) -> bytes:
    """Some servers send chunks although they were asked in a version that has none."""
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        try:
            length = int(size.split(b";")[0], 16)
        except ValueError:
            return b""
        whole, body = whole + body[:length], body[length + 2 :]
    return whole
