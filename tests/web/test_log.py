"""The call log in a browser: live, filtered, exported, and each call within its run."""

from __future__ import annotations

import csv
import json
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.test_daemon import Daemon, add_hand, until
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

MARKUP = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"


@pytest.fixture
def hand(new_daemon: Daemon) -> Daemon:
    """A daemon with a server, and an empty log."""
    add_hand(new_daemon)
    return new_daemon


def call(daemon: Daemon, tool: str, **arguments: Any) -> Any:
    status, answer = daemon.request(
        "POST", "/tools/call", {"name": f"mcp__hand__{tool}", "arguments": arguments}
    )
    assert status == 200, answer
    return answer


def rows_of(page: Page) -> Locator:
    return page.get_by_role("table", name="Calls").get_by_role("row")


def test_calls_come_in_by_themselves_and_filters_live_in_the_address(
    hand: Daemon, open_page: OpenPage
) -> None:
    page = open_page(address(hand, "/log"))
    expect(page.get_by_role("heading", name="No calls yet")).to_be_visible()
    call(hand, "echo", text="first")
    call(hand, "fail")
    call(hand, "echo", text=MARKUP)
    expect(rows_of(page)).to_have_count(4)
    expect(rows_of(page).nth(1)).to_contain_text(MARKUP)
    expect(rows_of(page).nth(2)).to_contain_text("Error")
    expect(rows_of(page).nth(3)).to_contain_text("first")
    page.get_by_role("combobox", name="State").click()
    page.get_by_role("option", name="Error").click()
    expect(rows_of(page)).to_have_count(2)
    assert "status=error" in page.url
    page.reload()
    expect(rows_of(page)).to_have_count(2)
    expect(rows_of(page).nth(1)).to_contain_text("fail")
    page.get_by_role("button", name="Clear all").click()
    page.get_by_label("Search the calls").fill("FIRST")
    expect(rows_of(page)).to_have_count(2)
    call(hand, "echo", text="another one")
    call(hand, "echo", text="first again")
    expect(rows_of(page)).to_have_count(3)
    expect(page).to_have_title("Manyhands")


def test_nothing_moves_under_a_reader_until_they_want_the_new_ones(hand: Daemon, open_page: OpenPage) -> None:
    for number in range(30):
        call(hand, "echo", text=f"number {number}")
    page = open_page(address(hand, "/log"), height=700)
    expect(rows_of(page).nth(1)).to_contain_text("number 29")
    old = rows_of(page).filter(has_text="number 12")
    page.get_by_role("table", name="Calls").hover()
    page.mouse.wheel(0, 900)
    expect(old).to_be_in_viewport()
    before = old.bounding_box()
    call(hand, "echo", text="news")
    pill = page.get_by_role("button", name="1 new call")
    expect(pill).to_be_visible()
    assert old.bounding_box() == before
    pill.click()
    expect(rows_of(page).nth(1)).to_contain_text("news")
    expect(pill).to_have_count(0)


def test_statistics_lead_to_a_server_and_what_the_filters_show_is_exported(
    hand: Daemon, open_page: OpenPage
) -> None:
    call(hand, "echo", text="one")
    call(hand, "fail")
    page = open_page(address(hand, "/log"))
    expect(page.get_by_role("img", name="Median and 95th percentile")).to_be_visible()
    server = page.get_by_role("list", name="Error rate by server").get_by_role("button", name="hand")
    expect(server).to_contain_text("1 of 2")
    expect(server).to_contain_text("50%")
    server.click()
    expect(page.get_by_role("combobox", name="Server")).to_have_text("hand")
    page.goto(f"{hand.url}/log?tool=echo")
    expect(rows_of(page)).to_have_count(2)
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="CSV").click()
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        assert [row["tool"] for row in csv.DictReader(file)] == ["echo"]
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="JSON lines").click()
    with open(download.value.path(), encoding="utf-8") as file:
        assert [json.loads(line)["result"] for line in file] == ["one"]


def run_in_a_channel(daemon: Daemon) -> tuple[str, str]:
    """A run that calls a tool: its channel and its id."""
    channel_id: str = daemon.request("POST", "/channels", {"name": "releases"})[1]["id"]
    body = {"prompt": '/tool mcp__hand__echo {"text": "in a run"}', "allow": ["mcp__hand__*"]}
    run_id: str = daemon.request("POST", f"/channels/{channel_id}/runs", body)[1]["run_id"]
    until(lambda: daemon.get(f"/runs/{run_id}")["status"] == "completed")
    return channel_id, run_id


def test_a_call_opens_within_its_run_and_a_large_result_is_read_part_by_part_and_never_run(
    hand: Daemon, open_page: OpenPage
) -> None:
    channel_id, run_id = run_in_a_channel(hand)
    page = open_page(address(hand, "/log"))
    row = rows_of(page).nth(1)
    expect(row).to_contain_text("releases")
    row.get_by_text("today").click()
    expect(page.get_by_role("region", name="Arguments")).to_contain_text("in a run")
    expect(page.get_by_role("link", name="Call 1 of 1")).to_be_visible()
    expect(page.get_by_role("link", name="Conversation")).to_have_attribute("href", f"/c/{channel_id}")
    page.get_by_role("link", name="Call 1 of 1").click()
    expect(page.get_by_role("button", name="One run only")).to_be_visible()
    assert f"run={run_id}" in page.url

    call(hand, "echo", text=MARKUP + "x" * 40_000 + "the end")
    page.goto(f"{hand.url}/log")
    rows_of(page).nth(1).get_by_role("link", name="echo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("echo")
    result = page.get_by_role("region", name="Result")
    expect(result).to_contain_text(MARKUP)
    expect(result).not_to_contain_text("the end")
    page.get_by_role("button", name="Show more").click()
    expect(result).to_contain_text("the end")
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    assert page.title() == "Manyhands"


def test_axe_finds_nothing_serious_in_the_log(hand: Daemon, open_page: OpenPage) -> None:
    call(hand, "echo", text="x")
    call(hand, "fail")
    run_in_a_channel(hand)
    looks: list[tuple[Literal["light", "dark"], int]] = [("light", 1280), ("dark", 390)]
    for theme, width in looks:
        page = open_page(address(hand, "/log"), theme=theme, width=width)
        expect(rows_of(page)).to_have_count(4)
        assert serious_findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        rows_of(page).nth(1).get_by_role("link", name="echo").click()
        expect(page.get_by_role("heading", name="The run it belongs to")).to_be_visible()
        assert serious_findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.goto(f"{hand.url}/log/call_nothing")
        expect(page.get_by_role("heading", name="This call is not in the log")).to_be_visible()
        assert serious_findings(page) == []
