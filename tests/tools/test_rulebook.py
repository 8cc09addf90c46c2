"""Rules are kept, read from memory, visible and revocable; on both databases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from manyhands.clock import SystemClock
from manyhands.errors import InvalidError, NotFoundError
from manyhands.events import Event, EventBus
from manyhands.servers.types import NameChange
from manyhands.store.engine import Store
from manyhands.tools.policy import Rule
from manyhands.tools.rulebook import Rulebook
from manyhands.tools.rules_store import follow_name
from manyhands.tools.types import Effect

pytestmark = pytest.mark.anyio


@pytest.fixture
def book(store: Store, bus: EventBus) -> Rulebook:
    return Rulebook(store, bus, SystemClock())


async def test_a_rule_is_there_after_a_restart_with_all_of_its_parts(
    book: Rulebook, store: Store, bus: EventBus
) -> None:
    first = await book.add(
        Rule(
            "",
            Effect.DENY,
            server="git",
            tool="push*",
            arguments={"branch": ["main", "prod"], "force": True},
            project="/p",
            channel_id="ch_1",
            note="never",
        )
    )
    second = await book.add(Rule("", Effect.ALLOW, tool="*"))
    assert await book.rules() == [second, first]
    assert await Rulebook(store, bus, SystemClock()).rules() == [second, first]


async def test_rules_are_read_from_the_database_once(book: Rulebook, monkeypatch: pytest.MonkeyPatch) -> None:
    await book.add(Rule("", Effect.ALLOW, tool="a"))

    async def never(work: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(book._store, "read", never)
    await book.add(Rule("", Effect.ALLOW, tool="b"))
    assert [rule.tool for rule in await book.rules()] == ["b", "a"]


async def test_removing_is_for_good_and_only_once(book: Rulebook, store: Store, bus: EventBus) -> None:
    rule = await book.add(Rule("", Effect.ALLOW, tool="a"))
    await book.remove(rule.id)
    assert await book.rules() == []
    assert await Rulebook(store, bus, SystemClock()).rules() == []
    with pytest.raises(NotFoundError):
        await book.remove(rule.id)


async def remove(book: Rulebook, store: Store, bus: EventBus, project: str | None = None) -> None:
    change = NameChange(1, "git", None, "mcp__git__", project=project)
    await store.write(lambda conn: follow_name(conn, change))
    bus.publish("mcp.removed", {"server_id": 1, "name": "git"})


async def test_what_was_allowed_for_a_server_goes_with_it_and_what_was_denied_stays(
    book: Rulebook, store: Store, bus: EventBus
) -> None:
    await book.add(Rule("", Effect.ALLOW, server="git"))
    denied = await book.add(Rule("", Effect.DENY, server="git"))
    project = await book.add(Rule("", Effect.ALLOW, server="git", project="/p"))
    other = await book.add(Rule("", Effect.ALLOW, server="time"))
    await remove(book, store, bus)
    assert await book.rules() == [other, project, denied]
    await remove(book, store, bus, "/p")
    assert await book.rules() == [other, denied]


async def test_what_was_allowed_by_full_names_goes_with_the_server_too(
    book: Rulebook, store: Store, bus: EventBus
) -> None:
    denied = await book.add(Rule("", Effect.DENY, tool="mcp__git__push"))
    asks = await book.add(Rule("", Effect.ASK, server="git"))
    other = await book.add(Rule("", Effect.ALLOW, tool="mcp__github__push"))
    await book.add(Rule("", Effect.ALLOW, tool="mcp__git__push"))
    await book.add(Rule("", Effect.ALLOW, server="git", session_id=book.session_of("ch_1")))
    await remove(book, store, bus)
    assert await book.rules() == [other, asks, denied]


async def rename(book: Rulebook, store: Store, bus: EventBus, *, shared: bool = False) -> None:
    change = NameChange(1, "git", "code", "mcp__git__", shared=shared)
    await store.write(lambda conn: follow_name(conn, change))
    bus.publish("mcp.renamed", {"server_id": 1, "before": "git", "name": "code"})


async def test_rules_follow_the_name_of_their_server(book: Rulebook, store: Store, bus: EventBus) -> None:
    denied = await book.add(Rule("", Effect.DENY, server="git", tool="push", arguments={"force": True}))
    full = await book.add(Rule("", Effect.ALLOW, tool="mcp__git__*"))
    session = await book.add(Rule("", Effect.ALLOW, server="git", session_id=book.session_of("ch_1")))
    project = await book.add(Rule("", Effect.ALLOW, server="git", project="/p"))
    await rename(book, store, bus)
    moved = [
        project,
        replace(session, server="code"),
        replace(full, tool="mcp__code__*"),
        replace(denied, server="code"),
    ]
    assert await book.rules() == moved
    assert await Rulebook(store, bus, SystemClock()).rules() == moved


async def test_what_restricts_a_projects_server_of_the_old_name_stays_with_it(
    book: Rulebook, store: Store, bus: EventBus
) -> None:
    denied = await book.add(Rule("", Effect.DENY, server="git"))
    await book.add(Rule("", Effect.ALLOW, server="git", tool="log"))
    await rename(book, store, bus, shared=True)
    assert [(rule.effect, rule.server) for rule in await book.rules()] == [
        (Effect.DENY, "code"),
        (Effect.ALLOW, "code"),
        (Effect.DENY, "git"),
    ]
    assert denied in await book.rules()


async def test_rules_that_were_read_before_a_server_was_renamed_are_read_again(
    book: Rulebook, store: Store, bus: EventBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    await book.add(Rule("", Effect.DENY, server="git"))
    fresh, read = Rulebook(store, bus, SystemClock()), store.read

    async def overtaken(work: Any) -> Any:
        monkeypatch.setattr(store, "read", read)
        found = await read(work)
        await rename(book, store, bus)
        return found

    monkeypatch.setattr(store, "read", overtaken)
    assert [rule.server for rule in await fresh.rules()] == ["code"]


async def test_sessions_end_with_the_process(book: Rulebook) -> None:
    lasting = await book.add(Rule("", Effect.ALLOW, tool="a"))
    await book.add(Rule("", Effect.ALLOW, tool="b", session_id=book.session_of("ch_1")))
    assert await book.end_sessions() == 1
    assert await book.rules() == [lasting]


async def test_changes_are_events(book: Rulebook, bus: EventBus) -> None:
    seen: list[Event] = []
    bus.observe(seen.append)
    rule = await book.add(Rule("", Effect.ALLOW, server="git"))
    await book.remove(rule.id)
    assert [event.type for event in seen] == ["rule.added", "rule.removed"]
    assert seen[0].data == {"id": rule.id, "rule": "allow every tool of git"}


@pytest.mark.parametrize(
    "wrong", [{}, {"arguments": {"a": "b"}}, {"tool": "a", "arguments": {"path": {"not": "a pattern"}}}]
)
async def test_a_rule_that_means_nothing_is_refused(book: Rulebook, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidError):
        await book.add(Rule("", Effect.ALLOW, **wrong))
