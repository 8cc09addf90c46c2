"""Where the browser is that the tests drive, and how it is started."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PLACES = (
    "/usr/lib/chromium/chromium",
    "/snap/bin/chromium",
    "/opt/google/chrome/chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> str:
    """The system's Chromium or Chrome, or the one that Playwright has installed."""
    named = os.environ.get("MANYHANDS_TEST_BROWSER")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    found = found or next((place for place in PLACES if Path(place).exists()), None)
    found = found or _of_playwright()
    if found is None:
        raise FileNotFoundError(
            "no Chromium was found; install it (Debian: `apt install chromium`), run"
            " `python -m playwright install chromium`, or name one in MANYHANDS_TEST_BROWSER"
        )
    return found


def _of_playwright() -> str | None:
    home = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    found = sorted(home.glob("chromium-*/chrome-*/chrome*"))
    return next((str(path) for path in reversed(found) if os.access(path, os.X_OK) and path.is_file()), None)


if __name__ == "__main__":
    try:
        print(find_chromium())
    except FileNotFoundError as missing:
        sys.exit(str(missing))
