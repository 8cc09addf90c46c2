"""Patterns on names and on arguments. Pure, but that it looks where links in the channel's directory lead.

Whoever loosens (an allow rule) must match every reading of a value, whoever restricts (deny, ask) need match
only one of them: a path written in an unusual way falls on the strict side.
"""

from __future__ import annotations

import fnmatch
import json
import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

_MISSING = object()
_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_SHELL_ARGUMENTS = frozenset({"command", "cmd", "script"})
_LONGEST_PATH = 4096
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_SHELL_OPERATORS = re.compile(r"[;&|<>`$(){}\\\n\r]")


def name_pattern(pattern: str) -> re.Pattern[str]:
    """A glob on a tool's or server's name; `*` stands for anything."""
    return re.compile(fnmatch.translate(pattern))


def exactly(name: str) -> str:
    """The pattern that means this name alone."""
    return re.sub(r"([*?[])", r"[\1]", name)


def matches_any(patterns: Iterable[str], names: Iterable[str]) -> str | None:
    """The first pattern that one of the names matches."""
    candidates = tuple(names)
    for pattern in patterns:
        if any(fnmatch.fnmatchcase(name, pattern) for name in candidates):
            return pattern
    return None


def arguments_match(
    patterns: Mapping[str, Any],
    arguments: Mapping[str, Any],
    *,
    loosening: bool,
    directory: str | None = None,
) -> bool:
    """Whether every named argument is there and matches; keys may be dotted paths into objects."""
    return all(
        _value_matches(pattern, _lookup(arguments, key), loosening=loosening, directory=directory)
        and not (loosening and _does_more(key, pattern, _lookup(arguments, key)))
        for key, pattern in patterns.items()
    )


def _does_more(key: str, pattern: Any, value: Any) -> bool:
    """Whether a command that a wildcard allows holds more than one command: `git status; rm -rf .`."""
    if key.rpartition(".")[2] not in _SHELL_ARGUMENTS or not isinstance(value, str):
        return False
    exact = [pattern] if isinstance(pattern, str) else pattern
    is_exact = isinstance(exact, list | tuple) and value in exact
    return not is_exact and _SHELL_OPERATORS.search(value) is not None


def _lookup(arguments: Mapping[str, Any], key: str) -> Any:
    if key in arguments:
        return arguments[key]
    found: Any = arguments
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return _MISSING
        found = found[part]
    return found


def _value_matches(pattern: Any, value: Any, *, loosening: bool, directory: str | None) -> bool:
    if value is _MISSING:
        return False
    if isinstance(pattern, list | tuple):
        return any(_value_matches(one, value, loosening=loosening, directory=directory) for one in pattern)
    if not isinstance(pattern, str):
        return isinstance(value, bool) == isinstance(pattern, bool) and bool(value == pattern)
    if isinstance(value, list | tuple):
        each = [_value_matches(pattern, item, loosening=loosening, directory=directory) for item in value]
        return (all(each) and bool(each)) if loosening else any(each)
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return _text_matches(pattern, text, loosening, directory)


def _text_matches(pattern: str, text: str, loosening: bool, directory: str | None) -> bool:
    if pattern == text:
        return True
    if loosening and _leaves_its_place(text):
        return False
    is_path = "/" in pattern or "**" in pattern
    if loosening and not is_path:
        return fnmatch.fnmatchcase(text, pattern)
    readings = _readings(text if loosening else text.strip(), directory)
    if not is_path:
        return any(fnmatch.fnmatchcase(reading, pattern) for reading in (text, *readings))
    compiled = _path_pattern(pattern.removeprefix("./"))
    if loosening:
        absolute = pattern.startswith("/")
        return all(
            compiled.match(reading) for reading in readings if reading.startswith("/") == absolute
        ) and any(reading.startswith("/") == absolute for reading in readings)
    return any(compiled.match(reading) for reading in (text, *readings))


def _leaves_its_place(text: str) -> bool:
    """Whether it could mean another place than it seems to, as soon as something resolves it."""
    plain = unquote(text)
    has_user = bool(_URL.match(text)) and "@" in urlsplit(text).netloc
    return has_user or "\0" in plain or ".." in re.split(r"[/\\]", plain)


def _readings(text: str, directory: str | None) -> list[str]:
    """The value in canonical form: a URL once, a path relative to the directory and absolute where it can."""
    if _URL.match(text):
        return [_canonical_url(text)]
    if len(text) > _LONGEST_PATH:
        return [text]
    path = posixpath.normpath(text.replace("\\", "/")) if text else "."
    if directory is None:
        return [path]
    root = posixpath.normpath(directory.replace("\\", "/"))
    if not path.startswith("/"):
        whole = posixpath.normpath(posixpath.join(root, path))
        return [path, whole, *_behind_links(whole, root)]
    inside = path == root or path.startswith(root.rstrip("/") + "/")
    return [path, posixpath.relpath(path, root), *_behind_links(path, root)] if inside else [path]


def _behind_links(path: str, root: str) -> list[str]:
    """Where it leads if links are on the way, absolute and from the directory, outside of it too."""
    try:
        real, real_root = os.path.realpath(path), os.path.realpath(root)
    except (OSError, ValueError):
        return []
    found = posixpath.relpath(real, real_root)
    return [] if found == posixpath.relpath(path, root) else [real, found]


def _canonical_url(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        return text
    path = posixpath.normpath(unquote(parts.path)) if parts.path else "/"
    query = f"?{parts.query}" if parts.query else ""
    scheme = parts.scheme.lower()
    place = parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(scheme, ""))
    return f"{scheme}://{place}{path}{query}"


@lru_cache(maxsize=512)
def _path_pattern(pattern: str) -> re.Pattern[str]:
    """A glob as shells write it: `*` stays in one directory, `**` crosses them, `a/**` holds `a` itself."""
    out, position = "", 0
    while position < len(pattern):
        rest = pattern[position:]
        if rest == "/**":
            out, position = out + r"(?:/.*)?", len(pattern)
        elif rest.startswith("**/"):
            out, position = out + r"(?:.*/)?", position + 3
        elif rest.startswith("**"):
            out, position = out + r".*", position + 2
        elif found := re.match(r"\[(!?)([^]]+)]", rest):
            inside = re.sub(r"([\\^[])", r"\\\1", found[2])
            out, position = out + f"[{'^' if found[1] else ''}{inside}]", position + len(found[0])
        else:
            out += {"*": "[^/]*", "?": "[^/]"}.get(rest[0], re.escape(rest[0]))
            position += 1
    try:
        return re.compile(rf"(?s:{out})\Z")
    except re.error:  # a set that makes no sense, such as [z-a], is meant as it is written
        return re.compile(re.escape(pattern) + r"\Z")
