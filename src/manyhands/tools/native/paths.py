"""The directory that native tools may not leave, whatever a path says or a link points to.

A path is resolved and checked first. Then it is walked again from the root, one directory handle at a time
and without following links, so that a link put in its way between check and use makes the walk fail and not
escape. (Where the system has no directory handles, on Windows, the check alone must do.)
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.home import HOME_MARK, HOME_WORKTREES
from manyhands.tools.types import Invocation

_ANCHORED = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | NO_FOLLOW


@dataclass(frozen=True, slots=True)
class Place:
    """A file or directory inside the root: `parts` hold no links, no `..` and no way out."""

    root: str
    parts: tuple[str, ...]

    @property
    def shown(self) -> str:
        """As a person and a model write it."""
        return "/".join(self.parts) or "."

    @property
    def path(self) -> str:
        return os.path.join(self.root, *self.parts)

    @contextmanager
    def directory(self, *, create: bool = False) -> Iterator[int | str]:
        """The place itself as an open directory (or its path where there are no handles)."""
        if not _ANCHORED:
            if create:
                os.makedirs(self.path, exist_ok=True)
            yield self.path
            return
        handle = _walk(self.root, self.parts, create)
        try:
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def entry(self, *, create_parents: bool = False) -> Iterator[tuple[str, int | None]]:
        """The place as a name in its open parent directory: arguments for the `os` functions."""
        if not self.parts:
            raise ToolRefusal("This is the channel's directory itself.", hint="Name something inside it.")
        with Place(self.root, self.parts[:-1]).directory(create=create_parents) as parent:
            yield (self.parts[-1], parent) if isinstance(parent, int) else (self.path, None)


def root_of(invocation: Invocation) -> str:
    """The channel's directory, or an error that says what is missing."""
    directory = invocation.context.directory
    if not directory:
        raise ToolFault(
            "This channel has no directory, so there are no files to work with.",
            hint="Use a channel that was made for a directory; on the command line, `--dir .`.",
        )
    root = os.path.realpath(directory)
    if not os.path.isdir(root):
        raise ToolFault(
            f"The channel's directory {directory} does not exist.", hint="Create it or change the channel."
        )
    return root


def find_place(root: str, path: str, *, follow: bool = True) -> Place:
    """Where a path leads. Without `follow` a link as its last part is meant itself, not what it points to."""
    _check_text(path)
    whole = os.path.join(root, path)
    if follow or os.path.basename(whole) in ("", ".", ".."):
        real = os.path.realpath(whole)
    else:
        real = os.path.join(os.path.realpath(os.path.dirname(whole)), os.path.basename(whole))
    _keep_out_of_homes(real, path)
    if real == root:
        return Place(root, ())
    prefix = root if root.endswith(os.sep) else root + os.sep
    if not real.startswith(prefix):
        raise ToolRefusal(
            f"{path!r} is outside of the channel's directory.", hint="Only paths inside it can be used."
        )
    return Place(root, tuple(real[len(prefix) :].split(os.sep)))


def _keep_out_of_homes(real: str, path: str) -> None:
    """A hub's home holds its token and everything it knows: no tool reads or writes there."""
    above, below = real, ""
    while True:
        # Worktrees are made there to be worked in.
        if os.path.lexists(os.path.join(above, HOME_MARK)) and os.path.basename(below) != HOME_WORKTREES:
            raise ToolRefusal(f"{path!r} is in the home of a hub.", hint="Only a person may look there.")
        below = above
        if above == (above := os.path.dirname(above)):
            return


def explain(error: OSError, shown: str) -> ToolFault:
    """An error of the file system in words that help."""
    reasons = {
        errno.ENOENT: (f"There is no {shown!r}.", "list_directory shows what is there."),
        errno.EEXIST: (f"{shown!r} exists already.", "Choose another name."),
        errno.EISDIR: (f"{shown!r} is a directory.", "list_directory shows what is in it."),
        errno.ENOTDIR: (f"A part of {shown!r} is not a directory.", "list_directory shows what is there."),
        errno.ENOTEMPTY: (f"The directory {shown!r} is not empty.", "Delete what is in it first."),
        errno.EACCES: (
            f"{shown!r} may not be used by this account.",
            "A person has to change its permissions.",
        ),
        errno.EPERM: (
            f"{shown!r} may not be changed by this account.",
            "A person has to change its permissions.",
        ),
        errno.EROFS: (f"{shown!r} is on a disk that cannot be written.", "Choose another place."),
        errno.ENOSPC: ("The disk is full; nothing was changed.", "A person has to free some space."),
        errno.ENAMETOOLONG: (f"The name {shown[:60]!r}… is too long.", "Choose a shorter one."),
        errno.ELOOP: (
            f"{shown!r} leads through a link that goes in circles or has just changed.",
            "Try again.",
        ),
    }
    message, hint = reasons.get(
        error.errno or 0, (f"{shown!r}: {error.strerror or error}.", "Check the path.")
    )
    return ToolFault(message, hint=hint)


@contextmanager
def explained(shown: str) -> Iterator[None]:
    """Turns errors of the file system into faults that a model can read."""
    try:
        yield
    except OSError as error:
        raise explain(error, shown) from error


def _check_text(path: str) -> None:
    if not path:
        raise ToolFault(
            "The path is empty.", hint='Give one, such as "notes.md"; "." is the directory itself.'
        )
    if "\0" in path:
        raise ToolRefusal("The path holds a NUL character.", hint="No file has such a name.")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ToolFault(
            "The path holds a character that no file name can have.", hint="Correct it."
        ) from None


def _walk(root: str, parts: tuple[str, ...], create: bool) -> int:
    handle = os.open(root, _DIRECTORY)
    for part in parts:
        try:
            deeper = _step(handle, part, create)
        finally:
            os.close(handle)
        handle = deeper
    return handle


def _step(handle: int, part: str, create: bool) -> int:
    try:
        return os.open(part, _DIRECTORY, dir_fd=handle)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):  # someone else made it in between
        os.mkdir(part, dir_fd=handle)
    return os.open(part, _DIRECTORY, dir_fd=handle)
