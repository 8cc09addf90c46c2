"""The web UI in a browser: the first screen, a long thread, a stream in it beside nine hidden windows.

The daemon, the browser and a model that streams at a steady pace are real and on this machine.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench.report import Report, p50, progress
from bench.startup import daemon
from manyhands.home import Home
from manyhands.system import read_lock
from tests.web.chromium import FLAGS, find_chromium
from tests.web.talking_model import Pause, Piece, talking

MESSAGES = 2_000
TOKENS, PER_SECOND = 2_000, 200
HIDDEN = 9
ROUNDS = 5
WAIT_MS = 120_000
FIRST, LAST = "word1", "This is the end of it."
WATCH = """window.__long = [];
new PerformanceObserver((found) => {
    for (const one of found.getEntries()) window.__long.push(one.duration);
}).observe({ type: "longtask" });
localStorage.setItem("manyhands.welcomed", "yes");"""
# Every page of this browser is shown; a tab behind others is told so, and paints nothing.
HIDE = """(() => {
Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
Object.defineProperty(document, "hidden", { get: () => true });
window.requestAnimationFrame = () => 0;
document.documentElement.style.visibility = "hidden";
const still = new CSSStyleSheet();
still.replaceSync("*, ::before, ::after { animation: none !important; transition: none !important }");
document.adoptedStyleSheets = [...document.adoptedStyleSheets, still];
document.dispatchEvent(new Event("visibilitychange"));
})()"""
# Milliseconds since the page was asked for until one can write in it, and the JavaScript that came with it.
USABLE = """new Promise((done) => {
    const look = () => {
        const field = document.querySelector("textarea:not([disabled])");
        if (!field || field.offsetHeight === 0) return setTimeout(look, 4);
        requestAnimationFrame(() => {
            const loaded = performance.getEntriesByType("resource");
            const scripts = loaded.filter((one) => one.name.endsWith(".js"));
            done([performance.now(), scripts.reduce((sum, one) => sum + one.encodedBodySize, 0)]);
        });
    };
    look();
})"""
# Milliseconds from a click on the link until the last message is seen, and a frame was painted with it.
OPENED = """(link, last) => new Promise((done) => {
    const began = performance.now();
    const isSeen = (row) => {
        const { top, bottom } = row.getBoundingClientRect();
        return row.textContent.includes(last) && top < innerHeight && bottom > 0;
    };
    const look = () => {
        if (![...document.querySelectorAll("[role=log] [data-row]")].some(isSeen)) return setTimeout(look, 4);
        requestAnimationFrame(() => done(performance.now() - began));
    };
    link.click();
    look();
})"""


@dataclass(frozen=True)
class Hub:
    """A daemon of its own, and how to speak to it."""

    url: str
    token: str

    def request(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(f"{self.url}/api{path}", data, headers, method=method)
        with urllib.request.urlopen(asked, timeout=120) as answer:
            return json.load(answer)


def run(report: Report) -> None:
    """In a thread of its own: Playwright's loop must not be the one that other benchmarks use."""
    thread = threading.Thread(target=_run, args=(report,))
    thread.start()
    thread.join()


def _run(report: Report) -> None:
    with ExitStack() as stack:
        hub = stack.enter_context(_hub())
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        stack.callback(browser.close)
        _first_screen(report, browser, hub)
        channel_id = _long_thread(hub)
        _opening(report, browser, hub, channel_id)
        _streaming(report, browser, hub, channel_id)


@contextmanager
def _hub() -> Iterator[Hub]:
    with tempfile.TemporaryDirectory() as place, daemon(place):
        home = Home(Path(place))
        holder = read_lock(home.lock_file)
        assert holder is not None
        assert holder.url is not None
        yield Hub(holder.url, home.token())


@contextmanager
def _window(browser: Browser, hub: Hub) -> Iterator[BrowserContext]:
    """Signed in, with nothing in its cache."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(WAIT_MS)
    context.add_init_script(WATCH)
    context.request.get(f"{hub.url}/?token={hub.token}")
    try:
        yield context
    finally:
        context.close()


def _first_screen(report: Report, browser: Browser, hub: Hub) -> None:
    progress("cold loads of the first screen")
    times: list[float] = []
    sizes: list[float] = []
    for _ in range(ROUNDS):
        with _window(browser, hub) as context:
            page = context.new_page()
            page.goto(hub.url, wait_until="commit")
            usable, size = page.evaluate(USABLE)
            times.append(usable)
            sizes.append(size / 1000)
    report.add("browser", "first screen usable, cold", p50(times), "ms", limit=1000)
    report.add("browser", "compressed JavaScript before it", max(sizes), "KB", limit=250)


def _long_thread(hub: Hub) -> str:
    """Questions and answers of the usual kind: markdown, code, a table now and then."""
    answer = "The **answer** is in `notes.md`:\n\n- one\n- two\n\n```python\nprint({n})\n```\n"
    messages = [
        {
            "id": f"m{n:06}",
            "role": "assistant" if n % 2 else "user",
            "content": f"{answer.replace('{n}', str(n))}\nNumber {n}." if n % 2 else f"Question {n}?",
            "at": "2026-01-05T10:00:00Z",
        }
        for n in range(MESSAGES)
    ]
    document = {"format": "manyhands.conversation", "version": 1, "channel": {"name": "Long"}}
    made = hub.request("POST", "/channels/import", document | {"messages": messages})
    return str(made["id"])


def _opening(report: Report, browser: Browser, hub: Hub, channel_id: str) -> None:
    """From the click in the list of channels until its end is seen."""
    progress(f"a thread of {MESSAGES} messages")
    times: list[float] = []
    for _ in range(ROUNDS):
        with _window(browser, hub) as context:
            page = context.new_page()
            page.goto(hub.url)
            link = page.locator(f"a[href='/c/{channel_id}']").first
            link.wait_for()
            page.evaluate(USABLE)
            times.append(float(link.evaluate(OPENED, f"Number {MESSAGES - 1}.")))
    report.add("browser", f"a thread of {MESSAGES:,} messages opens", p50(times), "ms", limit=500)


def _streaming(report: Report, browser: Browser, hub: Hub, channel_id: str) -> None:
    progress(f"{TOKENS} tokens, {PER_SECOND} a second, beside {HIDDEN} hidden windows")
    where = f"{hub.url}/c/{channel_id}"
    with talking(_steadily) as model, _window(browser, hub) as context:
        hub.request("POST", "/models", model.config)
        for _ in range(HIDDEN):
            hidden = context.new_page()
            _settled(hidden, where)
            hidden.evaluate(HIDE)
        page = context.new_page()
        _settled(page, where)
        page.get_by_label("Your message").fill("Go on")
        page.evaluate("window.__long = []")
        page.get_by_label("Your message").press("Enter")
        page.get_by_text(FIRST).first.wait_for()
        began = time.perf_counter()
        page.get_by_text(LAST).wait_for()
        took = time.perf_counter() - began
        page.locator("[data-row=closing]").last.wait_for()
        long: list[float] = page.evaluate("window.__long")
    against = f"{len(long)} tasks over 50 ms in {took:.0f} s"
    report.add(
        "browser", "longest task in a stream", max(long, default=0.0), "ms", limit=100, against=against
    )
    report.add("browser", "tokens shown a second", TOKENS / took, "/s", limit=PER_SECOND * 0.9, at_least=True)


def _settled(page: Page, where: str) -> None:
    page.goto(where)
    page.get_by_text(f"Number {MESSAGES - 1}.").wait_for()


def _steadily(_: list[dict[str, Any]]) -> Iterator[Piece]:
    """Words at a steady pace: late ones come at once, as from a model that is as fast as that."""
    began = time.perf_counter()
    for n in range(TOKENS):
        yield Pause(max(0.0, began + n / PER_SECOND - time.perf_counter()))
        yield ("\n\n" if n % 60 == 59 else "`code` " if n % 17 == 0 else f"word{n} ")
    yield f"\n\n{LAST}"
