"""Finds the files of a memory: below its roots, without what `.gitignore` files and the settings leave out.

A link is followed once, to a place inside of the roots. Blocking: call it in a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from manyhands.home import HOME_MARK
from manyhands.memory.roots import SUFFIXES, Roots, is_within, shown_path

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SKIPPED = frozenset({"node_modules", "__pycache__"})
"""Directories of other people's texts; those whose name begins with a dot are left out as well."""
IGNORE_FILE = ".gitignore"
MOST_RULES = 1_000_000
DEEPEST = 64


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that belongs to a memory."""

    path: str
    """Where it really is."""
    shown: str
    size: int
    mark: str
    modified: float


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class _Rules:
    """Patterns of one directory, for what is below it."""

    base: str
    spec: GitIgnoreSpec

    def decides(self, path: str, *, is_directory: bool) -> bool | None:
        """Whether to leave it out; nothing if these patterns say nothing of it."""
        relative = os.path.relpath(path, self.base).replace(os.sep, "/") + ("/" if is_directory else "")
        return self.spec.check_file(relative).include


@dataclass
class Walk:
    """One walk over all roots."""

    roots: Roots
    problems: list[Problem] = field(default_factory=list)
    _seen: set[tuple[int, int]] = field(default_factory=set)
    _places: tuple[str, ...] = ()
    _base: str | None = None
    _excludes: _Rules | None = None

    def files(self) -> Iterator[FoundFile]:
        """Every file once, in the order of their paths within a directory."""
        self._prepare()
        for place in self._places:
            yield from self._from(place)

    def directories(self) -> Iterator[str]:
        """Every directory that a walk goes through, and roots that are files."""
        self._prepare()
        for place in self._places:
            if os.path.isdir(place):
                yield from self._directories(place, _above(place), 0)
            elif os.path.exists(place):
                yield place

    def _directories(self, directory: str, rules: list[_Rules], depth: int) -> Iterator[str]:
        facts = self._facts(directory)
        if facts is None or depth > DEEPEST or not self._is_new(facts):
            return
        try:
            with os.scandir(directory) as found:
                entries = {entry.name: entry for entry in found}
        except OSError:
            return
        if HOME_MARK in entries and directory not in self._places:
            return
        yield directory
        if IGNORE_FILE in entries:
            rules = [*rules, *self._read_rules(directory)]
        for name, entry in entries.items():
            path = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
            is_directory = os.path.isdir(path) if entry.is_symlink() else entry.is_dir(follow_symlinks=False)
            if is_directory and is_within(path, self._places) and self._goes_into(path, name, rules):
                yield from self._directories(path, rules, depth + 1)

    def _goes_into(self, path: str, name: str, rules: list[_Rules]) -> bool:
        hidden = name.startswith(".") or name in SKIPPED
        return not (hidden or self._left_out(path, rules, is_directory=True))

    def _prepare(self) -> None:
        self._places = tuple(os.path.realpath(place) for place in self.roots.places)
        self._base = None if self.roots.base is None else os.path.realpath(self.roots.base)
        if self.roots.excludes and self._base is not None:
            self._excludes = _rules(self._base, self.roots.excludes)

    def one(self, path: str) -> FoundFile | None:
        """The file of this path if a whole walk would find it there."""
        self._prepare()
        real = os.path.realpath(path)
        place = next((place for place in self._places if is_within(real, [place])), None)
        if place is None or os.path.splitext(real)[1].lower() not in SUFFIXES:
            return None
        rules, directory = _above(place), place
        for name in [] if real == place else os.path.relpath(real, place).split(os.sep)[:-1]:
            rules = [*rules, *self._rules_in(directory)]
            directory = os.path.join(directory, name)
            is_home = os.path.exists(os.path.join(directory, HOME_MARK))
            if is_home or not self._goes_into(directory, name, rules):
                return None
        facts = self._facts(real)
        return None if facts is None else self._file(real, facts, [*rules, *self._rules_in(directory)])

    def _rules_in(self, directory: str) -> list[_Rules]:
        there = os.path.isfile(os.path.join(directory, IGNORE_FILE))
        return self._read_rules(directory) if there else []

    def _from(self, place: str) -> Iterator[FoundFile]:
        facts = self._facts(place)
        if facts is None:
            return
        if stat.S_ISDIR(facts.st_mode):
            yield from self._below(place, facts, _above(place), 0)
        elif found := self._file(place, facts, []):
            yield found

    def _below(
        self, directory: str, facts: os.stat_result, rules: list[_Rules], depth: int
    ) -> Iterator[FoundFile]:
        if depth > DEEPEST or not self._is_new(facts):
            return
        try:
            entries = sorted(os.listdir(directory))
        except OSError as error:
            self._complain(directory, error)
            return
        if HOME_MARK in entries and directory not in self._places:
            return  # the hub's own files belong to no project
        if IGNORE_FILE in entries:
            rules = [*rules, *self._read_rules(directory)]
        for name in entries:
            yield from self._entry(os.path.join(directory, name), name, rules, depth)

    def _entry(self, path: str, name: str, rules: list[_Rules], depth: int) -> Iterator[FoundFile]:
        suffix = os.path.splitext(name)[1].lower()
        try:
            path.encode()
            facts = os.lstat(path)
        except UnicodeEncodeError:
            if suffix in SUFFIXES:
                self.problems.append(Problem(_readable(path), "Its name is not UTF-8: rename it."))
            return
        except OSError as error:
            self._complain(path, error)
            return
        if stat.S_ISLNK(facts.st_mode):
            found = self._target(path)
            if found is None:
                return
            path, facts = found
        if stat.S_ISDIR(facts.st_mode):
            if self._goes_into(path, name, rules):
                yield from self._below(path, facts, rules, depth + 1)
        elif (suffix in SUFFIXES or os.path.splitext(path)[1].lower() in SUFFIXES) and (
            file := self._file(path, facts, rules)
        ):
            yield file

    def _target(self, link: str) -> tuple[str, os.stat_result] | None:
        """Where a link leads, if that is inside of the roots."""
        path = os.path.realpath(link)
        if not is_within(path, self._places):
            return None
        facts = self._facts(path)
        return None if facts is None else (path, facts)

    def _file(self, path: str, facts: os.stat_result, rules: list[_Rules]) -> FoundFile | None:
        if not stat.S_ISREG(facts.st_mode) or self._left_out(path, rules, is_directory=False):
            return None
        if not self._is_new(facts):
            return None
        return FoundFile(path, shown_path(path, self._base), facts.st_size, mark_of(facts), facts.st_mtime)

    def _left_out(self, path: str, rules: list[_Rules], *, is_directory: bool) -> bool:
        """What the person excludes is out; of `.gitignore` files the nearest that says something decides."""
        if self._excludes is not None and self._excludes.decides(path, is_directory=is_directory):
            return True
        for one in reversed(rules):
            if (said := one.decides(path, is_directory=is_directory)) is not None:
                return said
        return False

    def _is_new(self, facts: os.stat_result) -> bool:
        """Whether we have not been here: a loop of links leads nowhere, and a file counts once."""
        identity = (facts.st_dev, facts.st_ino)
        if identity in self._seen:
            return False
        self._seen.add(identity)
        return True

    def _facts(self, path: str) -> os.stat_result | None:
        try:
            return os.stat(path)
        except OSError as error:
            if path not in self._places or not isinstance(error, FileNotFoundError):
                self._complain(path, error)
            return None

    def _read_rules(self, directory: str) -> list[_Rules]:
        try:
            return _ignore_rules(directory)
        except (OSError, ValueError) as error:
            self._complain(os.path.join(directory, IGNORE_FILE), error)
            return []

    def _complain(self, path: str, error: Exception) -> None:
        if isinstance(error, FileNotFoundError):
            return  # it went while we looked
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.problems.append(Problem(shown_path(path, self._base), f"It cannot be read: {reason}."))


def _readable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def mark_of(facts: os.stat_result) -> str:
    """What changes when a file is written or replaced."""
    return f"{facts.st_mtime_ns}-{facts.st_size}-{facts.st_ino}"


def current_mark(path: str) -> str | None:
    """The mark of a file as it is now; nothing when there is none."""
    try:
        return mark_of(os.stat(path))
    except (OSError, ValueError):
        return None


def _rules(base: str, lines: tuple[str, ...] | list[str]) -> _Rules:
    from pathspec import GitIgnoreSpec

    return _Rules(base, GitIgnoreSpec.from_lines(lines))


def _ignore_rules(directory: str) -> list[_Rules]:
    text = Path(directory, IGNORE_FILE).read_bytes()[:MOST_RULES].decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [_rules(directory, lines)] if lines else []


def _above(place: str) -> list[_Rules]:
    """The rules of directories above a root, up to the repository that it is in."""
    found: list[list[_Rules]] = []
    for directory in [place, *map(str, Path(place).parents)]:
        if directory != place and os.path.isfile(os.path.join(directory, IGNORE_FILE)):
            try:
                found.append(_ignore_rules(directory))
            except (OSError, ValueError):
                continue
        if os.path.exists(os.path.join(directory, ".git")):
            return [rule for rules in reversed(found) for rule in rules]
    return []
