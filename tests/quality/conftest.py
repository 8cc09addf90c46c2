"""A hub with a channel whose directory is a small project."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from manyhands.chat.types import Channel
from manyhands.home import Home
from manyhands.hub import Hub
from manyhands.quality.scanners import AT_ONCE
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


# A process that takes a request and never answers; the last word lets it be found.
ENDLESS = (sys.executable, "-c", "import time; input(); time.sleep(3600)", "manyhands.quality.endless")


@asynccontextmanager
async def no_scan_begins(hub: Hub) -> AsyncIterator[None]:
    """Scans that are started wait for as long as the block lasts."""
    holders = [object() for _ in range(AT_ONCE)]
    for holder in holders:
        await hub._scanners._limiter.acquire_on_behalf_of(holder)
    try:
        yield
    finally:
        for holder in holders:
            hub._scanners._limiter.release_on_behalf_of(holder)
