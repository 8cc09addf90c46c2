"""A real daemon, and a real browser that looks at it.

The browser and one daemon live as long as this folder's tests: starting them takes longer than most tests.
What a test has made in the daemon is removed after it; its call log and numbers go on. A test that needs
one that never did anything, or ends it, has its own: `new_daemon`, `start_daemon`. A page that writes an
error to its console, or throws one, fails its test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from manyhands.home import Home
from tests.test_daemon import Daemon, running, until
from tests.web.chromium import FLAGS, find_chromium
from tests.web.windows import SOON_MS, Profile, Profiles, Theme

OpenPage = Callable[..., Page]
StartDaemon = Callable[..., Daemon]
# A hub that is away, or a route that refuses, is part of what is tested: the browser itself tells of both.
EXPECTED = (
    "Failed to load resource",
    "Failed to fetch dynamically imported module",
    "WebSocket connection to",
    "net::ERR_CONNECTION_REFUSED",
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The system's Chromium."""
    expect.set_options(timeout=SOON_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def daemons(place: Path) -> Iterator[StartDaemon]:
    """Starts the daemon of one home; again, with `port=`, after it has ended."""
    with ExitStack() as stack:

        def start(port: int = 0) -> Daemon:
            process = stack.enter_context(running(Home(place), port=port))
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("ready: "), line
            url, _, token = line.removeprefix("ready: ").strip().partition("/?token=")
            return Daemon(process, Home(place), url, token)

        yield start


@pytest.fixture
def start_daemon(tmp_path: Path) -> Iterator[StartDaemon]:
    """Starts the daemon of the test's own home."""
    with daemons(tmp_path / "home") as start:
        yield start


@pytest.fixture
def new_daemon(start_daemon: StartDaemon) -> Daemon:
    """A daemon with an empty home, in which nothing has ever happened."""
    return start_daemon()


@pytest.fixture(scope="package")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """The daemon of all tests that need none of their own."""
    with daemons(tmp_path_factory.mktemp("shared") / "home") as start:
        yield start()


@pytest.fixture
def daemon(shared_daemon: Daemon) -> Iterator[Daemon]:
    """A daemon in which nothing is left of other tests, with default settings."""
    before = shared_daemon.get("/settings")
    yield shared_daemon
    forget(shared_daemon, before)


def forget(daemon: Daemon, settings: dict[str, Any]) -> None:
    """Remove what a test has made."""
    for run in daemon.get("/runs?limit=50")["items"]:
        if run["ended_at"] is None:
            _stop(daemon, run["id"])
    for one in daemon.get("/worktrees")["items"]:
        daemon.request("DELETE", f"/worktrees/{one['id']}?force=true")
    for run in daemon.get("/workflows/runs")["items"]:
        daemon.request("DELETE", f"/workflows/runs/{run['id']}")
    for kind in ("tasks", "workflows", "servers", "models", "channels", "rules", "playgrounds"):
        for one in daemon.get(f"/{kind}")["items"]:
            if one.get("source", "saved") == "saved":
                daemon.request("DELETE", f"/{kind}/{one.get('id') or one['name']}")
    now = daemon.get("/settings")
    daemon.request("PATCH", "/settings", {name: old for name, old in settings.items() if now[name] != old})


def _stop(daemon: Daemon, run_id: str) -> None:
    daemon.request("POST", f"/runs/{run_id}/cancel")
    until(lambda: daemon.get(f"/runs/{run_id}")["ended_at"])


@pytest.fixture(scope="package")
def profiles(browser: Browser) -> Profiles:
    return Profiles(browser)


@pytest.fixture
def open_page(profiles: Profiles) -> Iterator[OpenPage]:
    """Opens windows, each in a profile of its own; `open_page(url, theme="dark", width=390)`.

    `welcome=True` for a first visit.
    """
    used: list[Profile] = []
    wrong: list[str] = []

    def note(text: str) -> None:
        if not any(part in text for part in EXPECTED):
            wrong.append(text)

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":
            note(message.text)

    def open_one(
        url: str, theme: Theme = "light", width: int = 1280, height: int = 860, welcome: bool = False
    ) -> Page:
        used.append(profiles.take(welcomed=not welcome))
        page = used[-1].open(url, theme, width, height)
        page.on("console", heard)
        page.on("pageerror", lambda error: note(str(error)))
        page.goto(url)
        return page

    yield open_one
    for profile in used:
        profiles.take_back(profile)
    assert wrong == [], f"a page wrote errors to its console: {wrong}"


def address(daemon: Daemon, path: str = "/") -> str:
    """The address that signs a browser in."""
    return f"{daemon.url}{path}?token={daemon.token}"


@pytest.fixture
def page(daemon: Daemon, open_page: OpenPage) -> Page:
    """A signed-in window of the daemon, at its first page."""
    return open_page(address(daemon))
