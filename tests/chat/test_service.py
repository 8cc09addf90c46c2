"""Channels are found or made by directory or name, and say when they change."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from manyhands.chat.service import ChannelService
from manyhands.chat.types import Channel
from manyhands.clock import SystemClock
from manyhands.errors import ConflictError, InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.store.engine import Store

pytestmark = pytest.mark.anyio


@pytest.fixture
def service(store: Store, bus: EventBus) -> ChannelService:
    return ChannelService(store, bus, SystemClock())


async def test_a_directory_has_one_channel_whatever_way_its_path_is_written(
    service: ChannelService, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    first, made = await service.find_or_create(dir_path=str(project))
    again, made_again = await service.find_or_create(dir_path=str(tmp_path / "link" / ".." / "project"))
    assert (made, made_again) == (True, False)
    assert again == first
    assert first.name == "project"


async def test_ten_clients_that_ask_for_one_directory_at_once_get_one_channel(
    service: ChannelService, tmp_path: Path
) -> None:
    found: set[str] = set()

    async def ask() -> None:
        channel, _ = await service.find_or_create(dir_path=str(tmp_path))
        found.add(channel.id)

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(ask)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "directory or a name"),
        ({"name": "  "}, "directory or a name"),
        ({"dir_path": "relative/path"}, "relative"),
        ({"dir_path": "/no/such/place"}, "no directory"),
        ({"dir_path": "/tmp\0"}, "NUL"),
    ],
)
async def test_a_channel_that_makes_no_sense_is_refused(
    service: ChannelService, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidError, match=message):
        await service.find_or_create(**arguments)
    assert (await service.list()).items == []


async def test_the_list_is_newest_first_searchable_and_paged(service: ChannelService, tmp_path: Path) -> None:
    for name in ("Alpha", "beta", "100%"):
        await service.find_or_create(name=name)
    page = await service.list(limit=2)
    assert [channel.name for channel in page.items] == ["100%", "beta"]
    rest = await service.list(limit=2, cursor=page.next_cursor)
    assert [channel.name for channel in rest.items] == ["Alpha"]
    assert rest.next_cursor is None
    assert [channel.name for channel in (await service.list(query="ALPHA")).items] == ["Alpha"]
    assert [channel.name for channel in (await service.list(query="0%")).items] == ["100%"]
    assert (await service.list(query="%")).items[0].name == "100%"


async def test_a_change_of_directory_is_told_to_observers_and_as_an_event(
    service: ChannelService, bus: EventBus, tmp_path: Path
) -> None:
    seen: list[tuple[Channel | None, Channel | None]] = []
    service.observe(lambda old, new: seen.append((old, new)))
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    channel, _ = await service.find_or_create(dir_path=str(one))
    async with bus.subscribe() as events:
        moved = await service.patch(channel.id, {"dir_path": str(two)})
        event = await anext(events)
    assert event.type == "channel.updated"
    assert event.data["dir_path"] == str(two)
    assert seen == [(None, channel), (channel, moved)]


async def test_a_channel_cannot_move_to_a_directory_that_has_one(
    service: ChannelService, tmp_path: Path
) -> None:
    there, _ = await service.find_or_create(dir_path=str(tmp_path))
    moving = await service.create("moving")
    with pytest.raises(ConflictError, match="has a channel"):
        await service.patch(moving.id, {"dir_path": str(tmp_path)})
    assert (await service.get(moving.id)).dir_path is None
    assert await service.patch(there.id, {"dir_path": str(tmp_path)}) == there


async def test_a_directory_is_untrusted_until_a_person_says_otherwise(
    service: ChannelService, tmp_path: Path
) -> None:
    channel, _ = await service.find_or_create(dir_path=str(tmp_path))
    assert not channel.trusted
    with pytest.raises(InvalidError, match="cannot be changed"):
        await service.patch(channel.id, {"trusted": True})
    assert (await service.trust(channel.id, True)).trusted


async def test_trust_stays_with_the_directory_when_a_channel_moves(
    service: ChannelService, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    (tmp_path / "link").symlink_to(one)
    channel, _ = await service.find_or_create(dir_path=str(one))
    await service.trust(channel.id, True)
    assert (await service.patch(channel.id, {"dir_path": f"{tmp_path}/link/../one/"})).trusted
    assert not (await service.patch(channel.id, {"dir_path": str(two)})).trusted
    assert not (await service.patch(channel.id, {"dir_path": str(one)})).trusted
    await service.trust(channel.id, True)
    assert not (await service.update(channel.id, {"dir_path": str(two), "trusted": True})).trusted
    nowhere = await service.patch(channel.id, {"dir_path": ""})
    assert (nowhere.dir_path, nowhere.trusted) == (None, False)
    await service.trust(channel.id, True)
    assert not (await service.patch(channel.id, {"dir_path": str(one)})).trusted


async def test_all_channels_of_a_directory_say_the_same_of_its_trust(
    service: ChannelService, tmp_path: Path
) -> None:
    told: list[tuple[str, bool]] = []
    service.observe_trust(lambda directory, trusted: told.append((directory, trusted)))
    first, _ = await service.find_or_create(dir_path=str(tmp_path))
    second, _ = await service.find_or_create(dir_path=str(tmp_path), platform="elsewhere")
    moving, _ = await service.find_or_create(name="notes", platform="fourth")
    await service.trust(first.id, True)
    assert (await service.get(second.id)).trusted
    assert (await service.create_thread(first.id, "aside")).trusted
    assert (await service.find_or_create(dir_path=str(tmp_path), platform="third"))[0].trusted
    assert (await service.patch(moving.id, {"dir_path": str(tmp_path)})).trusted
    for _ in range(2):
        await service.trust(second.id, False)
    assert not any(channel.trusted for channel in await service.with_directories())
    assert told == [(str(tmp_path), True), *[(str(tmp_path), False)] * 2]
    await service.mark_trusted(str(tmp_path))
    assert all(channel.trusted for channel in await service.with_directories())
    assert len(told) == 3


async def test_a_deleted_channel_is_gone_and_an_unknown_one_says_so(service: ChannelService) -> None:
    channel, _ = await service.find_or_create(name="short-lived")
    await service.delete(channel.id)
    with pytest.raises(NotFoundError, match="no channel"):
        await service.get(channel.id)
    with pytest.raises(NotFoundError, match="no channel"):
        await service.delete(channel.id)
