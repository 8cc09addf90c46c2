"""The inbox in the database. An entry is resolved by one conditional update, so that one answer wins."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, or_, select, update

from manyhands.approvals.types import Answer, Approval, ApprovalState, Question
from manyhands.store.tables import approvals


def insert_approval(conn: Connection, approval: Approval) -> None:
    question = approval.question
    conn.execute(
        insert(approvals).values(
            id=approval.id,
            kind=question.kind,
            state=approval.state.value,
            channel_id=question.channel_id,
            run_id=question.run_id,
            call_id=question.call_id,
            title=question.title,
            detail=dict(question.detail),
            created_at=approval.created_at,
            expires_at=approval.expires_at,
        )
    )


def select_approval(conn: Connection, approval_id: str) -> Approval | None:
    row = conn.execute(select(approvals).where(approvals.c.id == approval_id)).first()
    return None if row is None else _approval(row)


def select_approvals(
    conn: Connection, state: ApprovalState | None, limit: int, before: str | None
) -> Sequence[Approval]:
    """Newest first: ids sort by the time they were made."""
    query = select(approvals).order_by(approvals.c.id.desc()).limit(limit)
    if state is not None:
        query = query.where(approvals.c.state == state.value)
    if before is not None:
        query = query.where(approvals.c.id < before)
    return [_approval(row) for row in conn.execute(query)]


def resolve_approval(
    conn: Connection, approval_id: str, answer: Answer, at: datetime, *, unless_expired: bool
) -> bool:
    """End it if it is still pending; whether this was what ended it."""
    change = update(approvals).where(
        approvals.c.id == approval_id, approvals.c.state == ApprovalState.PENDING.value
    )
    if unless_expired:
        change = change.where(or_(approvals.c.expires_at.is_(None), approvals.c.expires_at > at))
    return conn.execute(change.values(_ending(answer, at))).rowcount == 1


LASTING = "workflow"
"""The kind that nobody waits for: a run of a workflow lasts longer than the process that asked."""


def select_left(conn: Connection) -> Sequence[Approval]:
    """Everything that is pending and lasts."""
    pending = approvals.c.state == ApprovalState.PENDING.value
    return [
        _approval(row) for row in conn.execute(select(approvals).where(pending, approvals.c.kind == LASTING))
    ]


def cancel_pending(conn: Connection, reason: str, at: datetime) -> int:
    """Cancel everything that is pending but for what lasts; how many there were."""
    answer = Answer(ApprovalState.CANCELLED, reason=reason)
    gone = (approvals.c.state == ApprovalState.PENDING.value, approvals.c.kind != LASTING)
    pending = update(approvals).where(*gone)
    return conn.execute(pending.values(_ending(answer, at))).rowcount


def _ending(answer: Answer, at: datetime) -> dict[str, Any]:
    said = {"scope": answer.scope, "response": answer.response, "reason": answer.reason}
    return {"state": answer.state.value, "answer": said, "resolved_at": at}


def _approval(row: Row[Any]) -> Approval:
    state = ApprovalState(row.state)
    return Approval(
        id=row.id,
        question=Question(row.kind, row.title, row.detail, row.channel_id, row.run_id, row.call_id),
        state=state,
        created_at=row.created_at,
        expires_at=row.expires_at,
        answer=None if row.answer is None else Answer(state, **row.answer),
        resolved_at=row.resolved_at,
    )
