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
from pathlib import Path
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from manyhands.tools.call_log import begun_fields
from manyhands.tools.types import CallRecord, CallStatus

log = logging.getLogger(__name__)

PLACES = 128
PLACE = 4096
"""Bytes; a call with longer arguments is written into the database at once."""
_HEAD = 4
_EMPTY = bytes(_HEAD)
_FIELDS = frozenset(field.name for field in fields(CallRecord))


class BegunCalls:
    """A file with a place for each of some calls. It is usable between `open` and `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._map: mmap.mmap | None = None
        self._free: list[int] = []
        self._taken: dict[str, int] = {}

    def open(self) -> list[CallRecord]:
        """Begin to use it; the answer is what a killed process has left. It stays until it is forgotten."""
        try:
            self._map = _mapped(self._path)
        except OSError as error:  # full, or no place for such files: each call has its commit then
            log.warning("calls cannot be noted in %s: %s", self._path, error)
            return []
        left: list[CallRecord] = []
        for place in range(0, PLACES * PLACE, PLACE):
            record = _read(self._map, place)
            if record is None:
                self._free.append(place)
            else:
                left.append(record)
                self._taken[record.id] = place
        return left

    def close(self) -> None:
        """What is noted stays for the next process."""
        if self._map is not None:
            self._map.close()
        self._map, self._free, self._taken = None, [], {}

    def note(self, record: CallRecord) -> bool:
        """Whether there was a place for it."""
        if self._map is None or not self._free or (data := _data(record)) is None:
            return False
        place = self._taken[record.id] = self._free.pop()
        start = place + _HEAD
        self._map[start : start + len(data)] = data
        self._map[place:start] = len(data).to_bytes(_HEAD, "little")  # last: now it counts
        return True

    def forget(self, call_id: str) -> None:
        """The database has it."""
        if self._map is not None and (place := self._taken.pop(call_id, None)) is not None:
            self._map[place : place + _HEAD] = _EMPTY
            self._free.append(place)


def _mapped(path: Path) -> mmap.mmap:
    size = PLACES * PLACE
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(descriptor).st_size != size:
            # Written and not only made long: a full disk must show here, not when a place is first used.
            os.ftruncate(descriptor, 0)
            written = 0
            while written < size:
                written += os.write(descriptor, bytes(size - written))
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)


def _data(record: CallRecord) -> bytes | None:
    try:
        data = to_json(begun_fields(record))
    except PydanticSerializationError:
        return None
    return data if len(data) <= PLACE - _HEAD else None


def _read(noted: mmap.mmap, place: int) -> CallRecord | None:
    length = int.from_bytes(noted[place : place + _HEAD], "little")
    if not length:
        return None
    try:
        data: dict[str, Any] = json.loads(noted[place + _HEAD : place + _HEAD + length])
        known = {name: value for name, value in data.items() if name in _FIELDS}
        return CallRecord(**known | {"at": datetime.fromisoformat(data["at"]), "status": CallStatus.PENDING})
    except (ValueError, TypeError, KeyError):
        log.warning("a call that was noted at %s cannot be read", place)
        return None
