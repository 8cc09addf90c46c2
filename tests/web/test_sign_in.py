"""Signing in to a server from its row: with a browser that comes back, one that is elsewhere, and a no."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Locator, Page, expect

from tests.servers.authorization_server import AuthorizationServer, DocsServer, running_authorization_server
from tests.test_daemon import Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address

pytestmark = pytest.mark.requirement("L27")


@pytest.fixture
def docs(daemon: Daemon) -> Iterator[AuthorizationServer]:
    """A saved server that wants a sign-in; its person has said no until now."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(running_authorization_server(DocsServer)) as running,
    ):
        running.consents = False
        status, outcome = daemon.request("POST", "/servers", {"name": "docs", "url": running.mcp})
        assert (status, outcome["server"]["status"]) == (201, "needs_auth"), outcome
        yield running


def row(page: Page) -> Locator:
    return page.get_by_role("list", name="Servers").get_by_role("listitem")


def choices(page: Page) -> list[str]:
    """What the server's menu offers about signing in."""
    page.get_by_role("button", name="More for docs").click()
    words = page.get_by_role("menuitem").all_inner_texts()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    return [word for word in words if word.startswith("Sign")]


def test_a_person_signs_in_after_a_no_and_out_again(
    daemon: Daemon, docs: AuthorizationServer, open_page: OpenPage
) -> None:
    page = open_page(address(daemon, "/servers"))
    expect(row(page)).to_contain_text("Needs sign-in")
    assert choices(page) == ["Sign in"]
    with page.expect_popup() as opened:
        row(page).get_by_role("button", name="Sign in").click()
    expect(opened.value.get_by_role("heading")).to_have_text("The sign-in did not work")
    dialog = page.get_by_role("dialog", name="Sign in to docs")
    expect(dialog.get_by_role("alert")).to_contain_text("The person said no")
    assert serious_findings(page) == []

    docs.consents = True
    with page.expect_popup() as opened:
        dialog.get_by_role("button", name="Try again").click()
    expect(opened.value.get_by_role("heading")).to_have_text("Signed in to docs")
    expect(dialog).to_have_count(0)
    expect(row(page)).to_contain_text("Connected")
    assert choices(page) == ["Sign out"]
    page.get_by_role("button", name="More for docs").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(row(page)).to_contain_text("Needs sign-in")
    assert choices(page) == ["Sign in"]


def test_a_browser_on_another_machine_pastes_where_it_was_sent(
    daemon: Daemon, docs: AuthorizationServer, open_page: OpenPage
) -> None:
    docs.consents = True
    page = open_page(address(daemon, "/servers"))
    page.context.route("**/as/authorize*", lambda route: route.abort())  # nobody signs in on this machine
    row(page).get_by_role("button", name="Sign in").click()
    dialog = page.get_by_role("dialog", name="Sign in to docs")
    url = dialog.get_by_role("link", name="Open the sign-in page").get_attribute("href")
    assert url is not None
    field = dialog.get_by_label("Signed in with a browser on another machine?")
    field.fill(f"{daemon.url}/nothing")
    field.press("Enter")
    expect(dialog).to_contain_text("There is no code in it")
    assert serious_findings(page) == []
    field.fill(httpx2.get(url, trust_env=False).headers["location"])
    dialog.get_by_role("button", name="Finish signing in").click()
    expect(dialog).to_have_count(0)
    expect(row(page)).to_contain_text("Connected")
