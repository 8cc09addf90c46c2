"""Looking tools up: what was found once is remembered, and forgotten as soon as it may be another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from manyhands.settings import Settings
from manyhands.tools.catalogue import Found
from tests.servers.hubs import Bench, bench, shelf, tool

pytestmark = pytest.mark.anyio

NAME = "mcp__books__find"


async def found(hub: Bench) -> Found:
    answer = await hub.catalogue.find(NAME, None)
    assert answer is not None
    return answer


async def test_what_was_found_is_remembered_while_nothing_changes(tmp_path: Path) -> None:
    async with bench(tmp_path) as hub:
        await hub.service.save(shelf(tmp_path, "books", tool("find")).config("books"))
        first = await found(hub)
        assert await found(hub) is first
        assert await hub.catalogue.find("mcp__books__no_such_tool", None) is None


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (
            lambda hub, server_id: hub.service.set_preference(server_id, "find", enabled=False),
            lambda it: it.tool is None,
        ),
        (
            lambda hub, server_id: hub.service.set_preference(server_id, "find", policy="deny"),
            lambda it: it.listing.policy == "deny",
        ),
        (
            lambda hub, server_id: hub.service.disconnect(server_id),
            lambda it: it.listing.status == "disconnected",
        ),
        (
            lambda hub, server_id: hub.service.enable(server_id, False),
            lambda it: it.listing.status == "disabled",
        ),
        (
            lambda hub, server_id: hub.service.save(
                shelf(hub.directory, "others", tool("find", "Finds others.")).config("books", trust="full")
            ),
            lambda it: (it.server.trust, it.listing.definition.description) == ("full", "Finds others."),
        ),
    ],
    ids=["tool-off", "policy", "disconnected", "disabled", "saved-anew"],
)
async def test_it_is_looked_up_again_after_a_change(
    tmp_path: Path,
    change: Callable[[Bench, int], Awaitable[object]],
    seen: Callable[[Found], bool],
) -> None:
    async with bench(tmp_path) as hub:
        server_id = (
            await hub.service.save(shelf(tmp_path, "books", tool("find")).config("books"))
        ).view.server.id
        assert not seen(await found(hub))
        await change(hub, server_id)
        assert seen(await found(hub))


async def test_it_is_looked_up_again_under_another_form_of_names(tmp_path: Path) -> None:
    async with bench(tmp_path) as hub:
        view = (await hub.service.save(shelf(tmp_path, "books", tool("find")).config("books"))).view
        assert (await found(hub)).listing.definition.full_name == NAME
        hub.settings.current = Settings(tool_namespace="id")
        assert (await found(hub)).listing.definition.full_name == f"mcp__{view.server.id}__find"


async def test_a_server_that_was_removed_is_not_remembered(tmp_path: Path) -> None:
    async with bench(tmp_path) as hub:
        view = (await hub.service.save(shelf(tmp_path, "books", tool("find")).config("books"))).view
        await found(hub)
        await hub.service.remove(view.server.id)
        assert await hub.catalogue.find(NAME, None) is None
