"""Windows of the browser. The profile that a test has used is cleaned, and another test uses it.

The first page of a new profile takes a process of its own and reads the whole UI anew, which costs three
times as much as the same page in a profile where another one is still open.
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

SOON_MS = 60_000
Theme = Literal["light", "dark"]
# A page of a playground, which runs in here too, has no storage.
WELCOMED = "try { localStorage.setItem('manyhands.welcomed', 'yes') } catch {}"


class Profile:
    """What one person's browser keeps: cookies and storage. It may have many windows."""

    def __init__(self, browser: Browser, *, welcomed: bool) -> None:
        self._context = browser.new_context(viewport={"width": 1280, "height": 860})
        self.welcomed = welcomed
        self._context.set_default_timeout(SOON_MS)
        if welcomed:  # this person has been here before
            self._context.add_init_script(WELCOMED)
        self._keeper: Page | None = None
        self._origins: set[str] = set()

    def open(self, url: str, theme: Theme, width: int, height: int) -> Page:
        """A window that has gone nowhere yet."""
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        if self._keeper is None:  # keeps the process of later windows alive
            self._keeper = self._context.new_page()
            self._keeper.goto(f"{origin}/favicon.svg" if origin.startswith("http") else "about:blank")
        self._origins.add(origin)
        page = self._context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme)
        return page

    def clean(self) -> None:
        """As a new one, but for what it has cached."""
        for page in self._context.pages:
            if page is not self._keeper:
                page.close()
        self._context.unroute_all(behavior="ignoreErrors")
        self._context.clear_permissions()
        self._context.clear_cookies()
        if self._keeper is not None:
            storage = self._context.new_cdp_session(self._keeper)
            for origin in self._origins:
                storage.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
            storage.detach()
        self._origins.clear()


class Profiles:
    """Those that nobody uses."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: dict[bool, list[Profile]] = {True: [], False: []}

    def take(self, *, welcomed: bool) -> Profile:
        idle = self._idle[welcomed]
        return idle.pop() if idle else Profile(self._browser, welcomed=welcomed)

    def take_back(self, profile: Profile) -> None:
        profile.clean()
        self._idle[profile.welcomed].append(profile)
