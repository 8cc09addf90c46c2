"""`search_files`: looks for a regular expression in the channel's directory, with ripgrep's manners.

The work is done in another process (`search_worker`); here it is started, bounded and put into words.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

import manyhands
from manyhands.errors import ToolFault
from manyhands.settings import CurrentSettings
from manyhands.tools.native.definition import READS, define
from manyhands.tools.native.paths import Place, explain, find_place, root_of
from manyhands.tools.types import Invocation, ToolResult, text_result

DEFAULT_LIMIT = 200
ROOM_FOR_NOTES = 400
TIME_LIMIT_S = 20.0
GRACE_S = 3.0

# The package is found by its path, since without `site` (which takes most of the start) nothing installed is.
_WORKER = (
    "import sys; sys.path.append(sys.argv[1]); from manyhands.tools.native.search_worker import main; main()"
)
_NEWLINE = re.compile(r"(?<!\\)(?:\\\\)*(?:\\n|\n)")

DEFINITION = define(
    "search_files",
    "Search the text files of the channel's directory for a regular expression, line by line. Answers with"
    " `path:line: text`. Leaves out binary files, hidden ones and what .gitignore excludes, unless `path` or"
    " `glob` names them.",
    {
        "pattern": {
            "type": "string",
            "minLength": 1,
            "description": "Regular expression, as in Python; it matches within one line.",
        },
        "path": {
            "type": "string",
            "default": ".",
            "description": "File or directory to search, inside the channel's directory.",
        },
        "glob": {
            "type": ["string", "null"],
            "default": None,
            "description": "Only files like `*.py` or `src/**/*.{ts,tsx}`; with `!` in front all but these.",
        },
        "ignore_case": {
            "type": "boolean",
            "default": False,
            "description": "Upper and lower case are the same.",
        },
        "context": {
            "type": "integer",
            "minimum": 0,
            "maximum": 20,
            "default": 0,
            "description": "Lines to show before and after each match.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 2000,
            "default": DEFAULT_LIMIT,
            "description": "How many matching lines to show.",
        },
    },
    required=("pattern",),
    annotations=READS,
)


@dataclass(frozen=True, slots=True)
class SearchFiles:
    """The work of `search_files`."""

    settings: CurrentSettings
    time_limit_s: float = TIME_LIMIT_S

    async def __call__(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        pattern = arguments["pattern"]
        _check_pattern(pattern)
        root = root_of(invocation)
        place, is_file = await anyio.to_thread.run_sync(_find, root, arguments.get("path") or ".")
        request = {
            "root": root,
            "parts": place.parts,
            "is_file": is_file,
            "pattern": pattern,
            "glob": arguments.get("glob") or None,
            "ignore_case": bool(arguments.get("ignore_case")),
            "context": arguments.get("context") or 0,
            "limit": arguments.get("limit") or DEFAULT_LIMIT,
            "budget": max(500, self.settings.current.result_limit_chars - ROOM_FOR_NOTES),
            "seconds": self.time_limit_s,
        }
        answers = await _ask_worker(request, self.time_limit_s + GRACE_S)
        return _Report(place, request, answers, self.time_limit_s).result()


def _check_pattern(pattern: str) -> None:
    if _NEWLINE.search(pattern):
        raise ToolFault(
            "The pattern holds a line break, and no line does.",
            hint='Search for one line of it, and set "context" to see those around it.',
        )
    if "[[:" in pattern:
        raise ToolFault(
            "The pattern holds a POSIX class such as [[:alpha:]].", hint=r"Write \w, \d, \s or [a-z] instead."
        )


def _find(root: str, path: str) -> tuple[Place, bool]:
    place = find_place(root, path)
    if not os.path.lexists(place.path):
        raise ToolFault(f"There is no {place.shown!r}.", hint="list_directory shows what is there.")
    return place, not os.path.isdir(place.path)


async def _ask_worker(request: Mapping[str, Any], seconds: float) -> list[dict[str, Any]]:
    """All that the worker says until it ends or its time is over; being cancelled ends it at once."""
    package = str(Path(manyhands.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _WORKER, package]
    environment = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    said = bytearray()
    with anyio.move_on_after(seconds) as scope:
        async with await anyio.open_process(
            command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        ) as worker:
            assert worker.stdin
            assert worker.stdout
            await worker.stdin.send(json.dumps(request).encode())
            await worker.stdin.aclose()
            async for chunk in worker.stdout:
                said += chunk
    answers = list(_parsed(said))
    if not scope.cancelled_caught and not any("end" in answer or "error" in answer for answer in answers):
        raise ToolFault("The process that searched has died.", hint="Search in a part of the directory.")
    return answers


def _parsed(said: bytearray) -> Iterator[dict[str, Any]]:
    for line in said.split(b"\n"):
        try:
            message = json.loads(line)
        except ValueError:  # nothing, or cut when the time was over
            continue
        yield message


class _Report:
    """What the worker said, in words."""

    def __init__(
        self, place: Place, request: Mapping[str, Any], answers: list[dict[str, Any]], seconds: float
    ) -> None:
        self._place = place
        self._request = request
        self._found = [answer for answer in answers if "lines" in answer]
        self._error = next((answer for answer in answers if "error" in answer), None)
        self._end: dict[str, Any] = next((answer["end"] for answer in answers if "end" in answer), {})
        self._seconds = seconds

    def result(self) -> ToolResult:
        if self._error:
            raise self._fault(self._error)
        lines = [line for file in self._found for line in self._lines(file)]
        matches = sum(bool(match) for file in self._found for _, match, _ in file["lines"])
        facts = {
            "matches": matches,
            "files": len(self._found),
            "searched": self._end.get("searched"),
            "complete": not (self._late or self._end.get("cut")),
        }
        return text_result("\n".join([*lines, *self._notes()]), structured=facts)

    @property
    def _late(self) -> bool:
        return bool(self._end.get("late", True))

    def _lines(self, file: Mapping[str, Any]) -> Iterator[str]:
        path = _readable(file["path"])
        before: int | None = None
        for number, match, text in file["lines"]:
            if self._request["context"] and before != number - 1:
                yield "--"
            yield f"{path}:{number}: {text}" if match else f"{path}-{number}- {text}"
            before = number

    def _notes(self) -> Iterator[str]:
        end = self._end
        if not self._found and not self._late:
            yield f"No line matches in {self._place.shown!r} ({end['searched']} files searched)."
            if not end["searched"]:
                yield (
                    'Hidden files and those that .gitignore excludes are left out unless "path" or "glob"'
                    " names them."
                )
        if end.get("cut") == "limit":
            yield (
                f"[cut after {end['matches']} matching lines; there are more: narrow the search, or raise"
                ' "limit"]'
            )
        if end.get("cut") == "size":
            yield f"[cut after {end['matches']} matching lines to bound the size; narrow the search]"
        if self._late:
            at = f" at {_readable(end['at'])}" if end.get("at") else ""
            yield (
                f"[the search was ended after {self._seconds:g} s{at} and is not complete: search in a part"
                " of the directory, or with a simpler pattern]"
            )
        if end.get("unsearched"):
            yield f"[{end['unsearched']} files or directories could not be read or are too large]"

    def _fault(self, error: Mapping[str, Any]) -> ToolFault:
        if error.get("errno"):
            return explain(OSError(error["errno"], error["error"]), self._place.shown)
        return ToolFault(
            f"The pattern is not a regular expression: {error['error']}.",
            hint=r"To search for such characters themselves, put a \ in front: \( \[ \{ \* \+ \? \. \|",
        )


def _readable(path: str) -> str:
    return path.encode(errors="surrogateescape").decode(errors="replace")
