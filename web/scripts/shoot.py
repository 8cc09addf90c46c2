"""Pictures of one page of a running hub, in both themes and two widths.

Usage: python web/scripts/shoot.py 'http://127.0.0.1:8222/?token=…' /servers OUT_DIRECTORY [CSS_TO_CLICK]…
"""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urljoin

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.web.chromium import FLAGS, find_chromium

SIZES = {"wide": (1440, 900), "phone": (390, 844)}


def main(address: str, path: str, out: str, *clicks: str) -> None:
    name = path.strip("/").replace("/", "-") or "home"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        for theme in ("light", "dark"):
            for size, (width, height) in SIZES.items():
                context = browser.new_context(
                    color_scheme=theme,  # type: ignore[arg-type]
                    viewport={"width": width, "height": height},
                    device_scale_factor=1,
                )
                page = context.new_page()
                page.on("console", lambda said: print("console:", said.type, said.text))
                page.on("pageerror", lambda error: print("error:", error))
                page.goto(address)
                page.goto(urljoin(address, path))
                page.wait_for_load_state("networkidle")
                for selector in clicks:
                    page.click(selector)
                    page.wait_for_timeout(400)
                page.wait_for_timeout(400)
                page.screenshot(path=f"{out}/{name}-{theme}-{size}.png")
                context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
