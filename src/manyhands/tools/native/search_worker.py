"""The process in which `search_files` searches: it reads one request, answers with lines of JSON, and ends.

A process, because a regular expression may take for ever and while it runs it holds everything else in its
process up; this one can be killed, and ends by itself when its time is over. It runs on the standard library
alone, so that it starts at once.
"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from manyhands.home import HOME_MARK
from manyhands.tools.native.ignore_rules import IgnoreFile, glob_regex, is_ignored, parse_ignore_file
from manyhands.tools.native.line_search import LineSearch, decode, is_binary

SIZE_LIMIT = 100_000_000
HEAD = 65_536
IGNORE_LIMIT = 1_000_000
EVERYTHING = ("*", "**", "**/*")
IGNORE_NAMES = (".ignore", ".gitignore")  # the first counts more

_ANCHORED = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_FOLLOW
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | _NO_FOLLOW

Directory = int | str
"""An open directory, or its path where the system has no handles for them."""


class _TimeUp(Exception):
    """The search has taken as long as it may."""


def _open_directory(name: str, parent: Directory | None) -> Directory:
    if not _ANCHORED:
        return os.path.join(str(parent), name) if parent is not None else name
    return os.open(name, _DIRECTORY, dir_fd=parent if isinstance(parent, int) else None)


def _close(directory: Directory) -> None:
    if isinstance(directory, int):
        os.close(directory)


def _read(name: str, parent: Directory, limit: int) -> bytes | None:
    """The bytes of a regular file, of a binary one the first; nothing for what is too large or no file."""
    if isinstance(parent, int):
        descriptor = os.open(name, _FILE, dir_fd=parent)
    else:
        descriptor = os.open(os.path.join(parent, name), _FILE)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > limit:
            return None
        head = file.read(HEAD)
        return head if len(head) < HEAD or is_binary(head) else head + file.read(limit)


# --- which files


class _Level(NamedTuple):
    """A directory that is being walked; `path` leads to it from the top of the repository and ends in `/`."""

    directory: Directory
    path: str
    entries: Iterator[os.DirEntry[str]]
    ignores: Sequence[IgnoreFile]


class Walk:
    """The files below a directory that are worth searching, in order: not hidden, not ignored, no links.

    Nothing in the home of a hub is, whatever the glob names.
    """

    def __init__(self, root: str, parts: Sequence[str], glob: str | None) -> None:
        self.unreadable = 0
        top = _top_of_repository(root)
        self._root = root
        self._start = parts
        self._inside = [part for part in os.path.relpath(root, top).split(os.sep) if part != "."]
        self._shown = len("".join(f"{part}/" for part in self._inside))
        self._top = top
        here = "".join(f"{part}/" for part in parts)
        self._glob = _Glob(glob, here) if glob and glob not in EVERYTHING else None

    def __iter__(self) -> Iterator[tuple[str, str, Directory]]:
        """Each file as its path from the root, its name, and its open directory."""
        directory, ignores = self._enter()
        path = "".join(f"{part}/" for part in [*self._inside, *self._start])
        levels = [self._level(directory, path, ignores)]
        try:
            while levels:
                level = levels[-1]
                entry = next(level.entries, None)
                if entry is None:
                    _close(levels.pop().directory)
                elif entry.is_dir(follow_symlinks=False):
                    if deeper := self._descend(level, entry.name):
                        levels.append(deeper)
                elif entry.is_file(follow_symlinks=False) and self._wants_file(level, entry.name):
                    yield (level.path + entry.name)[self._shown :], entry.name, level.directory
        finally:
            for level in levels:
                _close(level.directory)

    def _enter(self) -> tuple[Directory, Sequence[IgnoreFile]]:
        """The directory to start in, and what the directories above it say is ignored."""
        ignores: Sequence[IgnoreFile] = ()
        where, path = self._top, ""
        for part in self._inside:
            ignores = _ignores_in(where, path, os.listdir(where), ignores)
            where, path = os.path.join(where, part), f"{path}{part}/"
        directory = _open_directory(self._root, None)
        for part in self._start:
            ignores = _ignores_in(directory, path, os.listdir(directory), ignores)
            deeper = _open_directory(part, directory)
            _close(directory)
            directory, path = deeper, f"{path}{part}/"
        return directory, ignores

    def _level(self, directory: Directory, path: str, ignores: Sequence[IgnoreFile]) -> _Level:
        with os.scandir(directory) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        names = [entry.name for entry in entries]
        if HOME_MARK in names:
            return _Level(directory, path, iter(()), ignores)
        return _Level(directory, path, iter(entries), _ignores_in(directory, path, names, ignores))

    def _descend(self, level: _Level, name: str) -> _Level | None:
        path = level.path + name
        if name.startswith(".") or is_ignored(level.ignores, path, name, True):
            return None
        if self._glob and self._glob.prunes(path[self._shown :]):
            return None
        directory: Directory | None = None
        try:
            directory = _open_directory(name, level.directory)
            return self._level(directory, f"{path}/", level.ignores)
        except OSError:
            self.unreadable += 1
            if directory is not None:
                _close(directory)
            return None

    def _wants_file(self, level: _Level, name: str) -> bool:
        path = level.path + name
        if self._glob and (wanted := self._glob.verdict(path[self._shown :])) is not None:
            return wanted
        return not name.startswith(".") and not is_ignored(level.ignores, path, name, False)


class _Glob:
    """What the caller wants to see. A file that it names is searched even when it is hidden or ignored."""

    def __init__(self, glob: str, start: str) -> None:
        self._negated = glob.startswith("!")
        self._regex = glob_regex(glob.removeprefix("!"))
        self._start = start

    def verdict(self, path: str) -> bool | None:
        if self._negated:
            return False if self._matches(path) else None
        return self._matches(path)

    def prunes(self, path: str) -> bool:
        return self._negated and self._matches(path)

    def _matches(self, path: str) -> bool:
        """Seen from the root or from where the search starts: people write both."""
        if self._regex.fullmatch(path):
            return True
        return bool(self._start) and self._regex.fullmatch(path.removeprefix(self._start)) is not None


def _top_of_repository(root: str) -> str:
    """The directory with `.git` in it, if the root is inside of a repository; else the root."""
    directory = root
    while not os.path.lexists(os.path.join(directory, ".git")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return root
        directory = parent
    return directory


def _ignores_in(
    directory: Directory, path: str, names: Sequence[str], above: Sequence[IgnoreFile]
) -> Sequence[IgnoreFile]:
    """What is ignored in a directory: what its own files say counts more than what those above it say."""
    wanted = [(name, directory) for name in IGNORE_NAMES if name in names]
    own = [file for name, parent in wanted if (file := _ignore_file(name, parent, path))]
    if ".git" in names:  # a repository knows nothing of the one around it
        excluded = _ignore_file(os.path.join(".git", "info", "exclude"), directory, path)
        above = [excluded] if excluded else []
    return [*own, *above] if own or ".git" in names else above


def _ignore_file(name: str, parent: Directory, path: str) -> IgnoreFile | None:
    try:
        data = _read(name, parent, IGNORE_LIMIT)
    except OSError:
        return None
    return parse_ignore_file(data.decode(errors="surrogateescape"), path) if data else None


# --- the search


class Search:
    """One request on its way. `at` is the file that is being searched."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._request = request
        self._search = LineSearch(request["pattern"], ignore_case=request["ignore_case"])
        self._walk = Walk(request["root"], request["parts"], request["glob"])
        self._room = int(request["budget"])
        self.at: str | None = None
        self.cut: str | None = None
        self.searched = self.matches = self.files = self.unsearched = 0

    def run(self) -> Iterator[dict[str, Any]]:
        """What is found, file by file."""
        for path, name, directory in self._files():
            self.at = path
            if found := self._in_file(path, name, directory):
                yield found
            if self.cut:
                return
        self.at = None

    def _files(self) -> Iterator[tuple[str, str, Directory]]:
        request = self._request
        if not request["is_file"]:
            yield from self._walk
            return
        *above, name = request["parts"]
        parent = _open_directory(request["root"], None)
        for part in above:
            deeper = _open_directory(part, parent)
            _close(parent)
            parent = deeper
        yield "/".join(request["parts"]), name, parent
        _close(parent)

    def _in_file(self, path: str, name: str, directory: Directory) -> dict[str, Any] | None:
        try:
            data = _read(name, directory, SIZE_LIMIT)
        except OSError:
            self.unsearched += 1
            return None
        if data is None:
            self.unsearched += 1
            return None
        if is_binary(data):
            return None
        self.searched += 1
        text = decode(data) if self._search.may_be_in(data) else None
        return self._lines(path, text) if text else None

    def _lines(self, path: str, text: str) -> dict[str, Any] | None:
        left = int(self._request["limit"]) - self.matches
        # One more than there is room for, to know whether there is more.
        found = self._search.lines(text, left + 1, int(self._request["context"]))
        matching = [line for line in found if line.match]
        if not matching:
            return None
        if len(matching) > left:
            self.cut = "limit"
            found = found[: found.index(matching[left])] if left else []
        shown = []
        for line in found:
            self._room -= len(path) + len(line.text) + 10
            if self._room < 0:
                self.cut = "size"
                break
            shown.append([line.number, line.match, line.text])
            self.matches += line.match
        self.files += bool(shown)
        return {"path": path, "lines": shown} if shown else None

    def summary(self, *, late: bool) -> dict[str, Any]:
        """What was done in all."""
        return {
            "searched": self.searched,
            "matches": self.matches,
            "files": self.files,
            "unsearched": self.unsearched + self._walk.unreadable,
            "cut": self.cut,
            "late": late,
            "at": self.at if late else None,
        }


def _limit_time(seconds: float) -> None:
    if not hasattr(signal, "setitimer"):  # whoever started us kills us in time
        return

    def over(number: int, frame: object) -> None:
        raise _TimeUp

    signal.signal(signal.SIGALRM, over)  # the engine for regular expressions looks for signals
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _say(message: Mapping[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(message)}\n")
    sys.stdout.flush()


def main() -> None:
    """Answer the one request."""
    request = json.loads(sys.stdin.buffer.read())
    _limit_time(request["seconds"])
    late = False
    try:
        search = Search(request)
    except (re.error, OverflowError, RecursionError) as error:
        _say({"error": str(error) or type(error).__name__})
        return
    except _TimeUp:
        _say({"error": "the pattern is too complicated"})
        return
    try:
        for found in search.run():
            _say(found)
        _limit_time(0)
    except _TimeUp:
        late = True
        sys.stdout.write("\n")  # what was being written may be cut
    except OSError as error:
        _say({"error": f"{error.strerror}", "errno": error.errno})
        return
    _say({"end": search.summary(late=late)})
