"""From bytes to JSON-RPC messages: cutting lines, reading them tolerantly, finding whose answer was lost.

Pure: no I/O, no await. Which requests are under way is known to `pending`, what listings hold to `listings`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from mcp.types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError
from pydantic_core import from_json

_KEPT = 4096
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
# The last brace closes the message itself, so an id right before it is the message's own.
_ID = rb'"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*'
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"\s*'
_TRAILING_ID = re.compile(_ID + rb"(?:,\s*" + _VERSION + rb")?}\s*$")
_TRAILING_VERSION = re.compile(_VERSION + rb"(?:,\s*" + _ID + rb")?}\s*$")


@dataclass(frozen=True, slots=True)
class Oversized:
    """A line over the limit, of which only the ends are kept; told when it breaks it and when it ends."""

    head: bytes
    tail: bytes
    size: int
    ended: bool


class LineFramer:
    """Cuts a byte stream into lines in linear time; never holds more than `max_frame` bytes of one."""

    def __init__(self, max_frame: int) -> None:
        self._max_frame = max_frame
        self._parts: list[bytes] = []
        self._size = 0
        self._head: bytes | None = None
        self._tail = b""

    def feed(self, data: bytes) -> list[bytes | Oversized]:
        """The lines that this piece completes."""
        *complete, rest = data.split(b"\n")
        frames = [self._finish(line) for line in complete]
        if rest and self._add(rest):
            assert self._head is not None
            frames.append(Oversized(self._head, b"", self._size, ended=False))
        return frames

    @property
    def begun(self) -> bytes:
        """The head of a line that has not ended."""
        return (self._head if self._head is not None else b"".join(self._parts[:1]))[:_KEPT]

    def _finish(self, line: bytes) -> bytes | Oversized:
        if not self._size and len(line) <= self._max_frame:
            return line
        self._add(line)
        frame: bytes | Oversized = b"".join(self._parts)
        if self._head is not None:
            frame = Oversized(self._head, self._tail, self._size, ended=True)
        self._parts, self._size, self._head, self._tail = [], 0, None, b""
        return frame

    def _add(self, piece: bytes) -> bool:
        """Take a piece of the current line; whether it is the one that breaks the limit."""
        self._size += len(piece)
        if self._head is not None:
            self._tail = (self._tail + piece[-_KEPT:])[-_KEPT:]
            return False
        self._parts.append(piece)
        if self._size <= self._max_frame:
            return False
        whole = b"".join(self._parts)
        self._head, self._tail, self._parts = whole[:_KEPT], whole[-_KEPT:], []
        return True


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that is no message. With an id it was meant as the answer to that request."""

    problem: str
    id: RequestId | None = None


def parse_line(line: bytes) -> list[JSONRPCMessage | Malformed]:
    """The messages of one line: mostly one, none for a blank line, several for a batch (2025-03-26)."""
    if line[:1] != b"{":
        line = line.strip().removeprefix(b"\xef\xbb\xbf")
        if not line:
            return []
        if line[:1] not in (b"{", b"["):
            return [Malformed("not JSON")]
    try:
        data = from_json(line)
    except ValueError as error:
        data = _parse_leniently(line)
        if data is None:
            return [Malformed(json_fault(str(error)), _lost_id(line))]
    if isinstance(data, list):
        return [_message(item) for item in data]
    return [_message(data)]


def json_fault(told: str) -> str:
    """What is wrong with a text that is refused as JSON, by what the parser says of it."""
    if "recursion limit exceeded" in told:
        return "it is nested too deeply"
    return "it has a number that is too long" if "number out of range" in told else "it is not JSON"


def _lost_id(line: bytes) -> RequestId | None:
    """The id of the request that a line answers which cannot be read, if an answer is what it plainly is."""
    frame = Oversized(line[:_KEPT], line[-_KEPT:], len(line), ended=True)
    says_so = b'"jsonrpc"' in _top_level(frame.head) or _TRAILING_VERSION.search(frame.tail)
    return answered_id(frame) if says_so and is_answer(frame) else None


def _parse_leniently(line: bytes) -> Any:
    """Second chance for invalid UTF-8, half surrogate pairs and deep nesting."""
    try:
        return _without_surrogates(json.loads(line.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _message(data: Any) -> JSONRPCMessage | Malformed:
    if not isinstance(data, dict):
        return Malformed("not a JSON object")
    try:
        if "method" in data:
            return (
                JSONRPCRequest.model_validate(data)
                if "id" in data
                else JSONRPCNotification.model_validate(data)
            )
        if "result" in data:
            return JSONRPCResponse.model_validate(data)
        if "error" in data:
            return JSONRPCError.model_validate(data)
    except ValidationError:
        return _mended_answer(data)
    if "jsonrpc" in data:
        return Malformed("it has neither a result nor an error", _request_id(data.get("id")))
    return Malformed("not a JSON-RPC message")


def _mended_answer(data: dict[str, Any]) -> JSONRPCMessage | Malformed:
    """Accept an answer whose meaning is plain although its form is wrong; name the fault otherwise."""
    if "method" in data:
        return Malformed("not a JSON-RPC message")
    request_id = _request_id(data.get("id"))
    if "error" in data:
        return JSONRPCError(jsonrpc="2.0", id=request_id, error=_error_data(data["error"]))
    if request_id is None:
        return Malformed("an answer without a usable id")
    result = {} if data["result"] is None else data["result"]
    if not isinstance(result, dict):
        return Malformed(f"the result is a {type(result).__name__}, not an object", request_id)
    return JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result)


def _request_id(value: Any) -> RequestId | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def _error_data(value: Any) -> ErrorData:
    if not isinstance(value, dict):
        return ErrorData(code=INTERNAL_ERROR, message=str(value)[:1000])
    code, message = value.get("code"), value.get("message")
    return ErrorData(
        code=code if isinstance(code, int) else INTERNAL_ERROR,
        message=message if isinstance(message, str) else json.dumps(value)[:1000],
        data=value.get("data"),
    )


def is_answer(frame: Oversized) -> bool:
    """Whether a lost line was an answer to us, as far as its beginning shows."""
    return frame.head.lstrip()[:1] in (b"{", b"[") and b'"method"' not in _top_level(frame.head)


def answered_id(frame: Oversized) -> RequestId | None:
    """The id of the request that a lost line answered, if its head or tail gives it away."""
    token = _top_level(frame.head).get(b'"id"')
    if token is None and frame.ended and (match := _TRAILING_ID.search(frame.tail)):
        token = match.group(1)
    try:
        return _request_id(json.loads(token)) if token else None
    except ValueError:
        return None


def _top_level(head: bytes) -> dict[bytes, bytes]:
    """The scalar fields at the top of a JSON object of which only the beginning is left."""
    fields: dict[bytes, bytes] = {}
    depth, key, after_colon = 0, b"", False
    tokens = [match.group() for match in _TOKEN.finditer(head)][:-1]  # the last one may be cut
    for token in tokens:
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and token not in (b":", b","):
            if after_colon:
                fields[key] = token
            else:
                key = token
        after_colon = token == b":"
    return fields
