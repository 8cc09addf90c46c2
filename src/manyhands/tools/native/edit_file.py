"""`edit_file`: replaces text in a file exactly, and answers with the difference.

Line endings, byte order mark, permissions and bytes that are not UTF-8 stay as they were.
"""

from __future__ import annotations

import codecs
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manyhands.errors import ToolFault
from manyhands.tools.native.definition import WRITES, define
from manyhands.tools.native.edit_diff import Change, unified_diff
from manyhands.tools.native.files import replace_file
from manyhands.tools.native.nearest_lines import nearest_lines, numbered
from manyhands.tools.native.paths import Place, explained, find_place
from manyhands.tools.native.read_file import open_for_reading
from manyhands.tools.types import ToolResult, text_result

SIZE_LIMIT = 20_000_000
PLACES_SHOWN = 10
DIFF_LIMIT = 8000

DEFINITION = define(
    "edit_file",
    "Change part of a text file of the channel's directory: replace a piece of text, given exactly, by"
    " another. Answers with the difference. Read the file first; write_file makes new files.",
    {
        "path": {"type": "string", "description": "Path inside the channel's directory."},
        "old": {
            "type": "string",
            "description": "The text to replace, exactly as it is in the file, with its white space and with"
            " enough lines around it that it is there only once.",
        },
        "new": {"type": "string", "description": "The text that takes its place; empty to delete it."},
        "all": {
            "type": "boolean",
            "default": False,
            "description": "Replace it everywhere in the file, however often it is there.",
        },
    },
    required=("path", "old", "new"),
    annotations=WRITES,
)

# Calls of one round run side by side, and several of them may edit one file: none may undo another.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Text:
    """A file's text with `\\n` between its lines where that loses nothing, and how to get its bytes back."""

    text: str
    is_utf8: bool
    mark: bytes
    ending: str
    """What stands for `\\n` in the file; `\\n` itself also where line endings are mixed."""

    def encode(self, text: str) -> bytes:
        return self.mark + text.replace("\n", self.ending).encode(errors="surrogateescape")


def edit_file(root: str, arguments: Mapping[str, Any]) -> ToolResult:
    """The work, in a thread."""
    place = find_place(root, arguments["path"])
    old, new = _without_cr(arguments["old"]), _without_cr(arguments["new"])
    _check_texts(old, new)
    with _ONE_AT_A_TIME, explained(place.shown):
        before = _read(place)
        if not before.is_utf8 and not (old + new).isascii():
            raise ToolFault(
                f"{place.shown!r} is not UTF-8 text, so only plain ASCII can be replaced in it.",
                hint="Edit around the other characters.",
            )
        change = _change(place, before.text, old, new, everywhere=bool(arguments.get("all")))
        replace_file(place, before.encode(change.after), create_parents=False)
    return _answer(place, change)


def _check_texts(old: str, new: str) -> None:
    if not old:
        raise ToolFault(
            '"old" is empty.', hint="Give the text to replace; write_file makes or replaces whole files."
        )
    if old == new:
        raise ToolFault(
            '"old" and "new" are the same, so there is nothing to change.', hint="Check what you want."
        )
    if not _is_encodable(old + new):
        raise ToolFault("The text holds half of a surrogate pair.", hint="Correct it.")


def _read(place: Place) -> _Text:
    with open_for_reading(place) as file:
        data = file.read(SIZE_LIMIT + 1)
    if len(data) > SIZE_LIMIT:
        raise ToolFault(
            f"{place.shown!r} has more than {SIZE_LIMIT} bytes.", hint="Change it with run_command."
        )
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data:
        raise ToolFault(f"{place.shown!r} is binary or UTF-16.", hint="Only UTF-8 text files can be edited.")
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    text = data[len(mark) :].decode(errors="surrogateescape")
    is_utf8 = _is_encodable(text)
    windows = text.count("\r\n")
    if windows and windows == text.count("\n"):
        return _Text(_without_cr(text), is_utf8, mark, "\r\n")
    return _Text(text, is_utf8, mark, "\n")


def _change(place: Place, text: str, old: str, new: str, *, everywhere: bool) -> Change:
    for ending in ("\n", "\r\n"):  # the second for a file in which both are used
        wanted = old.replace("\n", ending)
        if starts := _occurrences(text, wanted):
            if len(starts) > 1 and not everywhere:
                raise _ambiguous(place, text, starts)
            return Change(text, _apart(starts, len(wanted)), len(wanted), new.replace("\n", ending))
    raise _missing(place, text, old)


def _occurrences(text: str, wanted: str) -> list[int]:
    """Where it is, overlapping ones too: "aa" is twice in "aaa", and it is not clear which one is meant."""
    starts = []
    position = text.find(wanted)
    while position >= 0:
        starts.append(position)
        position = text.find(wanted, position + 1)
    return starts


def _apart(starts: list[int], length: int) -> list[int]:
    """Those that do not overlap, from the first on."""
    chosen: list[int] = []
    for start in starts:
        if not chosen or start >= chosen[-1] + length:
            chosen.append(start)
    return chosen


def _ambiguous(place: Place, text: str, starts: list[int]) -> ToolFault:
    lines = [str(text.count("\n", 0, start) + 1) for start in starts[:PLACES_SHOWN]]
    more = f" and {len(starts) - PLACES_SHOWN} more" if len(starts) > PLACES_SHOWN else ""
    where = f"{place.shown!r} (lines {', '.join(lines)}{more})"
    return ToolFault(
        f'"old" is {len(starts)} times in {where}; nothing was changed.',
        hint='Give more of the lines around the one that you mean, or set "all" to replace each of them.',
    )


def _missing(place: Place, text: str, old: str) -> ToolFault:
    found = nearest_lines(text, old)
    if found is None:
        return ToolFault(
            f'"old" is not in {place.shown!r}, and nothing in it is similar; nothing was changed.',
            hint="Read the file again and copy the text from it.",
        )
    how = "only white space is different" if found.white_space_only else "the most similar lines"
    return ToolFault(
        f'"old" is not in {place.shown!r}; nothing was changed. There ({how}) it says:\n{numbered(found)}\n',
        hint="Copy the text exactly, without the line numbers.",
    )


def _answer(place: Place, change: Change) -> ToolResult:
    diff = unified_diff(change, place.shown, DIFF_LIMIT)
    count = len(change.starts)
    times = "" if count == 1 else f" in {count} places"
    facts = {"path": place.shown, "replacements": count, "added": diff.added, "removed": diff.removed}
    head = f"Changed {place.shown}{times}: {diff.added} lines added, {diff.removed} removed."
    return text_result(f"{head}\n{diff.text}", structured=facts)


def _without_cr(text: str) -> str:
    return text.replace("\r\n", "\n")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
