"""What is known of servers is read from memory, kept in the database, and survives a restart."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection

from manyhands.clock import SystemClock
from manyhands.errors import ConflictError, NotFoundError
from manyhands.secrets import MASK
from manyhands.servers.pins import definition_hash
from manyhands.servers.registry import Registry
from manyhands.servers.types import Catalogue, NameChange, ServerConfig, ServerTool
from manyhands.store.engine import Store

pytestmark = pytest.mark.anyio

TIME = ServerConfig("time", command="uvx")


def tool(name: str, description: str = "Does it.", **more: Any) -> ServerTool:
    definition = {"name": name, "description": description, "inputSchema": {"type": "object"}, **more}
    return ServerTool(name, definition, definition_hash(definition))


def catalogue(*tools: ServerTool) -> Catalogue:
    return Catalogue(tools=tools, version="1")


async def reopened(store: Store) -> Registry:
    registry = Registry(store, SystemClock())
    await registry.load()
    return registry


async def settled(store: Store) -> None:
    """Wait until what was posted is committed: what is posted after a post has run comes later."""
    loop = asyncio.get_running_loop()
    for _ in range(2):
        done = asyncio.Event()
        store.post(lambda conn, done=done: loop.call_soon_threadsafe(done.set))  # type: ignore[misc]
        await done.wait()
    await store.write(lambda conn: None)


@pytest.fixture
async def registry(store: Store) -> Registry:
    return await reopened(store)


async def test_an_unknown_server_is_an_error_that_says_where_to_look(registry: Registry) -> None:
    with pytest.raises(NotFoundError, match="servers list"):
        registry.get(7)


@pytest.mark.requirement("L04")
async def test_the_last_known_catalogue_is_there_after_a_restart(store: Store) -> None:
    registry = await reopened(store)
    server_id = (await registry.add(TIME, None)).server.id
    registry.take_catalogue(server_id, catalogue(tool("now"), tool("convert")))
    await settled(store)
    known = (await reopened(store)).get(server_id)
    assert list(known.tools) == ["now", "convert"]
    assert known.names.find("mcp__time__convert") == "convert"


async def test_a_new_list_of_tools_says_what_changed(registry: Registry) -> None:
    server_id = (await registry.add(TIME, None)).server.id
    first = registry.take_catalogue(server_id, catalogue(tool("a"), tool("b"), tool("c")))
    assert (first.added, first.removed, first.changed) == (["a", "b", "c"], [], [])
    second = registry.take_catalogue(server_id, catalogue(tool("n"), tool("c"), tool("b", "Does more.")))
    assert (second.added, second.removed, second.changed) == (["n"], ["a"], ["b"])
    assert not registry.take_catalogue(server_id, registry.get(server_id).catalogue)


async def test_preferences_survive_the_tool_going_and_coming_back(store: Store) -> None:
    registry = await reopened(store)
    server_id = (await registry.add(TIME, None)).server.id
    registry.take_catalogue(server_id, catalogue(tool("a"), tool("b")))
    await registry.prefer(server_id, "a", False, "deny")
    registry.take_catalogue(server_id, catalogue(tool("b")))
    registry.take_catalogue(server_id, catalogue(tool("a"), tool("b")))
    await settled(store)
    for source in (registry, await reopened(store)):
        known = source.get(server_id)
        assert (known.preference("a").enabled, known.preference("a").policy) == (False, "deny")
        assert known.preference("b").enabled


async def test_a_decision_is_not_undone_by_the_pin_that_is_written_behind(store: Store) -> None:
    registry = await reopened(store)
    server_id = (await registry.add(TIME, None)).server.id
    registry.take_catalogue(server_id, catalogue(tool("a")))
    await registry.prefer(server_id, "a", False, "ask")
    await settled(store)
    preference = (await reopened(store)).get(server_id).preference("a")
    assert (preference.enabled, preference.policy, preference.pinned_hash) == (
        False,
        "ask",
        tool("a").definition_hash,
    )


async def test_a_policy_can_be_taken_back(registry: Registry) -> None:
    server_id = (await registry.add(TIME, None)).server.id
    registry.take_catalogue(server_id, catalogue(tool("a")))
    await registry.prefer(server_id, "a", None, "allow")
    assert (await registry.prefer(server_id, "a", None, "default")).policy is None


@pytest.mark.requirement("L25")
async def test_a_definition_is_pinned_at_first_sight_and_until_a_person_accepts_another(
    store: Store,
) -> None:
    registry = await reopened(store)
    server_id = (await registry.add(TIME, None)).server.id
    registry.take_catalogue(server_id, catalogue(tool("a")))
    registry.take_catalogue(server_id, catalogue())
    registry.take_catalogue(server_id, catalogue(tool("a", "Does more.")))
    await settled(store)
    for source in (registry, await reopened(store)):
        known = source.get(server_id)
        assert known.is_changed(known.tools["a"])
        assert (known.preference("a").pinned_definition or {})["description"] == "Does it."
    await registry.accept(server_id, "a")
    for source in (registry, await reopened(store)):
        known = source.get(server_id)
        assert not known.is_changed(known.tools["a"])


async def test_a_name_that_is_taken_changes_nothing(registry: Registry) -> None:
    await registry.add(TIME, None)
    with pytest.raises(ConflictError):
        await registry.add(ServerConfig("Time", command="other"), None)
    assert [known.server.config for known in registry.all()] == [TIME]


@pytest.mark.requirement("L28")
async def test_the_secrets_of_a_project_stay_in_its_file(registry: Registry, store: Store) -> None:
    config = ServerConfig("x", command="c", env={"TOKEN": "literal-secret", "OTHER": "${VAR}"})
    known = await registry.add(config, "/home/me/project")
    assert known.server.config.env["TOKEN"] == "literal-secret"
    await registry.set(known.server.id, approved_hash="h")
    assert registry.get(known.server.id).server.config.env["TOKEN"] == "literal-secret"
    stored = (await reopened(store)).get(known.server.id).server
    assert stored.config.env == {"TOKEN": MASK, "OTHER": "${VAR}"}


async def test_once_a_server_asked_for_roots_only_a_new_configuration_forgets_it(registry: Registry) -> None:
    server_id = (await registry.add(TIME, None)).server.id
    registry.take_catalogue(server_id, Catalogue(wants_roots=True))
    registry.take_catalogue(server_id, Catalogue())
    assert registry.get(server_id).catalogue.wants_roots
    await registry.change(server_id, ServerConfig("time", command="other"))
    assert not registry.get(server_id).catalogue.wants_roots


async def test_what_is_kept_by_a_servers_name_follows_it_in_the_same_transaction(store: Store) -> None:
    told: list[NameChange] = []

    def refuse(conn: Connection, renaming: NameChange) -> None:
        raise ConflictError("not now")

    registry = Registry(store, SystemClock(), refuse, told.append)
    server = (await registry.add(TIME, None)).server
    registry.take_catalogue(server.id, catalogue(tool("now"), tool("t" * 60)))
    with pytest.raises(ConflictError):
        await registry.change(server.id, replace(TIME, name="clock"))
    assert [known.server.config.name for known in (await reopened(store)).all()] == ["time"]
    assert (registry.get(server.id).server.config.name, told) == ("time", [])

    await settled(store)
    seen: list[NameChange] = []
    registry = Registry(store, SystemClock(), lambda conn, renaming: seen.append(renaming), told.append)
    await registry.load()
    await registry.change(server.id, replace(TIME, args=("x",)))
    assert seen == []
    await registry.change(server.id, replace(TIME, name="clock"))
    (renaming,) = told
    assert seen == told
    assert (renaming.before, renaming.after, renaming.shared) == ("time", "clock", False)
    assert renaming.shown["mcp__time__now"] == "now"
    assert "t" * 60 in renaming.shown.values()
    await registry.remove(server.id)
    assert (seen[1].before, seen[1].after) == ("clock", None)
    assert told == [renaming]


async def test_a_projects_server_of_the_same_name_is_told_of_when_one_is_renamed(store: Store) -> None:
    told: list[NameChange] = []
    registry = Registry(store, SystemClock(), None, told.append)
    own = await registry.add(TIME, "/p")
    server = await registry.add(TIME, None)
    await registry.change(server.server.id, replace(TIME, name="clock"))
    await registry.change(own.server.id, replace(TIME, enabled=False))
    assert [renaming.shared for renaming in told] == [True]
