"""What is known of servers is kept as it was, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from manyhands.errors import ConflictError
from manyhands.servers import store as rows
from manyhands.servers.pins import definition_hash
from manyhands.servers.types import Catalogue, Repair, Server, ServerConfig, ServerTool, ToolPreference
from manyhands.store.engine import Store

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
LATER = datetime(2026, 11, 16, 12, tzinfo=UTC)
TIME = ServerConfig(
    "time",
    command="uvx",
    args=("mcp-server-time", "--x"),
    env={"TOKEN": "${keyring:T}"},
    cwd="/tmp",
    trust="trusted",
    parallel="none",
)


def tool(name: str, description: str = "Does it.") -> ServerTool:
    definition = {"name": name, "description": description, "inputSchema": {"type": "object"}}
    return ServerTool(name, definition, definition_hash(definition))


async def add(store: Store, config: ServerConfig = TIME, project: str | None = None) -> Server:
    return await store.write(lambda conn: rows.insert_server(conn, config, project, NOW))


async def test_a_server_comes_back_as_it_was_saved(store: Store) -> None:
    saved = await add(store)
    assert saved == Server(saved.id, TIME, "time", None, False, None, NOW, NOW)
    assert await store.read(rows.select_servers) == [saved]


async def test_a_new_configuration_keeps_the_id(store: Store) -> None:
    saved = await add(store)
    changed = replace(TIME, args=(), enabled=False)
    await store.write(lambda conn: rows.update_server(conn, saved.id, changed, LATER))
    found = await store.read(lambda conn: rows.select_server(conn, saved.id))
    assert found == replace(saved, config=changed, updated_at=LATER)


@pytest.mark.parametrize("name", ["time", "TIME", "tîme"])
async def test_a_name_that_reads_the_same_in_tool_names_is_refused(store: Store, name: str) -> None:
    await add(store)
    with pytest.raises(ConflictError, match="'time' has that already"):
        await add(store, replace(TIME, name=name))


async def test_a_server_cannot_be_renamed_onto_another(store: Store) -> None:
    await add(store)
    other = await add(store, replace(TIME, name="clock"))
    with pytest.raises(ConflictError):
        await store.write(lambda conn: rows.update_server(conn, other.id, replace(TIME, name="Time"), NOW))


async def test_a_project_may_use_a_name_that_a_global_server_has(store: Store) -> None:
    await add(store)
    saved = await add(store, project="/home/me/x")
    assert saved.project == "/home/me/x"


async def test_ids_are_never_given_out_twice(store: Store) -> None:
    first = await add(store)
    assert await store.write(lambda conn: rows.delete_server(conn, first.id))
    assert not await store.write(lambda conn: rows.delete_server(conn, first.id))
    assert (await add(store)).id > first.id


async def test_a_catalogue_is_replaced_as_a_unit(store: Store) -> None:
    server = await add(store)
    first = Catalogue(
        tools=(tool("a"), tool("b"), tool("c")),
        prompts=({"name": "p"},),
        resources=({"uri": "x://y", "name": "r"},),
        skills=({"uri": "skill://s/SKILL.md"},),
        version="1",
        protocol="2025-11-25",
        capabilities={"tools": {"listChanged": True}},
        instructions="Be kind.",
        repairs=(Repair("tool d", "no name", "left out"),),
        wants_roots=True,
    )
    second = Catalogue(tools=(tool("c"), tool("a", "Does more."), tool("n")), version="2")
    for catalogue, at in ((first, NOW), (second, LATER)):
        await store.write(lambda conn, c=catalogue, at=at: rows.replace_catalogue(conn, server.id, c, at))  # type: ignore[misc]
        found = await store.read(rows.select_catalogues)
        assert found == {server.id: rows.StoredCatalogue(catalogue, at)}


async def test_a_catalogue_of_ten_thousand_tools_is_kept(store: Store) -> None:
    server = await add(store)
    catalogue = Catalogue(tools=[tool(f"tool-{n}") for n in range(10_000)])
    await store.write(lambda conn: rows.replace_catalogue(conn, server.id, catalogue, NOW))
    await store.write(lambda conn: rows.put_pins(conn, server.id, catalogue.tools, anew=False))
    await store.write(lambda conn: rows.replace_catalogue(conn, server.id, Catalogue(), LATER))
    assert (await store.read(rows.select_catalogues))[server.id].catalogue.tools == ()
    assert len((await store.read(rows.select_preferences))[server.id]) == 10_000


async def test_preferences_outlive_the_tool_and_end_with_the_server(store: Store) -> None:
    server = await add(store)
    a = tool("a")
    off = ToolPreference(False, "ask", a.definition_hash, a.definition)
    await store.write(lambda conn: rows.put_pins(conn, server.id, [a], anew=False))
    await store.write(lambda conn: rows.put_preference(conn, server.id, "a", False, "ask"))
    await store.write(lambda conn: rows.put_pins(conn, server.id, [tool("a", "New.")], anew=False))
    await store.write(lambda conn: rows.replace_catalogue(conn, server.id, Catalogue(), NOW))
    assert await store.read(rows.select_preferences) == {server.id: {"a": off}}
    await store.write(lambda conn: rows.delete_server(conn, server.id))
    assert await store.read(rows.select_preferences) == {}


async def test_what_arrives_for_a_server_that_is_gone_is_dropped(store: Store) -> None:
    await store.write(lambda conn: rows.replace_catalogue(conn, 99, Catalogue(tools=[tool("a")]), NOW))
    await store.write(lambda conn: rows.put_pins(conn, 99, [tool("a")], anew=False))
    assert await store.read(rows.select_catalogues) == {}
