"""A picture of every screen of a hub in use, in both themes and two widths.

They are looked at as far as a program can: not blank, nothing wider than the screen, nothing serious that
axe finds (wide and light, narrow and dark). With MANYHANDS_PICTURES=1 all four of each screen are made, and
those that the documentation shows are written to `docs/img`, with the places of a person's machine in them;
otherwise two of each, to save time. MANYHANDS_ALBUM names a directory that gets all of them.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.test_daemon import Daemon
from tests.web.accessibility import SETTLED, serious_findings
from tests.web.conftest import address, daemons
from tests.web.office import answers, furnish, gather, populate, programs, schedule
from tests.web.talking_model import talking
from tests.web.windows import SOON_MS

DOCS = Path(__file__).parents[2] / "docs"
WRITES = bool(os.environ.get("MANYHANDS_PICTURES"))
ALBUM = os.environ.get("MANYHANDS_ALBUM")
SIZES = {"wide": (1440, 900), "phone": (390, 844)}
Theme = Literal["light", "dark"]
MENUS = ":is([aria-haspopup=menu], button[role=combobox]):visible:enabled"
# The page, and the name of the trigger without the name of its thing.
KIND = """(one) => `${one.closest("main") ? location.pathname : ""}:
    ${one.role ?? (one.ariaLabel ?? one.innerText).split(" ").slice(0, 2)}`"""
KEPT = {
    "answer-light-wide", "chat-dark-wide", "chat-dark-phone", "welcome-light-wide", "home-dark-wide",
    "approvals-light-wide", "approvals-light-phone", "servers-light-wide", "server-dark-wide",
    "add-server-light-wide", "log-dark-wide", "models-light-wide", "usage-light-wide",
    "settings-light-wide", "status-dark-wide", "tasks-light-wide", "workflow-run-light-wide",
    "workflow-edit-dark-wide", "quality-light-wide", "memory-light-wide",
}  # fmt: skip
# The number of its colours: one colour is a page that shows nothing.
COLOURS = """async (png) => {
    const picture = new Image();
    picture.src = `data:image/png;base64,${png}`;
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.width / 4, picture.height / 4];
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
}"""
# As it is kept: small.
ENCODE = """async (png) => {
    const picture = new Image();
    picture.src = `data:image/png;base64,${png}`;
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.width, picture.height];
    canvas.getContext("2d").drawImage(picture, 0, 0);
    return canvas.toDataURL("image/webp", 0.86).split(",")[1];
}"""


@dataclass(frozen=True)
class Office:
    """A furnished hub, and two conversations in it; the second one waits for a word."""

    daemon: Daemon
    report: str
    release: str
    work: str
    places: dict[str, str]


def shown(places: dict[str, str], route: Route) -> None:
    """Answers of the API with the places of a person's machine instead of the tests' own."""
    answer = route.fetch()
    text = answer.text()
    for ours, theirs in places.items():
        text = text.replace(ours, theirs)
    route.fulfill(response=answer, body=text)


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    monkeypatch.setenv("PATH", f"{programs(tmp_path / 'bin')}{os.pathsep}{os.environ['PATH']}")
    with ExitStack() as stack:
        model = stack.enter_context(talking(answers))
        daemon = stack.enter_context(daemons(tmp_path / "home"))()
        report, release = furnish(daemon, model, tmp_path / "shop")
        places = {str(tmp_path / "home"): "/home/you/.manyhands", str(tmp_path / "shop"): "/home/you/shop"}
        places |= {str(Path.cwd()): "/home/you", f":{model.port}": ":11434"}
        work = schedule(daemon, release)
        populate(daemon, release)
        yield Office(daemon, report, release, work, places)


def open_chat(page: Page) -> None:
    page.get_by_role("button", name="Allow once").wait_for()


def open_answer(page: Page) -> None:
    page.get_by_role("columnheader", name="Revenue").wait_for()  # not the plain text that stands there first


def open_tool(page: Page) -> None:
    page.get_by_role("button", name="merge_pull_request").click()
    page.get_by_text("Offered to models").wait_for()


def open_dialog(page: Page) -> None:
    page.get_by_role("button", name="Add server").click()
    page.get_by_role("tab", name="Well-known").click()


def open_map(page: Page) -> None:
    page.get_by_role("img", name="Map of").locator("canvas").wait_for()
    page.get_by_role("img", name="Trend").locator("canvas").wait_for()


def open_agents(office: Office, page: Page) -> None:
    gather(office.daemon, office.release)
    page.get_by_text("Reads the timeout fix").wait_for()


def open_editor(page: Page) -> None:
    page.get_by_label("Definition").wait_for()
    page.locator(".react-flow__node").first.wait_for()


def see(words: str) -> Any:
    return lambda page: page.get_by_text(words).first.wait_for()


def screens(office: Office) -> dict[str, tuple[str, Any]]:
    """Where each screen is, and what is waited for there."""
    github = next(one for one in office.daemon.get("/servers")["items"] if one["name"] == "github")
    calls = office.daemon.get("/tool-calls?tool=list_commits&limit=200")["items"]
    call = next(one for one in calls if one["run_id"])
    task = next(one for one in office.daemon.get("/tasks")["items"] if one["last_run"])
    return {
        "home": ("/", see("Sonnet")),
        "chat": (f"/c/{office.release}", open_chat),
        "answer": (f"/c/{office.report}", open_answer),
        "approvals": ("/approvals", open_chat),
        "servers": ("/servers", see("calendar-mcp")),
        "server": (f"/servers/{github['id']}", open_tool),
        "add-server": ("/servers", open_dialog),
        "log": ("/log", see("Share of errors")),
        "call": (f"/log/{call['id']}", see("The run it belongs to")),
        "models": ("/models", see("Qwen at home")),
        "usage": ("/usage", see("Sonnet")),
        "settings": ("/settings", see("Iteration limit")),
        "status": ("/status", see("Storage")),
        "quality": (f"/quality?channel={office.release}", open_map),
        "memory": (
            f"/memory?channel={office.release}&q=what+did+we+decide+about+payments",
            see("tried once more after a timeout"),
        ),
        "agents": (f"/agents?channel={office.release}", partial(open_agents, office)),
        "playgrounds": ("/playgrounds?open=global:refunds", see("Refunds by day")),
        "tasks": ("/tasks", see("Morning report")),
        "task": (f"/tasks/{task['id']}", see("History")),
        "workflows": ("/workflows", see("release")),
        "workflow-run": (f"/workflows/runs/{office.work}", see("Waits for you")),
        "workflow-edit": ("/workflows/edit?name=release", open_editor),
        "welcome": ("/welcome", see("Ask the demo model")),
    }


@pytest.fixture
def camera(browser: Browser, office: Office) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(SOON_MS)
    context.add_init_script("localStorage.setItem('manyhands.welcomed', 'yes')")
    page = context.new_page()
    if WRITES:
        page.route(re.compile("/api/"), partial(shown, office.places))
    page.goto(address(office.daemon))
    yield page
    page.unroute_all(behavior="ignoreErrors")
    context.close()


def test_every_screen_has_its_picture_in_both_themes_and_widths(
    office: Office, camera: Page, browser: Browser
) -> None:
    taken = set()
    opened: set[str] = set()
    dark_room = browser.new_page()
    for name, (path, ready) in screens(office).items():
        camera.set_viewport_size({"width": 1440, "height": 900})
        camera.goto(f"{office.daemon.url}{path}")
        ready(camera)
        expect(camera.locator(".animate-breathe.bg-pressed")).to_have_count(0)  # nothing is still to come
        for size, (width, height) in SIZES.items():
            camera.set_viewport_size({"width": width, "height": height})
            for theme in themes_of(size):
                title = f"{name}-{theme}-{size}"
                picture = shoot(camera, theme)
                assert dark_room.evaluate(COLOURS, picture) > 20, f"{title} is blank"
                taken.add(title)
                if ALBUM:
                    (Path(ALBUM) / f"{title}.png").write_bytes(base64.b64decode(picture))
                if WRITES and title in KEPT:
                    keep(title, dark_room.evaluate(ENCODE, picture))
            assert camera.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, size)
            assert serious_findings(camera) == [], (name, size)
            if size == "wide":
                assert found_in_menus(camera, opened) == [], name
            if name == "chat":  # it stays at its end when a window becomes another
                expect(camera.get_by_role("button", name="Allow once")).to_be_in_viewport(ratio=1)
    dark_room.close()
    assert len(taken) == len(screens(office)) * (4 if WRITES else 2)


def found_in_menus(page: Page, opened: set[str]) -> list[str]:
    """What axe finds while a menu or a list of choices is open; each kind is opened once."""
    found = []
    for trigger in page.locator(MENUS).all():
        kind = trigger.evaluate(KIND)
        if kind not in opened:
            opened.add(kind)
            trigger.click()
            page.locator("[role=menu], [role=listbox]").wait_for()
            found += serious_findings(page)
            page.keyboard.press("Escape")
            expect(trigger).to_be_focused()
            trigger.blur()  # else its name stands in the next picture
    return found


def themes_of(size: str) -> tuple[Theme, ...]:
    if WRITES:
        return ("light", "dark")
    return ("light",) if size == "wide" else ("dark",)


def shoot(page: Page, theme: Theme) -> str:
    page.emulate_media(color_scheme=theme)
    page.locator(f"html[data-theme={theme}]").wait_for()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
    page.evaluate(SETTLED)
    return base64.b64encode(page.screenshot()).decode()


def keep(name: str, picture: str) -> None:
    (DOCS / "img" / f"{name}.webp").write_bytes(base64.b64decode(picture))


def test_the_documentation_shows_all_pictures_that_are_kept_and_they_are_small() -> None:
    pages = [DOCS.parent / "README.md", *DOCS.glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"img/([\w-]+)\.webp\)", page.read_text("utf-8"))}
    kept = {file.stem: file.stat().st_size for file in (DOCS / "img").glob("*.webp")}
    assert shown == set(kept) == KEPT
    assert max(kept.values()) < 120_000
