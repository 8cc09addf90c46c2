"""For every tool there is a listing that says why it is offered or why it is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from manyhands.servers.listings import Situation, list_tool, list_tools
from manyhands.servers.pins import definition_hash
from manyhands.servers.registry import Known
from manyhands.servers.schemas import repair_tools
from manyhands.servers.types import (
    Catalogue,
    ConnectionState,
    Server,
    ServerConfig,
    ServerStatus,
    ToolPreference,
)
from manyhands.tools.types import Effect, Listing

NOW = datetime(2026, 11, 15, tzinfo=UTC)
CONNECTED = Situation(ConnectionState(ServerStatus.CONNECTED))


def known(*raw: Any, **config: Any) -> Known:
    server = Server(4, ServerConfig("files", command="x", **config), "files", None, False, None, NOW, NOW)
    found = Known(server)
    tools, repairs = repair_tools(raw or [{"name": "read", "inputSchema": {"type": "object"}}])
    found.replace_catalogue(Catalogue(tools=tools, repairs=repairs), NOW)
    return found


def only(found: Known, situation: Situation = CONNECTED) -> Listing:
    (listing,) = list_tools(found, situation, "name")
    return listing


def at(status: ServerStatus, error: str | None = None) -> Situation:
    return Situation(ConnectionState(status, error=error))


def test_a_tool_of_a_connected_server_is_offered_with_all_that_is_known_of_it() -> None:
    raw = {
        "name": "read",
        "description": "Reads.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
        "annotations": {"readOnlyHint": True, "title": "Read"},
    }
    listing = only(known(raw))
    assert (listing.offered, listing.reason) == (True, "server files is connected")
    definition = listing.definition
    assert (definition.full_name, definition.name, definition.server_id) == ("mcp__files__read", "read", 4)
    assert definition.annotations.read_only
    assert definition.input_schema["properties"] == {"path": {"type": "string"}}
    assert next(iter(list_tools(known(raw), CONNECTED, "id"))).definition.full_name == "mcp__4__read"


@pytest.mark.requirement("L21")
@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        (at(ServerStatus.CONNECTING), "server files is still connecting"),
        (
            at(ServerStatus.DISCONNECTED),
            "server files is disconnected; run `manyhands servers connect files`",
        ),
        (
            at(ServerStatus.ERROR, "exit code 3"),
            "server files failed: exit code 3; run `manyhands servers reconnect files`",
        ),
        (
            at(ServerStatus.NEEDS_AUTH),
            "server files needs a sign-in; run `manyhands servers login files`",
        ),
        (
            replace(CONNECTED, shadowed=True),
            "the project's own server files takes its place in this channel",
        ),
    ],
)
def test_a_tool_that_is_not_offered_says_why_and_what_to_do(situation: Situation, reason: str) -> None:
    listing = only(known(), situation)
    assert (listing.offered, listing.reason) == (False, reason)


@pytest.mark.requirement("L21")
def test_what_a_person_decided_is_the_reason_too() -> None:
    assert (
        only(known(enabled=False)).reason == "server files is disabled; run `manyhands servers enable files`"
    )
    held = known()
    held.replace_server(replace(held.server, held=True))
    assert "was disconnected by hand" in only(held, at(ServerStatus.DISCONNECTED)).reason
    project = known()
    project.replace_server(replace(project.server, project="/p"))
    reason = only(project, replace(CONNECTED, trusted=False)).reason
    assert "/p/.mcp.json, which is not trusted" in reason
    assert reason.endswith("then run `manyhands channels trust /p`")
    off = known()
    off.prefer({"read": ToolPreference(enabled=False, policy="deny")})
    listing = only(off)
    assert (listing.offered, listing.enabled, listing.policy) == (False, False, Effect.DENY)
    assert listing.reason == "switched off; run `manyhands tools enable mcp__files__read`"


@pytest.mark.requirement("L25")
def test_a_changed_definition_is_offered_with_the_difference_and_asks_again() -> None:
    found = known()
    old = {"name": "read", "description": "Only reads.", "inputSchema": {"type": "object"}}
    found.prefer({"read": ToolPreference(pinned_hash=definition_hash(old), pinned_definition=old)})
    listing = list_tool(found, found.tools["read"], CONNECTED, "name")
    assert (listing.offered, listing.changed) == (True, True)
    assert "a call asks again" in listing.reason
    assert "-  Only reads." in str(listing.diff)


@pytest.mark.requirement("L18")
@pytest.mark.requirement("L21")
def test_a_tool_that_had_to_be_left_out_is_listed_with_the_reason_and_hides_no_other() -> None:
    good = {"name": "good", "inputSchema": {"type": "object"}}
    found = known({"name": "odd", "inputSchema": {"type": "array"}}, good, {"inputSchema": {}})
    listed = {listing.definition.full_name: listing for listing in list_tools(found, CONNECTED, "name")}
    assert list(listed) == ["mcp__files__good", "mcp__files__odd"]
    assert listed["mcp__files__good"].offered
    assert not listed["mcp__files__odd"].offered
    assert "left out of what server files lists" in listed["mcp__files__odd"].reason


def test_a_repair_is_told_with_its_tool() -> None:
    assert "inputSchema is missing" in str(only(known({"name": "bare"})).repair)


def test_ten_thousand_tools_are_listed_in_their_order() -> None:
    found = known(*({"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(10_000)))
    names = [listing.definition.name for listing in list_tools(found, CONNECTED, "name")]
    assert names == [f"t{n}" for n in range(10_000)]
