"""Brings a collection up to date with its files: what is new or changed is read, what is gone is forgotten.

Words first, so that search by words works at once; vectors follow (`learning.py`). A file is in one
transaction whole; some that are new share theirs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from sqlalchemy.exc import IntegrityError

from manyhands.errors import UnavailableError
from manyhands.memory import store as rows
from manyhands.memory.chunking import split
from manyhands.memory.reading import Content, read_text
from manyhands.memory.records import Records
from manyhands.memory.store import KnownFile, NewFile
from manyhands.memory.types import IndexReport
from manyhands.memory.walking import FoundFile, Walk

if TYPE_CHECKING:
    from manyhands.memory.roots import Roots

FILE = "file"
AT_ONCE = 64
BYTES_AT_ONCE = 2_000_000
MOST_CHUNKS = 50_000
"""Chunks of one file that are kept: more is no text that anybody wrote."""

Tell = Callable[[str, int, int], None]
Hide = Callable[[str], str]
"""Told the phase, how much is done, and how much there is."""


@dataclass
class _Count:
    """What one pass did."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks_added: int = 0
    chunks_removed: int = 0
    unreadable: set[str] = field(default_factory=set)

    def report(self, problems: Sequence[tuple[str, str]]) -> IndexReport:
        return IndexReport(
            self.added,
            self.changed,
            self.removed,
            self.unchanged,
            self.chunks_added,
            self.chunks_removed,
            problems=tuple(problems),
        )


class Indexer:
    """Writes collections."""

    def __init__(self, records: Records, marks: dict[int, str], hide: Hide = str) -> None:
        """`marks`: told of files that were written anew with the same content, by their numbers.

        `hide` takes secrets out of texts.
        """
        self._records = records
        self._hide = hide
        self._marks = marks

    async def index(self, collection: str, roots: Roots, largest: int, tell: Tell) -> IndexReport:
        """All of a collection."""
        walk = Walk(roots)
        found = await anyio.to_thread.run_sync(lambda: list(walk.files()), abandon_on_cancel=True)
        known = await self._records.read(partial(rows.known_files, collection=collection, kinds=[FILE]))
        changed, gone = await anyio.to_thread.run_sync(_compared, found, known)
        count = _Count(unchanged=len(found) - len(changed))
        await self._read(collection, changed, known, largest, count, tell)
        await self._remove(collection, gone, known, count)
        problems = [(problem.path, problem.reason) for problem in walk.problems]
        kept = await self._records.read(partial(rows.problems_by_path, collection=collection))
        return count.report([*problems, *kept.items()])

    async def index_paths(
        self, collection: str, roots: Roots, largest: int, paths: Sequence[str]
    ) -> IndexReport:
        """Some files of which it is known that they came, changed or went, and all below them that went."""
        walk = Walk(roots)
        found = await anyio.to_thread.run_sync(lambda: [walk.one(path) for path in paths])
        there = {file.path: file for file in found if file is not None}
        known = await self._records.read(
            partial(rows.known_files, collection=collection, kinds=[FILE], paths=paths)
        )
        changed, _ = _compared(list(there.values()), known)
        gone = await anyio.to_thread.run_sync(_gone, paths, there.keys(), known.keys())
        count = _Count()
        await self._read(collection, changed, known, largest, count, _quiet)
        await self._remove(collection, gone, known, count)
        return count.report([])

    async def put_documents(
        self, collection: str, kind: str, documents: Sequence[tuple[NewFile, str]]
    ) -> IndexReport:
        """Texts that are not files, all of a kind: each as it is to be kept, without chunks, and its text."""
        known = await self._records.read(partial(rows.known_files, collection=collection, kinds=[kind]))
        count = _Count()
        changed = [
            (new, text)
            for new, text in documents
            if new.path not in known or known[new.path].digest != new.digest
        ]
        count.unchanged = len(documents) - len(changed)
        made = await anyio.to_thread.run_sync(lambda: [_with_chunks(new, text) for new, text in changed])
        await self._write(collection, made, known, count)
        gone = sorted(known.keys() - {new.path for new, _ in documents})
        await self._remove(collection, gone, known, count)
        return count.report([])

    async def _read(
        self,
        collection: str,
        files: Sequence[FoundFile],
        known: dict[str, KnownFile],
        largest: int,
        count: _Count,
        tell: Tell,
    ) -> None:
        """Read and write at the same time: the next files are prepared while the last ones are committed."""
        done = 0
        if files:
            tell("reading", 0, len(files))
        async with anyio.create_task_group() as group:
            writing = anyio.CapacityLimiter(2)
            for batch in _batches(files, largest):
                made = await anyio.to_thread.run_sync(_prepare, batch, largest, self._hide)
                await writing.acquire_on_behalf_of(batch[0])
                group.start_soon(self._write_batch, collection, batch, made, known, count, writing)
                done += len(batch)
                tell("reading", done, len(files))

    async def _write_batch(
        self,
        collection: str,
        batch: Sequence[FoundFile],
        made: Sequence[NewFile | None],
        known: dict[str, KnownFile],
        count: _Count,
        writing: anyio.CapacityLimiter,
    ) -> None:
        try:
            await self._write(collection, [new for new in made if new is not None], known, count)
            vanished = [file.path for file, new in zip(batch, made, strict=True) if new is None]
            await self._remove(collection, [path for path in vanished if path in known], known, count)
        finally:
            writing.release_on_behalf_of(batch[0])

    async def _write(
        self, collection: str, made: Sequence[NewFile], known: dict[str, KnownFile], count: _Count
    ) -> None:
        same = [new for new in made if _is_same(known.get(new.path), new)]
        others = [new for new in made if not _is_same(known.get(new.path), new)]
        if same:
            await self._touch(same, known)
        if others:
            await self._put(collection, others)
        replaced = [known[new.path] for new in others if new.path in known]
        count.unchanged += len(same)
        count.added += len(others) - len(replaced)
        count.changed += len(replaced)
        count.chunks_added += sum(len(new.chunks) for new in others)
        count.chunks_removed += sum(old.chunks for old in replaced)

    async def _put(self, collection: str, new: Sequence[NewFile]) -> None:
        try:
            await self._records.write(partial(rows.put_files, collection=collection, new=new))
        except (IntegrityError, UnavailableError):  # somebody else writes one of them
            for one in new:
                await self._records.write(partial(rows.put_files, collection=collection, new=[one]))

    async def _touch(self, same: Sequence[NewFile], known: dict[str, KnownFile]) -> None:
        marks = {known[new.path].id: (new.mark, new.modified) for new in same}
        await self._records.write(partial(rows.touch_files, marks=marks))
        self._marks |= {number: mark for number, (mark, _) in marks.items()}

    async def _remove(
        self, collection: str, paths: Sequence[str], known: dict[str, KnownFile], count: _Count
    ) -> None:
        for at in range(0, len(paths), rows.SOME):
            some = paths[at : at + rows.SOME]
            await self._records.write(partial(rows.remove_files, collection=collection, paths=some))
            count.removed += len(some)
            count.chunks_removed += sum(known[path].chunks for path in some)


def _compared(
    found: Sequence[FoundFile], known: Mapping[str, KnownFile]
) -> tuple[list[FoundFile], list[str]]:
    """Which files are new or changed, and which are gone."""
    changed = [file for file in found if file.path not in known or known[file.path].mark != file.mark]
    return changed, sorted(known.keys() - {file.path for file in found})


def _is_same(old: KnownFile | None, new: NewFile) -> bool:
    if old is None or not new.digest:
        return False
    return old.digest == new.digest and old.problem == new.problem


def _gone(paths: Sequence[str], there: AbstractSet[str], known: AbstractSet[str]) -> list[str]:
    """Which of the known files are gone, of these paths and of all that is below them."""
    below = tuple(path + os.sep for path in paths)
    named = [path for path in paths if path in known and path not in there]
    inside = [path for path in known if path.startswith(below) and path not in there]
    return list(dict.fromkeys([*named, *(path for path in inside if not os.path.lexists(path))]))


def _quiet(phase: str, done: int, total: int) -> None:
    """Nobody waits for it."""


def _batches(files: Sequence[FoundFile], largest: int) -> Iterator[Sequence[FoundFile]]:
    """Some files at a time, fewer if they are large."""
    left = iter(files)
    while batch := list(islice(left, 1)):
        size = min(batch[0].size, largest)
        for file in islice(left, AT_ONCE - 1):
            batch.append(file)
            size += min(file.size, largest)
            if size > BYTES_AT_ONCE:
                break
        yield batch


def _prepare(batch: Sequence[FoundFile], largest: int, hide: Hide) -> list[NewFile | None]:
    """Files as they are to be kept; nothing for one that is gone."""
    return [_made(file, read_text(file.path, largest), hide) for file in batch]


def _made(file: FoundFile, content: Content | None, hide: Hide) -> NewFile | None:
    if content is None:
        return None
    new = NewFile(
        file.path,
        file.shown,
        FILE,
        content.digest,
        content.size or file.size,
        content.mark if content.text is not None else content.mark or file.mark,
        content.modified or file.modified,
        content.problem,
    )
    return new if content.text is None else _with_chunks(new, hide(content.text))


def _with_chunks(new: NewFile, text: str) -> NewFile:
    from manyhands.memory.postings import words_of

    chunks = split(text, os.path.splitext(new.path)[1].lower() or ".md")
    problem = new.problem
    if len(chunks) > MOST_CHUNKS:
        problem = f"It has {len(chunks):,} passages; only the first {MOST_CHUNKS:,} are kept."
        chunks = chunks[:MOST_CHUNKS]
    words = words_of(new.shown, chunks).pack()
    return replace(new, chunks=chunks, words=words, problem=problem)
