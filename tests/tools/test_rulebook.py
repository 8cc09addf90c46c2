"""Rules are kept, read from memory, visible and revocable; on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.clock import SystemClock
from manyhands.errors import InvalidError, NotFoundError
from manyhands.events import Event, EventBus
from manyhands.store.engine import Store
from manyhands.tools.policy import Rule
from manyhands.tools.rulebook import Rulebook
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


async def test_what_was_allowed_for_a_server_goes_with_it_and_what_was_denied_stays(book: Rulebook) -> None:
    allowed = await book.add(Rule("", Effect.ALLOW, server="git"))
    denied = await book.add(Rule("", Effect.DENY, server="git"))
    project = await book.add(Rule("", Effect.ALLOW, server="git", project="/p"))
    other = await book.add(Rule("", Effect.ALLOW, server="time"))
    await book.forget_server("git")
    assert {rule.id for rule in await book.rules()} == {denied.id, project.id, other.id}
    assert allowed.id not in {rule.id for rule in await book.rules()}
    await book.forget_server("git", "/p")
    assert {rule.id for rule in await book.rules()} == {denied.id, other.id}


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
