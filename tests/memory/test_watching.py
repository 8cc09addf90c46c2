"""A daemon follows changes of the files that it has indexed, and asks a failed embedder again."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from sqlalchemy import Connection

from manyhands.events import Event, EventBus
from manyhands.memory import keeping
from manyhands.memory import store as rows
from manyhands.memory.indexing import Indexer
from manyhands.memory.types import IndexReport, Query
from manyhands.memory.watching import DELETED, matters, to_read
from tests.memory.conftest import NOTES, Desk
from tests.memory.endpoint import running_endpoint

pytestmark = pytest.mark.anyio
ENOUGH_S = 60


@asynccontextmanager
async def following(desk: Desk) -> AsyncIterator[None]:
    """The memory as a daemon runs it."""
    async with anyio.create_task_group() as group:
        await group.start(desk.memory.run)
        yield
        group.cancel_scope.cancel()


async def until(bus: EventBus, holds: Callable[[Event], bool]) -> None:
    with anyio.fail_after(ENOUGH_S):
        async with bus.subscribe(0) as events:
            async for event in events:
                if holds(event):
                    return


def indexed(**counts: int) -> Callable[[Event], bool]:
    def holds(event: Event) -> bool:
        if event.type != "memory.indexed":
            return False
        files = event.data["files"]
        return all(files.get(name, event.data.get(name)) == count for name, count in counts.items())

    return holds


async def watched(desk: Desk) -> None:
    with anyio.fail_after(ENOUGH_S):
        while not (await desk.memory.status(await desk.scope()))["collections"][0]["watched"]:
            await anyio.lowlevel.checkpoint()


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no failure."""
    monkeypatch.setattr(keeping, "FIRST_WAIT_S", ENOUGH_S)


async def test_changes_are_read_as_they_happen(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    async with following(desk):
        assert (await desk.paths("boat"))[0] == "talk.txt"
        await watched(desk)
        desk.write("new.md", "A kite.")
        await until(desk.bus, indexed(added=1))
        assert (await desk.paths("kite"))[0] == "new.md"
        shutil.rmtree(desk.project / "garden")
        await until(desk.bus, indexed(removed=1))
        assert (await desk.search("water")).files == 3
        os.makedirs(desk.project / "deep/er")
        desk.write("deep/er/note.md", "A violin.")
        with anyio.fail_after(ENOUGH_S):
            while (await desk.search("violin")).files != 4:
                await anyio.lowlevel.checkpoint()
        desk.write(".gitignore", "deep/\n")
        with anyio.fail_after(ENOUGH_S):
            while (await desk.search("violin")).files != 3:
                await anyio.lowlevel.checkpoint()


async def test_names_that_are_no_utf_8_end_no_watch(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("manyhands.memory.watching.RETRY_S", 0.01)
    desk, odd = sqlite_desk, os.path.join(os.fsencode(sqlite_desk.project), b"caf\xe9")
    os.mkdir(odd)
    async with following(desk):
        assert (await desk.paths("boat"))[0] == "talk.txt"
        await watched(desk)
        os.close(os.open(odd + b".txt", os.O_CREAT))
        with anyio.fail_after(ENOUGH_S):
            while "watched anew" not in caplog.text:
                await anyio.lowlevel.checkpoint()
        desk.write("new.md", "A kite.")
        await until(desk.bus, indexed(added=1))
        await watched(desk)
        assert (await desk.paths("kite"))[0] == "new.md"


async def test_what_was_used_before_is_followed_from_the_start(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    await desk.memory.index(await desk.scope())
    desk.write("later.md", "A harpsichord.")
    async with following(desk):
        await until(desk.bus, indexed(added=1))
        await watched(desk)
        assert (await desk.paths("harpsichord"))[0] == "later.md"


async def test_all_files_are_looked_at_once_and_then_what_changes(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, looked = sqlite_desk, list[str]()
    index = Indexer.index

    async def counting(self: Indexer, collection: str, *rest: Any) -> IndexReport:
        looked.append(collection)
        return await index(self, collection, *rest)

    monkeypatch.setattr(Indexer, "index", counting)
    async with following(desk):
        for _ in range(5):
            await desk.search("boat")
        assert sorted(looked) == [str(desk.project), "global"]


@pytest.mark.parametrize("watched", [True, False])
async def test_a_question_waits_neither_for_the_first_reading_nor_for_vectors(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch, watched: bool
) -> None:
    desk, go, index = sqlite_desk, anyio.Event(), Indexer.index
    await desk.set(memory_watch=watched)

    async def slow(self: Indexer, *rest: Any) -> IndexReport:
        await go.wait()
        return await index(self, *rest)

    monkeypatch.setattr(Indexer, "index", slow)
    monkeypatch.setattr(keeping, "FIRST_WAIT_S", 0)
    with anyio.fail_after(ENOUGH_S):
        async with following(desk):
            assert "still being read" in (await desk.search("boat")).notes[0]
            go.set()
            await until(desk.bus, indexed(added=3))
            async with desk.memory._keeper.state(str(desk.project)).learning:
                desk.write("talk.txt", "Ana: I sold the boat.")
                assert (await desk.search("boat", by_words=True)).hits[0].text == "Ana: I sold the boat."


async def test_what_goes_while_the_rest_is_still_being_read_is_not_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, index = anyio.Event(), Indexer.index

    async def slow(self: Indexer, *rest: Any) -> IndexReport:
        report = await index(self, *rest)
        await go.wait()
        return report

    monkeypatch.setattr(Indexer, "index", slow)
    monkeypatch.setattr(keeping, "FIRST_WAIT_S", 0)
    with anyio.fail_after(ENOUGH_S):
        async with following(desk):
            while (await desk.search("boat")).files < len(NOTES):
                await anyio.lowlevel.checkpoint()
            assert await desk.paths("boat") == ["talk.txt"]
            desk.write("talk.txt", "Ana: I sold the violin.")
            assert await desk.paths("violin boat") == ["talk.txt"]
            (desk.project / "talk.txt").unlink()
            answer = await desk.search("violin boat", by_words=True)
            assert not answer.hits
            assert "still being read" in answer.notes[0]
            go.set()


def test_what_is_not_read_yet_is_stale() -> None:
    assert keeping.CollectionState(pending=1).stale == 1
    assert keeping.CollectionState(pending=1, phase="reading", done=3, total=10).stale == 8
    assert keeping.CollectionState(phase="embedding", done=3, total=10).stale == 0


async def test_more_directories_than_can_be_watched_are_looked_at(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manyhands.memory.watching.WATCHES_ONE_DIRECTORY", True)
    monkeypatch.setattr("manyhands.memory.watching.MOST_DIRECTORIES", 1)
    desk = sqlite_desk
    async with following(desk):
        await desk.search("boat")
        desk.write("new.md", "A kite.")
        assert await desk.paths("kite") == ["new.md"]
        status = (await desk.memory.status(await desk.scope()))["collections"][0]
        assert "more than 1 directories" in status["watch_problem"]


async def test_what_was_used_before_is_read_before_somebody_asks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.memory.index(await desk.scope())
    read, file_words = list[int](), rows.file_words

    def counting(conn: Connection, file_ids: Sequence[int]) -> Any:
        read.extend(file_ids)
        return file_words(conn, file_ids)

    monkeypatch.setattr(rows, "file_words", counting)
    async with following(desk):
        with anyio.fail_after(ENOUGH_S):
            while len(read) < len(NOTES):
                await anyio.lowlevel.checkpoint()
        await desk.memory.warm(await desk.scope())
        assert (await desk.search("what did the doctor say")).mode == "hybrid"
    assert len(read) == len(NOTES)


async def test_a_failed_embedder_is_tried_again_in_the_background(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = sqlite_desk
    monkeypatch.setattr(keeping, "RETRY_EVERY_S", 0.01)
    monkeypatch.setattr("manyhands.memory.learning.RETRY_S", 0.0)
    with running_endpoint() as endpoint:
        endpoint.status = 500
        await desk.set(memory_embedder="ollama:a", memory_embedder_url=endpoint.url)
        async with following(desk):
            assert (await desk.search("boat")).mode == "lexical"
            endpoint.status = 200
            await until(desk.bus, indexed(embedded=6))
            assert (await desk.search("doctor")).mode == "hybrid"


async def test_another_embedder_does_not_wait_for_one_that_is_silent(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    with running_endpoint() as endpoint:
        endpoint.silent = threading.Event()
        await desk.set(memory_embedder="ollama:a", memory_embedder_url=endpoint.url)
        try:
            async with following(desk):
                assert (await desk.search("boat")).mode == "lexical"
                with anyio.fail_after(ENOUGH_S):
                    while not endpoint.asked:
                        await anyio.lowlevel.checkpoint()
                await desk.set(memory_embedder="static")
                await until(desk.bus, indexed(embedded=6))
                answer = await desk.search("doctor")
                assert (answer.mode, answer.notes) == ("hybrid", ())
        finally:
            endpoint.silent.set()


def test_only_what_can_be_memory_matters(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    roots = [str(tmp_path)]
    added = 1
    assert matters(added, str(tmp_path / "a.md"), roots)
    assert matters(added, str(tmp_path / ".gitignore"), roots)
    assert matters(added, str(tmp_path / "dir"), roots)
    assert matters(DELETED, str(tmp_path / "gone"), roots)
    assert not matters(added, str(tmp_path / "a.py"), roots)
    assert not matters(added, str(tmp_path / ".git/a.md"), roots)
    assert not matters(added, str(tmp_path / "node_modules/x/a.md"), roots)


def test_many_changes_new_directories_and_ignore_files_mean_everything(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    assert to_read({(1, "/p/a.md"), (DELETED, "/p/b.md")}) == ["/p/a.md", "/p/b.md"]
    assert to_read({(1, str(tmp_path / "dir"))}) is None
    assert to_read({(1, "/p/.gitignore")}) is None
    assert to_read({(1, f"/p/{number}.md") for number in range(501)}) is None


async def test_only_so_many_are_watched_and_the_others_are_still_up_to_date(
    sqlite_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST_FOLLOWED", 2)
    desk = sqlite_desk
    other = tmp_path / "other"
    other.mkdir()
    (other / "kite.md").write_text("A kite.")
    async with following(desk):
        assert await desk.paths("boat") == ["talk.txt"]
        scope = await desk.memory.scope(dir_path=str(other))
        assert [hit.path for hit in (await desk.memory.search(scope, Query("kite"))).hits] == ["kite.md"]
        desk.write("new.md", "A violin.")
        assert await desk.paths("violin") == ["new.md"]


async def test_a_watch_can_be_switched_off(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    async with following(desk):
        await desk.search("boat")
        await watched(desk)
        await desk.set(memory_watch=False)
        with anyio.fail_after(ENOUGH_S):
            while (await desk.memory.status(await desk.scope()))["collections"][0]["watched"]:
                await anyio.lowlevel.checkpoint()
        desk.write("new.md", "A violin.")
        await desk.memory.index(await desk.scope())
        assert await desk.paths("violin") == ["new.md"]
