"""Approvals in a browser: asked, answered, gone in all windows; forms; rules; one window that notifies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from tests.test_daemon import Daemon, add_hand, until
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

MARKUP = "<img src=x onerror=\"document.title='run'\">"
HIDDEN_WINDOW = """
    Object.defineProperty(document, "visibilityState", { get: () => window.__state ?? "hidden" });
    window.__told = [];
    window.Notification = class {
        static permission = "default";
        static async requestPermission() { return (this.permission = "granted"); }
        constructor(title, options) { window.__told.push([title, options.body]); }
        close() { window.__told.push("closed"); }
    };
"""


@pytest.fixture
def hand(daemon: Daemon) -> Daemon:
    """A daemon with a server whose calls ask."""
    add_hand(daemon)
    return daemon


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def channel_of(daemon: Daemon) -> str:
    channel_id: str = daemon.request("POST", "/channels", {"name": "releases"})[1]["id"]
    return channel_id


def say(daemon: Daemon, channel_id: str, tool: str, **arguments: Any) -> str:
    """Let the demo model call a tool; the run."""
    prompt = f"/tool mcp__hand__{tool} {json.dumps(arguments)}"
    status, answer = daemon.request("POST", f"/channels/{channel_id}/runs", {"prompt": prompt})
    assert status == 202, answer
    run_id: str = answer["run_id"]
    return run_id


def ended_call(daemon: Daemon, run_id: str) -> Any:
    def found() -> Any:
        calls = daemon.get(f"/tool-calls?run={run_id}")["items"]
        return calls[0] if calls and calls[0]["status"] != "pending" else None

    return until(found)


def test_a_question_shows_what_would_run_and_an_answer_ends_it_in_every_window(
    hand: Daemon, open_page: OpenPage
) -> None:
    first = open_page(address(hand, "/approvals"))
    second = open_page(address(hand, "/log"))
    expect(first.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
    run_id = say(hand, channel_of(hand), "echo", text=f"a\u202eb {MARKUP}")
    card = first.get_by_role("article", name="Run echo of hand?")
    expect(card).to_contain_text("The assistant asks in releases")
    expect(card).to_contain_text("Why it asks: the server hand asks for every call")
    expect(card.get_by_role("region", name="Arguments")).to_contain_text(MARKUP.replace('"', '\\"'))
    expect(card.get_by_text("U+202E RLO")).to_be_visible()
    expect(card).to_contain_text("Expires in")
    for page in (first, second):
        expect(page).to_have_title("(1) Manyhands")
    expect(second.get_by_role("row").filter(has_text="echo")).to_contain_text("Waits for you")
    card.get_by_role("button", name="Allow once").click()
    expect(card).to_have_count(0)
    for page in (first, second):
        expect(page).to_have_title("Manyhands")
    expect(second.get_by_role("row").filter(has_text="echo")).to_contain_text("Done")
    assert ended_call(hand, run_id)["status"] == "success"
    first.get_by_role("tab", name="Answered").click()
    expect(first.get_by_role("list", name="Answered")).to_contain_text("Allowed once")


def test_what_is_denied_says_why_and_what_is_always_allowed_can_be_taken_back(
    hand: Daemon, open_page: OpenPage
) -> None:
    channel_id = channel_of(hand)
    run_id = say(hand, channel_id, "echo", text="one")
    page = open_page(address(hand, "/approvals"))
    page.get_by_role("button", name="Deny…").click()
    page.get_by_label("Why not?").fill("Not on a Friday")
    page.keyboard.press("Enter")
    call = ended_call(hand, run_id)
    assert call["status"] == "denied"
    assert "Not on a Friday" in call["result"]

    say(hand, channel_id, "echo", text="two")
    page.get_by_role("button", name="Allow for longer").click()
    page.get_by_role("menuitem", name="Always allow this tool").click()
    expect(page.get_by_role("article")).to_have_count(0)
    assert ended_call(hand, say(hand, channel_id, "echo", text="three"))["status"] == "success"
    page.get_by_role("tab", name="Rules").click()
    rules = page.get_by_role("list", name="Rules")
    expect(rules).to_contain_text("echo of hand")
    rules.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("heading", name="No rules yet")).to_be_visible()
    assert hand.get("/rules")["items"] == []


def test_a_form_of_a_server_is_checked_and_sent(
    hand: Daemon, open_page: OpenPage, pool: ThreadPoolExecutor
) -> None:
    page = open_page(address(hand, "/approvals"))
    body = {"name": "mcp__hand__ask", "arguments": {}}
    calling: Future[tuple[int, Any]] = pool.submit(hand.request, "POST", "/tools/call", body)
    card = page.get_by_role("article", name="Who are you?")
    card.get_by_role("button", name="Send").click()
    expect(card.get_by_role("alert").first).to_have_text("This is needed.")
    expect(card.get_by_label("Your name")).to_be_focused()
    card.get_by_label("Your name").fill("Ada")
    card.get_by_label("age").fill("36")
    card.get_by_label("colour").click()
    page.get_by_role("option", name="blue").click()
    card.get_by_role("button", name="Send").click()
    expect(card).to_have_count(0)
    answer = json.loads(calling.result(60)[1]["result"])
    assert answer == {"action": "accept", "content": {"name": "Ada", "age": 36, "colour": "blue"}}


def test_one_hidden_window_notifies_after_a_click_has_allowed_it(hand: Daemon, open_page: OpenPage) -> None:
    first = open_page(address(hand, "/approvals"))
    second = first.context.new_page()
    for page in (first, second):
        page.add_init_script(HIDDEN_WINDOW)
        page.goto(f"{hand.url}/approvals")
    assert first.evaluate("Notification.permission") == "default"
    first.get_by_role("button", name="Turn on").click()
    second.evaluate("Notification.permission = 'granted'")
    expect(first.get_by_role("region", name="Notifications")).to_contain_text("This browser tells you")
    say(hand, channel_of(hand), "echo", text="one")
    for page in (first, second):
        expect(page.get_by_role("article")).to_have_count(1)
    told = until(lambda: told_in(first) + told_in(second))
    assert told == [["Your word is needed", "Run echo of hand?"]]
    second.get_by_role("button", name="Allow once").click()
    expect(second.get_by_role("article")).to_have_count(0)
    assert until(lambda: (told_in(first) + told_in(second))[1:]) == ["closed"]


def told_in(page: Page) -> list[Any]:
    told: list[Any] = page.evaluate("window.__told")
    return told


def test_axe_finds_nothing_serious_in_the_inbox(
    hand: Daemon, open_page: OpenPage, pool: ThreadPoolExecutor
) -> None:
    body = {"name": "mcp__hand__ask", "arguments": {}}
    calling = pool.submit(hand.request, "POST", "/tools/call", body)
    say(hand, channel_of(hand), "echo", text=MARKUP)
    looks: list[tuple[Literal["light", "dark"], int]] = [("light", 1280), ("dark", 390)]
    for theme, width in looks:
        page = open_page(address(hand, "/approvals"), theme=theme, width=width)
        expect(page.get_by_role("article")).to_have_count(2)
        assert serious_findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Deny…").click()
        assert serious_findings(page) == []
    page.get_by_role("button", name="Deny", exact=True).click()
    page.get_by_role("article").get_by_role("button", name="Decline…").click()
    page.get_by_role("button", name="Decline", exact=True).click()
    assert json.loads(calling.result(60)[1]["result"]) == {"action": "decline"}
    page.get_by_role("tab", name="Answered").click()
    page.get_by_role("list", name="Answered").get_by_role("button").first.click()
    assert serious_findings(page) == []
