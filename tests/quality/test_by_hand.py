"""The project that docs/quality.md recomputes by hand has those very numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from manyhands.quality import contents
from manyhands.quality.scan import scan
from tests.quality.projects import write

GUIDE = (Path(__file__).parents[2] / "docs" / "quality.md").read_text(encoding="utf-8")
PART = GUIDE.partition("\n## By hand\n")[2].partition("\n## ")[0]
FILE = re.compile(r"```python\n# (\S+)\n(.*?)```", re.DOTALL)
ROW = re.compile(r"^\| `(\w+)` \|.*\| ([\d.]+) \|$", re.MULTILINE)


def test_what_the_documentation_recomputes_by_hand_is_what_a_scan_says(tmp_path: Path) -> None:
    found = contents.summarize(scan(write(tmp_path, dict(FILE.findall(PART)))))
    scores = {name: float(score) for name, score in ROW.findall(PART)}
    assert {name: metric["score"] for name, metric in found["metrics"].items()} == pytest.approx(
        scores, abs=1e-6
    )
    assert len(scores) == 6
    assert (found["files"], found["loc"]) == (3, 21)
    assert f"the signal {found['quality_signal']:,}." in PART
    assert f"sixth root {found['geo_mean']:.6f}" in PART
