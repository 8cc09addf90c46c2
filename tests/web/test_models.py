"""Models in a browser: found, added with a key that stays hidden, tested, chosen; and what they have used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.cli.model_endpoint import ModelEndpoint, running_endpoint
from tests.test_daemon import Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

MARKUP = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"


@pytest.fixture
def endpoint() -> Iterator[ModelEndpoint]:
    with running_endpoint() as endpoint:
        yield endpoint


def row_of(page: Page, name: str) -> Locator:
    return (
        page.get_by_role("list", name="Models", exact=True)
        .get_by_role("listitem")
        .filter(has=page.get_by_role("heading", name=name, exact=True))
    )


def add_model(daemon: Daemon, **fields: Any) -> dict[str, Any]:
    status, model = daemon.request("POST", "/models", fields)
    assert status == 201, model
    assert isinstance(model, dict)
    return model


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("dialog").get_by_label(label).click()
    page.get_by_role("option", name=option).click()


def test_a_model_is_added_tested_changed_and_removed_and_its_key_never_comes_back(
    daemon: Daemon, endpoint: ModelEndpoint, open_page: OpenPage
) -> None:
    endpoint.says("ready", "ready")
    page = open_page(address(daemon, "/models"))
    expect(page.get_by_text("Only the demo answers now.")).to_be_visible()
    page.get_by_role("button", name="Add model", exact=True).click()
    dialog = page.get_by_role("dialog")
    choose(page, "Provider", "OpenAI-compatible")
    dialog.get_by_label("Called").fill("Mine")
    dialog.get_by_role("button", name="Save and test").click()
    expect(dialog.get_by_text("Its address is needed")).to_be_visible()
    dialog.get_by_label("Model").fill("clever-1")
    dialog.get_by_label("Address").fill("ftp://nowhere")
    dialog.get_by_label("Key", exact=True).fill("very-secret-key")
    dialog.get_by_role("button", name="Save and test").click()
    expect(dialog.get_by_text("This is no address")).to_be_visible()
    dialog.get_by_label("Address").fill(endpoint.url)
    dialog.get_by_role("button", name="Save and test").click()
    row = row_of(page, "Mine")
    expect(row.get_by_role("status")).to_contain_text("Answered in")
    expect(row.get_by_role("status")).to_contain_text("ready")
    expect(row).to_contain_text("Default")
    assert "very-secret-key" not in page.content()

    row.get_by_role("button", name="More for Mine").click()
    page.get_by_role("menuitem", name="Edit").click()
    expect(dialog.get_by_label("Key", exact=True)).to_have_value("")
    expect(dialog.get_by_text("A key is kept.")).to_be_visible()
    dialog.get_by_label("Context").fill("64000")
    dialog.get_by_role("switch", name="Calls tools").click()
    dialog.get_by_role("button", name="Save and test").click()
    expect(row).to_contain_text("64K context")
    expect(row).to_contain_text("No tools")
    expect(row).to_contain_text("Key")

    row.get_by_role("button", name="More for Mine").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)


def test_another_window_sees_a_new_default_and_a_failed_test_shows_its_reason_as_text(
    daemon: Daemon, endpoint: ModelEndpoint, open_page: OpenPage
) -> None:
    endpoint.says(401)
    add_model(daemon, provider="openai-compatible", model="a", name="first", base_url=endpoint.url)
    add_model(daemon, provider="openai-compatible", model="b", name=MARKUP, base_url=endpoint.url)
    one, other = open_page(address(daemon, "/models")), open_page(address(daemon, "/models"))
    expect(row_of(other, "first")).to_contain_text("Default")
    row = row_of(one, MARKUP)
    row.get_by_role("button", name="Test").click()
    expect(row.get_by_role("alert")).to_be_visible()
    row.get_by_role("button", name="More for").click()
    one.get_by_role("menuitem", name="Make it the default").click()
    expect(row_of(other, MARKUP)).to_contain_text("Default")
    assert one.title() == "Manyhands"


def test_providers_say_what_was_found_and_what_they_need(page: Page) -> None:
    page.get_by_role("link", name="Models").click()
    page.get_by_role("button", name="Add a model of Anthropic").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Provider")).to_have_text("Anthropic")
    expect(dialog.get_by_label("Model")).not_to_have_value("")


def test_usage_is_plotted_by_the_day_and_grows_while_one_looks(
    new_daemon: Daemon, open_page: OpenPage
) -> None:
    daemon = new_daemon
    page = open_page(address(daemon, "/usage"))
    expect(page.get_by_text("No model was asked.")).to_be_visible()
    _, channel = daemon.request("POST", "/channels", {"name": "counted"})
    assert isinstance(channel, dict)
    daemon.request("POST", f"/channels/{channel['id']}/runs", {"prompt": "hello", "model": "demo"})
    expect(page.get_by_role("list", name="Models").get_by_text("demo")).to_be_visible()
    expect(page.get_by_role("list", name="Channels").get_by_role("link", name="counted")).to_be_visible()
    page.get_by_role("button", name="Runs", exact=True).click()
    expect(page.get_by_role("img", name="Runs per day, by model")).to_be_visible()
    page.get_by_role("button", name="By channel").click()
    expect(page.get_by_role("img", name="Runs per day, by channel")).to_be_visible()
    page.get_by_role("button", name="7 days").click()
    expect(page.get_by_role("button", name="7 days", pressed=True)).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_models_and_usage_have_no_serious_accessibility_finding(
    daemon: Daemon, open_page: OpenPage, theme: Literal["light", "dark"]
) -> None:
    add_model(daemon, provider="openai", model="gpt-4.1", name="keyed", api_key="secret")
    page = open_page(address(daemon, "/models"), theme=theme)
    expect(page.get_by_role("heading", name="LM Studio")).to_be_visible()
    assert serious_findings(page) == []
    page.get_by_role("button", name="More for keyed").click()
    page.get_by_role("menuitem", name="Edit").click()
    expect(page.get_by_role("dialog").get_by_label("Context")).to_be_visible()
    assert serious_findings(page) == []
    page.goto(f"{daemon.url}/usage")
    expect(page.get_by_role("button", name="7 days")).to_be_visible()
    assert serious_findings(page) == []
