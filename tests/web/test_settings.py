"""Settings and the state of everything in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from manyhands.settings import Settings
from tests.test_daemon import Daemon
from tests.web.conftest import OpenPage, address


def setting(daemon: Daemon, name: str) -> Any:
    return daemon.get("/settings")[name]


def test_the_iteration_limit_stands_first_is_checked_saved_and_reset(
    daemon: Daemon, open_page: OpenPage
) -> None:
    page, other = open_page(address(daemon, "/settings")), open_page(address(daemon, "/settings"))
    field = page.get_by_label("Iteration limit", exact=True)
    expect(page.get_by_role("main").get_by_role("textbox").first).to_have_value("10")
    expect(field).to_have_value("10")
    field.fill("51")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("A whole number from 1 to 50.")
    expect(field).to_have_attribute("aria-invalid", "true")
    assert setting(daemon, "mcp_max_iterations") == 10
    field.fill("25")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(other.get_by_label("Iteration limit", exact=True)).to_have_value("25")
    assert setting(daemon, "mcp_max_iterations") == 25
    page.get_by_role("button", name="Reset Iteration limit to 10 rounds").click()
    expect(field).to_have_value("10")
    expect(other.get_by_label("Iteration limit", exact=True)).to_have_value("10")


def test_every_setting_is_there_and_each_kind_can_be_changed(daemon: Daemon, page: Page) -> None:
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_text("The default", exact=True)).to_have_count(len(Settings.model_fields))
    page.get_by_label("Budget of a run").fill("2.5")
    page.get_by_label("Private hosts that may be fetched").fill("intranet.example\n10.0.0.0/8")
    page.get_by_role("switch", name="Network for commands").click()
    page.get_by_label("Sandbox for commands").click()
    page.get_by_role("option", name="Never").click()
    resets = page.get_by_role("button", name="Reset ")
    expect(resets).to_have_count(4)
    now = daemon.get("/settings")
    assert (now["run_cost_cap"], now["command_network"], now["command_sandbox"]) == (2.5, False, "off")
    assert now["fetch_allow"] == ["intranet.example", "10.0.0.0/8"]
    page.get_by_label("Budget of a run").fill("")
    page.get_by_label("Budget of a run").press("Enter")
    expect(resets).to_have_count(3)
    assert setting(daemon, "run_cost_cap") is None


def test_what_the_hub_refuses_is_told_at_the_field(page: Page) -> None:
    page.get_by_role("link", name="Settings").click()
    field = page.get_by_label("Webhook address")
    field.fill("mailto:me")
    field.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert")).to_contain_text("The old value is kept")
    field.press("Escape")
    expect(field).to_have_value("")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_status_says_what_is_wrong_and_what_to_do_while_one_looks(daemon: Daemon, page: Page) -> None:
    page.get_by_role("link", name="Status").click()
    health = page.get_by_role("region", name="Health")
    expect(health).to_contain_text("Only the demo model answers.")
    daemon.request("POST", "/servers", {"name": "absent", "command": "no-such-program"})
    expect(health.get_by_role("heading")).to_have_text("1 thing is broken")
    expect(health).to_contain_text("absent does not connect")
    expect(health).to_contain_text("no-such-program")
    health.get_by_role("link", name="Open servers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Servers")


def test_a_backup_is_made_with_a_button(daemon: Daemon, page: Page, tmp_path: Path) -> None:
    page.get_by_role("link", name="Status").click()
    page.get_by_role("button", name="Back up").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("File", exact=True).fill("not/absolute.tar.gz")
    dialog.get_by_role("button", name="Back up").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Give an absolute path")
    target = tmp_path / "copy.tar.gz"
    dialog.get_by_label("File", exact=True).fill(str(target))
    dialog.get_by_role("button", name="Back up").click()
    expect(dialog.get_by_role("status")).to_contain_text(f"manyhands restore {target}")
    assert target.stat().st_size > 0


def test_on_a_phone_nothing_is_wider_than_the_screen(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(address(daemon, "/settings"), width=390, height=800)
    for place, heading in (("settings", "General"), ("status", "Storage"), ("models", "Providers and keys")):
        page.goto(f"{daemon.url}/{place}")
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        assert page.evaluate("document.querySelector('main').scrollWidth <= innerWidth"), place
