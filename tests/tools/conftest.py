"""What tests of tools share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from manyhands.events import EventBus
from manyhands.store.engine import Store, open_store
from manyhands.store.event_log import StoredEventLog
from tests.tools.desk import Desk


@pytest.fixture
async def desk(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """For what does not depend on the database."""
    async with open_store(sqlite_url) as store:
        bus = EventBus(StoredEventLog(store))
        await bus.start()
        made = Desk(store, bus, tmp_path / "home")
        await made.tools.start()
        yield made
        made.tools.close()


@pytest.fixture
async def stored(store: Store, bus: EventBus, tmp_path: Path) -> AsyncIterator[Desk]:
    """For what must hold on each database: with one trusted tool."""
    made = Desk(store, bus, tmp_path / "home")
    await made.tools.start()
    made.source.add("echo")
    made.source.trust("memory", "full")
    yield made
    made.tools.close()
