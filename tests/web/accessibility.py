"""What axe finds on a page: people who cannot see or point are served, too."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
SETTLED = """Promise.allSettled(document.getAnimations()
    .filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished))
    .then(() => 0)"""


@cache
def _source() -> str:
    return AXE.read_text("utf-8")


def serious_findings(page: Page) -> list[str]:
    """Each with where it is. Animations are waited for: what fades in has no contrast yet."""
    page.evaluate(SETTLED)
    page.evaluate(_source())
    found: list[dict[str, Any]] = page.evaluate("axe.run().then((report) => report.violations)")
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]
