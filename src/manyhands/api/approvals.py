"""The inbox over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, items
from manyhands.approvals.types import Approval, ApprovalState

router = APIRouter(prefix="/approvals", tags=["approvals"])


def shape(approval: Approval) -> schemas.Approval:
    return schemas.Approval(**approval.wire())


@router.get("")
async def list_approvals(
    hub: HubOf, state: ApprovalState | None = None, limit: Limit = PAGE, cursor: Cursor = None
) -> schemas.Items[schemas.Approval]:
    """What waits for a person, and what did; newest first."""
    page = await hub.approvals.list(state, limit, cursor)
    return items(page.items, page.next_cursor, shape)


@router.get("/{approval_id}")
async def get_approval(hub: HubOf, approval_id: str) -> schemas.Approval:
    """One entry."""
    return shape(await hub.approvals.get(approval_id))


@router.post("/{approval_id}")
async def answer_approval(hub: HubOf, approval_id: str, body: schemas.ApprovalAnswer) -> schemas.Approval:
    """Say yes or no; only the first answer counts."""
    approve = body.decision == "approve"
    return shape(await hub.approvals.answer(approval_id, approve, body.scope, body.response, body.reason))
