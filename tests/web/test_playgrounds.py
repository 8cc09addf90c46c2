"""Playgrounds in a browser: pages run, are watched and reload, and reach nothing of the hub."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect

from tests.test_daemon import Daemon
from tests.web.accessibility import serious_findings
from tests.web.conftest import SOON_MS, OpenPage, address

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
  await attempt("parent", () => parent === window ? Promise.reject(new Error("alone")) : parent.document.title);
  await attempt("popup", () => window.open(hub) ? "open" : Promise.reject(new Error("none")));
  await attempt("top", () => { top.location = hub + "/api/health"; return parent === window ? "self" : "moved"; });
  found.origin = self.origin;
  document.querySelector("#found").textContent = JSON.stringify(found);
})();
</script></body>"""


@pytest.fixture
def quiet_context(browser: Browser) -> Iterator[BrowserContext]:
    """A context in which a page may write errors to its console: that is what is tested."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(SOON_MS)
    context.add_init_script("try { localStorage.setItem('manyhands.welcomed', 'yes') } catch {}")
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
