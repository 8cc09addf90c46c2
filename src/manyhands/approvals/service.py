"""The inbox: everything that waits for a person, answered once, by anyone who may.

Owns asking, answering, expiry, and what becomes of questions whose asker is gone. What an answer means is the
asker's business.
"""

from __future__ import annotations

import heapq
import logging
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import anyio
from anyio.abc import TaskStatus
from sqlalchemy import Connection

from manyhands.approvals import store as rows
from manyhands.approvals.types import Answer, Approval, ApprovalState, Question, Scope
from manyhands.approvals.visible import TITLE_LIMIT, bounded, show_detail
from manyhands.clock import Clock, rfc3339
from manyhands.errors import ConflictError, InvalidError, ManyhandsError, NotFoundError, UnavailableError
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store

log = logging.getLogger(__name__)

WRITE_LIMIT_S = 30.0


@dataclass(slots=True)
class _Waiter:
    """Someone who asked and waits."""

    approval: Approval
    written: anyio.Event = field(default_factory=anyio.Event)
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None


class ApprovalService:
    """The use cases of the inbox."""

    def __init__(self, store: Store, bus: EventBus, clock: Clock, settings: CurrentSettings) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._waiting: dict[str, _Waiter] = {}
        self._left: set[str] = set()
        self._due: list[tuple[datetime, str]] = []
        self._sooner = anyio.Event()

    async def ask(self, question: Question) -> Answer:
        """Put it into the inbox and wait for the end of it. A cancelled asker takes the question back."""
        waiter = _Waiter(self._new_approval(question))
        approval = waiter.approval
        self._waiting[approval.id] = waiter
        try:
            try:
                await self._store.write(lambda conn: rows.insert_approval(conn, approval))
            finally:
                waiter.written.set()
            self._announce("approval.requested", approval)
            self._watch_expiry(approval)
            await waiter.answered.wait()
        except anyio.get_cancelled_exc_class():
            await self._take_back(approval)
            raise
        finally:
            del self._waiting[approval.id]
        assert waiter.answer is not None
        return waiter.answer

    async def leave(self, question: Question, approval_id: str | None = None) -> Approval:
        """Put it into the inbox and go: nobody waits here, and it stays there across restarts.

        Whoever asked hears of the end by `approval.resolved`. The same id again is the same question. Without
        `expires_in_s` it never expires.
        """
        approval = self._new_approval(question, approval_id, for_good=True)

        def work(conn: Connection) -> Approval:
            known = rows.select_approval(conn, approval.id)
            if known is None:
                rows.insert_approval(conn, approval)
            return known or approval

        kept = await self._store.write(work)
        if kept is approval:
            self._announce("approval.requested", kept)
        self._follow(kept)
        return kept

    async def withdraw(self, approval_id: str, reason: str) -> None:
        """Take back a question that was left; one that was answered stays so."""
        answer = Answer(ApprovalState.CANCELLED, reason=reason)
        with suppress(NotFoundError):
            await self._resolve(approval_id, answer, unless_expired=False)

    def _follow(self, approval: Approval) -> None:
        if approval.state is ApprovalState.PENDING and approval.expires_at is not None:
            self._left.add(approval.id)
            self._watch_expiry(approval)

    async def answer(
        self,
        approval_id: str,
        approve: bool,
        scope: Scope = "once",
        response: Any = None,
        reason: str | None = None,
    ) -> Approval:
        """Say yes or no. Only the first answer counts; a later one is told how it ended."""
        if approve:
            self._check(approval_id, response)
        state = ApprovalState.APPROVED if approve else ApprovalState.REJECTED
        won, approval = await self._resolve(
            approval_id, Answer(state, scope, response, reason), unless_expired=True
        )
        if not won:
            raise _too_late(approval)
        return approval

    def _check(self, approval_id: str, response: Any) -> None:
        """Refuse data that whoever asked could not use, so that the question goes on waiting."""
        waiter = self._waiting.get(approval_id)
        check = waiter.approval.question.check if waiter is not None and waiter.answer is None else None
        if check is not None and (problem := check(response)) is not None:
            hint = "Correct it and answer again; the question still waits."
            raise InvalidError(f"{problem.rstrip('.')}.", hint=hint)

    async def settle_call(self, call_id: str, approve: bool, reason: str) -> None:
        """Answer what a tool call waits for because a rule now decides it."""
        state = ApprovalState.APPROVED if approve else ApprovalState.REJECTED
        for waiter in list(self._waiting.values()):
            question = waiter.approval.question
            if question.call_id == call_id and question.kind == "tool" and waiter.answer is None:
                await waiter.written.wait()
                with suppress(NotFoundError):  # it could not be written, and its asker knows
                    answer = Answer(state, reason=reason)
                    await self._resolve(waiter.approval.id, answer, unless_expired=False)

    async def get(self, approval_id: str) -> Approval:
        found = await self._store.read(lambda conn: rows.select_approval(conn, approval_id))
        return _found(found, approval_id)

    async def list(
        self, state: ApprovalState | None = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> Page[Approval]:
        """Newest first."""
        found = await self._store.read(lambda conn: rows.select_approvals(conn, state, limit + 1, cursor))
        items, more = cut_page(found, limit)
        return Page(items, items[-1].id if more else None)

    async def close_leftovers(self, *, alone: bool = True) -> int:
        """At start: whoever asked before died with its process, unless other hubs live on this database."""
        reason = "The hub was restarted while this waited; whoever asked is gone."
        closed = 0
        if alone:
            now = self._clock.now()
            closed = await self._store.write(lambda conn: rows.cancel_pending(conn, reason, now))
        for approval in await self._store.read(rows.select_left):
            self._follow(approval)
        return closed

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Let questions expire; runs as long as the hub does."""
        task_status.started()
        while True:
            await self._wait_for_next_expiry()
            while self._due and self._due[0][0] <= self._clock.now():
                await self._expire(heapq.heappop(self._due)[1])

    async def _wait_for_next_expiry(self) -> None:
        self._sooner = anyio.Event()
        if not self._due:
            await self._sooner.wait()
            return
        seconds = max(0.0, (self._due[0][0] - self._clock.now()).total_seconds())
        async with anyio.create_task_group() as race:
            race.start_soon(self._wake_after, seconds)
            await self._sooner.wait()
            race.cancel_scope.cancel()

    async def _wake_after(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._sooner.set()

    async def _expire(self, approval_id: str) -> None:
        """Whatever goes wrong with one question, its asker is not kept waiting and the others expire too."""
        if approval_id not in self._waiting and approval_id not in self._left:
            return
        self._left.discard(approval_id)
        expired = Answer(ApprovalState.EXPIRED, reason="Nobody answered in time.")
        try:
            await self._resolve(approval_id, expired, unless_expired=False)
            return
        except ManyhandsError as error:
            log.warning("%s has expired, which could not be written: %s", approval_id, error)
        except Exception:  # border: the inbox goes on
            log.exception("%s has expired, which could not be written", approval_id)
        self._hand_over(self._waiting.get(approval_id), expired)

    def _watch_expiry(self, approval: Approval) -> None:
        if approval.expires_at is not None:
            heapq.heappush(self._due, (approval.expires_at, approval.id))
            if self._due[0][1] == approval.id:
                self._sooner.set()

    async def _take_back(self, approval: Approval) -> None:
        answer = Answer(ApprovalState.CANCELLED, reason="Whoever asked was stopped.")
        try:
            await self._resolve(approval.id, answer, unless_expired=False)
        except (NotFoundError, UnavailableError):  # never stored, or it is closed as a leftover at next start
            return

    async def _resolve(
        self, approval_id: str, answer: Answer, *, unless_expired: bool
    ) -> tuple[bool, Approval]:
        """End it in the database, then tell the asker; not even a cancelled caller comes between the two."""
        now = self._clock.now()

        def work(conn: Connection) -> tuple[bool, Approval | None]:
            won = rows.resolve_approval(conn, approval_id, answer, now, unless_expired=unless_expired)
            return won, rows.select_approval(conn, approval_id)

        with anyio.move_on_after(WRITE_LIMIT_S, shield=True):
            won, found = await self._store.write(work)
            approval = _found(found, approval_id)
            if won:
                self._hand_over(self._waiting.get(approval_id), answer)
                self._announce("approval.resolved", approval)
            return won, approval
        raise UnavailableError(
            "The database did not take the answer.", hint="Look at the inbox and try again."
        )

    def _hand_over(self, waiter: _Waiter | None, answer: Answer) -> None:
        if waiter is not None and waiter.answer is None:
            waiter.answer = answer
            waiter.answered.set()

    def _announce(self, event: str, approval: Approval) -> None:
        self._bus.publish(event, approval.wire(), channel_id=approval.question.channel_id)

    def _new_approval(
        self, question: Question, approval_id: str | None = None, *, for_good: bool = False
    ) -> Approval:
        now = self._clock.now()
        seconds = question.expires_in_s or (None if for_good else self._settings.current.approval_expiry_s)
        until = None if seconds is None else now + timedelta(seconds=seconds)
        shown = replace(
            question, title=bounded(question.title, TITLE_LIMIT).text, detail=show_detail(question.detail)
        )
        return Approval(
            approval_id or new_id("approval"), shown, ApprovalState.PENDING, now, expires_at=until
        )


def _found(approval: Approval | None, approval_id: str) -> Approval:
    if approval is None:
        hint = "`manyhands approvals list` shows what waits."
        raise NotFoundError(f"There is no approval {approval_id!r}.", hint=hint)
    return approval


def _too_late(approval: Approval) -> ConflictError:
    state = ApprovalState.EXPIRED if approval.state is ApprovalState.PENDING else approval.state
    when = approval.resolved_at or approval.expires_at
    at = f" at {rfc3339(when)}" if when else ""
    return ConflictError(
        f"This was already {state.value}{at}.",
        hint="Nothing was changed; what waits now is in the inbox.",
        data={"state": state.value, "id": approval.id},
    )
