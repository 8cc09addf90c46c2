"""What waits for a person, and what the person can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from manyhands.clock import rfc3339

Kind = Literal["tool", "elicitation", "sampling", "workflow", "budget"]
Scope = Literal["once", "session", "tool", "server"]


class ApprovalState(StrEnum):
    """How far it got."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `detail` is shown as it is: who asks, tool and server, exact arguments, why it asks.

    `check` says what is wrong with form data, while whoever asked still waits.
    """

    kind: Kind
    title: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    channel_id: str | None = None
    run_id: str | None = None
    call_id: str | None = None
    expires_in_s: float | None = None
    check: Callable[[Any], str | None] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """How it ended. `response` holds form data, `reason` why it was refused."""

    state: ApprovalState
    scope: Scope = "once"
    response: Any = None
    reason: str | None = None

    @property
    def approved(self) -> bool:
        return self.state is ApprovalState.APPROVED


@dataclass(frozen=True, slots=True)
class Approval:
    """One entry of the inbox."""

    id: str
    question: Question
    state: ApprovalState
    created_at: datetime
    expires_at: datetime | None
    answer: Answer | None = None
    resolved_at: datetime | None = None

    def wire(self) -> dict[str, Any]:
        """As API answers and `approval.*` events write it."""
        answer = self.answer
        return {
            "id": self.id,
            "kind": self.question.kind,
            "state": self.state.value,
            "channel_id": self.question.channel_id,
            "run_id": self.question.run_id,
            "call_id": self.question.call_id,
            "title": self.question.title,
            "detail": dict(self.question.detail),
            "scope": answer.scope if answer else None,
            "response": answer.response if answer else None,
            "reason": answer.reason if answer else None,
            "created_at": rfc3339(self.created_at),
            "expires_at": rfc3339(self.expires_at) if self.expires_at else None,
            "resolved_at": rfc3339(self.resolved_at) if self.resolved_at else None,
        }
