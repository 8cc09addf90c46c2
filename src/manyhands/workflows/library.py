"""Definitions on the disk: `workflows/` of the home, `.manyhands/workflows/` of a project (wins). Blocking.

A definition is a file named after it. It is replaced by renaming, so that nobody reads half of one.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from manyhands.errors import ConflictError, InvalidError, NotAllowedError, NotFoundError
from manyhands.ids import new_id
from manyhands.workflows.source import merge_yaml, write_yaml
from manyhands.workflows.types import Definition, Json, Problem, Reading, Scope
from manyhands.workflows.validation import all_nodes, read_definition

PROJECT_FOLDER = (".manyhands", "workflows")
EXAMPLES = Path(__file__).with_name("examples")
SUFFIXES = (".yaml", ".yml", ".json")
LARGEST_FILE = 8_000_000
DEEPEST_SUB = 8
SIGNS = ".of-agents"
"""Which definitions agents have written, by the digest of what they wrote."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A definition with where it is."""

    name: str
    scope: Scope
    path: Path
    reading: Reading

    def summary(self) -> Json:
        """As lists show it."""
        definition, data = self.reading.definition, self.reading.data
        data = data if isinstance(data, Mapping) else {}
        return {
            "name": self.name,
            "description": str(data.get("description") or ""),
            "version": None if data.get("version") is None else str(data["version"]),
            "inputs": dict(definition.inputs) if definition else {},
            "scope": self.scope,
            "path": str(self.path),
            "valid": definition is not None,
            "nodes": sum(1 for _ in all_nodes(definition.nodes)) if definition else 0,
            "problems": [one.wire() for one in self.reading.problems],
        }

    def wire(self) -> Json:
        """All of it: its text, what was understood, what is wrong."""
        data = self.reading.data
        return self.summary() | {
            "text": self.reading.text,
            "workflow": data if isinstance(data, dict) else None,
        }


class Library:
    """The definitions that a hub knows."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._read: dict[Path, tuple[int, int, Reading]] = {}

    # --- looking

    def list(self, directory: str | None) -> list[Stored]:
        """Every workflow by its name; one of the project hides a global one."""
        found: dict[str, Stored] = {}
        for scope, folder in self._places(directory):
            for path in _files(folder):
                stored = self._stored(scope, path)
                if stored is not None:
                    found.setdefault(stored.name, stored)
        return sorted(found.values(), key=lambda one: one.name)

    def find(self, name: str, directory: str | None, scope: Scope | None = None) -> Stored:
        """One by its name. Raises `NotFoundError`."""
        for place, folder in self._places(directory):
            if scope not in (None, place):
                continue
            if stored := self._in(folder, name, place):
                return stored
        known = ", ".join(one.name for one in self.list(directory)[:20])
        hint = f"There are: {known}." if known else "Save one first."
        raise NotFoundError(f"There is no workflow {name!r}.", hint=hint)

    def _in(self, folder: Path, name: str, scope: Scope) -> Stored | None:
        for suffix in SUFFIXES:
            path = folder / f"{name}{suffix}"
            if _is_plain(name) and path.is_file():
                stored = self._stored(scope, path)
                if stored is not None and stored.name == name:
                    return stored
        return next(
            (one for path in _files(folder) if (one := self._stored(scope, path)) and one.name == name), None
        )

    def judge(self, given: str | Mapping[str, Any], directory: str | None) -> Reading:
        """Read a definition against those that are there, whose names and inputs it may use."""

        def known(name: str) -> Mapping[str, Mapping[str, Any]] | None:
            try:
                found = self.find(name, directory).reading.definition
            except NotFoundError:
                return None
            return None if found is None else found.inputs

        reading = read_definition(given, known)
        if reading.definition is None:
            return reading
        try:
            self.subs(reading.definition, directory)
        except (InvalidError, NotFoundError) as error:
            return replace(reading, definition=None, problems=[Problem(error.message), *reading.problems])
        return reading

    def subs(self, definition: Definition, directory: str | None) -> dict[str, Json]:
        """Every workflow below a definition, all the way down. Raises when they go in a circle."""
        found: dict[str, Json] = {}

        def collect(one: Definition, trail: tuple[str, ...]) -> None:
            for node in all_nodes(one.nodes):
                if node.type != "workflow":
                    continue
                name = str(node.values["workflow"])
                if name in trail or len(trail) > DEEPEST_SUB:
                    shown = " -> ".join([*trail, name])
                    raise InvalidError(f"Workflows run each other in a circle, or too deep: {shown}.")
                below = self.find(name, directory).reading
                if below.definition is None:
                    raise InvalidError(f"The workflow {name!r} has mistakes: {below.errors[0]}")
                if name not in found:
                    found[name] = dict(below.data)
                    collect(below.definition, (*trail, name))

        collect(definition, (definition.name,))
        return found

    def examples(self) -> builtins.list[Stored]:
        """The definitions that ship with the hub, to be read, copied and changed."""
        found = (self._stored("global", path) for path in _files(EXAMPLES))
        return [one for one in found if one is not None]

    # --- changing

    def save(
        self,
        action: str,
        given: str | Mapping[str, Any],
        scope: Scope,
        directory: str | None,
        by_agent: bool = False,
    ) -> Stored:
        """Write a definition that holds together. Data keep the comments of the text that they change."""
        reading = self.judge(given, directory)
        if reading.definition is None:
            raise refused(reading)
        name, folder = reading.definition.name, self._folder(scope, directory)
        before = self._in(folder, name, scope)
        if action == "add" and before is not None:
            raise ConflictError(
                f"There is a {scope} workflow {name!r} already.", hint="Use the action update."
            )
        if action == "update" and before is None:
            raise NotFoundError(f"There is no {scope} workflow {name!r}.", hint="Use the action add.")
        if by_agent and before is not None:
            self._check_agent(before)
        if isinstance(given, str):
            text = given
        else:
            text = merge_yaml(before.reading.text, given) if before else write_yaml(given)
        path = before.path if before else folder / f"{name}.yaml"
        if text.lstrip().startswith("{") and before is None:
            path = folder / f"{name}.json"
        _write(path, text)
        stored = self._stored(scope, path)
        assert stored is not None
        if by_agent:
            self._sign(stored)
        return stored

    # --- what agents have written

    def is_of_agent(self, stored: Stored) -> bool:
        """Whether an agent wrote it as it is now; what a person has changed is the person's."""
        return self._signs().get(str(stored.path)) == _digest(stored)

    def _check_agent(self, stored: Stored) -> None:
        if stored.scope == "global" and not self.is_of_agent(stored):
            raise NotAllowedError(
                f"A person wrote the global workflow {stored.name!r}, so only a person changes it.",
                hint="Save yours under another name, or with scope project.",
            )

    def _signs(self) -> dict[str, str]:
        try:
            found = json.loads((self._home / SIGNS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _sign(self, stored: Stored) -> None:
        _write(self._home / SIGNS, json.dumps(self._signs() | {str(stored.path): _digest(stored)}))

    def delete(self, name: str, scope: Scope | None, directory: str | None, by_agent: bool = False) -> Stored:
        stored = self.find(name, directory, scope)
        if by_agent:
            self._check_agent(stored)
        stored.path.unlink(missing_ok=True)
        self._read.pop(stored.path, None)
        return stored

    # --- parts

    def _places(self, directory: str | None) -> Iterator[tuple[Scope, Path]]:
        if directory is not None:
            yield "project", Path(directory).joinpath(*PROJECT_FOLDER)
        yield "global", self._home

    def _folder(self, scope: Scope, directory: str | None) -> Path:
        if scope == "global":
            return self._home
        if directory is None:
            raise InvalidError(
                "There is no project directory here.", hint="Use scope global, or name a directory."
            )
        return Path(directory).joinpath(*PROJECT_FOLDER)

    def _stored(self, scope: Scope, path: Path) -> Stored | None:
        try:
            facts = path.stat()
            known = self._read.get(path)
            if known is None or known[:2] != (facts.st_mtime_ns, facts.st_size):
                known = (facts.st_mtime_ns, facts.st_size, _read_file(path, facts.st_size))
                self._read[path] = known
        except OSError:
            return None
        reading = known[2]
        name = reading.data.get("name") if isinstance(reading.data, Mapping) else None
        return Stored(name if isinstance(name, str) else path.stem, scope, path, reading)


def _digest(stored: Stored) -> str:
    return hashlib.sha256(stored.reading.text.encode("utf-8", "replace")).hexdigest()


def refused(reading: Reading) -> InvalidError:
    """All that is wrong with a definition, as one error with every place."""
    said = "; ".join(str(one) for one in reading.errors[:5])
    more = f" (and {len(reading.errors) - 5} more)" if len(reading.errors) > 5 else ""
    return InvalidError(
        f"The workflow has mistakes: {said}{more}",
        hint="Correct them and save it again.",
        data={"problems": [one.wire() for one in reading.problems]},
    )


def _is_plain(name: str) -> bool:
    return bool(name) and "/" not in name and "\\" not in name and name not in (".", "..")


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    except OSError:
        return []


def _read_file(path: Path, size: int) -> Reading:
    if size > LARGEST_FILE:
        return Reading(
            "", None, None, [Problem(f"The file has {size:,} bytes; at most {LARGEST_FILE:,} work.")]
        )
    try:
        return read_definition(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        return Reading("", None, None, [Problem("The file is no text in UTF-8.")])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{new_id('tmp')}")
    try:
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
