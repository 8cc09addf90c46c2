"""Vectors come from whom the person names; one that fails costs meaning for a while and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from manyhands.clock import SystemClock
from manyhands.memory import learning
from manyhands.memory.embedders import StaticEmbedder
from manyhands.store.engine import Store
from manyhands.store.tables import memory_vectors
from tests.memory.conftest import Desk
from tests.memory.endpoint import Endpoint, running_endpoint

pytestmark = pytest.mark.anyio


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with running_endpoint() as running:
        yield running


async def kept(store: Store) -> set[tuple[str, int]]:
    columns = (memory_vectors.c.model, memory_vectors.c.dimensions)
    rows = await store.read(lambda conn: conn.execute(select(*columns)).all())
    return {(row.model, row.dimensions) for row in rows}


@pytest.mark.parametrize("kind", ["ollama", "openai"])
async def test_an_endpoint_makes_vectors_and_questions_go_to_it(
    sqlite_desk: Desk, endpoint: Endpoint, kind: str
) -> None:
    await sqlite_desk.set(memory_embedder=f"{kind}:nomic", memory_embedder_url=endpoint.url)
    found = await sqlite_desk.search("what did the doctor say")
    assert (found.mode, found.notes) == ("hybrid", ())
    assert "physician" in found.hits[0].text
    path = {"ollama": "/api/embed", "openai": "/embeddings"}[kind]
    assert {asked[0] for asked in endpoint.asked} == {path}
    assert {asked[1]["model"] for asked in endpoint.asked} == {"nomic"}
    assert endpoint.asked[-1][1]["input"] == ["what did the doctor say"]
    passages = [text for asked in endpoint.asked for text in asked[1]["input"]]
    assert "Garden\nTomatoes need water." in passages, "headings go along"
    assert {dimensions for _, dimensions in await kept(sqlite_desk.store)} == {64}


async def test_a_key_is_a_reference(
    sqlite_desk: Desk, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sqlite_desk.set(
        memory_embedder="openai:m", memory_embedder_url=endpoint.url, memory_embedder_key="${MY_KEY}"
    )
    found = await sqlite_desk.search("boat")
    assert found.mode == "lexical"
    assert "MY_KEY" in found.notes[0]
    monkeypatch.setenv("MY_KEY", "sesame-open")
    await sqlite_desk.set(memory_embedder="openai:m2")
    assert (await sqlite_desk.search("boat")).mode == "hybrid"
    assert endpoint.asked[-1][2] == "Bearer sesame-open"


async def test_another_embedder_makes_all_vectors_anew_and_two_are_never_compared(
    desk: Desk, endpoint: Endpoint
) -> None:
    await desk.search("boat")
    assert await kept(desk.store) == {(StaticEmbedder.name, 256)}
    await desk.set(memory_embedder="ollama:a", memory_embedder_url=endpoint.url)
    found = await desk.search("what did the doctor say")
    assert (found.mode, "physician" in found.hits[0].text) == ("hybrid", True)
    assert await kept(desk.store) == {(f"ollama:a@{endpoint.url}", 64)}
    await desk.set(memory_embedder="static")
    assert (await desk.search("what did the doctor say")).mode == "hybrid"
    assert await kept(desk.store) == {(StaticEmbedder.name, 256)}


@pytest.mark.requirement("L40")
@pytest.mark.parametrize(
    ("answer", "status", "says"),
    [
        ({"embeddings": []}, 200, "something else"),
        ({"embeddings": [[1.0, 2.0], [1.0]]}, 200, "something else"),
        ({"embeddings": "vectors"}, 200, "something else"),
        (["nothing"], 200, "something else"),
        ({"error": "no such model"}, 404, "status 404"),
    ],
)
async def test_an_endpoint_that_answers_badly_costs_meaning_alone(
    sqlite_desk: Desk, endpoint: Endpoint, answer: Any, status: int, says: str
) -> None:
    endpoint.answer, endpoint.status = answer, status
    await sqlite_desk.set(memory_embedder="ollama:a", memory_embedder_url=endpoint.url)
    found = await sqlite_desk.search("Who bought a boat?")
    assert (found.mode, found.hits[0].path) == ("lexical", "talk.txt")
    assert says in found.notes[0]
    report = await sqlite_desk.memory.index(await sqlite_desk.scope())
    assert (report.embedded, report.waiting) == (0, 6)
    assert report.notes
    status_now = (await sqlite_desk.memory.status())["embedder"]
    assert says in status_now["problem"]
    assert status_now["retry_in_s"] > 0


async def test_an_endpoint_that_is_not_there_is_asked_again_later(
    sqlite_desk: Desk, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sqlite_desk.set(memory_embedder="ollama:a", memory_embedder_url="http://127.0.0.1:9")
    assert "cannot be used" in (await sqlite_desk.search("boat")).notes[0]
    await sqlite_desk.set(memory_embedder_url=endpoint.url)
    endpoint.status = 500
    assert (await sqlite_desk.search("boat")).mode == "lexical"
    asked = len(endpoint.asked)
    endpoint.status = 200
    assert (await sqlite_desk.search("boat")).mode == "lexical"
    assert len(endpoint.asked) == asked, "it is left alone for a while"
    later = SystemClock.monotonic
    monkeypatch.setattr(SystemClock, "monotonic", lambda self: later(self) + learning.LONGEST_RETRY_S)
    assert (await sqlite_desk.search("doctor")).mode == "hybrid"
    assert (await sqlite_desk.memory.status())["embedder"]["problem"] is None


async def test_vectors_of_another_length_are_refused_until_all_is_made_anew(
    sqlite_desk: Desk, endpoint: Endpoint
) -> None:
    await sqlite_desk.set(memory_embedder="ollama:a", memory_embedder_url=endpoint.url)
    await sqlite_desk.search("boat")
    endpoint.dimensions = 32
    found = await sqlite_desk.search("Who bought a boat?")
    assert (found.mode, found.hits[0].path) == ("lexical", "talk.txt")
    assert "32 numbers" in found.notes[0]
    report = await sqlite_desk.memory.index(await sqlite_desk.scope(), again=True)
    assert report.embedded == 6
    assert (await sqlite_desk.search("doctor")).mode == "hybrid"
    assert {dimensions for _, dimensions in await kept(sqlite_desk.store)} == {32}
