"""Which places a memory is made from: its roots, and what is left out of them. Pure.

Whether a place exists, and what is in it, is the business of `walking.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

SUFFIXES = frozenset({".md", ".mdx", ".txt", ".rst", ".org"})
GLOBAL = "global"
"""The collection of what belongs to no project."""
CHANNEL = "channel:"
"""How the collection of a channel without a directory begins."""


@dataclass(frozen=True, slots=True)
class Roots:
    """Where files may come from, and patterns of what is not wanted, as `.gitignore` writes them."""

    base: str | None
    """The directory that paths and patterns are relative to."""
    places: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


def is_project(collection: str) -> bool:
    """Whether a collection is a directory's."""
    return os.path.isabs(collection)


def scope_name(collection: str) -> str:
    """What kind of collection it is."""
    return "global" if collection == GLOBAL else "channel" if collection.startswith(CHANNEL) else "project"


def directory_of(collection: str) -> str | None:
    """The directory of a project's collection."""
    return collection if is_project(collection) else None


def project_roots(directory: str, settings: Sequence[str]) -> Roots:
    """The places of a project: below its directory, and wherever else the person's settings point."""
    places = [_placed(directory, entry) for entry in settings if not entry.startswith("!")]
    excludes = [entry[1:] for entry in settings if entry.startswith("!")]
    return Roots(directory, tuple(dict.fromkeys(places)), tuple(excludes))


def global_roots(folder: str, settings: Sequence[str]) -> Roots:
    """The hub's own folder of notes, and the places that the person added."""
    places = [_placed(folder, entry) for entry in settings if not entry.startswith("!")]
    excludes = [entry[1:] for entry in settings if entry.startswith("!")]
    return Roots(folder, tuple(dict.fromkeys([folder, *places])), tuple(excludes))


def _placed(directory: str, entry: str) -> str:
    return os.path.normpath(os.path.join(directory, os.path.expanduser(entry)))


def is_within(path: str, places: Sequence[str]) -> bool:
    """Whether a path is one of the places or below one of them."""
    return any(path == place or path.startswith(place.rstrip(os.sep) + os.sep) for place in places)


def shown_path(path: str, base: str | None) -> str:
    """A path as people read it: below the base if it is there."""
    if base is not None and is_within(path, [base]) and path != base:
        return os.path.relpath(path, base)
    return path
