"""Playgrounds in a browser: pages run, are watched and reload, and reach nothing of the hub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect

from tests.test_daemon import Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import OpenPage, address
from tests.web.windows import SOON_MS, WELCOMED

MODULES = """<!doctype html>
<html><head><link rel="stylesheet" href="style.css">
<script type="module" src="./script.js"></script></head>
<body><p id="out">waiting</p></body></html>"""
FILES = {
    "script.js": "import { twice } from './lib/utils.js';\nimport { name } from 'who';\n"
    "document.querySelector('#out').textContent = `${name} ${twice(21)}`;\nconsole.log('ran', {n: 1});",
    "lib/utils.js": "import { factor } from '../factor.js';\nexport const twice = (n) => factor * n;",
    "factor.js": "export const factor = 2;",
    "vendor/who.js": "export const name = 'world';",
    "importmap.json": '{"imports": {"who": "./vendor/who.js"}}',
    "style.css": "#out { color: rgb(1, 2, 3) }",
}
MARKUP = "<img src=x onerror=\"document.title='run'\">"
# Everything by which a page could reach the hub; what it got is written into the page.
PRYING = """<!doctype html><body><pre id="found">…</pre><script>
const hub = "HUB", found = {};
const attempt = async (name, work) => {
  try { found[name] = `got ${await work()}`; } catch (error) { found[name] = `refused ${error.name}`; }
};
const loads = (element) => new Promise((resolve, reject) => {
  element.onload = () => resolve("it"); element.onerror = () => reject(new Error("no"));
  document.body.append(element);
});
(async () => {
  await attempt("api", async () => (await fetch(hub + "/api/health")).status);
  await attempt("blind", async () => (await fetch(hub + "/api/channels", {
    method: "POST", mode: "no-cors", credentials: "include", body: '{"name": "mine"}' })).type);
  await attempt("socket", () => new Promise((resolve, reject) => {
    const socket = new WebSocket(hub.replace("http", "ws") + "/api/ws");
    socket.onopen = () => resolve("open"); socket.onerror = () => reject(new Error("no"));
  }));
  await attempt("script", () => loads(Object.assign(document.createElement("script"),
    { src: hub + "/api/health" })));
  await attempt("picture", () => loads(Object.assign(new Image(), { src: hub + "/favicon.svg" })));
  await attempt("elsewhere", async () => (await fetch("https://example.com/")).status);
  await attempt("cookie", () => document.cookie);
  await attempt("storage", () => localStorage.length);
  await attempt("database", () => { indexedDB.open("x"); return "open"; });
  await attempt("parent",
    () => parent === window ? Promise.reject(new Error("alone")) : parent.document.title);
  await attempt("popup", () => window.open(hub) ? "open" : Promise.reject(new Error("none")));
  await attempt("top",
    () => { top.location = hub + "/api/health"; return parent === window ? "self" : "moved"; });
  found.origin = self.origin;
  document.querySelector("#found").textContent = JSON.stringify(found);
})();
</script></body>"""


@pytest.fixture
def quiet_context(browser: Browser) -> Iterator[BrowserContext]:
    """A context in which a page may write errors to its console: that is what is tested."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(SOON_MS)
    context.add_init_script(WELCOMED)
    yield context
    context.close()


def make(daemon: Daemon, name: str, html: str, files: dict[str, str] | None = None, **more: Any) -> str:
    """A playground; where its page is."""
    status, made = daemon.request("PUT", f"/playgrounds/{name}", {"html": html, **more})
    assert status == 201, made
    for path, content in (files or {}).items():
        write(daemon, name, path, content)
    url = made["url"]
    assert isinstance(url, str)
    return url


def write(daemon: Daemon, name: str, path: str, content: str) -> None:
    status, answer = daemon.request("PUT", f"/playgrounds/{name}/files/{path}", {"content": content})
    assert status in (200, 201), answer


def view(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def test_a_page_imports_its_own_files_and_names_of_its_import_map(
    daemon: Daemon, open_page: OpenPage
) -> None:
    page = open_page(make(daemon, "modules", MODULES, FILES))
    expect(page.locator("#out")).to_have_text("world 42")
    expect(page.locator("#out")).to_have_css("color", "rgb(1, 2, 3)")


@pytest.mark.requirement("L45")
def test_a_page_of_an_agent_runs_scripts_and_reaches_nothing_of_the_hub(
    daemon: Daemon, quiet_context: BrowserContext
) -> None:
    url = make(daemon, "prying", PRYING.replace("HUB", daemon.url))
    page = quiet_context.new_page()
    page.goto(address(daemon, "/playgrounds") + "&open=global:prying")
    expect(view(page).locator("#found")).to_contain_text("origin")
    text = view(page).locator("#found").text_content() or ""
    assert '"origin":"null"' in text
    assert "got" not in text.replace('"top":"got moved"', ""), text
    expect(page.get_by_role("heading", name="Playgrounds")).to_be_visible()

    alone = quiet_context.new_page()
    alone.goto(url)
    alone.wait_for_url(f"{daemon.url}/**")  # it may leave itself; what it then shows is not its own
    assert daemon.get("/channels")["items"] == []


def test_an_open_page_is_shown_anew_when_a_file_changes(daemon: Daemon, open_page: OpenPage) -> None:
    make(daemon, "live", "<p id=out></p><script src=say.js></script>", {"say.js": "out.textContent = 'one'"})
    page = open_page(address(daemon, "/playgrounds") + "&open=global:live")
    expect(view(page).locator("#out")).to_have_text("one")
    write(daemon, "live", "say.js", "out.textContent = 'two'")
    expect(view(page).locator("#out")).to_have_text("two")
    view(page).locator("#out").evaluate("(element) => { element.textContent = 'touched' }")
    page.get_by_role("button", name="Reload the page").click()
    expect(view(page).locator("#out")).to_have_text("two")


def test_what_a_page_writes_and_its_errors_are_read_in_the_console(
    daemon: Daemon, quiet_context: BrowserContext
) -> None:
    loud = """console.log("said", {a: 1}, MARKUP); console.warn("careful");
      setTimeout(() => missing()); Promise.reject(new Error("nobody cares")); new Image().src = "none.png";"""
    make(daemon, "loud", "<script src=loud.js></script>", {"loud.js": loud.replace("MARKUP", repr(MARKUP))})
    page = quiet_context.new_page()
    page.goto(address(daemon, "/playgrounds") + "&open=global:loud")
    page.get_by_role("tab", name="Console").click()
    console = page.get_by_role("list", name="Console")
    for line in ('said {"a":1} <img', "careful", "missing is not defined", "nobody cares"):
        expect(console.get_by_role("listitem").filter(has_text=line)).to_have_count(1)
    expect(console).to_contain_text("loud.js:2")
    assert page.title() == "Manyhands"
    lines = daemon.get("/playgrounds/loud/console")["items"]
    assert {line["level"] for line in lines} >= {"log", "warn", "error"}
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_text("Nothing was written")).to_be_visible()


def test_a_playground_is_made_edited_and_deleted(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(address(daemon, "/playgrounds"))
    expect(page.get_by_text("No playgrounds yet")).to_be_visible()
    page.get_by_role("button", name="New playground").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("../x")
    expect(dialog.get_by_role("alert")).to_contain_text("cannot be its name")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    dialog.get_by_label("Name").fill("mine")
    dialog.get_by_label("Title").fill(MARKUP)
    dialog.get_by_role("button", name="Create").click()
    expect(view(page).get_by_role("heading")).to_have_text(MARKUP)

    page.get_by_role("tab", name="Files").click()
    page.get_by_label("Path of a new file").fill("lib/new.js")
    page.get_by_role("button", name="Add file").click()
    editor = page.get_by_label("Content of lib/new.js")
    editor.fill("export const a = 1;")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="lib/new.js").get_by_role("button", name="Save")).to_be_disabled()
    assert daemon.get("/playgrounds/mine/files/lib/new.js")["content"] == "export const a = 1;"
    write(daemon, "mine", "lib/new.js", "export const a = 2;")
    expect(editor).to_contain_text("a = 2")
    page.get_by_role("button", name="Delete lib/new.js").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_label("Content of index.html")).to_be_visible()

    page.get_by_role("button", name="More for this playground").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No playgrounds yet")).to_be_visible()
    assert page.title() == "Manyhands"


def test_an_exported_file_runs_on_its_own(daemon: Daemon, open_page: OpenPage, tmp_path: Path) -> None:
    make(daemon, "modules", MODULES, FILES)
    page = open_page(address(daemon, "/playgrounds") + "&open=global:modules")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Export").click()
    assert saved.value.suggested_filename == "modules.html"
    saved.value.save_as(tmp_path / "modules.html")
    alone = open_page((tmp_path / "modules.html").as_uri())
    expect(alone.locator("#out")).to_have_text("world 42")
    expect(alone.locator("#out")).to_have_css("color", "rgb(1, 2, 3)")


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_the_page_serves_everybody(
    daemon: Daemon, open_page: OpenPage, theme: Literal["light", "dark"], width: int
) -> None:
    make(daemon, "modules", MODULES, FILES, title="Modules", description="Two files and a name.")
    page = open_page(address(daemon, "/playgrounds"), theme=theme, width=width)
    page.get_by_role("navigation", name="Playgrounds").get_by_role("link", name="Modules").click()
    expect(view(page).locator("#out")).to_have_text("world 42")
    assert serious_findings(page) == []
    page.get_by_role("tab", name="Files").click()
    expect(page.get_by_label("Content of index.html")).to_be_visible()
    assert serious_findings(page) == []
    page.get_by_role("tab", name="Console").click()
    expect(page.get_by_role("list", name="Console")).to_contain_text("ran")
    assert serious_findings(page) == []
