"""Which names and paths a playground may have, and how large it may be. Pure."""

from __future__ import annotations

import re

from manyhands.errors import InvalidError, TooLargeError
from manyhands.playgrounds.types import CONSOLE, ENTRY

MOST_PLAYGROUNDS = 200
MOST_FILES = 200
LARGEST_FILE = 5_000_000
LARGEST_PLAYGROUND = 20_000_000
LONGEST_PATH = 240
LONGEST_PART = 100
DEEPEST = 8
LONGEST_TITLE = 200
LONGEST_DESCRIPTION = 4000
RESERVED = "__manyhands"
"""The first part of addresses that are not files of a page."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_FORBIDDEN = frozenset('\\:*?"<>|')


def check_name(name: str) -> str:
    """The name, if a playground may have it."""
    if not _NAME.fullmatch(name) or _DEVICES.fullmatch(name):
        raise InvalidError(
            f"{_shown(name)} cannot be the name of a playground.",
            hint="Use at most 64 letters, digits, - and _, beginning with a letter or a digit.",
        )
    return name


def is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and not _DEVICES.fullmatch(name)


def check_path(path: str) -> tuple[str, ...]:
    """The parts of a file's path, if it stays inside of the playground on every system."""
    parts = tuple(path.split("/"))
    if problem := _problem_of(path, parts):
        raise InvalidError(
            f"{_shown(path)} cannot be the path of a file: {problem}.",
            hint="Give a path inside of the playground, such as script.js or lib/utils.js.",
        )
    return parts


def _problem_of(path: str, parts: tuple[str, ...]) -> str | None:
    if not path:
        return "it is empty"
    if len(path) > LONGEST_PATH or len(parts) > DEEPEST:
        return f"it has more than {LONGEST_PATH} characters or {DEEPEST} parts"
    if path.startswith("/"):
        return "it is absolute"
    if parts[0].lower() == RESERVED or path.lower() == CONSOLE:
        return "this name is reserved"
    return next((problem for part in parts if (problem := _problem_of_part(part))), None)


def _problem_of_part(part: str) -> str | None:
    if part in ("", ".", ".."):
        return "it has a part that is empty, . or .."
    if part.startswith((".", " ")) or part.endswith((".", " ")):
        return "a part of it begins or ends with a dot or a space"
    if not part.isprintable() or _FORBIDDEN & set(part):
        return 'it has control characters or one of \\ : * ? " < > |'
    if _DEVICES.fullmatch(part):
        return f"{part!r} is the name of a device"
    if len(part.encode("utf-8", "replace")) > LONGEST_PART:
        return f"a part of it has more than {LONGEST_PART} bytes"
    return None


def is_path(path: str) -> bool:
    """Whether a file of this path is shown; what a person put there under another name is passed over."""
    return _problem_of(path, tuple(path.split("/"))) is None


def check_size(path: str, size: int) -> None:
    """Refuse a file that is too large by itself."""
    if size > LARGEST_FILE:
        raise TooLargeError(
            f"{path} would have {size:,} bytes; a file may have {LARGEST_FILE:,}.",
            hint="Make it smaller, or split it into several files.",
        )


def check_room(others: int, size_of_others: int, size: int) -> None:
    """Refuse a file that there is no room for beside the others."""
    if others >= MOST_FILES:
        raise TooLargeError(
            f"The playground has {others} files; it may have {MOST_FILES}.", hint="Delete some first."
        )
    if size_of_others + size > LARGEST_PLAYGROUND:
        raise TooLargeError(
            f"The playground would have {size_of_others + size:,} bytes; it may have {LARGEST_PLAYGROUND:,}.",
            hint="Make its files smaller, or delete some.",
        )


def check_words(title: str | None, description: str | None) -> None:
    """Refuse a title or a description that nobody would read."""
    for what, text, longest in (
        ("title", title, LONGEST_TITLE),
        ("description", description, LONGEST_DESCRIPTION),
    ):
        if text is not None and len(text) > longest:
            raise TooLargeError(
                f"The {what} has {len(text):,} characters; it may have {longest:,}.", hint="Shorten it."
            )


def check_deletable(path: str) -> None:
    if path == ENTRY:
        raise InvalidError(
            f"{ENTRY} is the page itself and cannot be deleted.", hint="Delete the whole playground instead."
        )


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}…")
