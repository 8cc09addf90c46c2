"""Calls that have begun, noted where a kill of this process cannot reach them, until the database has them.

A call goes out only when it is on record, and a commit before each would be a third of what a quick call
costs. A note in a mapped file costs next to nothing and is there for the next process as well: what it finds,
it writes into the log.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
from dataclasses import fields
from datetime import datetime
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from manyhands.tools.types import CallRecord, CallStatus

log = logging.getLogger(__name__)

PLACES = 128
PLACE = 4096
"""Bytes; a call with longer arguments is written into the database at once."""
_PLACES = range(0, PLACES * PLACE, PLACE)
_SIZE = PLACES * PLACE
_HEAD = 4
_EMPTY = bytes(PLACE)
# A note may be of another version; what it knows more is left out.
_FIELDS = frozenset(field.name for field in fields(CallRecord))


def begun_file(database: str) -> str:
    """Beside the database that the calls belong to."""
    return f"{database}-begun"


class BegunCalls:
    """A file with a place for each of some calls, to be used between `open` and `close`."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._map: mmap.mmap | None = None
        self._free: list[int] = []
        self._taken: dict[str, int] = {}

    def open(self) -> list[CallRecord]:
        """Begin to use it; the answer is what a killed process has left. It stays until it is forgotten."""
        self.close()
        if self._path is None:
            return []
        left: dict[int, CallRecord] = {}
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                os.chmod(self._path, 0o600)
                content = _content(descriptor)
                left = {place: record for place in _PLACES if (record := _read(content, place))}
                self._map = _mapped(descriptor, content)
            finally:
                os.close(descriptor)
        except (OSError, ValueError) as error:  # full, or no place for such files: rows come first then
            log.warning("calls cannot be noted in %s: %s", self._path, error)
        self._taken = {record.id: place for place, record in left.items()}
        self._free = [place for place in _PLACES if place not in left]
        return list(left.values())

    def close(self) -> None:
        """What is noted stays for the next process."""
        if self._map is not None:
            self._map.close()
        self._map, self._free, self._taken = None, [], {}

    def note(self, record: CallRecord) -> bool:
        """Whether there was a place for it."""
        if self._map is None or not self._free or record.id in self._taken:
            return False
        if (data := _data(record)) is None:
            return False
        place = self._taken[record.id] = self._free.pop()
        start = place + _HEAD
        self._map[start : start + len(data)] = data
        self._map[place:start] = len(data).to_bytes(_HEAD, "little")  # last: now it counts
        return True

    def forget(self, call_id: str) -> None:
        """The database has it."""
        if self._map is not None and (place := self._taken.pop(call_id, None)) is not None:
            self._map[place : place + PLACE] = _EMPTY
            self._free.append(place)


def _content(descriptor: int) -> bytes:
    """All of it; a file of another size holds nothing."""
    if os.fstat(descriptor).st_size != _SIZE:
        os.ftruncate(descriptor, 0)
        return bytes(_SIZE)
    with open(descriptor, "rb", closefd=False) as file:
        return file.read()


def _mapped(descriptor: int, content: bytes) -> mmap.mmap:
    # Written whole, also where it is there already: a full disk, or a hole in the file, must show here and
    # not when a place is used, where it would end the process.
    os.lseek(descriptor, 0, os.SEEK_SET)
    written = 0
    while written < _SIZE:
        written += os.write(descriptor, content[written:])
    return mmap.mmap(descriptor, _SIZE)


def _data(record: CallRecord) -> bytes | None:
    try:
        data = to_json(record.beginning())
    except PydanticSerializationError:
        return None
    return data if len(data) <= PLACE - _HEAD else None


def _read(content: bytes, place: int) -> CallRecord | None:
    length = int.from_bytes(content[place : place + _HEAD], "little")
    if not length:
        return None
    try:
        noted: dict[str, Any] = json.loads(content[place + _HEAD : place + min(_HEAD + length, PLACE)])
        known = {name: value for name, value in noted.items() if name in _FIELDS}
        made = {"id": str(noted["id"]), "at": datetime.fromisoformat(noted["at"])}
        return CallRecord(**known | made | {"status": CallStatus.PENDING})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        log.warning("a call that was noted cannot be read")
        return None
