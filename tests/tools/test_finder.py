"""Search over the catalogue as it is: by meaning once vectors are there, by words alone until then."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from manyhands import embedding
from manyhands.errors import UnavailableError
from manyhands.tools import finder
from tests.tools.desk import Desk

if TYPE_CHECKING:
    from manyhands.embedding import Matrix

pytestmark = pytest.mark.anyio


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine learns, too."""
    monkeypatch.setattr(finder, "PATIENCE_S", 60)


async def names(desk: Desk, query: str) -> list[str]:
    return [match.listing.definition.name for match in await desk.tools.search(query)]


@pytest.mark.usefixtures("patient")
async def test_a_tool_is_found_by_meaning(desk: Desk) -> None:
    desk.source.add("show_puppy", description="A young hound on a lawn", server="pets")
    assert (await names(desk, "dogs"))[0] == "show_puppy"


class Stuck:
    """A model that takes as long as the test wants."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Matrix:
        assert self.go.wait(60)
        self.asked += texts
        return np.zeros((len(texts), 4), dtype=np.float32)


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    model = Stuck()
    monkeypatch.setattr(embedding, "embed", model)
    monkeypatch.setattr(finder, "PATIENCE_S", 0.1)
    yield model
    model.go.set()


async def test_words_answer_while_the_vectors_are_not_there(
    stuck: Stuck, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = desk.new_service()
    desk.source.add("show_puppy", description="A puppy on a lawn", server="pets")
    found = await service.search("puppy")
    assert [match.listing.definition.name for match in found] == ["show_puppy"]
    assert not stuck.asked
    stuck.go.set()
    monkeypatch.setattr(finder, "PATIENCE_S", 60)
    await service.search("puppy")
    assert "pets show puppy a puppy on a lawn" in stuck.asked


@pytest.mark.usefixtures("patient")
async def test_without_a_model_words_alone_answer_and_the_log_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, desk: Desk
) -> None:
    def fail(texts: Sequence[str]) -> Matrix:
        raise UnavailableError("The word vectors cannot be loaded.", hint="Install them.")

    monkeypatch.setattr(embedding, "embed", fail)
    service = desk.new_service()
    desk.source.add("show_puppy", description="A puppy on a lawn", server="pets")
    with caplog.at_level(logging.WARNING, finder.__name__):
        for _ in range(2):
            found = await service.search("puppy")
            assert [match.listing.definition.name for match in found] == ["show_puppy"]
    assert [record.message for record in caplog.records if record.name == finder.__name__] == [
        "Tools are searched by words alone: The word vectors cannot be loaded. Install them."
    ]


def test_whoever_does_not_search_loads_neither_numpy_nor_vectors() -> None:
    code = (
        "import sys, manyhands.hub, manyhands.tools.service;"
        "assert not {'numpy', 'tokenizers', 'manyhands.tools.search'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
