"""One inbox: asked, answered once, expired, taken back, closed after a crash; on both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup
from sqlalchemy import delete

from manyhands.approvals import store as rows
from manyhands.approvals.service import ApprovalService
from manyhands.approvals.types import Answer, Approval, ApprovalState, Question
from manyhands.errors import ConflictError, InvalidError, NotFoundError
from manyhands.events import Event, EventBus
from manyhands.settings import Settings
from manyhands.store.engine import Store
from manyhands.store.tables import approvals
from manyhands.testing.clock import FakeClock

pytestmark = pytest.mark.anyio


class Fixed:
    """Settings that stay."""

    current = Settings(approval_expiry_s=60)


class Asker:
    """A task that asks and keeps the answer."""

    def __init__(self, service: ApprovalService, question: Question) -> None:
        self._service = service
        self._question = question
        self.answer: Answer | None = None
        self.done = anyio.Event()
        self.scope = anyio.CancelScope()

    async def run(self) -> None:
        try:
            with self.scope:
                self.answer = await self._service.ask(self._question)
        finally:
            self.done.set()


class Inbox:
    """A service with the events that it published."""

    def __init__(self, service: ApprovalService, bus: EventBus, clock: FakeClock) -> None:
        self.service, self.clock = service, clock
        self.events: list[Event] = []
        self._more = anyio.Event()
        bus.observe(self._note)

    def _note(self, event: Event) -> None:
        self.events.append(event)
        self._more.set()

    async def pending(self, count: int = 1) -> list[str]:
        """The ids of the questions, once so many were asked."""
        while len(ids := [e.data["id"] for e in self.events if e.type == "approval.requested"]) < count:
            self._more = anyio.Event()
            await self._more.wait()
        return ids

    async def resolved(self) -> None:
        """Once something has ended."""
        while not any(event.type == "approval.resolved" for event in self.events):
            self._more = anyio.Event()
            await self._more.wait()

    def asks(self, group: TaskGroup, question: Question) -> Asker:
        asker = Asker(self.service, question)
        group.start_soon(asker.run)
        return asker


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def inbox(store: Store, bus: EventBus, clock: FakeClock) -> AsyncIterator[Inbox]:
    service = ApprovalService(store, bus, clock, Fixed())
    async with anyio.create_task_group() as group:
        await group.start(service.run)
        yield Inbox(service, bus, clock)
        group.cancel_scope.cancel()


QUESTION = Question("tool", "Run delete_file?", {"arguments": {"path": "a"}}, "ch_1", "run_1", "call_1")


async def test_a_question_waits_in_the_inbox_until_it_is_answered(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        asker = inbox.asks(group, QUESTION)
        [approval_id] = await inbox.pending()
        waiting = await inbox.service.list(ApprovalState.PENDING)
        assert [item.id for item in waiting.items] == [approval_id]
        assert waiting.items[0].question.call_id == "call_1"
        assert waiting.items[0].expires_at == inbox.clock.now() + timedelta(seconds=60)
        await inbox.service.answer(approval_id, True, scope="session", response={"name": "x"})
    assert asker.answer == Answer(ApprovalState.APPROVED, "session", {"name": "x"})
    assert (await inbox.service.list(ApprovalState.PENDING)).items == []
    assert (await inbox.service.get(approval_id)).answer == asker.answer


async def test_data_that_cannot_be_used_is_refused_and_the_question_goes_on_waiting(inbox: Inbox) -> None:
    question = replace(QUESTION, check=lambda given: None if given == {"age": 36} else "age: is missing")
    async with anyio.create_task_group() as group:
        asker = inbox.asks(group, question)
        [approval_id] = await inbox.pending()
        with pytest.raises(InvalidError, match="age: is missing"):
            await inbox.service.answer(approval_id, True, response={})
        assert (await inbox.service.get(approval_id)).state is ApprovalState.PENDING
        await inbox.service.answer(approval_id, True, response={"age": 36})
    assert asker.answer == Answer(ApprovalState.APPROVED, response={"age": 36})


async def test_a_refusal_is_an_answer_with_a_reason(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        asker = inbox.asks(group, QUESTION)
        [approval_id] = await inbox.pending()
        await inbox.service.answer(approval_id, False, reason="not now")
    assert asker.answer == Answer(ApprovalState.REJECTED, reason="not now")


async def test_asking_and_ending_are_events_of_the_channel(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        inbox.asks(group, QUESTION)
        [approval_id] = await inbox.pending()
        await inbox.service.answer(approval_id, True)
    requested, resolved = inbox.events
    assert (requested.type, resolved.type) == ("approval.requested", "approval.resolved")
    assert requested.channel_id == resolved.channel_id == "ch_1"
    assert requested.data["state"] == "pending"
    assert resolved.data["state"] == "approved"
    assert resolved.data["id"] == approval_id


async def test_two_windows_that_answer_at_the_same_moment_one_wins(inbox: Inbox) -> None:
    outcomes: list[str] = []

    async def window(approval_id: str, approve: bool) -> None:
        try:
            answered = await inbox.service.answer(approval_id, approve)
            outcomes.append(answered.state.value)
        except ConflictError as error:
            outcomes.append(f"{error.code}, {error.data['state']}")

    async with anyio.create_task_group() as group:
        asker = inbox.asks(group, QUESTION)
        [approval_id] = await inbox.pending()
        for number in range(10):
            group.start_soon(window, approval_id, number % 2 == 0)
    assert asker.answer is not None
    state = asker.answer.state.value
    assert sorted(outcomes) == sorted([state] + [f"conflict, {state}"] * 9)
    assert (await inbox.service.get(approval_id)).state is asker.answer.state
    assert [e.type for e in inbox.events].count("approval.resolved") == 1


async def test_an_unknown_question_cannot_be_answered(inbox: Inbox) -> None:
    with pytest.raises(NotFoundError):
        await inbox.service.answer("approval_none", True)


async def test_a_question_that_nobody_answers_expires(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        asker = inbox.asks(group, QUESTION)
        [approval_id] = await inbox.pending()
        await inbox.clock.someone_sleeps()
        inbox.clock.advance(61)
        await asker.done.wait()
    assert asker.answer is not None
    assert asker.answer.state is ApprovalState.EXPIRED
    with pytest.raises(ConflictError, match="expired"):
        await inbox.service.answer(approval_id, True)


async def test_a_question_with_a_shorter_time_expires_first(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        long = inbox.asks(group, QUESTION)
        await inbox.pending(1)
        await inbox.clock.someone_sleeps()
        short = inbox.asks(group, Question("sampling", "?", expires_in_s=5))
        ids = await inbox.pending(2)
        while await _next_expiry(inbox) > 5:
            await anyio.lowlevel.checkpoint()
        inbox.clock.advance(6)
        await short.done.wait()
        assert not long.done.is_set()
        await inbox.service.answer(ids[0], True)
    assert short.answer is not None
    assert short.answer.state is ApprovalState.EXPIRED


@pytest.mark.parametrize("gone", ["row", "table"])
async def test_an_expiry_that_cannot_be_written_ends_neither_the_inbox_nor_the_waiting(
    inbox: Inbox, store: Store, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    def fail(*arguments: object, **options: object) -> bool:
        raise RuntimeError("no such table")

    async with anyio.create_task_group() as group:
        first = inbox.asks(group, QUESTION)
        await inbox.pending()
        await inbox.clock.someone_sleeps()
        with monkeypatch.context() as patch:
            if gone == "row":
                await store.write(lambda conn: conn.execute(delete(approvals)))
            else:
                patch.setattr(rows, "resolve_approval", fail)
            inbox.clock.advance(61)
            await first.done.wait()
        second = inbox.asks(group, QUESTION)
        await inbox.pending(2)
        await inbox.clock.someone_sleeps()
        inbox.clock.advance(61)
        await second.done.wait()
    for asker in (first, second):
        assert asker.answer is not None
        assert asker.answer.state is ApprovalState.EXPIRED


async def _next_expiry(inbox: Inbox) -> float:
    await inbox.clock.someone_sleeps()
    return inbox.clock.next_wake()


async def test_an_answer_after_the_time_is_refused_even_before_the_timer_fires(
    store: Store, bus: EventBus, clock: FakeClock
) -> None:
    service = ApprovalService(store, bus, clock, Fixed())
    inbox = Inbox(service, bus, clock)
    async with anyio.create_task_group() as group:
        asker = inbox.asks(group, QUESTION)
        [approval_id] = await inbox.pending()
        clock.advance(61)
        with pytest.raises(ConflictError, match="expired"):
            await service.answer(approval_id, True)
        asker.scope.cancel()


async def test_a_question_is_cancelled_with_its_asker(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        asker = inbox.asks(group, QUESTION)
        [approval_id] = await inbox.pending()
        asker.scope.cancel()
        await asker.done.wait()
    assert (await inbox.service.get(approval_id)).state is ApprovalState.CANCELLED
    assert inbox.events[-1].type == "approval.resolved"
    with pytest.raises(ConflictError, match="cancelled"):
        await inbox.service.answer(approval_id, True)


async def test_an_answer_reaches_its_asker_although_whoever_gave_it_hung_up(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        asker = inbox.asks(group, QUESTION)
        [approval_id] = await inbox.pending()
        with anyio.CancelScope() as client:
            client.cancel()
            await inbox.service.answer(approval_id, True)
        await asker.done.wait()
    assert asker.answer is not None
    assert asker.answer.approved


async def test_what_a_dead_process_left_is_closed_at_start(
    store: Store, bus: EventBus, clock: FakeClock
) -> None:
    dead = Inbox(ApprovalService(store, bus, clock, Fixed()), bus, clock)
    async with anyio.create_task_group() as group:
        asker = dead.asks(group, QUESTION)
        [approval_id] = await dead.pending()
        alive = ApprovalService(store, bus, clock, Fixed())
        assert await alive.close_leftovers() == 1
        assert await alive.close_leftovers() == 0
        closed = await alive.get(approval_id)
        asker.scope.cancel()
    assert closed.state is ApprovalState.CANCELLED
    assert closed.answer is not None
    assert "restarted" in str(closed.answer.reason)


GATE = Question("workflow", "Ship it?", {"node_id": "gate"}, run_id="wfr_1")


async def test_a_question_that_nobody_waits_for_outlives_the_process_that_asked(
    inbox: Inbox, store: Store, bus: EventBus, clock: FakeClock
) -> None:
    left = await inbox.service.leave(GATE, "approval_1")
    assert await inbox.service.leave(GATE, "approval_1") == left
    assert len(await inbox.pending()) == 1
    alive = ApprovalService(store, bus, clock, Fixed())
    assert await alive.close_leftovers() == 0
    assert (left.expires_at, (await alive.answer("approval_1", False, response="no")).state) == (
        None,
        ApprovalState.REJECTED,
    )
    await alive.withdraw("approval_1", "too late")
    assert (await alive.get("approval_1")).state is ApprovalState.REJECTED
    await alive.withdraw("approval_none", "never there")


async def test_such_a_question_expires_also_after_a_restart(
    store: Store, bus: EventBus, clock: FakeClock
) -> None:
    dead = ApprovalService(store, bus, clock, Fixed())
    left = await dead.leave(replace(GATE, expires_in_s=3600))
    alive = Inbox(ApprovalService(store, bus, clock, Fixed()), bus, clock)
    await alive.service.close_leftovers()
    async with anyio.create_task_group() as group:
        await group.start(alive.service.run)
        await clock.someone_sleeps()
        clock.advance(3601)
        with anyio.fail_after(60):
            await alive.resolved()
        group.cancel_scope.cancel()
    assert (await alive.service.get(left.id)).state is ApprovalState.EXPIRED


async def test_the_list_is_read_page_by_page_newest_first(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        askers = [inbox.asks(group, Question("tool", f"Number {n}?")) for n in range(7)]
        await inbox.pending(7)
        seen: list[Approval] = []
        cursor = None
        while True:
            page = await inbox.service.list(limit=3, cursor=cursor)
            seen += page.items
            if page.next_cursor is None:
                break
            cursor = page.next_cursor
        for asker in askers:
            asker.scope.cancel()
    assert [item.id for item in seen] == sorted((item.id for item in seen), reverse=True)
    assert len({item.id for item in seen}) == 7


@pytest.mark.requirement("L23")
async def test_what_is_asked_is_stored_as_it_is_shown(inbox: Inbox) -> None:
    hidden = Question("tool", "Run \u202egpj.exe?", {"arguments": {"path": "a\u200b\x00b"}})
    async with anyio.create_task_group() as group:
        inbox.asks(group, hidden)
        [approval_id] = await inbox.pending()
        approval = await inbox.service.get(approval_id)
        await inbox.service.answer(approval_id, True)
    assert approval.question.title == "Run ⟨U+202E⟩gpj.exe?"
    assert approval.question.detail["arguments"] == {"path": "a⟨U+200B⟩⟨U+0000⟩b"}
    assert '"a⟨U+200B⟩\\u0000b"' in approval.question.detail["arguments_text"]


async def test_a_rule_settles_what_a_call_waits_for(inbox: Inbox) -> None:
    async with anyio.create_task_group() as group:
        asker = inbox.asks(group, QUESTION)
        await inbox.pending()
        await inbox.service.settle_call("call_2", True, "another call")
        await inbox.service.settle_call("call_1", True, "a rule allows it")
    assert asker.answer == Answer(ApprovalState.APPROVED, reason="a rule allows it")
