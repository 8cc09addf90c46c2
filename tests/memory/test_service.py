"""A project's notes are found, stay up to date, and are nobody else's; on both databases alike."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from manyhands.chat.types import Message
from manyhands.embedding import _load
from manyhands.errors import InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.memory.service import MemoryScope
from manyhands.memory.types import HIT_CHARS, Query
from manyhands.memory.vector_store import PgVectors
from manyhands.store.engine import Store, open_store
from manyhands.store.event_log import StoredEventLog
from tests.memory.conftest import NOTES, Desk, a_channel, make_desk

pytestmark = pytest.mark.anyio


async def test_a_thing_is_found_by_its_words_and_by_its_meaning(desk: Desk) -> None:
    found = await desk.search("Who bought a boat?")
    assert found.mode == "hybrid"
    assert found.notes == ()
    assert (found.files, found.chunks, found.stale) == (3, 6, 0)
    hit = found.hits[0]
    assert (hit.path, hit.line_start) == ("talk.txt", 1)
    assert hit.parts.lexical > 0
    assert hit.score == pytest.approx(hit.parts.lexical + hit.parts.vector + hit.parts.recency, abs=0.01)
    doctor = (await desk.search("what did the doctor say")).hits[0]
    assert "physician" in doctor.text
    assert _load.cache_info().misses <= 1
    assert doctor.heading == "Garden"
    assert doctor.parts.vector > 0


@pytest.mark.requirement("L39")
async def test_words_are_searched_before_any_vector_exists(desk: Desk) -> None:
    await desk.set(memory_embedder="none")
    found = await desk.search("Who bought a boat?")
    assert (found.mode, found.hits[0].path) == ("lexical", "talk.txt")
    assert (await desk.memory.status(await desk.scope()))["collections"][0]["embedded"] == 0
    assert not (await desk.search("doctor")).hits
    await desk.set(memory_embedder="static")
    await desk.memory.index(await desk.scope())
    assert (await desk.search("doctor")).mode == "hybrid"


@pytest.mark.requirement("L40")
async def test_what_is_deleted_renamed_or_changed_is_so_in_the_next_answer(desk: Desk) -> None:
    assert await desk.paths("boat") == ["talk.txt"]
    (desk.project / "talk.txt").unlink()
    assert "talk.txt" not in await desk.paths("boat")
    os.rename(desk.project / "decisions.md", desk.project / "queues.md")
    assert (await desk.paths("simplest"))[0] == "queues.md"
    desk.write("queues.md", "# Queue\n\nWe took the fastest one.\n")
    (hit, *_) = (await desk.search("simplest fastest queue")).hits
    assert hit.text == "We took the fastest one."
    await desk.memory.index(await desk.scope())
    found = await desk.search("queue")
    assert (found.files, found.chunks) == (2, 3)


@pytest.mark.requirement("L40")
async def test_indexing_says_exactly_what_it_did(desk: Desk) -> None:
    scope = await desk.scope()
    first = await desk.memory.index(scope)
    assert (first.added, first.changed, first.removed, first.unchanged) == (3, 0, 0, 0)
    assert (first.chunks_added, first.embedded, first.waiting) == (6, 6, 0)
    desk.write("decisions.md", "# Queue\n\nWe took another one.\n")
    (desk.project / "talk.txt").unlink()
    desk.write("new.org", "* Heading\n\nText.\n")
    os.utime(desk.project / "garden/plants.md")
    second = await desk.memory.index(scope)
    assert (second.added, second.changed, second.removed, second.unchanged) == (1, 1, 1, 1)
    assert (second.chunks_added, second.chunks_removed, second.embedded) == (2, 4, 2)
    third = await desk.memory.index(scope)
    assert not third.did_something
    assert third.unchanged == 3
    indexed = [event for event in desk.events if event.type == "memory.indexed"]
    assert indexed[-1].data["files"]["unchanged"] in (0, 3)
    assert {event.data["phase"] for event in desk.events if event.type == "memory.progress"} >= {
        "looking",
        "reading",
        "embedding",
    }


@pytest.mark.requirement("L40")
async def test_what_cannot_be_read_is_reported_and_the_rest_is_indexed(desk: Desk) -> None:
    await desk.set(memory_file_bytes=1000)
    desk.write("large.md", "x" * 1001)
    desk.write("program.md", b"\x7fELF\0\0\0\1")
    desk.write("old.txt", "Die Größe der Bäume".encode("cp1252"))
    report = await desk.memory.index(await desk.scope())
    problems = dict(report.problems)
    assert set(problems) == {"large.md", "program.md", "old.txt"}
    assert "1,001 bytes" in problems["large.md"]
    assert "Windows-1252" in problems["old.txt"]
    assert (await desk.paths("Größe"))[0] == "old.txt"
    listed = await desk.memory.files(await desk.scope(), only_problems=True)
    assert [file["path"] for file in listed.items] == ["large.md", "old.txt", "program.md"]
    status = (await desk.memory.status(await desk.scope()))["collections"][0]
    assert (status["problems"], status["files"]) == (3, 4)
    again = await desk.memory.index(await desk.scope())
    assert dict(again.problems) == problems, "what is wrong is said as long as it is"


async def test_another_project_is_not_searched_and_the_global_memory_is(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.md").write_text("The boat is called Marlin.")
    await desk.memory.search(await desk.memory.scope(dir_path=str(other)), Query("boat"))
    assert await desk.paths("boat Marlin") == ["talk.txt"]
    desk.home.memory.mkdir()
    (desk.home.memory / "me.md").write_text("My own boat is called Perch.")
    await desk.memory.index(await desk.scope())
    found = (await desk.search("boat", by_words=True)).hits
    assert {(hit.path, hit.scope) for hit in found} == {("me.md", "global"), ("talk.txt", "project")}
    assert [
        hit.path for hit in (await desk.memory.search(MemoryScope(None), Query("boat", by_words=True))).hits
    ] == ["me.md"]
    with pytest.raises(NotFoundError):
        await desk.memory.excerpt(await desk.scope(), "secret.md")
    with pytest.raises(NotFoundError):
        await desk.memory.excerpt(await desk.scope(), str(other / "secret.md"))


async def test_filters_choose_by_path_and_date(desk: Desk) -> None:
    os.utime(desk.project / "talk.txt", (1_000_000_000, 1_000_000_000))
    for name in NOTES:
        desk.write(f"copies/{name}", NOTES[name])
    assert set(await desk.paths("boat")) == {"talk.txt", "copies/talk.txt"}
    assert await desk.paths("boat", paths=("copies/**",)) == ["copies/talk.txt"]
    assert await desk.paths("boat", paths=("*.txt", "!copies/*")) == ["talk.txt"]
    assert await desk.paths("boat", until=1_000_000_001.0) == ["talk.txt"]
    assert await desk.paths("boat", since=1_000_000_001.0) == ["copies/talk.txt"]
    assert (await desk.paths("boat", recency=1.0))[0] == "copies/talk.txt"
    (first, *_) = (await desk.search("boat", recency=1.0)).hits
    assert first.parts.recency > 0


async def test_an_answer_keeps_to_its_budget(desk: Desk) -> None:
    desk.write("long.md", "\n\n".join(f"The boat number {number} sails." for number in range(400)))
    found = await desk.search("boat", top_k=50, budget_chars=300)
    assert 0 < sum(len(hit.text) for hit in found.hits) <= 300
    assert all(len(hit.text) <= HIT_CHARS for hit in (await desk.search("boat", top_k=50)).hits)
    with pytest.raises(InvalidError):
        await desk.search("x" * 5000)


async def test_repetitions_come_later_if_that_is_wanted(desk: Desk) -> None:
    for number in range(4):
        desk.write(f"copy{number}.md", "The harbour has a red boat.")
    desk.write("other.md", "A boat needs an engine and oil.")
    plain = await desk.paths("red boat", top_k=3)
    spread = await desk.paths("red boat", top_k=3, diversity=0.7, by_words=False)
    assert "other.md" not in plain
    assert {"other.md", "talk.txt"} & set(spread)


async def test_conversations_are_searched_when_they_are_switched_on(desk: Desk) -> None:
    channel = await a_channel(desk)
    at = datetime(2026, 3, 4, tzinfo=UTC)
    desk.said[channel.id] = [Message("m1", channel.id, "user", "The launch is on a Thursday.", at, "ann")]
    assert "conversations" not in "".join(await desk.paths("launch"))
    await desk.set(memory_conversations=True)
    hit = (await desk.search("when is the launch")).hits[0]
    assert hit.text == "ann: The launch is on a Thursday."
    assert hit.path.endswith("/2026-03-04.md")
    excerpt = await desk.memory.excerpt(await desk.scope(), hit.path, hit.line_start)
    assert hit.text in excerpt.text
    assert excerpt.text.split("\n")[hit.line_start - excerpt.line_start] == hit.text
    await desk.set(memory_conversations=False)
    assert "conversations" not in "".join(await desk.paths("launch"))


async def test_a_file_is_read_around_a_line_as_it_is_now(desk: Desk) -> None:
    desk.write("long.md", "\n".join(f"line {number}" for number in range(1, 201)))
    await desk.memory.index(await desk.scope())
    excerpt = await desk.memory.excerpt(await desk.scope(), "long.md", 100, 2)
    assert excerpt.text == "line 98\nline 99\nline 100\nline 101\nline 102"
    assert (excerpt.line_start, excerpt.line_end, excerpt.lines, excerpt.changed) == (98, 102, 200, False)
    desk.write("long.md", "short")
    changed = await desk.memory.excerpt(await desk.scope(), "long.md", 100)
    assert (changed.text, changed.changed) == ("short", True)
    (desk.project / "long.md").unlink()
    assert (await desk.memory.excerpt(await desk.scope(), "long.md")).problem == "The file is gone."


async def test_of_two_files_of_one_name_that_of_the_named_memory_is_read(desk: Desk) -> None:
    desk.home.memory.mkdir()
    (desk.home.memory / "talk.txt").write_text("What everybody knows.")
    scope = await desk.scope()
    await desk.memory.index(scope)
    assert (await desk.memory.excerpt(scope, "talk.txt", of="global")).text == "What everybody knows."
    assert (await desk.memory.excerpt(scope, "talk.txt", of="project")).text == NOTES["talk.txt"]


async def test_a_question_that_nothing_fits_is_told_so(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    found = await desk.search("explain quantum entanglement")
    assert found.hits
    assert found.notes == ("Nothing fits this question well: these are the nearest passages.",)
    for fitting in ("the boat", "what did the doctor say", "decisions"):
        assert (await desk.search(fitting)).notes == ()


async def test_files_are_listed_in_pages(desk: Desk) -> None:
    await desk.memory.index(await desk.scope())
    scope, names, cursor = await desk.scope(), [], None
    while True:
        page = await desk.memory.files(scope, limit=2, cursor=cursor)
        names += [file["path"] for file in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert names == sorted(NOTES)
    with pytest.raises(InvalidError):
        await desk.memory.files(scope, cursor="nonsense")


async def test_another_choice_of_places_is_followed(desk: Desk) -> None:
    await desk.set(memory_paths=["garden", "talk.txt"])
    assert sorted(await desk.paths("water boat simplest")) == ["garden/plants.md", "talk.txt"]
    await desk.set(memory_paths=[".", "!garden/"])
    assert sorted(await desk.paths("water boat simplest")) == ["decisions.md", "talk.txt"]


async def test_many_questions_and_changes_at_the_same_time_agree(desk: Desk) -> None:
    async def ask() -> None:
        for _ in range(5):
            assert all(hit.text for hit in (await desk.search("boat water simplest")).hits)

    async def change() -> None:
        for number in range(5):
            desk.write("talk.txt", f"Ana: I bought boat number {number}!\n")
            await desk.memory.index(await desk.scope())

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(ask)
        group.start_soon(change)
    assert (await desk.search("boat")).hits[0].text == "Ana: I bought boat number 4!"


async def test_everything_can_be_made_anew(desk: Desk) -> None:
    await desk.search("boat")
    report = await desk.memory.index(await desk.scope(), again=True)
    assert (report.added, report.embedded) == (3, 6)
    assert await desk.paths("boat") == ["talk.txt"]
    await desk.memory.forget(await desk.scope())
    assert (await desk.memory.status(await desk.scope()))["collections"][0]["files"] == 0


async def test_a_channel_without_a_directory_has_a_memory_of_its_own(desk: Desk) -> None:
    channel, _ = await desk.channels.find_or_create(name="ideas")
    at = datetime(2026, 3, 4, tzinfo=UTC)
    desk.said[channel.id] = [Message("m1", channel.id, "assistant", "A kite shop!", at)]
    await desk.set(memory_conversations=True)
    found = await desk.memory.search(await desk.memory.scope(channel), Query("kite"))
    assert [hit.text for hit in found.hits] == ["Manyhands: A kite shop!"]
    assert "kite" not in " ".join(hit.text for hit in (await desk.search("kite")).hits)
    await desk.channels.delete(channel.id)
    await desk.store.flush()
    assert channel.id not in str(await desk.memory.status())


# --- the two databases


@pytest.fixture
async def both(tmp_path: Path, sqlite_url: str, postgres_url: str) -> AsyncIterator[tuple[Desk, Desk]]:
    """A memory on SQLite and one on PostgreSQL."""
    async with open_store(sqlite_url) as one, open_store(postgres_url) as other:
        yield await _desk(one, tmp_path / "one"), await _desk(other, tmp_path / "other")


async def _desk(store: Store, root: Path) -> Desk:
    await anyio.Path(root).mkdir()
    bus = EventBus(StoredEventLog(store))
    await bus.start()
    return await make_desk(store, bus, root)


THINGS = ("boat", "garden", "queue", "doctor", "letter", "bridge", "winter", "kitchen", "engine", "violin")
DEEDS = ("bought", "painted", "lost", "repaired", "sold", "described", "measured", "borrowed")
WHO = ("Ana", "Bo", "Cem", "Dora")


def made_notes() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Notes, and questions in other words with the line that answers each."""
    notes: dict[str, str] = {}
    questions = []
    for number, thing in enumerate(THINGS):
        lines = []
        for at, deed in enumerate(DEEDS):
            line = f"{WHO[(number + at) % 4]}: Last week I {deed} the {thing} near house {number * 8 + at}."
            lines += [line, f"{WHO[(number + at + 1) % 4]}: That is good to hear, really."]
            questions.append((f"Who {deed} the {thing}?", line))
        notes[f"{thing}.md"] = f"# Day {number}\n\n" + "\n\n".join(lines)
    return notes, questions


async def test_both_databases_find_the_same(both: tuple[Desk, Desk]) -> None:
    notes, questions = made_notes()
    recalls = []
    for desk in both:
        for name, text in notes.items():
            desk.write(name, text)
        found = 0
        for question, line in questions:
            hits = (await desk.search(question, top_k=50, budget_chars=300)).hits
            found += line in "\n".join(hit.text for hit in hits)
        recalls.append(found / len(questions))
    assert abs(recalls[0] - recalls[1]) <= 0.01
    assert recalls[0] > 0.8
    kept = [(await desk.memory.status())["embedder"]["kept_in"] for desk in both]
    assert kept == ["matrix", "pgvector"]


async def test_without_pgvector_vectors_are_bytes_and_found_all_the_same(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manyhands.memory.vector_store._MAKE", ("CREATE EXTENSION no_such_extension",))
    async with open_store(postgres_url) as store:
        desk = await _desk(store, tmp_path / "one")
        found = await desk.search("what did the doctor say", diversity=0.2)
        assert (found.mode, "physician" in found.hits[0].text) == ("hybrid", True)
        embedder = (await desk.memory.status())["embedder"]
        assert embedder["kept_in"] == "matrix"
        assert "CREATE EXTENSION vector" in embedder["note"]


async def test_what_another_hub_wrote_is_in_the_next_answer(tmp_path: Path, postgres_url: str) -> None:
    async with open_store(postgres_url) as one, open_store(postgres_url) as other:
        ours = await _desk(one, tmp_path / "one")
        theirs = await _desk(other, tmp_path / "other")
        await ours.memory.index(await ours.scope())
        known = await theirs.memory._known((str(ours.project),))
        finder = await theirs.memory._found_finder()
        question = Query("kite", by_words=True)
        assert not (await finder.search(known, question, learning=False, last=False)).moved
        ours.write("new.md", "A kite.")
        await ours.memory.index(await ours.scope())
        assert (await finder.search(known, question, learning=False, last=False)).moved
        found = await theirs.memory.search(MemoryScope(str(ours.project)), question)
        assert [hit.path for hit in found.hits] == ["new.md"]


async def test_the_database_says_what_is_near_until_there_is_a_copy(
    both: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, desk = both
    asked, nearest = list[str](), PgVectors.nearest

    def counting(self: PgVectors, *rest: Any, **named: Any) -> Any:
        asked.append("nearest")
        return nearest(self, *rest, **named)

    monkeypatch.setattr(PgVectors, "nearest", counting)
    by_database = await desk.search("what did the doctor say")
    assert asked == ["nearest"]
    await desk.memory.warm(await desk.scope())
    by_copy = await desk.search("what did the doctor say")
    assert asked == ["nearest"]
    assert by_copy.mode == by_database.mode == "hybrid"
    for one, other in zip(by_copy.hits, by_database.hits, strict=True):
        assert one.text == other.text
        assert one.score == pytest.approx(other.score, abs=0.001)
