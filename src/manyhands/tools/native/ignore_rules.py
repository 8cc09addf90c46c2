"""Globs as `.gitignore` files and ripgrep write them, and what a file of them says of a path. Pure, and of
the standard library alone: the search worker imports it.

Only a path itself is judged, not the directories above it: whoever walks does not enter what is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9a-fA-F",
}
_CLASS = re.compile(r"\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]", re.DOTALL)
_NEVER = r"(?!)"


class _Line(NamedTuple):
    """One pattern of a file."""

    regex: str
    ignores: bool
    directories_only: bool
    by_name: bool
    """It is about names anywhere below, not about a path."""

    @property
    def kind(self) -> tuple[bool, bool, bool]:
        return self.ignores, self.directories_only, self.by_name


class _Group(NamedTuple):
    """Neighbouring patterns of one kind, joined: one match instead of many."""

    matches: re.Pattern[str]
    ignores: bool
    directories_only: bool
    by_name: bool


class IgnoreFile(NamedTuple):
    """The patterns of one file, the last first: the last one that matches decides."""

    base: str
    """The directory that it is in, with a `/` at the end unless it is empty."""
    groups: Sequence[_Group]

    def verdict(self, path: str, name: str, is_directory: bool) -> bool | None:
        """Whether a path below the base is ignored; nothing when no pattern is about it."""
        below = path[len(self.base) :]
        for group in self.groups:
            if group.directories_only and not is_directory:
                continue
            if group.matches.fullmatch(name if group.by_name else below):
                return group.ignores
        return None


def parse_ignore_file(text: str, base: str = "") -> IgnoreFile:
    """Read the text of a `.gitignore` file."""
    lines = [line for raw in text.removeprefix("\ufeff").split("\n") if (line := _parse_line(raw))]
    groups = []
    for (ignores, directories_only, by_name), members in groupby(reversed(lines), key=lambda line: line.kind):
        joined = re.compile("|".join(member.regex for member in members), re.DOTALL)
        groups.append(_Group(joined, ignores, directories_only, by_name))
    return IgnoreFile(base, groups)


def is_ignored(files: Iterable[IgnoreFile], path: str, name: str, is_directory: bool) -> bool:
    """What several files say, the one that counts most first."""
    for file in files:
        verdict = file.verdict(path, name, is_directory)
        if verdict is not None:
            return verdict
    return False


def _parse_line(raw: str) -> _Line | None:
    line = _without_trailing_spaces(raw.removesuffix("\r"))
    if not line or line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    line = line if ignores else line[1:]
    directories_only = line.endswith("/")
    pattern = line.removesuffix("/")
    by_name = "/" not in pattern
    pattern = pattern.removeprefix("/")
    return _Line(_regex(pattern), ignores, directories_only, by_name) if pattern else None


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    escaped = len(kept) < len(line) and (len(kept) - len(kept.rstrip("\\"))) % 2
    return f"{kept} " if escaped else kept


def _regex(pattern: str) -> str:
    """A glob as a regular expression: `*` stays within one directory, `**` crosses them."""
    out, position = "", 0
    while position < len(pattern):
        piece, length = _piece(pattern, position)
        out, position = out + piece, position + length
    try:
        re.compile(out)
    except re.error:  # a class such as [z-a], which nothing is in
        return _NEVER
    return f"(?:{out})"


def _piece(pattern: str, position: int) -> tuple[str, int]:
    """The regular expression for what stands at a position, and how long that is."""
    rest = pattern[position:]
    at_start = position == 0 or pattern[position - 1] == "/"
    if at_start and rest.startswith("**/"):
        return "(?:.*/)?", 3
    if at_start and rest == "**":
        return ".+", 2
    if rest[0] == "*":
        return "[^/]*", len(rest) - len(rest.lstrip("*"))
    if rest[0] == "?":
        return "[^/]", 1
    if rest[0] == "\\":
        return (re.escape(rest[1]), 2) if len(rest) > 1 else (_NEVER, 1)
    if rest[0] == "[":
        found = _CLASS.match(rest)
        return (_character_class(found[1] != "", found[2]), len(found[0])) if found else (_NEVER, len(rest))
    return re.escape(rest[0]), 1


def _character_class(negated: bool, members: str) -> str:
    out, position = "", 0
    while position < len(members):
        named = re.match(r"\[:(\w+):\]", members[position:])
        if named:
            out, position = out + _POSIX_CLASSES.get(named[1], ""), position + len(named[0])
            continue
        escaped = members[position] == "\\" and position + 1 < len(members)
        position += escaped
        character = members[position]
        out += character if character == "-" and not escaped else re.escape(character)
        position += 1
    if not out:
        return _NEVER
    return f"(?!/)[{'^' if negated else ''}{out}]"


def glob_regex(glob: str) -> re.Pattern[str]:
    """A glob for whole paths, `{a,b}` allowed; one without a `/` is about names at any depth."""
    alternatives = [_anywhere(one) for one in _braces(glob)]
    return re.compile("|".join(_regex(one) for one in alternatives), re.DOTALL)


def _anywhere(glob: str) -> str:
    if glob.endswith("/"):
        glob += "**"
    return glob.removeprefix("/") if "/" in glob else f"**/{glob}"


def _braces(glob: str, limit: int = 100) -> list[str]:
    """`a.{b,c}` as `a.b` and `a.c`; what is not closed stays as it is."""
    found = re.search(r"(?<!\\)\{([^{}]*)\}", glob)
    if found is None:
        return [glob]
    before, after = glob[: found.start()], glob[found.end() :]
    spread = (f"{before}{choice}{after}" for choice in found[1].split(","))
    return [whole for one in spread for whole in _braces(one, limit)][:limit]
