"""The frame round every page: signing in, themes, going places, a hub that goes and comes back."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.test_daemon import Daemon, add_hand
from tests.web.conftest import OpenPage, StartDaemon, address

PLACES = ["Approvals", "Servers", "Log", "Models", "Usage", "Settings", "Status"]


def line_of(page: Page) -> Locator:
    """The word for the state of the line to the hub."""
    return page.get_by_role("complementary", name="Sidebar").get_by_test_id("line")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_printed_address_shows_the_shell_in_the_theme_of_the_system(
    daemon: Daemon, open_page: OpenPage, theme: Literal["light", "dark"]
) -> None:
    page = open_page(address(daemon), theme=theme)
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    expect(line_of(page)).to_have_text("Live")
    assert page.url == f"{daemon.url}/"
    assert page.evaluate("document.documentElement.dataset.theme") == theme


def test_a_chosen_theme_holds_after_a_reload(page: Page) -> None:
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitem", name="Dark").click()
    expect(page.locator("html[data-theme=dark]")).to_be_attached()
    page.reload()
    expect(page.locator("html[data-theme=dark]")).to_be_attached()


def test_what_opened_a_menu_or_a_window_has_the_focus_again_after_it(page: Page) -> None:
    trigger = page.get_by_role("button", name="More about channels")
    trigger.press("Enter")
    expect(page.get_by_role("menuitem", name="New channel")).to_be_focused()
    assert page.evaluate("document.querySelector('main').closest('[inert]') !== null")
    page.keyboard.press("Escape")
    expect(trigger).to_be_focused()
    trigger.press("Enter")
    page.get_by_role("menuitem", name="Worktrees").press("Enter")
    expect(page.get_by_role("dialog", name="Worktrees")).to_be_focused()
    page.keyboard.press("Escape")
    expect(trigger).to_be_focused()
    expect(page.locator("[inert]")).to_have_count(0)


def test_every_place_can_be_gone_to_and_reloaded(page: Page) -> None:
    navigation = page.get_by_role("navigation", name="Main")
    for name in PLACES:
        navigation.get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(PLACES[-1])


def test_on_a_phone_the_navigation_is_behind_a_button(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(address(daemon), width=390, height=800)
    page.get_by_role("button", name="Open the navigation").click()
    page.get_by_role("dialog").get_by_role("link", name="Servers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Servers")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_browser_that_is_not_signed_in_is_told_what_to_do(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(f"{daemon.url}/servers")
    expect(page.get_by_role("heading", name="This browser is not signed in")).to_be_visible()


def test_a_page_whose_sign_in_ends_says_so(daemon: Daemon, page: Page) -> None:
    expect(line_of(page)).to_have_text("Live")
    page.context.clear_cookies()
    page.get_by_role("link", name="Models").click()
    expect(page.get_by_role("heading", name="This browser is not signed in")).to_be_visible()


def test_a_hub_that_restarts_is_told_of_and_the_page_comes_back_by_itself(
    start_daemon: StartDaemon, open_page: OpenPage
) -> None:
    daemon = start_daemon()
    page = open_page(address(daemon, "/servers"))
    expect(line_of(page)).to_have_text("Live")
    daemon.end()
    expect(page.get_by_role("alert")).to_contain_text("The hub does not answer")
    again = start_daemon(port=urlsplit(daemon.url).port)
    expect(line_of(page)).to_have_text("Live")
    expect(page.get_by_role("alert")).to_have_count(0)
    add_hand(again)
    expect(page.get_by_role("link", name="hand")).to_be_visible()


def test_an_address_that_names_nothing_says_so(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(address(daemon, "/no/such/page"))
    expect(page.get_by_role("heading", name="There is no page here")).to_be_visible()
