"""The servers and their tools in a browser: added, tried, changed, watched while they live and die."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.test_daemon import HAND_SERVER, Daemon, add_hand, until
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address
from tests.web.strange_server import MARKUP

STRANGE = str(Path(__file__).with_name("strange_server.py"))


@pytest.fixture
def strange(daemon: Daemon, tmp_path: Path) -> dict[str, Any]:
    """A server that says strange things."""
    (tmp_path / "description.txt").write_text(f"Shows {MARKUP}")
    body = {"name": "strange", "command": sys.executable, "args": [STRANGE, str(tmp_path)]}
    status, outcome = daemon.request("POST", "/servers", body)
    assert (status, outcome.get("ok")) == (201, True), outcome
    server: dict[str, Any] = outcome["server"]
    return server


def row_of(page: Page, name: str) -> Locator:
    return (
        page.get_by_role("list", name="Servers")
        .get_by_role("listitem")
        .filter(has=page.get_by_role("link", name=name, exact=True))
    )


def test_a_server_is_added_by_the_form_after_a_test_and_edited_with_its_secrets_kept(
    daemon: Daemon, open_page: OpenPage
) -> None:
    page = open_page(address(daemon, "/servers"))
    expect(page.get_by_role("heading", name="No servers yet")).to_be_visible()
    page.get_by_role("button", name="Add server").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Add server").click()
    expect(dialog.get_by_text("Which program is started?")).to_be_visible()
    dialog.get_by_label("Name", exact=True).fill("hand")
    # A whole command line is split into its words.
    dialog.get_by_label("Command", exact=True).fill(f"'{sys.executable}' '{HAND_SERVER}'")
    dialog.get_by_label("Arguments").click()
    expect(dialog.get_by_label("Command", exact=True)).to_have_value(sys.executable)
    dialog.get_by_role("button", name="Add variable").click()
    dialog.get_by_label("Name of variable 1").fill("API_KEY")
    dialog.get_by_label("Value of API_KEY").fill("very-secret-value")
    dialog.get_by_role("button", name="Test").click()
    report = dialog.get_by_role("status", name="Result of the test")
    expect(report).to_contain_text("It works: 6 tools found")
    expect(report).to_contain_text("Version 1.2.3")
    dialog.get_by_role("button", name="Add server").click()
    expect(row_of(page, "hand")).to_contain_text("Connected")
    expect(row_of(page, "hand")).to_contain_text("6 tools")

    page.get_by_role("button", name="More for hand").click()
    page.get_by_role("menuitem", name="Edit").click()
    expect(dialog.get_by_label("Name", exact=True)).to_have_js_property("readOnly", True)
    expect(dialog.get_by_label("Value of API_KEY")).to_have_value("")
    dialog.get_by_label("Time for a call").fill("5")
    dialog.get_by_role("button", name="Save & Reconnect").click()
    expect(dialog).to_have_count(0)
    expect(row_of(page, "hand")).to_contain_text("Connected")
    server = daemon.get("/servers")["items"][0]
    assert (server["tool_timeout"], list(server["env"])) == (5000, ["API_KEY"])
    environment = psutil.Process(server["pid"]).environ()
    assert environment["API_KEY"] == "very-secret-value"


def test_a_test_that_fails_shows_what_the_server_said_last(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(address(daemon, "/servers"))
    page.get_by_role("button", name="Add server").click()
    page.get_by_label("Name", exact=True).fill("broken")
    page.get_by_label("Command", exact=True).fill(sys.executable)
    page.get_by_label("Arguments").fill("-c\nimport sys; sys.exit('no key is set')")
    page.get_by_role("button", name="Test").click()
    report = page.get_by_role("status", name="Result of the test")
    expect(report).to_contain_text("It does not work")
    expect(report.locator("pre")).to_have_text("no key is set")
    page.get_by_role("button", name="Add server").last.click()
    expect(row_of(page, "broken")).to_contain_text("no key is set")


def test_json_of_another_client_is_previewed_before_it_is_taken(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(address(daemon, "/servers"))
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Paste JSON").click()
    field = page.get_by_label("JSON", exact=True)
    field.fill('{"mcpServers": {')
    expect(page.get_by_role("alert")).to_be_visible()
    entry = {"command": sys.executable, "args": [HAND_SERVER], "env": {"TOKEN": "t0p-secret"}}
    field.fill(json.dumps(entry))
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("one")
    preview = page.get_by_role("region", name="What will happen")
    expect(preview).to_contain_text("Will be added")
    field.fill(json.dumps({"mcpServers": {"hand": entry, "half": {"args": ["x"]}}}))
    expect(preview.get_by_role("listitem").filter(has_text="hand")).to_contain_text("With secrets for TOKEN")
    expect(preview.get_by_role("listitem").filter(has_text="half")).to_contain_text("Left out")
    expect(preview).not_to_contain_text("t0p-secret")
    page.get_by_role("button", name="Add server").last.click()
    expect(row_of(page, "hand")).to_contain_text("Connected")


def test_a_server_that_dies_or_writes_while_one_looks_shows_it(
    daemon: Daemon, strange: dict[str, Any], open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page(address(daemon, f"/servers/{strange['id']}"))
    page.get_by_role("tab", name="Log").click()
    log = page.get_by_role("log", name="Standard error")
    expect(log).to_contain_text("hello from")
    (tmp_path / "say.txt").write_text(f"{MARKUP} just now")
    expect(log).to_contain_text(f"{MARKUP} just now")
    psutil.Process(strange["pid"]).kill()
    # It comes back by itself; that it was away stays to be seen.
    expect(page.locator("dl").first).to_contain_text("Restarts1")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Connected")


def test_disconnecting_disabling_and_removing_is_seen_in_a_second_window(
    daemon: Daemon, open_page: OpenPage
) -> None:
    add_hand(daemon)
    page, other = (open_page(address(daemon, "/servers")) for _ in range(2))
    for choice, word in [("Disconnect", "Disconnected by you"), ("Disable", "Disabled")]:
        page.get_by_role("button", name="More for hand").click()
        page.get_by_role("menuitem", name=choice).click()
        expect(row_of(other, "hand")).to_contain_text(word)
    page.get_by_role("button", name="Enable").click()
    expect(row_of(other, "hand")).to_contain_text("Connected")
    page.get_by_role("button", name="More for hand").click()
    page.get_by_role("menuitem", name="Remove").click()
    asked = page.get_by_role("alertdialog")
    expect(asked).to_contain_text("Remove hand?")
    asked.get_by_role("button", name="Cancel").click()
    expect(row_of(page, "hand")).to_be_visible()
    page.get_by_role("button", name="More for hand").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
    expect(other.get_by_role("heading", name="No servers yet")).to_be_visible()


def test_a_tool_is_tried_with_a_form_made_from_its_schema_and_markup_is_never_run(
    daemon: Daemon, strange: dict[str, Any], open_page: OpenPage
) -> None:
    page = open_page(address(daemon, f"/servers/{strange['id']}"))
    page.get_by_role("button", name="show").click()
    expect(page.get_by_role("list", name="Tools")).to_contain_text("Destructive")
    table = page.get_by_role("table", name="Parameters of show")
    expect(table.get_by_role("row", name="city")).to_contain_text("Where")
    expect(table).to_contain_text(MARKUP)
    page.get_by_role("button", name="Try it").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Run").click()
    expect(dialog.get_by_text("This is needed.")).to_have_count(2)
    dialog.get_by_label("title").fill("A title")
    dialog.get_by_label("city").fill("Kyoto")
    dialog.get_by_label("colour").click()
    page.get_by_role("option", name="blue").click()
    dialog.get_by_role("button", name="Add entry").click()
    dialog.get_by_label("1", exact=True).fill("first")
    dialog.get_by_role("button", name="Run").click()
    result = dialog.get_by_role("region", name="Result", exact=True)
    expect(result).to_contain_text(MARKUP)
    record = daemon.get("/tool-calls")["items"][0]
    expect(result).to_contain_text(f"{record['size']} characters")
    assert record["arguments"] == {
        "title": "A title",
        "times": 2,
        "colour": "blue",
        "tags": ["first"],
        "place": {"city": "Kyoto"},
    }
    # The same arguments as JSON.
    dialog.get_by_role("tab", name="JSON").click()
    expect(dialog.get_by_label("Arguments", exact=True)).to_have_value(
        json.dumps(record["arguments"], indent=2)
    )
    assert page.title() != "run"


def test_tools_are_switched_searched_explained_and_a_changed_definition_is_accepted(
    daemon: Daemon, strange: dict[str, Any], open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page(address(daemon, f"/servers/{strange['id']}"))
    tools = page.get_by_role("list", name="Tools")
    page.get_by_label("Search tools").fill("only looks")
    expect(tools.get_by_role("switch")).to_have_count(1)
    page.get_by_role("button", name="Found off").click()
    expect(tools.get_by_role("switch", name="look on")).not_to_be_checked()
    page.get_by_role("button", name="look", exact=False).first.click()
    expect(page.get_by_role("region", name="Why it is not offered")).to_contain_text("Not offered to models")
    page.get_by_label("Search tools").fill("")
    page.get_by_role("button", name="All on").click()
    expect(tools.get_by_role("switch", name="look on")).to_be_checked()
    page.get_by_label("When a model calls it").click()
    page.get_by_role("option", name="Deny").click()
    expect(tools).to_contain_text("Denied")

    daemon.request("POST", f"/servers/{strange['id']}/tools/show/accept")
    (tmp_path / "description.txt").write_text("Shows something else.")
    page.get_by_role("button", name="Reconnect").click()
    expect(tools).to_contain_text("Definition changed")
    page.get_by_role("button", name="show").click()
    expect(page.get_by_role("region", name="What changed").last).to_contain_text("Shows something else.")
    # A call of one's own asks once more, where one waits for it.
    page.get_by_role("button", name="Try it").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("tab", name="JSON").click()
    dialog.get_by_label("Arguments", exact=True).fill('{"title": "A", "place": {"city": "Kyoto"}}')
    dialog.get_by_role("button", name="Run").click()
    dialog.get_by_role("button", name="Allow once").click()
    expect(dialog.get_by_role("region", name="Result", exact=True)).to_contain_text("characters")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Accept the new definition").click()
    expect(tools).not_to_contain_text("Definition changed")


def test_prompts_and_resources_can_be_looked_into(daemon: Daemon, open_page: OpenPage) -> None:
    server = add_hand(daemon)
    page = open_page(address(daemon, f"/servers/{server['id']}"))
    page.get_by_role("tab", name="Prompts").click()
    page.get_by_label("name", exact=True).fill("Ada")
    page.get_by_role("button", name="Show it filled in").click()
    expect(page.get_by_text("Greet Ada warmly.")).to_be_visible()
    page.get_by_role("tab", name="Resources").click()
    page.get_by_role("button", name="Read one").click()
    expect(page.get_by_role("dialog")).to_contain_text("It is blue.")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="About").click()
    expect(page.get_by_text("Be kind.")).to_be_visible()


def test_built_in_tools_have_the_same_viewer(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(address(daemon, "/servers"))
    page.get_by_role("link", name="Built-in tools").click()
    page.get_by_role("switch", name="fetch_url on").click()
    expect(page.get_by_role("switch", name="fetch_url on")).not_to_be_checked()
    expect(page.get_by_role("listitem").filter(has_text="fetch_url").first).to_contain_text("Off")
    assert daemon.get("/rules")["items"][0]["effect"] == "deny"
    page.get_by_role("switch", name="fetch_url on").click()
    expect(page.get_by_role("listitem").filter(has_text="fetch_url").first).not_to_contain_text("Off")
    until(lambda: daemon.get("/rules")["items"] == [])


def test_one_of_the_gallery_asks_only_for_what_it_needs(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(address(daemon, "/servers"))
    page.get_by_role("button", name="Filesystem").click()
    dialog = page.get_by_role("dialog", name="Add Filesystem")
    dialog.get_by_label("Directory", exact=True).fill("/srv/notes")
    expect(dialog.get_by_label("Arguments")).to_have_value(
        "-y\n@modelcontextprotocol/server-filesystem\n/srv/notes"
    )


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_no_serious_finding_of_axe_and_nothing_wider_than_the_screen(
    daemon: Daemon, strange: dict[str, Any], open_page: OpenPage, theme: Literal["light", "dark"], width: int
) -> None:
    page = open_page(address(daemon, "/servers"), theme=theme, width=width)
    expect(row_of(page, "strange")).to_contain_text("Connected")
    seen = serious_findings(page)
    page.get_by_role("button", name="More for strange").click()
    page.get_by_role("menuitem", name="Edit").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    seen += serious_findings(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Export").click()
    exported = page.get_by_role("dialog")
    expect(exported).to_contain_text("mcpServers")
    assert exported.evaluate("(dialog) => dialog.getBoundingClientRect().right <= innerWidth")
    seen += serious_findings(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add server").click()
    seen += serious_findings(page)
    page.get_by_role("tab", name="Well-known").click()
    seen += serious_findings(page)
    page.goto(f"{daemon.url}/servers/{strange['id']}")
    page.get_by_role("button", name="show").click()
    expect(page.get_by_text("Offered to models")).to_be_visible()
    seen += serious_findings(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    seen += serious_findings(page)
    page.keyboard.press("Escape")
    for tab in ("Log", "About"):
        page.get_by_role("tab", name=tab).click()
        seen += serious_findings(page)
    assert seen == []
