"""Quality in a browser: a scan at a click, the number with its reasons, and all that it is made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, Route, expect

from tests.chat.repositories import Repository
from tests.quality.projects import SHOP, write
from tests.test_daemon import Daemon, until
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

MARKUP = "<img src=x onerror=document.title='run'>"
TANGLED = "def tangled(a, b):\n" + "".join(
    f"    if a > {number}:\n        for x in b:\n            if x:\n                print({MARKUP!r})\n"
    for number in range(9)
)


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    """A repository with copies, a cycle, too many parameters, and a file with a strange name."""
    root = write(tmp_path / "shop", {**SHOP, f"shop/{MARKUP}.py": TANGLED})
    repository = Repository(root)
    repository("init", "--quiet", "--initial-branch=main")
    repository("add", ".")
    repository("commit", "--quiet", "-m", "first")
    return repository


def channel_of(daemon: Daemon, shop: Repository) -> str:
    daemon.request("PATCH", "/settings", {"quality_wait_s": 0})  # a scanner that waits outlives the test
    status, made = daemon.request("POST", "/channels", {"name": "Shop", "dir_path": str(shop.path)})
    assert status in (200, 201), made
    channel_id = made["id"]
    assert isinstance(channel_id, str)
    return channel_id


def scanned(daemon: Daemon, channel_id: str) -> dict[str, Any]:
    """What a scan says that was made just now."""
    status, answer = daemon.request("POST", f"/channels/{channel_id}/quality/scan")
    assert status == 202, answer
    until(lambda: not daemon.get(f"/channels/{channel_id}/quality/scan")["running"])
    found: dict[str, Any] = daemon.get(f"/channels/{channel_id}/quality/snapshot")
    return found


def at(daemon: Daemon, channel_id: str, view: str = "map") -> str:
    return f"{address(daemon, '/quality')}&channel={channel_id}&view={view}"


def signal(page: Page) -> Any:
    return page.get_by_role("region", name="Quality signal")


def test_a_project_is_scanned_at_a_click_and_says_why_its_number_is_what_it_is(
    daemon: Daemon, open_page: OpenPage, shop: Repository
) -> None:
    channel_id = channel_of(daemon, shop)
    page = open_page(address(daemon, f"/c/{channel_id}"))
    page.get_by_role("button", name="Conversation", exact=True).click()
    page.get_by_role("menuitem", name="Quality of its code").click()
    expect(page.get_by_role("heading", name="Shop has not been scanned yet")).to_be_visible()
    page.get_by_role("button", name="Scan it now").click()
    expect(signal(page)).to_contain_text("first scan of this branch")
    number = daemon.get(f"/channels/{channel_id}/quality/snapshot")["quality_signal"]
    expect(signal(page)).to_contain_text(f"{number:,}")
    cards = page.get_by_role("list", name="The six metrics").locator("> li")
    expect(cards).to_have_count(6)
    expect(cards.filter(has_text="Cycles")).to_contain_text("are in 1 import cycle")
    worst = page.get_by_role("region", name="What harms most")
    expect(worst.get_by_role("button").first).to_contain_text(MARKUP)
    expect(page.get_by_role("img", name="Map of")).to_be_visible()
    assert page.title() == "Manyhands"


def test_functions_are_sorted_searched_and_opened_at_their_lines(
    daemon: Daemon, open_page: OpenPage, shop: Repository
) -> None:
    channel_id = channel_of(daemon, shop)
    scanned(daemon, channel_id)
    page = open_page(at(daemon, channel_id, "functions"))
    rows = page.get_by_role("table", name="Functions").locator("tbody tr")
    expect(rows.first).to_contain_text("tangled")
    expect(rows.first).to_contain_text("(over 15)")
    page.get_by_role("button", name="Parameters").click()
    expect(rows.first).to_contain_text("many")
    page.get_by_role("searchbox", name="Find a function or a file").fill("prices.py")
    expect(rows).to_have_count(2)
    rows.filter(has_text="many").get_by_role("button", name="many").click()
    code = page.get_by_role("dialog").get_by_role("region", name="Code of many")
    expect(code.locator("[aria-current]").first).to_contain_text("def many(a, b, c, d, e, f, g):")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_copies_stand_side_by_side_and_a_cycle_has_a_shortest_way_round(
    daemon: Daemon, open_page: OpenPage, shop: Repository
) -> None:
    channel_id = channel_of(daemon, shop)
    scanned(daemon, channel_id)
    page = open_page(at(daemon, channel_id, "copies"))
    both = page.get_by_role("region", name="Side by side")
    expect(both).to_contain_text("They differ in names and literals alone.")
    expect(both.get_by_role("region", name="Code of totals")).to_contain_text("def totals(rows, limit):")
    expect(both.get_by_role("region", name="Code of prices")).to_contain_text("def prices(rows, limit):")
    page.get_by_role("tab", name="Cycles").click()
    expect(page.get_by_role("heading", name="2 files that import each other")).to_be_visible()
    expect(page.get_by_role("img", name="shop/prices.py imports shop/orders.py")).to_be_visible()
    page.get_by_role("tab", name="Unused").click()
    expect(page.get_by_role("tabpanel", name="Unused")).to_contain_text("shop/lost.py")


def test_a_scan_from_elsewhere_changes_the_number_in_an_open_window(
    daemon: Daemon, open_page: OpenPage, shop: Repository
) -> None:
    channel_id = channel_of(daemon, shop)
    scanned(daemon, channel_id)
    page = open_page(at(daemon, channel_id))
    expect(signal(page)).to_contain_text("first scan of this branch")
    (shop.path / "shop" / f"{MARKUP}.py").unlink()
    change = scanned(daemon, channel_id)["change"]
    assert change > 0
    expect(signal(page)).to_contain_text(f"+{change:,}")
    expect(page.get_by_text("The last 2 scans.")).to_be_visible()


def test_another_branch_is_told_of_and_what_is_new_in_it_is_found_by_comparing(
    daemon: Daemon, open_page: OpenPage, shop: Repository
) -> None:
    channel_id = channel_of(daemon, shop)
    scanned(daemon, channel_id)
    shop("switch", "--quiet", "-c", "work")
    (shop.path / "shop" / "lost.py").write_text(TANGLED)
    page = open_page(at(daemon, channel_id, "compare"))
    banner = page.get_by_role("status").filter(has_text="checked out")
    expect(banner).to_contain_text("These numbers are of main, but work is checked out")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/quality/compare", hold, times=1)
    page.get_by_role("textbox", name="Branch, tag or commit").fill("main")
    page.get_by_role("tabpanel").get_by_role("button", name="Compare").click()
    expect(page.get_by_role("progressbar", name="How far the comparison is")).to_be_visible()
    held[0].continue_()
    expect(page.get_by_role("region", name="New problems")).to_contain_text("tangled")
    expect(page.get_by_role("region", name="Functions that changed")).to_contain_text("lost")
    page.get_by_role("textbox", name="Branch, tag or commit").fill("no-such-branch")
    page.get_by_role("tabpanel").get_by_role("button", name="Compare").click()
    expect(page.get_by_role("alert")).to_contain_text("no-such-branch")
    page.get_by_role("button", name="Scan this branch").click()
    expect(banner).to_have_count(0)
    expect(signal(page)).to_contain_text("first scan of this branch")


def test_a_scan_that_goes_on_shows_how_far_it_is_and_can_be_ended(
    daemon: Daemon, open_page: OpenPage, shop: Repository
) -> None:
    channel_id = channel_of(daemon, shop)
    scanned(daemon, channel_id)
    going = {"running": True, "phase": "measuring", "done": 83, "total": 744, "share": 0.11}
    page = open_page(address(daemon, "/"))

    def answer(route: Route) -> None:
        if route.request.method == "DELETE":
            route.fulfill(status=204)
        else:
            route.fulfill(json=going)

    page.route("**/quality/scan", answer)
    page.goto(at(daemon, channel_id))
    progress = page.get_by_role("region", name="The scan")
    expect(progress).to_contain_text("83 of 744 files")
    expect(progress.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "11")
    expect(page.get_by_role("button", name="Scan again")).to_be_disabled()
    with page.expect_request(lambda request: request.method == "DELETE" and "/quality/scan" in request.url):
        progress.get_by_role("button", name="Cancel").click()


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_the_page_serves_everybody(
    daemon: Daemon, open_page: OpenPage, shop: Repository, theme: Literal["light", "dark"], width: int
) -> None:
    channel_id = channel_of(daemon, shop)
    page = open_page(address(daemon, "/quality"), theme=theme, width=width)
    expect(page.get_by_role("button", name="Scan it now")).to_be_visible()
    scanned(daemon, channel_id)
    shop("switch", "--quiet", "-c", "work")
    page.reload()
    expect(page.get_by_text("checked out")).to_be_visible()
    expect(page.get_by_role("img", name="Map of").locator("canvas")).to_be_visible()
    assert serious_findings(page) == []
    for tab in ("Functions", "Copies", "Cycles", "Unused", "Compare"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel", name=tab).get_by_role("heading").first).to_be_visible()
        assert serious_findings(page) == [], tab
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
