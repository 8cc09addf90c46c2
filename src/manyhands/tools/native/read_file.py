"""`read_file`: part of a text file, or of the large result of an earlier call."""

from __future__ import annotations

import codecs
import errno
import io
import os
import stat
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import anyio

from manyhands.errors import InvalidError, NotFoundError, ToolFault
from manyhands.settings import CurrentSettings
from manyhands.tools.native.definition import READS, define
from manyhands.tools.native.paths import NO_FOLLOW, Place, explained, find_place, root_of
from manyhands.tools.types import CallContext, Invocation, ResultPage, ToolResult, text_result

RESULT_PREFIX = "result:"
DEFAULT_LINES = 2000
ROOM_FOR_NOTES = 400
COUNTED_BYTES = 100_000_000
LONGEST_LINE = 100_000_000
"""Characters. Nobody looks for the end of a line that is longer."""
BLOCK = 1 << 16

PageReader = Callable[[str, int, int, CallContext], Awaitable[ResultPage]]
"""Reads part of the result of a call that this context may see."""

DEFINITION = define(
    "read_file",
    "Read a text file of the channel's directory. Long files come in parts: the answer says how to go on."
    " Also reads on in a large result of an earlier tool call, with path `result:<call id>`.",
    {
        "path": {
            "type": "string",
            "description": "Path inside the channel's directory, or `result:<call id>`.",
        },
        "offset": {
            "type": "integer",
            "minimum": 0,
            "description": "First line to read, counted from 1 (default 1)."
            " For `result:` the first character, counted from 0.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "description": "How many lines to read (default 2000). For `result:` how many characters.",
        },
        "encoding": {
            "type": "string",
            "default": "utf-8",
            "description": "How the file is encoded, such as utf-8, latin-1 or utf-16.",
        },
    },
    required=("path",),
    annotations=READS,
)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The work of `read_file`."""

    settings: CurrentSettings
    read_page: PageReader
    hide_cut: Callable[[str], str] = str

    async def __call__(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        path = arguments["path"]
        budget = max(500, self.settings.current.result_limit_chars - ROOM_FOR_NOTES)
        if path.startswith(RESULT_PREFIX):
            return await self._result(path.removeprefix(RESULT_PREFIX), arguments, budget, invocation.context)
        root = root_of(invocation)
        first, count = arguments.get("offset") or 1, arguments.get("limit") or DEFAULT_LINES
        encoding = _checked_encoding(arguments.get("encoding") or "utf-8")
        stop = threading.Event()
        work = _Reading(first, count, budget, encoding, self.hide_cut, stop)
        try:
            return await anyio.to_thread.run_sync(work.read, root, path, abandon_on_cancel=True)
        finally:
            stop.set()

    async def _result(
        self, call_id: str, arguments: Mapping[str, Any], budget: int, context: CallContext
    ) -> ToolResult:
        offset, limit = arguments.get("offset") or 0, min(arguments.get("limit") or budget, budget)
        try:
            page = await self.read_page(call_id, offset, limit, context)
        except (NotFoundError, InvalidError) as error:
            raise ToolFault(error.message, hint=error.hint) from error
        end = offset + len(page.text)
        note = f"[characters {offset}-{end} of {page.size}"
        note += (
            f'; go on with "offset": {page.next_offset}]' if page.next_offset is not None else "; the end]"
        )
        return text_result(f"{page.text}\n{note}")


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reading, in a worker thread."""

    first: int
    count: int
    budget: int
    encoding: str
    hide_cut: Callable[[str], str]
    stop: threading.Event

    def read(self, root: str, path: str) -> ToolResult:
        place = find_place(root, path)
        with explained(place.shown), open_for_reading(place) as opened:
            size = os.fstat(opened.fileno()).st_size
            file = io.BufferedReader(_UntilStopped(opened, self.stop), BLOCK)
            _refuse_binary(file, place.shown, self.encoding)
            lines, following = self._lines(file, place.shown)
            if following is None:
                return text_result("".join(lines) + self._empty_note(lines, place.shown))
            total = self._total(file, size)
        shown = f"lines {self.first}-{self.first + len(lines) - 1} of {total}"
        return text_result(f'{"".join(lines)}\n[{shown}; go on with "offset": {following}]')

    def _empty_note(self, lines: list[str], shown: str) -> str:
        if lines:
            return ""
        return (
            f"[{shown!r} is empty]" if self.first == 1 else f"[{shown!r} has fewer than {self.first} lines]"
        )

    def _lines(self, file: BinaryIO, shown: str) -> tuple[list[str], int | None]:
        """The wanted lines and where to go on, if there is more."""
        text = io.TextIOWrapper(file, encoding=self.encoding, newline="")
        lines: list[str] = []
        used, number = 0, 1
        try:
            while line := self._whole_line(text, number, shown):
                if number >= self.first:
                    if lines and (len(lines) == self.count or used + len(line) > self.budget):
                        return lines, number
                    lines.append(line)
                    used += len(line)
                number += 1
        except UnicodeError as error:
            raise _undecodable(error, shown, self.encoding, number) from error
        finally:
            text.detach()
        return lines, None

    def _whole_line(self, text: io.TextIOWrapper, number: int, shown: str) -> str:
        """The next line; of one that is longer than the budget only its head, with a note."""
        line = text.readline(self.budget)
        if len(line) < self.budget or line.endswith("\n"):
            return line
        length = len(line)
        while length <= LONGEST_LINE and (piece := text.readline(1 << 20)):
            length += len(piece)
            if piece.endswith("\n"):
                break
        head = self.hide_cut(line[: self.budget - 100])
        if length <= LONGEST_LINE:
            return f"{head} [… this line has {length} characters; the rest of it is left out]\n"
        if number < self.first:
            raise ToolFault(
                f"Line {number} of {shown!r} has more than {LONGEST_LINE} characters.",
                hint="Nothing behind it can be read.",
            )
        text.seek(0, io.SEEK_END)
        return f"{head} [… this line has more than {LONGEST_LINE} characters; nothing behind is read]\n"

    def _total(self, file: BinaryIO, size: int) -> str:
        if size > COUNTED_BYTES:
            return f"many ({size} bytes)"
        file.seek(0)
        newlines, last = 0, b""
        while chunk := file.read(1 << 20):
            newlines, last = newlines + chunk.count(b"\n"), chunk
        return str(newlines + (not last.endswith(b"\n")))


class _UntilStopped(io.RawIOBase):
    """A file that can be read only while somebody waits: a thread cannot be cancelled."""

    def __init__(self, file: BinaryIO, stop: threading.Event) -> None:
        self._file = file
        self._stop = stop

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        if self._stop.is_set():
            raise OSError(errno.ECANCELED, "nobody waits for it any longer")
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def open_for_reading(place: Place) -> BinaryIO:
    """A regular file; opening a pipe or a device must not hang."""
    flags = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with place.entry() as (name, parent):
        descriptor = os.open(name, flags, dir_fd=parent)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise ToolFault(f"{place.shown!r} is a directory.", hint="list_directory shows what is in it.")
        raise ToolFault(f"{place.shown!r} is not a regular file.", hint="Only files can be read.")
    return os.fdopen(descriptor, "rb")


def _refuse_binary(file: BinaryIO, shown: str, encoding: str) -> None:
    head = file.read(8192)
    file.seek(0)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and "16" not in encoding:
        raise ToolFault(f"{shown!r} is UTF-16 text.", hint='Read it with "encoding": "utf-16".')
    if b"\0" in head and "16" not in encoding and "32" not in encoding:
        raise ToolFault(
            f"{shown!r} is not a text file.",
            hint="Images can be read with read_image; other binary files cannot.",
        )


def _undecodable(error: UnicodeError, shown: str, encoding: str, line: int) -> ToolFault:
    found = f" (byte 0x{error.object[error.start]:02x})" if isinstance(error, UnicodeDecodeError) else ""
    return ToolFault(
        f"{shown!r} is not valid {encoding} at or after line {line}{found}.",
        hint='Try another "encoding", such as "latin-1", or read the lines before it with "limit".',
    )


def _checked_encoding(name: str) -> str:
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    if found is None or not getattr(found, "_is_text_encoding", True):
        raise ToolFault(f"There is no text encoding {name!r}.", hint="Use utf-8, latin-1 or utf-16.")
    return "utf-8-sig" if found.name == "utf-8" else str(found.name)
