"""The tools of schedules."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from manyhands.chat.types import Channel
from manyhands.hub import Hub
from manyhands.mcp_server.tasks import TASK
from tests.mcp_server.conftest import Connect, said

pytestmark = pytest.mark.anyio

NIGHTLY: dict[str, Any] = {"type": "cron", "schedule": "0 3 * * *", "prompt": "look " * 100}


async def test_a_task_is_scheduled_listed_shown_changed_paused_and_cancelled(connect: Connect) -> None:
    async with connect() as client:
        made = await client.call_tool("schedule_task", {**NIGHTLY, "timezone": "Europe/Berlin"})
        task = made.structured_content["task"]
        jsonschema.validate(task, TASK)
        assert "every day at 03:00 (Europe/Berlin)" in said(made)
        assert len(task["next_times"]) == 5
        listed = (await client.call_tool("list_tasks", {})).structured_content["tasks"]
        assert [one["id"] for one in listed] == [task["id"]]
        assert len(listed[0]["prompt"]) < len(NIGHTLY["prompt"])
        shown = await client.call_tool("show_task", {"task_id": task["id"]})
        assert NIGHTLY["prompt"] in said(shown)
        edited = await client.call_tool(
            "edit_task", {"task_id": task["id"], "schedule": "2h", "type": "interval"}
        )
        assert "every 2 hours" in said(edited)
        off = await client.call_tool("toggle_task", {"task_id": task["id"], "enabled": False})
        assert off.structured_content["task"]["next_run_at"] is None
        on = await client.call_tool("toggle_task", {"task_id": task["id"], "enabled": True})
        assert on.structured_content["task"]["next_run_at"] is not None
        await client.call_tool("cancel_task", {"task_id": task["id"]})
        gone = await client.call_tool("show_task", {"task_id": task["id"]})
        assert gone.is_error


async def test_the_same_template_is_one_task(connect: Connect) -> None:
    async with connect() as client:
        first = await client.call_tool("schedule_task", {**NIGHTLY, "template_name": "nightly"})
        second = await client.call_tool(
            "schedule_task", {**NIGHTLY, "template_name": "nightly", "schedule": "0 4 * * *"}
        )
        listed = (await client.call_tool("list_tasks", {})).structured_content["tasks"]
    assert [first.structured_content["created"], second.structured_content["created"]] == [True, False]
    assert [one["schedule"] for one in listed] == ["0 4 * * *"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({**NIGHTLY, "schedule": "0 0 30 2 *"}, "never comes"),
        ({**NIGHTLY, "type": "interval", "schedule": "0s"}, "too short"),
        ({**NIGHTLY, "type": "once", "schedule": "2020-01-01T00:00:00Z"}, "in the past"),
        ({**NIGHTLY, "timezone": "Mars/Base"}, "no time zone"),
        ({**NIGHTLY, "model": "no-such-model"}, "no model"),
        ({**NIGHTLY, "type": "hourly"}, "type"),
        ({"type": "cron", "schedule": "@daily"}, "something to do"),
        ({**NIGHTLY, "allow": ["*"]}, "allow"),
    ],
)
@pytest.mark.requirement("L33")
async def test_what_could_not_run_is_a_result_that_says_why(
    connect: Connect, arguments: dict[str, Any], says: str
) -> None:
    async with connect() as client:
        refused = await client.call_tool("schedule_task", arguments)
    assert refused.is_error
    assert says in said(refused)


@pytest.mark.requirement("L26")
async def test_an_agent_takes_over_no_powers_and_sees_no_tasks_of_other_projects(
    connect: Connect, hub: Hub, channel: Channel
) -> None:
    powerful, _ = await hub.tasks.create(
        channel.id, {"schedule": "@daily", "prompt": "tidy up", "allow": ["run_command"]}
    )
    elsewhere = await hub.channels.create("elsewhere")
    hidden, _ = await hub.tasks.create(elsewhere.id, {"schedule": "@daily", "prompt": "secret"})
    async with connect() as client:
        refused = await client.call_tool(
            "edit_task", {"task_id": powerful.task.id, "prompt": "delete it all"}
        )
        unseen = await client.call_tool("show_task", {"task_id": hidden.task.id})
    assert refused.is_error
    assert "only a person" in said(refused)
    assert unseen.is_error
    assert "no task" in said(unseen)
