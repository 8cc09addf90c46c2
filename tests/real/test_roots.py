"""The filesystem server works where the channel works: each directory has one, which knows no other one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from manyhands.tools.types import CallRecord
from tests.real.servers import from_npm
from tests.real.watching import Watched, text, watched_hub
from tests.servers.rig import BOUND

pytestmark = pytest.mark.anyio


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Watched]:
    """With the filesystem server, which was told of no directory."""
    async with watched_hub(tmp_path / "home") as watched:
        await watched.add("files", **from_npm("filesystem"))
        yield watched


def directory_with_note(path: Path) -> str:
    path.mkdir()
    (path / "note.txt").write_text(f"from {path.name}")
    return str(path)


async def channel_in(hub: Watched, path: Path) -> str:
    """A channel for a new directory that holds one note."""
    channel, _ = await hub.hub.channels.find_or_create(dir_path=directory_with_note(path))
    return channel.id


async def allowed(hub: Watched, channel_id: str | None) -> list[str]:
    """The directories that the server works in, seen from a channel."""
    record = await hub.call("files", "list_allowed_directories", channel_id=channel_id)
    return text(record).splitlines()[1:]


async def read(hub: Watched, channel_id: str, path: Path) -> CallRecord:
    return await hub.call("files", "read_text_file", channel_id=channel_id, path=str(path))


async def test_two_channels_see_their_own_directory_and_nothing_of_the_other(
    hub: Watched, tmp_path: Path
) -> None:
    north, south = await channel_in(hub, tmp_path / "north"), await channel_in(hub, tmp_path / "south")
    assert await allowed(hub, north) == [str(tmp_path / "north")]
    assert await allowed(hub, south) == [str(tmp_path / "south")]
    assert text(await read(hub, north, tmp_path / "north" / "note.txt")) == "from north"
    for channel_id, other in ((north, "south"), (south, "north")):
        refused = await read(hub, channel_id, tmp_path / other / "note.txt")
        assert refused.status == "error"
        assert "outside allowed directories" in (refused.error or "")
    assert await allowed(hub, None) == []


async def test_channels_that_call_at_the_same_moment_are_not_mixed_up(hub: Watched, tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    channels = {name: await channel_in(hub, tmp_path / name) for name in names}
    found: dict[str, list[str]] = {}

    async def ask(name: str) -> None:
        found[name] = await allowed(hub, channels[name])

    async with anyio.create_task_group() as tasks:
        for name in names:
            tasks.start_soon(ask, name)
    assert found == {name: [str(tmp_path / name)] for name in names}


async def test_what_is_written_stays_below_the_channels_directory(hub: Watched, tmp_path: Path) -> None:
    north = await channel_in(hub, tmp_path / "north")
    inside, outside = tmp_path / "north" / "new.txt", tmp_path / "new.txt"
    text(await hub.call("files", "write_file", channel_id=north, path=str(inside), content="kept"))
    refused = await hub.call("files", "write_file", channel_id=north, path=str(outside), content="no")
    assert (refused.status, outside.exists()) == ("error", False)
    assert inside.read_text() == "kept"


async def test_a_channel_that_moves_takes_its_server_along(hub: Watched, tmp_path: Path) -> None:
    north = await channel_in(hub, tmp_path / "north")
    await allowed(hub, north)
    await hub.hub.channels.patch(north, {"dir_path": directory_with_note(tmp_path / "south")})
    with anyio.fail_after(BOUND):
        while await allowed(hub, north) != [str(tmp_path / "south")]:
            pass


async def test_after_a_restart_the_first_call_goes_to_its_own_directory(tmp_path: Path) -> None:
    async with watched_hub(tmp_path / "home") as first:
        await first.add("files", **from_npm("filesystem"))
        north = await channel_in(first, tmp_path / "north")
    async with watched_hub(tmp_path / "home") as again:
        assert await allowed(again, north) == [str(tmp_path / "north")]
