from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from manyhands.errors import InvalidError, NotAllowedError
from manyhands.tasks.drafting import build_task, check_authority, guess_type, name_of, read_draft
from manyhands.tasks.types import Task

NOW = datetime(2027, 1, 10, 12, 0, 0, 250_000, tzinfo=UTC)
LATER = datetime(2027, 1, 10, 13, 30, tzinfo=UTC)
BLANK = Task("task_1", "ch_1", "", "cron", None, "UTC", "prompt", NOW, NOW, NOW)


def build(old: Task = BLANK, now: datetime = NOW, **values: Any) -> Task:
    return build_task(old, read_draft(values), now)[0]


HOURLY = build(schedule="0 * * * *", prompt="look")


def test_a_new_task_knows_its_next_time() -> None:
    assert HOURLY.next_run_at == datetime(2027, 1, 10, 13, tzinfo=UTC)
    assert (HOURLY.does, HOURLY.enabled, HOURLY.missed) == ("prompt", True, "run_once")


@pytest.mark.parametrize(
    ("schedule", "kind"),
    [
        ("@daily", "cron"),
        ("2h30m", "interval"),
        ("PT5M", "interval"),
        ("0s", "interval"),
        ("2 h", "interval"),
        ("2027-02-01T09:00Z", "once"),
        ("2020-01-01", "once"),
        ("0 9 * * mon", "cron"),
        ("soon", "cron"),
        (None, "manual"),
    ],
)
def test_the_type_of_a_schedule_is_seen(schedule: str | None, kind: str) -> None:
    assert guess_type(schedule) == kind


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"schedule": "@daily"}, "needs something to do"),
        ({"schedule": "@daily", "prompt": "  "}, "needs something to do"),
        ({"schedule": "@daily", "prompt": "a", "script": "b"}, "prompt and script are given"),
        ({"schedule": "@daily", "prompt": "a", "workflow_inputs": {"x": 1}}, "need a workflow_name"),
        ({"schedule": "@daily", "script": "a", "worktree": True}, "Only a prompt can have a worktree"),
        ({"schedule": "@daily", "workflow_name": "a", "budget": 1}, "Only a prompt can have a budget"),
        ({"schedule": "@daily", "prompt": "a", "conversation": "same", "auto_delete_sec": 5}, "same thread"),
        ({"schedule": "@daily", "prompt": "a", "retries": 99}, "retries"),
        ({"schedule": "@daily", "prompt": "a", "colour": "red"}, "colour"),
        ({"schedule": "@daily", "prompt": "a", "budget": -1}, "budget"),
        ({"schedule": "@daily", "prompt": "a", "timezone": "Mars/Olympus"}, "no time zone"),
        ({"type": "once", "schedule": "2020-01-01T00:00:00Z", "prompt": "a"}, "in the past"),
        ({"type": "interval", "schedule": "0s", "prompt": "a"}, "too short"),
    ],
)
@pytest.mark.requirement("L33")
def test_what_could_not_run_is_refused_when_it_is_made(values: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidError, match=says):
        build(**values)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"schedule": "61 * * * *", "type": "cron", "prompt": "x"}, "schedule"),
        ({"schedule": "2020-01-01T00:00Z", "prompt": "x"}, "schedule"),
        ({"schedule": "@daily", "timezone": "Nowhere/Land", "prompt": "x"}, "timezone"),
        ({"schedule": "1h", "jitter_s": 7200, "prompt": "x"}, "jitter_s"),
        ({"schedule": "1h", "prompt": "x", "budget": -1}, "budget"),
        ({"schedule": "1h", "prompt": " "}, "prompt"),
    ],
)
def test_what_is_refused_names_the_field_that_it_is_about(values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidError) as refused:
        build(**values)
    assert refused.value.data["field"] == field


def test_a_change_that_does_not_touch_the_schedule_leaves_its_next_time() -> None:
    changed = build(HOURLY, LATER, prompt="look well", retries=2)
    assert changed.next_run_at == HOURLY.next_run_at
    assert (changed.prompt, changed.retries) == ("look well", 2)


def test_another_schedule_is_counted_anew() -> None:
    changed = build(HOURLY, LATER, schedule="45m")
    assert (changed.type, changed.anchor) == ("interval", LATER)
    assert changed.next_run_at == datetime(2027, 1, 10, 14, 15, tzinfo=UTC)


def test_a_paused_task_has_no_next_time_and_gets_a_new_one_when_it_goes_on() -> None:
    paused = build(replace(HOURLY, failures=4, stopped_because="failed"), LATER, enabled=False)
    assert (paused.next_run_at, paused.due_at) == (None, None)
    going = build(paused, LATER, enabled=True)
    assert going.next_run_at == datetime(2027, 1, 10, 14, tzinfo=UTC)
    assert (going.failures, going.stopped_because) == (0, None)


def test_a_task_that_gets_a_workflow_loses_its_prompt_and_what_only_prompts_have() -> None:
    asks = replace(HOURLY, model="big", allow=("x",), budget=1.0)
    changed = build(asks, LATER, workflow_name="nightly", workflow_inputs={"days": 1})
    assert (changed.does, changed.prompt, changed.workflow_inputs) == ("workflow", None, {"days": 1})
    assert (changed.model, changed.allow, changed.budget) == (None, (), None)
    back = build(changed, LATER, prompt="look")
    assert (back.does, back.workflow_name, back.workflow_inputs) == ("prompt", None, {})


def test_nothing_for_a_field_is_its_default() -> None:
    changed = build(
        replace(HOURLY, retries=5, model="big", allow=("x",)), LATER, retries=None, model=None, allow=None
    )
    assert (changed.retries, changed.model, changed.allow) == (0, None, ())


def test_manual_drops_the_schedule() -> None:
    changed = build(HOURLY, LATER, type="manual")
    assert (changed.schedule, changed.next_run_at, changed.enabled) == (None, None, True)


def test_an_agent_gives_a_task_no_powers() -> None:
    for name, value in (("allow", ["run_command"]), ("script", "rm -rf ."), ("budget", 5)):
        with pytest.raises(NotAllowedError, match=name):
            check_authority(None, {name: value})


def test_an_agent_does_not_rewrite_a_task_that_a_person_gave_powers() -> None:
    powerful = replace(HOURLY, allow=("run_command",))
    with pytest.raises(NotAllowedError, match="only a person"):
        check_authority(powerful, {"prompt": "something else"})
    check_authority(powerful, {"schedule": "@daily"})
    check_authority(powerful, {"prompt": powerful.prompt})
    check_authority(HOURLY, {"prompt": "something else"})


def test_a_task_is_called_after_what_it_does() -> None:
    assert name_of(HOURLY) == "look"
    assert name_of(replace(HOURLY, template_name="nightly")) == "nightly"
    assert len(name_of(replace(HOURLY, prompt="long words " * 30))) <= 60
