"""Settings are kept, checked and announced."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, text

from manyhands.errors import InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.settings import Settings
from manyhands.store.engine import Store
from manyhands.store.settings_store import SettingsService
from manyhands.store.tables import settings as table

pytestmark = pytest.mark.anyio


@pytest.fixture
def service(store: Store, bus: EventBus) -> SettingsService:
    return SettingsService(store, bus)


async def test_a_change_is_there_at_once_and_after_a_restart(
    service: SettingsService, store: Store, bus: EventBus
) -> None:
    await service.patch({"connect_parallel": "3", "fetch_allow": ["10.0.0.0/8"]})
    assert service.current.connect_parallel == 3
    again = SettingsService(store, bus)
    assert again.current == Settings()
    assert (await again.load()).fetch_allow == ("10.0.0.0/8",)
    assert (await again.get())["connect_parallel"] == 3


async def test_a_change_is_announced_with_what_changed(service: SettingsService, bus: EventBus) -> None:
    async with bus.subscribe() as events:
        await service.patch({"connect_parallel": 8})
        await service.patch({"connect_parallel": 9, "tool_namespace": "name"})
        event = await anext(events)
    assert (event.type, event.data) == ("settings.changed", {"connect_parallel": 9})


async def test_a_wrong_value_changes_nothing(service: SettingsService) -> None:
    with pytest.raises(InvalidError, match=r"mcp_max_iterations.*The old value is kept"):
        await service.patch({"connect_parallel": 3, "mcp_max_iterations": 51})
    with pytest.raises(NotFoundError, match="no setting 'colour'"):
        await service.patch({"colour": "red"})
    with pytest.raises(NotFoundError, match="no setting 'colour'"):
        await service.patch({"colour": None})
    assert await service.load() == Settings()


async def test_null_goes_back_to_the_default(service: SettingsService) -> None:
    await service.patch({"connect_parallel": 3, "searxng_url": "http://127.0.0.1:8080"})
    await service.patch({"connect_parallel": None, "searxng_url": None})
    assert await service.load() == Settings()


async def test_a_stored_value_that_this_version_refuses_is_left_aside(
    service: SettingsService, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    rows: list[dict[str, object]] = [
        {"name": "connect_parallel", "value": "many"},
        {"name": "gone", "value": 1},
        {"name": "tool_namespace", "value": "id"},
    ]
    await store.write(lambda conn: conn.execute(insert(table), rows))
    assert await service.load() == Settings(tool_namespace="id")
    assert "connect_parallel" in caplog.text
    assert "gone" in caplog.text


async def test_a_stored_value_that_is_damaged_is_left_aside_and_can_be_set_anew(
    service: SettingsService, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    if store.dialect != "sqlite":
        return  # PostgreSQL takes nothing but JSON there
    rows = [{"name": "connect_parallel", "value": "{broken"}, {"name": "tool_namespace", "value": '"id"'}]
    query = text("INSERT INTO settings (name, value) VALUES (:name, :value)")
    await store.write(lambda conn: conn.execute(query, rows))
    assert await service.load() == Settings(tool_namespace="id")
    assert "connect_parallel is not JSON" in caplog.text
    await service.patch({"connect_parallel": 3})
    assert await service.load() == Settings(tool_namespace="id", connect_parallel=3)
