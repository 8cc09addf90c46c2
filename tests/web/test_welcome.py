"""The first start in a browser: from nothing to an answer, a model and a server, with the mouse alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.cli.model_endpoint import ModelEndpoint, running_endpoint
from tests.test_daemon import HAND_SERVER, Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

WELCOME = "Welcome to Manyhands"
MARKUP = "<img src=x onerror=alert(1)>.txt"


@pytest.fixture
def endpoint() -> Iterator[ModelEndpoint]:
    with running_endpoint() as endpoint:
        yield endpoint


def test_one_click_asks_a_real_question_and_shows_the_tool_call(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path
) -> None:
    place = tmp_path / "project"
    place.mkdir()
    (place / "notes.md").write_text("x")
    (place / MARKUP).write_text("x")
    page = open_page(address(daemon), welcome=True)
    expect(page.get_by_role("heading", name=WELCOME)).to_be_visible()
    expect(page.get_by_label("Directory")).not_to_have_value("")
    page.get_by_label("Directory").fill(str(place / "nowhere"))
    page.get_by_role("button", name="Ask the demo model").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Directory").fill(str(place))
    page.get_by_role("button", name="Ask the demo model").click()
    answer = page.get_by_role("region", name="The answer", exact=True)
    expect(answer).to_contain_text("list_directory")
    expect(answer).to_contain_text("notes.md")
    expect(answer).to_contain_text(MARKUP)
    expect(answer).to_contain_text("Completed")
    assert page.locator("main img").count() == 0
    # Reloaded, the question was asked: the chat is what opens from now on.
    page.reload()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    expect(page.get_by_text("project").first).to_be_visible()
    expect(page.get_by_role("heading", name=WELCOME)).to_have_count(0)


def test_from_there_to_a_model_with_a_key_and_a_first_server(
    daemon: Daemon, endpoint: ModelEndpoint, open_page: OpenPage
) -> None:
    endpoint.says("ready")
    page = open_page(address(daemon), welcome=True)
    page.get_by_role("button", name="Ask the demo model").click()
    page.get_by_role("button", name="Next: choose who answers").click()
    page.get_by_role("button", name="Add a model with a key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Provider").click()
    page.get_by_role("option", name="OpenAI-compatible").click()
    dialog.get_by_label("Model").fill("clever")
    dialog.get_by_label("Address").fill(endpoint.url)
    dialog.get_by_role("button", name="Save and test").click()
    expect(page.get_by_role("list", name="Models that can answer")).to_contain_text("Answered in")
    page.get_by_role("button", name="Next: a first server").click()
    expect(page.get_by_role("list", name="Well-known servers")).to_be_visible()
    body = {"name": "hand", "command": sys.executable, "args": [HAND_SERVER]}
    daemon.request("POST", "/servers", body)
    expect(page.get_by_role("list", name="Your servers")).to_contain_text("Connected")
    page.get_by_role("button", name="Done: to the chat").click()
    expect(page.get_by_role("heading", name=WELCOME)).to_have_count(0)
    assert page.url == f"{daemon.url}/"


def test_it_can_be_skipped_and_does_not_come_again(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(address(daemon), welcome=True)
    page.get_by_role("button", name="Skip").click()
    expect(page.get_by_role("heading", name=WELCOME)).to_have_count(0)
    page.reload()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    expect(page.get_by_text("Conversations will be here")).to_be_visible()
    expect(page.get_by_role("heading", name=WELCOME)).to_have_count(0)
    page.goto(f"{daemon.url}/welcome")
    expect(page.get_by_role("heading", name=WELCOME)).to_be_visible()


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_it_has_no_serious_accessibility_finding(
    daemon: Daemon, open_page: OpenPage, theme: Literal["light", "dark"], width: int
) -> None:
    page = open_page(address(daemon), theme=theme, width=width, welcome=True)
    page.get_by_role("button", name="Ask the demo model").click()
    expect(page.get_by_role("button", name="Next: choose who answers")).to_be_visible()
    assert serious_findings(page) == []
    page.get_by_role("button", name="Lend it more hands").click()
    expect(page.get_by_role("list", name="Well-known servers")).to_be_visible()
    assert serious_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
