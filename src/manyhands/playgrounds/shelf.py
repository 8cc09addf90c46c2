"""Playgrounds on the disk: a directory for each, with a manifest beside the files. Blocking.

Every change is whole or not at all: a new playground appears with everything in it, a file is replaced by
renaming, a deleted playground is gone at once. Who may see what is not known here.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from manyhands.errors import ConflictError, InvalidError, NotFoundError, TooLargeError, UnavailableError
from manyhands.playgrounds import rules
from manyhands.playgrounds.folder import Folder
from manyhands.playgrounds.types import ENTRY, Key, Manifest, Playground, PlaygroundFile

MANIFEST = ".playground.json"
FOLDER = "playgrounds"
PROJECT_FOLDER = (".manyhands", FOLDER)
MOST_LOOKED_AT = 1000
"""Files of a directory that a person filled; more are not looked at."""
_LARGEST_MANIFEST = 64 * 1024
_WORDS = ("title", "description", "author_id", "created_at")


class Shelf:
    """The playgrounds of a home and of any project."""

    def __init__(self, home: Path) -> None:
        self._home = home

    # --- whole playgrounds

    def names(self, project: str | None) -> list[str]:
        """Those of one place; none where there is no such place."""
        try:
            with self._place(project) as place:
                return [name for name in place.names() if rules.is_name(name) and _is_playground(place, name)]
        except (FileNotFoundError, NotADirectoryError, PermissionError, InvalidError):
            return []

    def describe(self, key: Key) -> Playground:
        with self._playground(key) as folder:
            manifest, changed = _read_manifest(folder, key.name)
            files = tuple(islice(_files(folder), MOST_LOOKED_AT))
            latest = max((file.updated_at for file in files), default=changed)
            return Playground(key, manifest, files, max(latest, changed))

    def create(self, key: Key, manifest: Manifest, html: bytes) -> None:
        rules.check_size(ENTRY, len(html))
        self._check_project(key)
        with _disk(), self._place(key.project, create=True) as place:
            if place.has(key.name):
                raise _taken(key)
            if len([name for name in place.names() if rules.is_name(name)]) >= rules.MOST_PLAYGROUNDS:
                raise TooLargeError(
                    f"There are {rules.MOST_PLAYGROUNDS} playgrounds here, which is the limit.",
                    hint="Delete some first.",
                )
            draft = f".new-{os.urandom(8).hex()}"
            place.make(draft)
            try:
                with place.below(draft) as folder:
                    folder.write(ENTRY, html)
                    _write_manifest(folder, manifest, {})
                place.rename(draft, key.name)
            except BaseException:
                place.remove_tree(draft)
                raise

    def update(self, key: Key, words: dict[str, str], html: bytes | None) -> None:
        """Only what is given changes."""
        with _disk(), self._playground(key) as folder:
            if html is not None:
                self._write(folder, key, (ENTRY,), html)
            if words:
                manifest, _ = _read_manifest(folder, key.name)
                changed = {word: words.get(word, getattr(manifest, word)) for word in _WORDS}
                _write_manifest(folder, Manifest(**changed), _raw_manifest(folder))

    def delete(self, key: Key) -> None:
        with _disk(), self._playground(key):
            pass
        with _disk(), self._place(key.project) as place:
            gone = f".gone-{os.urandom(8).hex()}"
            place.rename(key.name, gone)
            place.remove_tree(gone)

    # --- files

    def read(self, key: Key, path: str) -> bytes:
        parts = rules.check_path(path)
        with self._playground(key) as folder:
            try:
                with folder.below(*parts[:-1]) as inner:
                    content = inner.read(parts[-1], rules.LARGEST_FILE + 1)
            except (FileNotFoundError, NotADirectoryError):
                raise _no_file(key, path) from None
            rules.check_size(path, len(content))
            return content

    def exists(self, key: Key, path: str) -> bool:
        parts = rules.check_path(path)
        with self._playground(key) as folder:
            try:
                with folder.below(*parts[:-1]) as inner:
                    return inner.has(parts[-1])
            except (FileNotFoundError, NotADirectoryError):
                return False

    def write(self, key: Key, path: str, content: bytes) -> None:
        parts = rules.check_path(path)
        rules.check_size(path, len(content))
        with _disk(), self._playground(key) as folder:
            self._write(folder, key, parts, content)

    def _write(self, folder: Folder, key: Key, parts: tuple[str, ...], content: bytes) -> None:
        path = "/".join(parts)
        rules.check_size(path, len(content))
        others = [file for file in islice(_files(folder), MOST_LOOKED_AT) if file.path != path]
        rules.check_room(len(others), sum(file.size for file in others), len(content))
        with folder.below(*parts[:-1], create=True) as inner:
            inner.write(parts[-1], content)

    def remove(self, key: Key, path: str) -> None:
        parts = rules.check_path(path)
        rules.check_deletable(path)
        with _disk(), self._playground(key) as folder:
            try:
                with folder.below(*parts[:-1]) as inner:
                    if stat.S_ISDIR(inner.facts(parts[-1]).st_mode):
                        raise _no_file(key, path)
                    inner.unlink(parts[-1])
            except (FileNotFoundError, NotADirectoryError):
                raise _no_file(key, path) from None
            _remove_empty(folder, parts[:-1])

    # --- places

    @contextmanager
    def _place(self, project: str | None, *, create: bool = False) -> Iterator[Folder]:
        root = self._home if project is None else Path(project)
        parts = (FOLDER,) if project is None else PROJECT_FOLDER
        with Folder.opened(root, *parts, create=create) as place:
            yield place

    @contextmanager
    def _playground(self, key: Key) -> Iterator[Folder]:
        rules.check_name(key.name)
        try:
            with self._place(key.project) as place:
                if not _is_playground(place, key.name):
                    raise self._missing(key)
                with place.below(key.name) as folder:
                    yield folder
        except (FileNotFoundError, NotADirectoryError):
            raise self._missing(key) from None

    def _check_project(self, key: Key) -> None:
        rules.check_name(key.name)
        if key.project is not None and not Path(key.project).is_dir():
            raise NotFoundError(
                f"The project directory {key.project} is not there.",
                hint="Use scope global, or make it again.",
            )

    def _missing(self, key: Key) -> NotFoundError:
        names = self.names(key.project)
        there = f"There are: {', '.join(names[:20])}." if names else "There are none yet."
        return NotFoundError(
            f"There is no {key.scope} playground {key.name!r}.",
            hint=f"{there} Create it with `playground`, or say the other scope.",
        )


@contextmanager
def _disk() -> Iterator[None]:
    """What the disk refuses, as an error that says so."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise UnavailableError(
            f"The files could not be changed: {error.strerror or error}.",
            hint="Look at the disk, then try again.",
        ) from error


def _is_playground(place: Folder, name: str) -> bool:
    """A directory with a manifest or a page in it; one that a person made by hand counts."""
    try:
        with place.below(name) as folder:
            return folder.has(MANIFEST) or folder.has(ENTRY)
    except (OSError, InvalidError):
        return False


def _files(folder: Folder, above: str = "") -> Iterator[PlaygroundFile]:
    """The plain files under names that are allowed; links and the rest are passed over."""
    names = folder.names()
    for name in names:
        path = above + name
        if not rules.is_path(path):
            continue
        try:
            facts = folder.facts(name)
        except FileNotFoundError:
            continue
        if stat.S_ISREG(facts.st_mode):
            yield PlaygroundFile(path, facts.st_size, datetime.fromtimestamp(facts.st_mtime, UTC))
        elif stat.S_ISDIR(facts.st_mode):
            with folder.below(name) as inner:
                yield from _files(inner, f"{path}/")


def _remove_empty(folder: Folder, parts: Sequence[str]) -> None:
    for depth in range(len(parts), 0, -1):
        with folder.below(*parts[: depth - 1]) as above:
            if not above.remove_if_empty(parts[depth - 1]):
                return


def _raw_manifest(folder: Folder) -> dict[str, Any]:
    try:
        found = json.loads(folder.read(MANIFEST, _LARGEST_MANIFEST))
    except (OSError, ValueError, InvalidError):
        return {}
    return found if isinstance(found, dict) else {}


def _read_manifest(folder: Folder, name: str) -> tuple[Manifest, datetime]:
    raw = _raw_manifest(folder)
    words = {word: raw[word] for word in _WORDS if isinstance(raw.get(word), str)}
    words["title"] = words.get("title") or name
    try:
        changed = folder.facts(MANIFEST).st_mtime
    except FileNotFoundError:
        changed = 0.0
    return Manifest(**words), datetime.fromtimestamp(changed, UTC)


def _write_manifest(folder: Folder, manifest: Manifest, raw: dict[str, Any]) -> None:
    words = {word: getattr(manifest, word) for word in _WORDS}
    content = json.dumps(raw | words, indent=2, ensure_ascii=False) + "\n"
    folder.write(MANIFEST, content.encode("utf-8", "replace"))


def _taken(key: Key) -> ConflictError:
    return ConflictError(
        f"There is a {key.scope} playground {key.name!r} already.",
        hint="Change it with the action update, or choose another name.",
    )


def _no_file(key: Key, path: str) -> NotFoundError:
    return NotFoundError(
        f"{key.name!r} has no file {path!r}.", hint="playground_file with the action list shows its files."
    )
