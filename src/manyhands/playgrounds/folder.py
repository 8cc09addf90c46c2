"""A directory that is entered step by step and never through a link.

Whoever can write into a project could put a link there while we look: each step is therefore made relative to
the directory that is open already (where the system can do that), and refuses links by itself.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from manyhands.errors import InvalidError

_RELATIVE = os.open in os.supports_dir_fd
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT: int = getattr(os, "O_NONBLOCK", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)
_LINKS = (errno.ELOOP, errno.ENOTDIR, getattr(errno, "EMLINK", errno.ELOOP))


class Folder:
    """One open directory. `name` is always a single part of a path that has been checked."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path = path
        self._handle = handle

    @classmethod
    @contextmanager
    def opened(cls, root: Path, *parts: str, create: bool = False) -> Iterator[Folder]:
        """The directory `parts` below `root`; FileNotFoundError when it is not there."""
        here = cls(root, os.open(root, os.O_RDONLY | os.O_DIRECTORY) if _RELATIVE else None)
        try:
            with here.below(*parts, create=create) as inner:
                yield inner
        finally:
            here.close()

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @contextmanager
    def below(self, *parts: str, create: bool = False) -> Iterator[Folder]:
        """A directory below this one."""
        here: Folder = self
        mine = False
        try:
            for part in parts:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(here._of(part), 0o755, **here._by())
                below = here._below(part)
                if mine:
                    here.close()
                here, mine = below, True
            yield here
        finally:
            if mine:
                here.close()

    def _below(self, part: str) -> Folder:
        path = self.path / part
        if self._handle is None:
            if not self._is(part, stat.S_ISDIR):
                raise _no_directory(path)
            return Folder(path, None)
        try:
            flags = os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW
            return Folder(path, os.open(part, flags, dir_fd=self._handle))
        except OSError as error:
            if error.errno in _LINKS:
                raise _no_directory(path) from None
            raise

    def _of(self, name: str) -> str:
        return str(self.path / name) if self._handle is None else name

    def _by(self) -> dict[str, Any]:
        return {} if self._handle is None else {"dir_fd": self._handle}

    def _is(self, name: str, kind: Any) -> bool:
        return bool(kind(os.lstat(self.path / name).st_mode))

    def facts(self, name: str) -> os.stat_result:
        """Of the thing itself, not of what it links to."""
        return os.stat(self._of(name), follow_symlinks=False, **self._by())

    def has(self, name: str) -> bool:
        try:
            self.facts(name)
        except FileNotFoundError:
            return False
        return True

    def names(self) -> list[str]:
        return sorted(os.listdir(self.path if self._handle is None else self._handle))

    def read(self, name: str, most: int) -> bytes:
        """A regular file, at most that much of it."""
        try:
            flags = os.O_RDONLY | _NO_FOLLOW | _NO_WAIT | _BINARY
            descriptor = os.open(self._of(name), flags, **self._by())
        except OSError as error:
            if error.errno in _LINKS:
                raise _no_file(self.path / name) from None
            raise
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _no_file(self.path / name)
            return file.read(most)

    def write(self, name: str, content: bytes) -> None:
        """Replace a file as a whole: a crash leaves the old one or the new one."""
        if self.has(name) and not stat.S_ISREG(self.facts(name).st_mode):
            raise _no_file(self.path / name)
        temporary = f".{os.urandom(8).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
        descriptor = os.open(self._of(temporary), flags, 0o644, **self._by())
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self.rename(temporary, name)
        except BaseException:
            with suppress(OSError):
                self.unlink(temporary)
            raise

    def rename(self, name: str, new: str) -> None:
        if self._handle is None:
            os.replace(self.path / name, self.path / new)
        else:
            os.replace(name, new, src_dir_fd=self._handle, dst_dir_fd=self._handle)

    def make(self, name: str) -> None:
        os.mkdir(self._of(name), 0o755, **self._by())

    def unlink(self, name: str) -> None:
        os.unlink(self._of(name), **self._by())

    def remove_if_empty(self, name: str) -> bool:
        try:
            os.rmdir(self._of(name), **self._by())
        except OSError:
            return False
        return True

    def remove_tree(self, name: str) -> None:
        shutil.rmtree(self._of(name), ignore_errors=True, **self._by())


def _no_directory(path: Path) -> InvalidError:
    return InvalidError(f"{path} is a link or no directory.", hint="Put a real directory there.")


def _no_file(path: Path) -> InvalidError:
    return InvalidError(f"{path} is a link or no plain file.", hint="Choose another path, or remove it.")
