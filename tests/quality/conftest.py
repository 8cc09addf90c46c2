"""A hub with a channel whose directory is a small project."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from manyhands.chat.types import Channel
from manyhands.home import Home
from manyhands.hub import Hub
from tests.chat.repositories import Repository, make_repository
from tests.quality.projects import SHOP, write


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with Hub(Home(tmp_path / "home")) as hub:
        yield hub


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """The project, committed on `main`."""
    made = make_repository(tmp_path / "project")
    write(made.path, SHOP)
    made("add", ".")
    made("commit", "--quiet", "-m", "the shop")
    return made


@pytest.fixture
async def channel(hub: Hub, repository: Repository) -> Channel:
    return (await hub.channels.find_or_create(dir_path=str(repository.path)))[0]
