"""Tasks in a browser: made with a preview, run, looked back at, paused, copied, deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.test_daemon import Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

MARKUP = "<img src=x onerror=\"document.title='run'\">"


def channel(daemon: Daemon, place: Path) -> str:
    status, made = daemon.request("POST", "/channels", {"name": "Shop", "dir_path": str(place)})
    assert status == 201, made
    return str(made["id"])


def make(daemon: Daemon, channel_id: str, **fields: Any) -> str:
    status, made = daemon.request("POST", "/tasks", {"channel_id": channel_id, **fields})
    assert status == 201, made
    return str(made["id"])


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="Tasks").get_by_role("listitem").filter(has_text=name)


def test_a_task_is_made_with_a_preview_and_mistakes_stand_at_their_field(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path
) -> None:
    channel(daemon, tmp_path)
    page = open_page(address(daemon, "/tasks"))
    page.get_by_role("button", name="New task").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Time zone").fill("Europe/Berlin")
    times = dialog.get_by_role("region", name="Next times")
    expect(times).to_contain_text("Every Monday to Friday at 09:00 (Europe/Berlin)")
    expect(times.get_by_role("listitem")).to_have_count(5)

    dialog.get_by_label("Cron expression").fill("61 * * * *")
    expect(dialog.get_by_role("alert")).to_contain_text("61 is outside of 0 to 59")
    expect(dialog.get_by_label("Cron expression")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Time zone").fill("Europe/Berlni")
    expect(dialog.get_by_role("alert")).to_contain_text("There is no time zone")
    dialog.get_by_label("Time zone").fill("UTC")
    dialog.get_by_role("button", name="Daily at 9", exact=True).click()
    expect(times).to_contain_text("Every day at 09:00 (UTC)")

    dialog.get_by_role("button", name="Make task").click()
    expect(dialog.get_by_role("alert")).to_contain_text("What is it to do?")
    dialog.get_by_label("Prompt").fill("Say hello")
    dialog.get_by_label("Tools allowed").first.fill("mcp__nobody__knows")
    dialog.get_by_label("Tools allowed").first.press("Enter")
    dialog.get_by_role("button", name="Make task").click()
    expect(dialog.get_by_role("alert")).to_contain_text("No tool is called 'mcp__nobody__knows'")
    dialog.get_by_role("button", name="Remove mcp__nobody__knows").click()
    dialog.get_by_label("Budget per run").fill("-1")
    dialog.get_by_role("button", name="Make task").click()
    expect(dialog.get_by_role("alert")).to_contain_text("greater than 0")
    dialog.get_by_label("Budget per run").fill("0.5")
    dialog.get_by_label("Name", exact=True).fill("Greeting")
    dialog.get_by_role("button", name="Make task").click()
    expect(dialog).to_have_count(0)
    expect(row(page, "Greeting")).to_contain_text("Every day at 09:00 (UTC) · in Shop")
    [made] = daemon.get("/tasks")["items"]
    assert (made["prompt"], made["budget"], made["timezone"]) == ("Say hello", 0.5, "UTC")


def test_a_task_is_run_and_its_history_leads_to_the_transcript(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path
) -> None:
    task = make(daemon, channel(daemon, tmp_path), name="Greeting", type="manual", prompt=f"Say {MARKUP}")
    page = open_page(address(daemon, f"/tasks/{task}"))
    expect(page.get_by_text("It has not run yet")).to_be_visible()
    page.get_by_role("button", name="Run now").click()
    history = page.get_by_role("table", name="History")
    expect(history).to_contain_text("Completed")
    expect(history).to_contain_text("by a person")
    history.get_by_role("link", name="Transcript").click()
    expect(page.get_by_text("Say <img")).to_be_visible()
    assert page.title() != "run"


def test_a_task_is_edited_paused_copied_and_deleted(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path
) -> None:
    task = make(daemon, channel(daemon, tmp_path), name="Queue", schedule="15m", script="exit 3")
    page = open_page(address(daemon, "/tasks"))
    expect(row(page, "Queue")).to_contain_text("Every 15 minutes")
    expect(row(page, "Queue")).to_contain_text("Lastnever")
    row(page, "Queue").get_by_role("button", name="Run now").click()
    expect(row(page, "Queue")).to_contain_text("Failed")

    page.get_by_role("button", name="More for Queue").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Script")).to_have_value("exit 3")
    dialog.get_by_label("Every", exact=True).fill("2h30m")
    dialog.get_by_role("button", name="Save").click()
    expect(row(page, "Queue")).to_contain_text("Every 2 hours 30 minutes")

    page.get_by_role("button", name="More for Queue").click()
    page.get_by_role("menuitem", name="Pause It keeps its history").click()
    expect(row(page, "Queue")).to_contain_text("Paused")
    page.get_by_role("button", name="More for Queue").click()
    page.get_by_role("menuitem", name="Clone").click()
    expect(row(page, "Queue (copy)")).to_be_visible()
    page.get_by_role("button", name="More for Queue (copy)").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(row(page, "Queue (copy)")).to_have_count(0)

    # What happens elsewhere is seen here at once.
    daemon.request("PATCH", f"/tasks/{task}", {"name": MARKUP, "enabled": True})
    expect(row(page, MARKUP)).not_to_contain_text("Paused")
    daemon.request("DELETE", f"/tasks/{task}")
    expect(page.get_by_text("No tasks yet")).to_be_visible()
    assert page.title() == "Manyhands"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_tasks_can_be_used_by_everybody(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path, theme: Literal["light", "dark"]
) -> None:
    place = channel(daemon, tmp_path)
    task = make(daemon, place, name="Report", schedule="@daily", prompt="Look", allow=["read_file"])
    make(daemon, place, name="Off", schedule="1h", prompt="Look", enabled=False)
    page = open_page(address(daemon, "/tasks"), theme=theme, width=390)
    expect(row(page, "Report")).to_be_visible()
    assert serious_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="New task").click()
    expect(page.get_by_role("region", name="Next times").get_by_role("listitem")).to_have_count(5)
    page.get_by_text("When it is late, fails").click()
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Report").click()
    expect(page.get_by_text("It has not run yet")).to_be_visible()
    assert serious_findings(page) == []
    assert task in page.url
