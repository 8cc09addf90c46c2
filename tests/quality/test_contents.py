"""What is kept and shown of a scan."""

from __future__ import annotations

import json
from pathlib import Path

from manyhands.quality import contents
from manyhands.quality.metrics import geo_mean
from manyhands.quality.scan import scan
from tests.quality.projects import SHOP, write


def test_a_summary_gives_the_numbers_and_their_reasons(tmp_path: Path) -> None:
    found = contents.summarize(scan(write(tmp_path, SHOP)))
    json.dumps(found)
    assert (found["files"], found["functions"], found["loc"]) == (5, 5, 25)
    assert found["languages"] == {"python": {"files": 5, "loc": 25}}
    metrics = found["metrics"]
    assert metrics["cycles"]["reasons"] == ["2 of 5 files are in 1 import cycle."]
    assert metrics["cycles"]["score"] == 0.6
    assert metrics["depth"]["worst"] == [{"chain": ["shop/main.py", "shop/orders.py"]}]
    assert metrics["equality"]["worst"][0] == {"path": "shop/prices.py", "loc": 11}
    assert metrics["redundancy"]["reasons"] == [
        "2 of 4 functions that could be judged are never referenced.",
        "16 of 25 lines are in functions that have copies (1 group).",
    ]
    assert metrics["complexity"]["reasons"] == [
        "1 of 5 functions is over a threshold.",
        "parameters over 5: 1.",
    ]
    mean = geo_mean([metric["score"] for metric in metrics.values()])
    assert found["quality_signal"] == round(mean * 10_000)


def test_files_say_what_harms_in_them(tmp_path: Path) -> None:
    written = contents.lists(scan(write(tmp_path, SHOP)))["files"]
    rows = {row["path"]: row for row in map(json.loads, written)}
    prices = rows["shop/prices.py"]
    assert (prices["duplicated"], prices["in_cycle"], prices["functions"]) == (8, True, 2)
    assert prices["harm"] == round(1 - (8 + 2 * 5 / 7) / 10, 4)
    assert rows["shop/main.py"]["harm"] == 0


def test_functions_are_listed_with_all_that_was_measured_the_worst_first(tmp_path: Path) -> None:
    odd = {'shop/\u00e9 ".py': "def lost():\n    pass\n"}
    first, *rest = map(json.loads, contents.lists(scan(write(tmp_path, SHOP | odd)))["functions"])
    assert first == {
        "path": "shop/prices.py",
        "name": "many",
        "line": 14,
        "end_line": 15,
        "cyclomatic": 1,
        "cognitive": 0,
        "nesting": 0,
        "parameters": 7,
        "lines": 2,
        "score": 0.7143,
        "over": ["parameters"],
    }
    assert {row["path"] for row in rest} == {*SHOP, *odd} - {"shop/__init__.py"}


def test_nothing_measured_has_reasons_that_say_so(tmp_path: Path) -> None:
    found = contents.summarize(scan(tmp_path))
    assert {metric["score"] for metric in found["metrics"].values()} == {1.0}
    assert {metric["raw"] for metric in found["metrics"].values()} == {None}
    reasons = {name: " ".join(metric["reasons"]) for name, metric in found["metrics"].items()}
    assert reasons.pop("complexity") == "There are no functions."
    assert all("nothing to judge" in said for said in reasons.values())
