"""Scanning a directory from files to numbers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from manyhands.quality import contents
from manyhands.quality import scan as scanning
from manyhands.quality.scan import Control, ScanCancelled, read_layout, scan
from tests.quality.projects import COPIED, MANY, write

FILES = {
    "app/__init__.py": "",
    "app/main.py": "from app.orders import total\n\n\ndef main():\n    return total([], 1)\n",
    "app/orders.py": "def total(rows, limit):\n    return rows[:limit]\n\n\ndef lost():\n    pass\n",
    "app/broken.py": "def half(a:\n    return (\n",
    "app/latin.py": "def g():\n    return 1\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "app/latin.py").write_bytes(b"def g():\n    return '\xe9\xff'\n\n\ng()\n")
    return tmp_path


def test_a_scan_reads_a_project_whole(project: Path) -> None:
    found = scan(project).report
    assert list(found.files) == sorted(FILES)
    assert found.edges["app/main.py"] == ["app/orders.py"]
    assert [(path, function.name) for path, function in found.unreferenced] == [("app/orders.py", "lost")]
    assert found.syntax_errors > 0
    assert 0 < found.scores.quality_signal <= 10_000


def test_a_rescan_measures_only_what_has_changed_and_gives_the_same_numbers(project: Path) -> None:
    first = scan(project)
    again = scan(project, kept=first.kept)
    assert (first.measured, again.measured) == (5, 0)
    assert again.report == first.report
    (project / "app/main.py").write_text("import app.orders\n", encoding="utf-8")
    assert scan(project, kept=again.kept).measured == 1


def test_workers_give_the_same_report_as_one_process(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = scan(project, workers=1)
    monkeypatch.setattr(scanning, "_WORTH_WORKERS", 0)
    monkeypatch.setattr(scanning, "_BATCH", 1)
    seen: list[tuple[int, int]] = []
    together = scan(
        project, workers=2, control=Control(progress=lambda done, all_: seen.append((done, all_)))
    )
    assert together.report == alone.report
    assert seen == [(done, 5) for done in range(1, 6)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_cancelled_scan_ends_with_an_error_that_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(scanning, "_WORTH_WORKERS", 0)
    control = Control()
    control.progress = lambda done, total: control.cancel.set()
    with pytest.raises(ScanCancelled):
        scan(project, workers=workers, control=control)


def test_an_empty_directory_has_nothing_to_judge(tmp_path: Path) -> None:
    found = scan(tmp_path).report
    assert (found.lines, found.functions, found.scores.quality_signal) == (0, 0, 10_000)


def test_a_file_of_minified_code_is_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("var a=1;" * 20_000, encoding="utf-8")
    found = scan(tmp_path)
    assert found.generated == 1
    assert found.report.files == {}


def test_code_of_the_scanned_directory_is_never_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "_WORTH_WORKERS", 0)
    for name in ("pickle", "numpy", "manyhands"):
        (project / f"{name}.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    monkeypatch.chdir(project)
    assert "pickle.py" in scan(project, workers=2).report.files
    assert not (project / "ran").exists()


def test_what_a_worker_had_when_it_died_is_measured_all_the_same(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "_WORTH_WORKERS", 0)
    monkeypatch.setattr(scanning, "_start", _starts_what_dies(scanning._start))
    assert list(scan(project, workers=2).report.files) == sorted(FILES)


def _starts_what_dies(start: object) -> object:
    def begin() -> object:
        process = start()  # type: ignore[operator]
        process.kill()
        return process

    return begin


def test_the_layout_reads_paths_and_modules(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web/tsconfig.json").write_text(
        '{ // why\n "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"], "~t": ["src/t.ts"],}} }',
        encoding="utf-8",
    )
    (tmp_path / "go.mod").write_text("module example.org/app\n\ngo 1.24\n", encoding="utf-8")
    layout = read_layout(tmp_path)
    assert layout.go_modules == (("example.org/app", ""),)
    assert [(alias.prefix, alias.targets, alias.exact) for alias in layout.aliases] == [
        ("@/", ("web/src/",), False),
        ("~t", ("web/src/t.ts",), True),
        ("", ("web/",), False),
    ]


def _pick(chance: random.Random, number: int) -> str | None:
    """A file of chance: imports, copies of different make, names that are used or not; none: it goes."""
    if number > 6 and chance.random() < 0.2:
        return None
    lines = [f"import app.m{chance.randrange(9)}" for _ in range(chance.randrange(3))]
    for _ in range(chance.randrange(4)):
        copied = COPIED.format(name=f"f{chance.randrange(12)}")
        extra = "    total = sum(found)\n" * chance.randrange(3)
        lines.append(copied.replace("    return found", f"{extra}    return f{chance.randrange(12)}"))
    if chance.random() < 0.3:
        lines.append(MANY)
    return "\n".join(lines) + "\n"


def test_whatever_was_known_before_the_same_tree_gives_the_same_report(tmp_path: Path) -> None:
    chance = random.Random(8)
    kept = scan(tmp_path).kept
    seen: dict[str, set[int]] = {"cycles": set(), "copies": set(), "unused": set()}
    for number in range(60):
        text = _pick(chance, number)
        path = tmp_path / f"app/m{chance.randrange(9)}.py"
        if text is None:
            path.unlink(missing_ok=True)
        else:
            write(tmp_path, {f"app/{path.name}": text})
        found, fresh = scan(tmp_path, kept=kept), scan(tmp_path)
        assert found.report == fresh.report
        assert contents.lists(found) == contents.lists(fresh)
        assert contents.summarize(found) | {"measured": 0} == contents.summarize(fresh) | {"measured": 0}
        kept = found.kept
        seen["cycles"].add(len(found.report.graph.cycles))
        seen["copies"].add(len(found.report.clusters))
        seen["unused"].add(len(found.report.unreferenced))
    assert all(len(counts) > 1 for counts in seen.values()), "the trees were all alike"
