"""Native tools that change or list files: `write_file`, `rename_file`, `delete_file`, `list_directory`,
`create_directory`."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import anyio

from manyhands.clock import rfc3339
from manyhands.errors import ToolFault, ToolRefusal
from manyhands.tools.native.definition import ADDS, READS, WRITES, Work, define
from manyhands.tools.native.homes import find_homes
from manyhands.tools.native.paths import NO_FOLLOW, Place, explained, find_place, root_of
from manyhands.tools.types import Invocation, ToolResult, text_result

LIST_LIMIT = 500
LOOKED_AT = 20_000
"""In so many directories homes are looked for before one is moved with all of them."""
_PATH = {"type": "string", "description": "Path inside the channel's directory."}

WRITE_FILE = define(
    "write_file",
    "Write a text file of the channel's directory as a whole; an existing one is replaced.",
    {
        "path": _PATH,
        "content": {"type": "string", "description": "Everything that the file will hold."},
        "create_parents": {
            "type": "boolean",
            "default": False,
            "description": "Make the directories above it that do not exist.",
        },
    },
    required=("path", "content"),
    annotations=WRITES,
)
RENAME_FILE = define(
    "rename_file",
    "Rename or move a file or directory within the channel's directory.",
    {
        "path": {"type": "string", "description": "What to rename."},
        "new_path": {"type": "string", "description": "Its new path, with the name."},
        "overwrite": {
            "type": "boolean",
            "default": False,
            "description": "Replace a file that has the new name.",
        },
    },
    required=("path", "new_path"),
    annotations=WRITES,
)
DELETE_FILE = define(
    "delete_file",
    "Delete a file or an empty directory for good. Of a link the link is deleted, not what it points to.",
    {"path": _PATH},
    required=("path",),
    annotations=WRITES,
)
LIST_DIRECTORY = define(
    "list_directory",
    "List a directory: names, directories with a `/` at the end, sizes in bytes.",
    {
        "path": {**_PATH, "default": "."},
        "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "How many entries to skip."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 5000,
            "default": LIST_LIMIT,
            "description": "How many entries to show.",
        },
    },
    annotations=READS,
)
CREATE_DIRECTORY = define(
    "create_directory",
    "Make a directory, and the ones above it that do not exist.",
    {"path": _PATH},
    required=("path",),
    annotations=ADDS,
)


def in_directory(work: Callable[[str, Mapping[str, Any]], ToolResult]) -> Work:
    """The work of a tool as a plain function of the root and the arguments, run in a thread."""

    async def run(arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        # A file system that hangs must not hold the call beyond its time.
        return await anyio.to_thread.run_sync(work, root_of(invocation), arguments, abandon_on_cancel=True)

    return run


def write_file(root: str, arguments: Mapping[str, Any]) -> ToolResult:
    place = find_place(root, arguments["path"])
    try:
        data = arguments["content"].encode()
    except UnicodeEncodeError:
        raise ToolFault("The content holds half of a surrogate pair.", hint="Correct the text.") from None
    parents = bool(arguments.get("create_parents"))
    with explained(place.shown):
        try:
            replaced = replace_file(place, data, create_parents=parents)
        except FileNotFoundError:
            raise ToolFault(
                f"The directory of {place.shown!r} does not exist.", hint='Set "create_parents" to make it.'
            ) from None
    return text_result(f"{'Replaced' if replaced else 'Wrote'} {place.shown} ({len(data)} bytes).")


def replace_file(place: Place, data: bytes, *, create_parents: bool) -> bool:
    """The whole file or nothing of it, with the permissions that it had; whether there was one."""
    with place.entry(create_parents=create_parents) as (name, parent):
        mode = _mode_of(name, parent)
        if mode is not None and not stat.S_ISREG(mode):
            raise ToolFault(f"{place.shown!r} is not a regular file.", hint="Choose another name.")
        partial = os.path.join(os.path.dirname(name), f".{secrets.token_hex(8)}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | getattr(os, "O_BINARY", 0)
        descriptor = os.open(partial, flags, 0o666, dir_fd=parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), stat.S_IMODE(mode))
            os.replace(partial, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            os.unlink(partial, dir_fd=parent)
            raise
    return mode is not None


def rename_file(root: str, arguments: Mapping[str, Any]) -> ToolResult:
    old = find_place(root, arguments["path"], follow=False)
    new = find_place(root, arguments["new_path"], follow=False)
    if new.parts[: len(old.parts)] == old.parts and new != old:
        raise ToolFault(f"{new.shown!r} is inside of {old.shown!r}.", hint="Choose another place.")
    with explained(old.shown), old.entry() as (name, parent):
        mode = _mode_of(name, parent)
        if mode is None:
            raise FileNotFoundError(2, "")
        if stat.S_ISDIR(mode):
            _keep_homes_in_place(old)
        with explained(new.shown), new.entry() as (new_name, new_parent):
            # Someone may make a file of that name between this look and the renaming; systems offer no common
            # way to rule that out.
            if not arguments.get("overwrite") and _mode_of(new_name, new_parent) is not None:
                raise ToolFault(f"{new.shown!r} exists already.", hint='Set "overwrite" to replace it.')
            if old != new and _are_links_to_one(name, parent, new_name, new_parent):
                raise ToolFault(
                    f"{old.shown!r} and {new.shown!r} are two names of the same file.",
                    hint="Delete the one that is not wanted.",
                )
            os.replace(name, new_name, src_dir_fd=parent, dst_dir_fd=new_parent)
    return text_result(f"Renamed {old.shown} to {new.shown}.")


def _keep_homes_in_place(place: Place) -> None:
    """Who knows a home by its path would not find it again, and could not hide it."""
    found = find_homes(place.path, LOOKED_AT)
    if found.paths:
        raise ToolRefusal(f"The home of a hub is in {place.shown!r}.", hint="Only a person may move it.")
    if not found.complete:
        raise ToolRefusal(
            f"{place.shown!r} holds too many directories to look for the home of a hub in all of them.",
            hint="Rename its parts, or ask a person to do it.",
        )


def _are_links_to_one(name: str, parent: int | None, other: str, other_parent: int | None) -> bool:
    """A system that renames one hard link to the other leaves both."""
    try:
        facts = os.stat(name, dir_fd=parent, follow_symlinks=False)
        other_facts = os.stat(other, dir_fd=other_parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return facts.st_nlink > 1 and not stat.S_ISDIR(facts.st_mode) and os.path.samestat(facts, other_facts)


def delete_file(root: str, arguments: Mapping[str, Any]) -> ToolResult:
    place = find_place(root, arguments["path"], follow=False)
    with explained(place.shown), place.entry() as (name, parent):
        mode = _mode_of(name, parent)
        if mode is not None and stat.S_ISDIR(mode):
            os.rmdir(name, dir_fd=parent)
            return text_result(f"Deleted the empty directory {place.shown}.")
        os.unlink(name, dir_fd=parent)
    return text_result(f"Deleted {place.shown}.")


def create_directory(root: str, arguments: Mapping[str, Any]) -> ToolResult:
    place = find_place(root, arguments["path"])
    existed = os.path.isdir(place.path)
    with explained(place.shown), place.directory(create=True):
        return text_result(f"{place.shown} {'exists already' if existed else 'was created'}.")


def list_directory(root: str, arguments: Mapping[str, Any]) -> ToolResult:
    place = find_place(root, arguments.get("path") or ".")
    with explained(place.shown), place.directory() as directory, os.scandir(directory) as found:
        entries = sorted(found, key=lambda entry: entry.name)
        offset = arguments.get("offset") or 0
        page = entries[offset : offset + (arguments.get("limit") or LIST_LIMIT)]
        shown = [_entry(entry) for entry in page]
    lines = [_line(entry) for entry in shown] or ["(empty)" if not entries else "(no more entries)"]
    if (end := offset + len(page)) < len(entries):
        lines.append(f'[{end} of {len(entries)} entries; go on with "offset": {end}]')
    structured = {"path": place.shown, "entries": shown, "total": len(entries)}
    return text_result("\n".join(lines), structured=structured)


def _entry(entry: os.DirEntry[str]) -> dict[str, Any]:
    name = entry.name.encode(errors="surrogateescape").decode(errors="replace")
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:  # gone in between, or not to be looked at
        return {"name": name, "type": "unknown", "size": None, "modified": None}
    kind = "link" if entry.is_symlink() else "directory" if stat.S_ISDIR(facts.st_mode) else "file"
    return {
        "name": name,
        "type": kind,
        "size": facts.st_size if kind == "file" else None,
        "modified": _moment(facts.st_mtime),
    }


def _moment(seconds: float) -> str | None:
    """Nothing for one that no calendar holds: file systems keep any number."""
    try:
        return rfc3339(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def _line(entry: Mapping[str, Any]) -> str:
    match entry["type"]:
        case "directory":
            return f"{entry['name']}/"
        case "file":
            return f"{entry['name']}  {entry['size']}"
        case kind:
            return f"{entry['name']}  ({kind})"


def _mode_of(name: str, parent: int | None) -> int | None:
    """What a name stands for, links not followed; nothing when there is no such thing."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
