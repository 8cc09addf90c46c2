"""What playgrounds are made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from manyhands.clock import rfc3339

ENTRY = "index.html"
IMPORT_MAP = "importmap.json"
CONSOLE = "console.log"
"""The name under which a page's console is read like a file of it."""

Scope = Literal["global", "project"]
Change = Literal["created", "updated", "deleted"]
Level = Literal["debug", "log", "info", "warn", "error"]


@dataclass(frozen=True, slots=True)
class Key:
    """Which playground: its name, and the directory of its project if it is not a global one."""

    name: str
    project: str | None = None

    @property
    def scope(self) -> Scope:
        return "global" if self.project is None else "project"

    def wire(self) -> dict[str, Any]:
        return {"name": self.name, "scope": self.scope, "project": self.project}


@dataclass(frozen=True, slots=True)
class PlaygroundFile:
    """One file of a playground."""

    path: str
    size: int
    updated_at: datetime

    def wire(self) -> dict[str, Any]:
        return {"path": self.path, "size": self.size, "updated_at": rfc3339(self.updated_at)}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is said of a playground beside its files."""

    title: str
    description: str = ""
    author_id: str | None = None
    created_at: str | None = None


@dataclass(frozen=True, slots=True)
class Playground:
    """A playground without the content of its files."""

    key: Key
    manifest: Manifest
    files: tuple[PlaygroundFile, ...]
    updated_at: datetime

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def wire(self) -> dict[str, Any]:
        """As the API shows it."""
        return {
            **self.key.wire(),
            "title": self.manifest.title,
            "description": self.manifest.description,
            "author_id": self.manifest.author_id,
            "created_at": self.manifest.created_at,
            "updated_at": rfc3339(self.updated_at),
            "file_count": len(self.files),
            "size": self.size,
        }


@dataclass(frozen=True, slots=True)
class ConsoleEntry:
    """One line that a page wrote to its console, or an error that it ran into."""

    id: int
    level: Level
    text: str
    at: datetime

    def wire(self) -> dict[str, Any]:
        return {"id": self.id, "level": self.level, "text": self.text, "at": rfc3339(self.at)}
