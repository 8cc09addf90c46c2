"""A service over a home and a project in temporary directories."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from manyhands.events import Event, EventBus
from manyhands.home import Home
from manyhands.playgrounds.service import PlaygroundService
from manyhands.store.engine import Store
from manyhands.store.event_log import StoredEventLog
from manyhands.testing.clock import FakeClock


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@pytest.fixture
def project(tmp_path: Path) -> str:
    directory = tmp_path / "project"
    directory.mkdir()
    return str(directory)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def events() -> list[Event]:
    """What was published."""
    return []


@pytest.fixture
def made_url(made_sqlite_url: str) -> str:
    """Nothing here depends on the database."""
    return made_sqlite_url


@pytest.fixture
async def service(
    home: Home, project: str, store: Store, clock: FakeClock, events: list[Event]
) -> AsyncIterator[PlaygroundService]:
    async def projects() -> Mapping[str, str]:
        return {project: "ch_1"}

    bus = EventBus(StoredEventLog(store), clock)
    await bus.start()
    bus.observe(events.append)
    yield PlaygroundService(home, bus, clock, projects)
    await bus.close()
