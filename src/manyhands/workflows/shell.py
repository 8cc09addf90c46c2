"""Where values may stand in a shell script, and how each is written so that it stays one word.

A script is rendered with marks in place of values; here the marks become words, each as its surroundings ask:
plain, between double quotes, between single quotes. Where no way of writing is safe, that is an error.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Place = Literal["plain", "double", "single", "comment", "heredoc", "backtick", "arithmetic", "ansi"]
MARK = re.compile("\ue000([0-9]+)\ue001")
_HEREDOC = re.compile(r"<<-?[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([A-Za-z0-9_]+))")
_CASE = re.compile(r"(case|esac)\b")
_WORD_BEFORE = re.compile(r"(^|[\s;&|()])$")
UNSAFE: dict[Place, str] = {
    "heredoc": "inside a here-document, where a value could end it: put it into a variable first",
    "backtick": "between backticks: write $( … ) instead",
    "ansi": "inside $'…': use other quotes",
}


def mark(number: int) -> str:
    """What stands for a value until its surroundings are known."""
    return f"\ue000{number}\ue001"


def as_text(value: Any) -> str:
    """A value as text: texts as they are, everything else as JSON."""
    return str(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def word(value: Any, place: Place) -> str:
    """A value as part of a script. Raises `ValueError` where it cannot be written safely."""
    text = "" if value is None else as_text(value)
    if "\0" in text:
        raise ValueError("it holds a NUL character, which no shell word can")
    match place:
        case "plain":
            return shlex.quote(text)
        case "double":
            return re.sub(r'([\\"$`])', r"\\\1", text)
        case "single":
            return text.replace("'", "'\"'\"'")
        case "comment":
            return text.replace("\n", " ").replace("\r", " ")
        case "arithmetic":
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError("inside $(( … )) only a whole number is safe")
            return str(value)
        case _:
            raise ValueError(f"it stands {UNSAFE[place]}")


@dataclass(slots=True)
class _Walk:
    """Where one is in a script: a stack of what is open."""

    stack: list[str] = field(default_factory=lambda: ["plain"])
    pending: list[str] = field(default_factory=list)
    heredocs: list[str] = field(default_factory=list)

    @property
    def top(self) -> str:
        return self.stack[-1]


def places(script: str) -> list[tuple[int, Place, int]]:
    """Every mark of a script: its number, where it stands, and its line."""
    found: list[tuple[int, Place, int]] = []
    _walk(script, lambda number, place, line: found.append((number, place, line)))
    return found


def fill(script: str, values: Sequence[Any]) -> str:
    """The script with its values written in. Raises `ValueError` with the line of the first unsafe one."""
    chosen = {number: (place, line) for number, place, line in places(script)}

    def write(found: re.Match[str]) -> str:
        number = int(found[1])
        place, line = chosen[number]
        try:
            return word(values[number], place)
        except ValueError as error:
            raise ValueError(f"line {line} of the script: the value cannot be put here; {error}") from None

    return MARK.sub(write, script)


def _walk(script: str, see: Callable[[int, Place, int], None]) -> None:
    walk, at, line = _Walk(), 0, 1
    while at < len(script):
        if found := MARK.match(script, at):
            see(int(found[1]), _place(walk), line)
            at = found.end()
            continue
        if script[at] == "\n":
            line += 1
        step = _step(walk, script, at)
        line += script.count("\n", at + 1, at + step)
        at += step


def _place(walk: _Walk) -> Place:
    """Innermost first, but nothing is safe between backticks: the shell reads what is there twice."""
    known: tuple[Place, ...] = ("heredoc", "comment", "single", "double", "arithmetic", "ansi")
    if "backtick" in walk.stack:
        return "backtick"
    return next((one for one in known if one == walk.top), "plain")


def _step(walk: _Walk, script: str, at: int) -> int:
    """Take in what stands at a place; how many characters that was."""
    char, top = script[at], walk.top
    if top == "heredoc":
        return _heredoc(walk, script, at)
    if top == "comment":
        if char == "\n":
            walk.stack.pop()
            return _newline(walk)
        return 1
    if top in ("single", "ansi"):
        if char == "'":
            walk.stack.pop()
        return 2 if top == "ansi" and char == "\\" else 1
    if char == "\\":
        # What is escaped means nothing; but a mark after a backslash is still a mark.
        return 1 if MARK.match(script, at + 1) else min(2, len(script) - at)
    if char == "`":
        _toggle(walk, "backtick")
        return 1
    if script.startswith("$((", at):
        walk.stack.append("arithmetic")
        return 3
    if script.startswith("$(", at):
        walk.stack.append("command")
        return 2
    if char == '"':
        _toggle(walk, "double")
        return 1
    return 1 if top == "double" else _plain(walk, script, at)


def _plain(walk: _Walk, script: str, at: int) -> int:
    """Outside of quotes: at the top, in `$( … )`, in a group, or in arithmetic."""
    char, top = script[at], walk.top
    if top == "arithmetic":
        if script.startswith("))", at):
            walk.stack.pop()
            return 2
        return 1
    if found := _CASE.match(script, at):
        return _case(walk, script, at, found[0])
    if char == "'":
        walk.stack.append("ansi" if script[at - 1 : at] == "$" else "single")
    elif char == "(":
        walk.stack.append("group")
    elif char == ")" and top in ("command", "group"):
        walk.stack.pop()
    elif char == "#" and _WORD_BEFORE.search(script[max(0, at - 1) : at]):
        walk.stack.append("comment")
    elif char == "\n":
        return _newline(walk)
    elif (found := _HEREDOC.match(script, at)) and not script.startswith("<<<", at):
        walk.pending.append(found[1] or found[2] or found[3])
        return found.end() - at
    elif script.startswith("<<<", at):
        return 3
    return 1


def _case(walk: _Walk, script: str, at: int, keyword: str) -> int:
    """Between `case` and `esac` a closing parenthesis ends a pattern and nothing else."""
    if _WORD_BEFORE.search(script[max(0, at - 1) : at]):
        if keyword == "case":
            walk.stack.append("case")
        elif walk.top == "case":
            walk.stack.pop()
    return len(keyword)


def _toggle(walk: _Walk, what: str) -> None:
    if walk.top == what:
        walk.stack.pop()
    else:
        walk.stack.append(what)


def _newline(walk: _Walk) -> int:
    if walk.pending:
        walk.heredocs = list(walk.pending)
        walk.pending.clear()
        walk.stack.append("heredoc")
    return 1


def _heredoc(walk: _Walk, script: str, at: int) -> int:
    """A line of a here-document, up to a mark."""
    end = script.find("\n", at)
    end = len(script) if end < 0 else end
    line = script[at:end]
    if line.lstrip("\t") == walk.heredocs[0]:
        walk.heredocs.pop(0)
        if not walk.heredocs:
            walk.stack.pop()
    elif found := MARK.search(script, at, end):
        return max(1, found.start() - at)
    return max(1, end - at + 1)
