"""The use cases of playgrounds: what changes, who is told, under which address a page is seen.

It knows no caller: whoever calls says of which project (a directory) a playground is. Serving pages is the
API's business, on a port of its own.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from manyhands.clock import Clock, rfc3339
from manyhands.errors import ConflictError, InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.home import Home
from manyhands.playgrounds import document, inlining, kinds, rules
from manyhands.playgrounds.console import Consoles
from manyhands.playgrounds.shelf import Shelf
from manyhands.playgrounds.types import (
    CONSOLE,
    ENTRY,
    IMPORT_MAP,
    Change,
    ConsoleEntry,
    Key,
    Manifest,
    Playground,
    PlaygroundFile,
)

T = TypeVar("T")

Projects = Callable[[], Awaitable[Mapping[str, str]]]
"""The directories of all projects, each with the id of a channel of it."""

_CAPABILITY_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Served:
    """One file as a browser gets it."""

    content: bytes
    kind: str


class PlaygroundService:
    """Playgrounds of the home and of projects."""

    def __init__(self, home: Home, bus: EventBus, clock: Clock, projects: Projects) -> None:
        self._shelf = Shelf(home.path)
        self._home = home
        self._bus = bus
        self._clock = clock
        self._projects = projects
        self._consoles = Consoles(clock)
        self._changing = anyio.Lock()
        self._known: dict[str, Key] = {}
        self.port: int | None = None
        """Where pages are served; nothing while no daemon serves them."""

    # --- playgrounds

    async def list(self, projects: Iterable[str] = ()) -> Sequence[Playground]:
        """The global ones, then those of these projects, by name."""
        found: list[Playground] = []
        for place in (None, *dict.fromkeys(projects)):
            for name in await _in_thread(self._shelf.names, place):
                try:
                    found.append(await self.get(name, place))
                except (NotFoundError, InvalidError):  # it went, or turned into a link, just now
                    continue
        return found

    async def list_all(self) -> Sequence[tuple[Playground, str | None]]:
        """Those of every project, too, each with the id of a channel of its project."""
        projects = await self._projects()
        found = await self.list(projects)
        return [(one, projects.get(one.key.project or "")) for one in found]

    async def get(self, name: str, project: str | None = None) -> Playground:
        return await _in_thread(self._shelf.describe, Key(name, project))

    async def create(
        self,
        name: str,
        project: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        html: str | None = None,
        author_id: str | None = None,
    ) -> Playground:
        """A new one; without `html` it has a page that shows its title."""
        key = Key(rules.check_name(name), project)
        rules.check_words(title, description)
        manifest = Manifest(title or name, description or "", author_id, rfc3339(self._clock.now()))
        content = _blank(manifest) if html is None else html
        async with self._changing:
            await _in_thread(self._shelf.create, key, manifest, _bytes(content))
        return await self._changed(key, "created")

    async def update(
        self,
        name: str,
        project: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        html: str | None = None,
    ) -> Playground:
        """Change what is given; the rest, and every file, stays as it is."""
        key = Key(rules.check_name(name), project)
        rules.check_words(title, description)
        words = {
            word: text for word, text in (("title", title), ("description", description)) if text is not None
        }
        async with self._changing:
            await _in_thread(self._shelf.update, key, words, None if html is None else _bytes(html))
        return await self._changed(key, "updated", ENTRY if html is not None else None)

    async def save(self, name: str, project: str | None = None, **values: Any) -> tuple[Playground, bool]:
        """Update it, or create it when it is not there; whether it is new."""
        author = values.pop("author_id", None)
        try:
            return await self.create(name, project, author_id=author, **values), True
        except ConflictError:
            return await self.update(name, project, **values), False

    async def delete(self, name: str, project: str | None = None) -> None:
        key = Key(name, project)
        async with self._changing:
            await _in_thread(self._shelf.delete, key)
        self._consoles.clear(key)
        self._publish(key, "deleted")

    # --- files

    async def list_files(self, name: str, project: str | None = None) -> Sequence[PlaygroundFile]:
        return (await self.get(name, project)).files

    async def read_file(self, name: str, path: str, project: str | None = None) -> bytes:
        return await _in_thread(self._shelf.read, Key(name, project), path)

    async def write_file(
        self,
        name: str,
        path: str,
        content: str | bytes,
        project: str | None = None,
        *,
        must: bool | None = None,
    ) -> bool:
        """Write one file; whether it is new. `must`: whether it must be there before, when that matters."""
        key = Key(name, project)
        whole = _bytes(content) if isinstance(content, str) else content
        async with self._changing:
            there = await _in_thread(self._shelf.exists, key, path)
            _check_there(name, path, there=there, must=must)
            await _in_thread(self._shelf.write, key, path, whole)
        self._publish(key, "updated", path)
        return not there

    async def delete_file(self, name: str, path: str, project: str | None = None) -> None:
        key = Key(name, project)
        async with self._changing:
            await _in_thread(self._shelf.remove, key, path)
        self._publish(key, "updated", path)

    async def export(self, name: str, project: str | None = None) -> str:
        """All of it as one HTML file."""
        found = await self.get(name, project)
        return await _in_thread(self._export, found)

    def _export(self, playground: Playground) -> str:
        files: dict[str, bytes] = {}
        for file in playground.files:
            if file.size <= rules.LARGEST_FILE and sum(map(len, files.values())) <= rules.LARGEST_PLAYGROUND:
                files[file.path] = self._shelf.read(playground.key, file.path)
        return inlining.as_one_file(files.get(ENTRY, b"").decode("utf-8", "replace"), files)

    # --- the console

    async def console(self, name: str, project: str | None = None) -> Sequence[ConsoleEntry]:
        """What the page wrote where it was opened, oldest first."""
        return self._consoles.read((await self.get(name, project)).key)

    async def clear_console(self, name: str, project: str | None = None) -> None:
        key = (await self.get(name, project)).key
        self._consoles.clear(key)
        self._publish_console(key)

    def take_console(self, key: Key, body: bytes) -> None:
        """What a page has posted."""
        if self._consoles.take(key, body):
            self._publish_console(key)

    # --- pages

    def address(self, key: Key, host: str = "127.0.0.1") -> str | None:
        """Where the page is seen by whoever has this address; nothing when nothing serves it."""
        if self.port is None:
            return None
        return f"http://{host}:{self.port}/{self._capability(key)}/"

    def _capability(self, key: Key) -> str:
        """A name that nobody guesses, and that stays the same as long as the home does."""
        said = f"playground\0{key.project or ''}\0{key.name}".encode("utf-8", "surrogateescape")
        digest = hmac.new(self._home.token().encode(), said, hashlib.sha256)
        capability = digest.hexdigest()[:_CAPABILITY_LENGTH]
        self._known[capability] = key
        return capability

    async def behind(self, capability: str) -> Key:
        """The playground whose address holds this."""
        if capability not in self._known and len(capability) == _CAPABILITY_LENGTH:
            for one, _ in await self.list_all():
                self._capability(one.key)
        try:
            return self._known[capability]
        except KeyError:
            raise NotFoundError("There is no such page.", hint="Ask for its address again.") from None

    async def serve(self, key: Key, path: str, console_script: str) -> Served:
        """A file as a browser gets it; a page with its import map and its console."""
        whole = f"{path}{ENTRY}" if not path or path.endswith("/") else path
        return await _in_thread(self._serve, key, whole, console_script)

    def _serve(self, key: Key, path: str, console_script: str) -> Served:
        content = self._shelf.read(key, path)
        if kinds.is_html(path):
            page = content.decode("utf-8", "replace")
            content = _bytes(document.as_served(page, self._import_map(key), console_script))
        return Served(content, kinds.kind_of(path))

    def _import_map(self, key: Key) -> dict[str, Any] | None:
        try:
            return document.read_import_map(self._shelf.read(key, IMPORT_MAP))
        except NotFoundError:
            return None
        except InvalidError as error:
            self._consoles.add(key, "error", str(error))
            return None

    # --- events

    async def _changed(self, key: Key, change: Change, path: str | None = None) -> Playground:
        found = await self.get(key.name, key.project)
        self._publish(key, change, path)
        return found

    def _publish(self, key: Key, change: Change, path: str | None = None) -> None:
        self._bus.publish("playground.updated", {**key.wire(), "change": change, "path": path})

    def _publish_console(self, key: Key) -> None:
        self._bus.publish("playground.console", key.wire())


def _check_there(name: str, path: str, *, there: bool, must: bool | None) -> None:
    if must is True and not there:
        raise NotFoundError(f"{name!r} has no file {path!r}.", hint="Make it with the action create.")
    if must is False and there:
        raise ConflictError(
            f"{name!r} has a file {path!r} already.", hint="Replace it with the action update."
        )


def _blank(manifest: Manifest) -> str:
    title, description = escape(manifest.title), escape(manifest.description)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"</head>\n<body>\n<h1>{title}</h1>\n<p>{description}</p>\n</body>\n</html>\n"
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


async def _in_thread(work: Callable[..., T], *arguments: Any) -> T:
    return await anyio.to_thread.run_sync(partial(work, *arguments))


__all__ = ["CONSOLE", "PlaygroundService", "Projects", "Served"]
