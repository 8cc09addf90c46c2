"""Reads a text file, whatever is in it: how large it may be, which encoding it has, whether it held still.

Blocking: call it in a thread. What cannot be read is a reason, never an exception.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
from dataclasses import dataclass

from manyhands.memory.walking import mark_of

LOOKED_AT = 8192
ATTEMPTS = 3
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


@dataclass(frozen=True, slots=True)
class Content:
    """What was read of a file. Without a text there is a problem; with one there may be."""

    text: str | None
    digest: str = ""
    size: int = 0
    mark: str = ""
    modified: float = 0.0
    problem: str | None = None


def read_text(path: str, largest: int) -> Content | None:
    """The text of a file; nothing if there is no such file (any more)."""
    try:
        found = _read_once(path, largest)
        for _ in range(ATTEMPTS - 1):
            if isinstance(found, Content):
                break
            found = _read_once(path, largest)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Content(None, problem=f"It cannot be read: {error.strerror or error}.")
    if isinstance(found, Content):
        return found
    text, note = decode(found.content)
    moved = "It changed while it was read and will be read again."
    # The mark is of no state that the file was ever in: the next look finds it changed.
    return Content(text, _digest(found.content), len(found.content), "", found.modified, _both(moved, note))


@dataclass(frozen=True, slots=True)
class _Moved:
    """A file that was written to while we read it."""

    content: bytes
    modified: float


def _read_once(path: str, largest: int) -> Content | _Moved:
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb", closefd=True) as file:
        before = os.fstat(descriptor)
        facts = ("", before.st_size, mark_of(before), before.st_mtime)
        if not stat.S_ISREG(before.st_mode):
            return Content(None, *facts, "It is no ordinary file.")
        if before.st_size > largest:
            reason = f"It has {before.st_size:,} bytes, and {largest:,} are the most (memory_file_bytes)."
            return Content(None, *facts, reason)
        content = file.read(largest + 1)
        after = os.fstat(descriptor)
    if mark_of(after) != mark_of(before) or len(content) != before.st_size:
        return _Moved(content[:largest], after.st_mtime)
    text, note = decode(content)
    return Content(text, _digest(content), before.st_size, mark_of(before), before.st_mtime, note)


def decode(content: bytes) -> tuple[str | None, str | None]:
    """The text of some bytes, and what is wrong with them."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), None)
    if encoding is None and b"\0" in content[:LOOKED_AT]:
        return None, "It is no text: it holds zero bytes."
    try:
        return _clean(content.decode(encoding or "utf-8")), None
    except UnicodeDecodeError:
        if encoding is not None:
            note = f"It begins as {encoding} and does not go on so; what could not be read shows as �."
            return _clean(content.decode(encoding, "replace")), note
    return _guessed(content)


def _guessed(content: bytes) -> tuple[str | None, str | None]:
    """Bytes that are not UTF-8: damaged UTF-8 if much of it is, else the older western encoding."""
    damaged = content.decode("utf-8", "replace")
    broken = damaged.count("\ufffd")
    letters = sum(character > "\x7f" for character in damaged) - broken
    if letters >= broken:
        return _clean(damaged), f"It is not all UTF-8: {broken:,} places could not be read and show as �."
    older = content.decode("cp1252", "replace")
    odd = sum(character < " " and character not in "\t\n\r\f" for character in older[:LOOKED_AT])
    if odd * 20 > min(len(older), LOOKED_AT):
        return None, "It is no text."
    return _clean(older), "It is not UTF-8 and was read as Windows-1252."


def _clean(text: str) -> str:
    """Without zero characters, which no database takes; each gives its place to a mark."""
    return text.replace("\0", "\ufffd")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _both(one: str, other: str | None) -> str:
    return f"{one} {other}" if other else one
