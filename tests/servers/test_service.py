"""The use cases of servers, with real servers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from manyhands import Hub
from manyhands.errors import ConflictError, InvalidError, NotFoundError
from manyhands.secrets import MASK
from manyhands.servers.types import ServerConfig
from manyhands.settings import Settings
from tests.servers.authorization_server import DocsServer, running_authorization_server
from tests.servers.hubs import bench, shelf, tool
from tests.servers.sign_ins import browse

pytestmark = pytest.mark.anyio


# --- saving and connecting


async def test_a_saved_server_is_connected_and_its_tools_can_be_called(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"), tool("lend"))
    async with bench(tmp_path) as hub:
        outcome = await hub.service.save(books.config("books"))
        assert (outcome.ok, outcome.error) == (True, None)
        wire = outcome.wire()["server"]
        assert (wire["status"], wire["tool_count"], wire["version"]) == ("connected", 2, "1")
        assert wire["protocol"] == "2025-11-25"
        assert wire["instructions"] == "Take what you need."
        assert psutil.pid_exists(wire["pid"])
        assert await hub.names() == ["mcp__books__find", "mcp__books__lend"]
        assert (await hub.call("mcp__books__find", title="x")).text == 'find {"title": "x"}'
        assert (await hub.call(f"mcp__{wire['id']}__lend")).text == "lend {}"


async def test_every_change_of_state_is_an_event(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        await hub.service.disconnect(server_id)
        await hub.service.enable(server_id, False)
        told = [(event["server_id"], event["status"]) for event in hub.of_type("mcp.status")]
        assert told == [
            (server_id, status) for status in ("connecting", "connected", "disconnected", "disabled")
        ]
        assert hub.of_type("mcp.tools_changed") == [
            {"server_id": server_id, "added": ["find"], "removed": [], "changed": []}
        ]


async def test_a_name_that_exists_replaces_that_servers_configuration_and_reconnects(tmp_path: Path) -> None:
    old, new = shelf(tmp_path, "old", tool("a")), shelf(tmp_path, "new", tool("b"))
    async with bench(tmp_path) as hub:
        first = (await hub.service.save(old.config("books"))).view
        second = (await hub.service.save(new.config("books"))).view
        assert second.server.id == first.server.id
        assert second.state.pid != first.state.pid
        assert not psutil.pid_exists(first.state.pid or 0)
        assert await hub.names() == ["mcp__books__b"]
        assert len(await hub.service.list()) == 1


async def test_a_change_of_what_does_not_concern_the_connection_leaves_it_alone(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("a"))
    async with bench(tmp_path) as hub:
        view = (await hub.service.save(books.config("books"))).view
        edited = await hub.service.save({"trust": "full", "parallel": "none"}, server_id=view.server.id)
        assert edited.view.state.pid == view.state.pid
        policy = hub.service.server_policy(view.server.id)
        assert (policy.trust, policy.parallel) == ("full", "none")
        again = await hub.service.save({"env": {"A": "b"}}, server_id=view.server.id)
        assert again.view.state.pid != view.state.pid


async def test_what_fails_to_connect_is_kept_with_the_whole_reason(tmp_path: Path) -> None:
    broken = shelf(tmp_path, "broken", die="no licence found")
    async with bench(tmp_path) as hub:
        outcome = await hub.service.save(broken.config("broken"))
        assert not outcome.ok
        assert "broken" in str(outcome.error)
        assert "no licence found" in str(outcome.error)
        view = await hub.service.get(outcome.view.server.id)
        assert view.state.exit_code == 3
        assert "no licence found" in (await hub.service.log(view.server.id)).text


async def test_a_save_that_need_not_wait_answers_at_once(tmp_path: Path) -> None:
    slow = shelf(tmp_path, "slow", tool("a"), start_s=1)
    async with bench(tmp_path) as hub:
        outcome = await hub.service.save(slow.config("slow"), wait=False)
        assert outcome.ok
        assert outcome.view.tool_count == 0
        await hub.status(outcome.view.server.id, "connected")


async def test_names_that_would_meet_are_refused(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("a"))
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("my books"))
        with pytest.raises(ConflictError, match="'my books' has that already"):
            await hub.service.save(books.config("My-Books"))
        with pytest.raises(InvalidError, match="200 characters"):
            await hub.service.save({"name": "x" * 200, "command": "y"})
        assert [view.server.config.name for view in await hub.service.list()] == ["my books"]


async def test_a_removed_server_leaves_nothing(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("a"))
    async with bench(tmp_path) as hub:
        view = (await hub.service.save(books.config("books", env={"TOKEN": "secret-token"}))).view
        await hub.service.remove(view.server.id)
        assert not psutil.pid_exists(view.state.pid or 0)
        assert await hub.service.list() == []
        assert await hub.service.listing("mcp__books__a", None) is None
        assert hub.of_type("mcp.tools_changed")[-1]["removed"] == ["a"]
        assert hub.of_type("mcp.removed") == [{"server_id": view.server.id, "name": "books"}]
        name = view.server.config.env["TOKEN"].removeprefix("${keyring:").removesuffix("}")
        assert await hub.secrets.get(name) is None
        with pytest.raises(NotFoundError):
            await hub.service.get(view.server.id)


# --- secrets


@pytest.mark.requirement("L28")
async def test_secrets_reach_the_server_and_appear_nowhere_else(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("env"), tool("log"))
    config = books.config("books", env={"TOKEN": "hunter2-hunter2", "OUT": "${FROM_OUTSIDE}"})
    async with bench(tmp_path) as hub:
        view = (await hub.service.save(config)).view
        assert (await hub.call("mcp__books__env", variable="TOKEN")).text == ".".join("hunter2-hunter2")
        assert (await hub.call("mcp__books__env", variable="OUT")).text == ".".join("outside-value")
        await hub.call("mcp__books__log", data={"said": "hunter2-hunter2"})
        await hub.until(lambda: hub.of_type("mcp.log"))
        assert view.wire()["env"] == {"TOKEN": MASK, "OUT": MASK}
        shown = repr([view, view.wire(), await hub.service.export(), hub.events])
        assert "hunter2" not in shown
        assert "outside-value" not in shown
        assert view.state.pid is not None
        assert "hunter2" not in " ".join(psutil.Process(view.state.pid).cmdline())
    stored = b"".join(path.read_bytes() for path in (tmp_path / "home").glob("manyhands.db*"))
    assert b"hunter2" not in stored


async def test_a_masked_value_that_is_sent_back_is_kept(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("env"))
    async with bench(tmp_path) as hub:
        view = (await hub.service.save(books.config("books", env={"TOKEN": "hunter2-hunter2"}))).view
        sent_back = {**view.wire(), "env": {"TOKEN": MASK, "NEW": "other-secret"}}
        assert (await hub.service.save(sent_back, server_id=view.server.id)).ok
        assert (await hub.call("mcp__books__env", variable="TOKEN")).text == ".".join("hunter2-hunter2")
        assert (await hub.call("mcp__books__env", variable="NEW")).text == ".".join("other-secret")
        assert (await hub.service.save({**sent_back, "env": {"TOKEN": MASK}})).ok  # by its name, replaced
        assert (await hub.call("mcp__books__env", variable="TOKEN")).text == ".".join("hunter2-hunter2")
        assert (await hub.call("mcp__books__env", variable="NEW")).text == ".".join("(not set)")


async def test_a_missing_variable_is_named_with_its_server(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("env"))
    async with bench(tmp_path) as hub:
        outcome = await hub.service.save(books.config("books", env={"A": "${NOT_THERE}"}))
        assert not outcome.ok
        assert "books" in str(outcome.error)
        assert "NOT_THERE" in str(outcome.error)


# --- starting


@pytest.mark.requirement("L04")
async def test_at_start_the_last_known_tools_are_read_without_waiting_for_a_server(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("books"))
    books.put(tool("find"), start_s=600)
    async with bench(tmp_path) as hub:
        (listing,) = await hub.service.listings(None)
        assert listing.definition.full_name == "mcp__books__find"
        assert not listing.offered
        (view,) = await hub.service.list()
        await hub.status(view.server.id, "connecting")
        (listing,) = await hub.service.listings(None)
        assert listing.reason == "server books is still connecting"


async def test_one_broken_server_keeps_no_other_from_connecting_at_start(tmp_path: Path) -> None:
    good, bad = shelf(tmp_path, "good", tool("a")), shelf(tmp_path, "bad", die="oh no")
    hung = shelf(tmp_path, "hung", start_s=600)
    async with bench(tmp_path) as hub:
        for name, config in (("bad", bad), ("hung", hung), ("good", good)):
            await hub.service.save(config.config(name), wait=False)
    async with bench(tmp_path, settings=Settings(connect_parallel=2)) as hub:
        views = {view.server.config.name: view.server.id for view in await hub.service.list()}
        await hub.status(views["good"], "connected")
        await hub.status(views["bad"], "error")
        assert await hub.names() == ["mcp__good__a"]


async def test_disabled_and_held_servers_stay_off_at_start(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("a"))
    async with bench(tmp_path) as hub:
        held = (await hub.service.save(books.config("held"))).view.server.id
        await hub.service.disconnect(held)
        off = (await hub.service.save(books.config("off", enabled=False))).view.server.id
        on = (await hub.service.save(books.config("on"))).view.server.id
    async with bench(tmp_path) as hub:
        await hub.status(on, "connected")
        statuses = {view.server.id: view.status for view in await hub.service.list()}
        assert statuses == {held: "disconnected", off: "disabled", on: "connected"}


# --- calls


async def test_a_call_connects_its_server_first(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("books"))
    async with bench(tmp_path, connect=False) as hub:
        assert (await hub.call("mcp__books__find")).text == "find {}"
        assert await hub.names() == ["mcp__books__find"]


async def test_a_call_does_not_connect_what_a_person_has_switched_off(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        await hub.service.disconnect(server_id)
        result = await hub.call("mcp__books__find")
        assert (result.is_error, result.code) == (True, "conflict")
        assert "was disconnected by hand. Run `manyhands servers connect books`" in result.text
        await hub.service.enable(server_id, False)
        assert "is disabled" in (await hub.call("mcp__books__find")).text
        await hub.service.enable(server_id, True)
        assert (await hub.call("mcp__books__find")).text == "find {}"


async def test_connecting_a_disabled_server_says_what_to_do(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books", enabled=False))).view.server.id
        outcome = await hub.service.connect(server_id)
        assert not outcome.ok
        assert "Run `manyhands servers enable books` first." in str(outcome.error)


async def test_reconnect_all_connects_everything_anew_but_what_a_person_holds(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        first = [(await hub.service.save(books.config(name))).view for name in ("a", "b", "held")]
        await hub.service.disconnect(first[2].server.id)
        outcomes = await hub.service.reconnect_all()
        assert [(o.ok, o.view.server.config.name) for o in outcomes] == [(True, "a"), (True, "b")]
        assert {o.view.state.pid for o in outcomes}.isdisjoint({view.state.pid for view in first})


# --- tools


async def test_preferences_survive_a_reconnect_and_a_restart_and_new_tools_are_on(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("a"), tool("b"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        await hub.service.set_preference(server_id, "a", enabled=False, policy="deny")
        books.put(tool("b"), tool("c"))
        await hub.service.reconnect(server_id)
        assert await hub.names() == ["mcp__books__b", "mcp__books__c"]
        books.put(tool("a"), tool("c"))
    async with bench(tmp_path) as hub:
        await hub.status(server_id, "connected")
        assert await hub.names() == ["mcp__books__c"]
        listing = await hub.service.listing("mcp__books__a", None)
        assert listing is not None
        assert (listing.enabled, listing.policy) == (False, "deny")


async def test_a_preference_for_what_does_not_exist_is_refused(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("a"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        with pytest.raises(NotFoundError, match="'books' has no tool 'zzz'"):
            await hub.service.set_preference(server_id, "zzz", enabled=False)
        with pytest.raises(InvalidError, match="no policy 'maybe'"):
            await hub.service.set_preference(server_id, "a", policy="maybe")


@pytest.mark.requirement("L25")
async def test_a_changed_definition_shows_its_difference_until_it_is_accepted(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("a", "Finds books."), tool("reload"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        books.put(tool("a", "Finds books and mails them."), tool("reload"))
        await hub.call("mcp__books__reload")
        changed = await hub.until(lambda: hub.of_type("mcp.tools_changed")[1:])
        assert changed[0] == {"server_id": server_id, "added": [], "removed": [], "changed": ["a"]}
        listing = await hub.service.listing("mcp__books__a", None)
        assert listing is not None
        assert listing.changed
        assert "-  Finds books.\n+  Finds books and mails them." in str(listing.diff)
        await hub.service.accept_definition(server_id, "a")
        listing = await hub.service.listing("mcp__books__a", None)
        assert listing is not None
        assert not listing.changed


async def test_ten_thousand_tools_odd_ones_among_them_are_all_there(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"name": "x" * 200, "inputSchema": {"type": "object"}},
        {"name": "Read", "inputSchema": {"type": ["object", "null"]}},
        {"name": "read", "inputSchema": None},
        {"name": "dots.and/slashes", "inputSchema": {"type": "object", "properties": {"a": "string"}}},
    ]
    many = shelf(tmp_path, "many", *(tool(f"t{n}") for n in range(10_000)), *odd)
    async with bench(tmp_path) as hub:
        outcome = await hub.service.save(many.config("many", connect_timeout=60_000))
        assert outcome.ok, outcome.error
        (told,) = hub.of_type("mcp.tools_changed")
        assert (len(told["added"]), told["added_count"]) == (500, 10_004)
        names = await hub.names()
        assert len(set(names)) == 10_004
        assert all(len(name) <= 64 for name in names)
        for name in ("mcp__many__Read", "mcp__many__read", "mcp__many__t9999"):
            assert (await hub.call(name)).text == f"{name.rpartition('__')[2]} {{}}"
        long_name = next(name for name in names if name.startswith("mcp__many__xxx"))
        assert (await hub.call(long_name)).text == f"{'x' * 200} {{}}"
        problems = {repair["item"]: repair["problem"] for repair in outcome.view.wire()["repairs"]}
        assert "differs only in case" in problems["tool Read"]


MEET = tool("meet", inputSchema={"type": "object"})
MEET_READING = tool("meet_reading", inputSchema={"type": "object"}, annotations={"readOnlyHint": True})


@pytest.mark.requirement("L14")
@pytest.mark.parametrize(
    ("parallel", "name", "wait_s", "ends"),
    [
        ("all", "meet", 20, ["met", "met"]),
        ("read_only", "meet", 0.3, ["alone", "alone"]),
        ("read_only", "meet_reading", 20, ["met", "met"]),
        ("none", "meet_reading", 0.3, ["alone", "alone"]),
    ],
)
async def test_which_calls_run_side_by_side_is_the_servers_setting(
    tmp_path: Path, parallel: str, name: str, wait_s: float, ends: list[str]
) -> None:
    books = shelf(tmp_path, "books", MEET, MEET_READING)
    results: list[str | None] = []
    async with Hub(tmp_path / "home") as hub:
        await hub.add_server("books", **books.entry(), parallel=parallel)

        async def call() -> None:
            record = await hub.call_tool(f"mcp__books__{name}", {"wait_s": wait_s})
            results.append(record.result)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            tasks.start_soon(call)
    assert results == ends


# --- prompts, resources, skills


async def test_what_else_a_server_offers_is_listed_and_can_be_asked_for(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("a"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        commands = [prompt["command"] for prompt in await hub.service.prompts(server_id)]
        assert commands[0] == "/books:greet"
        assert commands[1].startswith("/books:old-style-_")
        assert [c["command"] for c in await hub.service.commands()] == commands
        assert "note://1" in [r["uri"] for r in await hub.service.resources(server_id)]
        assert [t["uriTemplate"] for t in await hub.service.resource_templates(server_id)] == ["note://{n}"]
        assert [s["uri"] for s in await hub.service.skills(server_id)] == ["skill://tidy/SKILL.md"]
        read = await hub.service.read_resource(server_id, "note://1")
        assert read["contents"][0]["text"] == "a note"
        prompt = await hub.service.get_prompt(server_id, "greet", {"who": "Ada"})
        assert prompt["messages"][0]["content"]["text"] == "Hello Ada"
        await hub.service.subscribe_resource(server_id, "note://1")
        await hub.service.unsubscribe_resource(server_id, "note://1")


# --- looking


async def test_a_server_is_found_by_name_or_number(tmp_path: Path) -> None:
    async with bench(tmp_path) as hub:
        saved = (await hub.service.save(ServerConfig("off", command="x", enabled=False))).view
        assert (await hub.service.by_name("off")).server.id == saved.server.id
        assert (await hub.service.by_name(str(saved.server.id))).server.id == saved.server.id
        with pytest.raises(NotFoundError, match="servers list"):
            await hub.service.by_name("on")


async def test_memory_pid_and_stderr_of_a_running_server_are_shown(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("a"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        (view,) = await hub.service.list()
        assert (view.rss or 0) > 1_000_000
        assert "the shelf is open" in (await hub.service.log(server_id)).text


async def test_two_saves_of_one_server_at_once_end_with_one_connection(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("pid"))
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("books"))
        async with anyio.create_task_group() as tasks:
            for value in ("1", "2", "3"):
                tasks.start_soon(hub.service.save, replace(books.config("books"), env={"N": value}))
        (view,) = await hub.service.list()
        assert (await hub.call("mcp__books__pid")).text == str(view.state.pid)


# --- signing in


@pytest.mark.requirement("L27")
async def test_what_is_pasted_at_one_server_does_not_finish_the_sign_in_to_another(tmp_path: Path) -> None:
    async with running_authorization_server(DocsServer) as remote, bench(tmp_path) as hub:
        docs, other = [
            (await hub.service.save({"name": name, "transport": "http", "url": remote.mcp})).view.server.id
            for name in ("docs", "other")
        ]
        address = await browse(await hub.service.login(docs))
        with pytest.raises(InvalidError, match="belongs to another sign-in"):
            await hub.service.finish_login(None, address, server_id=other)
        assert (await hub.service.finish_login(None, address, server_id=docs)).ok
