"""The inbox over HTTP."""

from __future__ import annotations

import anyio
import httpx2
import pytest

from manyhands.approvals.types import Answer, ApprovalState, Question
from manyhands.hub import Hub

pytestmark = pytest.mark.anyio

SHAPE = {"id", "kind", "state", "channel_id", "run_id", "call_id", "title", "detail", "expires_at"}


async def ask(
    client: httpx2.AsyncClient, hub: Hub, answer: dict[str, object]
) -> tuple[Answer, httpx2.Response]:
    """Ask something, answer it over HTTP: what the asker and the answerer got."""
    got: list[Answer] = []

    async def asker() -> None:
        got.append(await hub.approvals.ask(Question("elicitation", "Who are you?", {"schema": {}})))

    async with anyio.create_task_group() as group, hub.bus.subscribe() as events:
        group.start_soon(asker)
        event = await anext(events)
        assert event.type == "approval.requested"
        response = await client.post(f"/api/approvals/{event.data['id']}", json=answer)
    return got[0], response


async def test_what_waits_is_listed_and_answered_once(client: httpx2.AsyncClient, hub: Hub) -> None:
    got, response = await ask(client, hub, {"decision": "approve", "response": {"name": "Ada"}})
    assert (got.approved, got.response) == (True, {"name": "Ada"})
    approval = response.json()
    assert approval.keys() >= SHAPE
    assert (approval["state"], approval["response"]) == ("approved", {"name": "Ada"})
    listed = (await client.get("/api/approvals?state=approved")).json()
    assert listed == {"items": [approval], "next_cursor": None}
    assert (await client.get("/api/approvals?state=pending")).json()["items"] == []
    assert (await client.get(f"/api/approvals/{approval['id']}")).json() == approval
    again = await client.post(f"/api/approvals/{approval['id']}", json={"decision": "reject"})
    assert (again.status_code, again.json()["state"]) == (409, "approved")


async def test_a_refusal_carries_its_reason(client: httpx2.AsyncClient, hub: Hub) -> None:
    got, _ = await ask(client, hub, {"decision": "reject", "reason": "not today"})
    assert (got.state, got.reason) == (ApprovalState.REJECTED, "not today")


async def test_an_answer_that_makes_no_sense_is_refused(client: httpx2.AsyncClient) -> None:
    assert (await client.post("/api/approvals/approval_x", json={"decision": "approve"})).status_code == 404
    for body in ({}, {"decision": "maybe"}, {"decision": "approve", "scope": "world"}):
        assert (await client.post("/api/approvals/approval_x", json=body)).status_code == 422
    assert (await client.get("/api/approvals?state=odd")).status_code == 422
