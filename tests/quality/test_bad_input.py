"""Directories that nobody would wish for: a clear report, never a crash, no score for what was not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from manyhands.errors import InvalidError, NotFoundError
from manyhands.quality import contents
from manyhands.quality.enumerate import Limits
from manyhands.quality.scan import scan
from tests.quality.projects import write

GOOD = "def f(a):\n    return a\n"


def test_a_syntax_error_is_counted_and_the_rest_of_the_file_is_measured(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def broken(:\n    pass\n\n\n" + GOOD})
    found = contents.summarize(scan(tmp_path))
    assert found["syntax_errors"] > 0
    assert found["broken_files"] == ["a.py"]
    assert found["functions"] >= 1


def test_twenty_megabytes_of_minified_code_are_left_out_by_size(tmp_path: Path) -> None:
    (tmp_path / "bundle.js").write_text("var a=function(b){return b&&b.c?b.d:0};" * 550_000)
    write(tmp_path, {"a.py": GOOD})
    found = contents.summarize(scan(tmp_path))
    assert (found["files"], found["left_out"]) == (1, {"too_large": 1})


def test_bytes_that_are_no_text_are_measured_as_far_as_they_go(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\xff\xfe\x00\x80" * 100 + b"\n" + GOOD.encode())
    (tmp_path / "b.py").write_bytes(b"\x00" * 5000)
    (tmp_path / "c.py").write_bytes(GOOD.encode("utf-16"))
    assert contents.summarize(scan(tmp_path))["files"] == 3


def test_links_that_lead_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"in/a.py": GOOD})
    (tmp_path / "in/again").symlink_to(tmp_path)
    (tmp_path / "in/self.py").symlink_to(tmp_path / "in/self.py")
    found = contents.summarize(scan(tmp_path))
    assert (found["files"], found["left_out"]) == (1, {"link": 2})


def test_an_ignore_file_with_nonsense_in_it_is_read_as_far_as_it_means_something(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": GOOD, "b.py": GOOD, ".gitignore": "!\n\\\nb.py\n[\n", "c/.gitignore/x": ""})
    assert contents.summarize(scan(tmp_path))["left_out"] == {"ignored": 1}
    with pytest.raises(InvalidError, match="pattern '!' means nothing"):
        scan(tmp_path, exclude=("!",))


def test_no_directory_and_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="There is no directory"):
        scan(tmp_path / "gone")
    write(tmp_path, {"a.py": GOOD})
    with pytest.raises(InvalidError, match="is not a directory"):
        scan(tmp_path / "a.py")


def test_beyond_a_limit_nothing_is_read_and_that_is_said(tmp_path: Path) -> None:
    write(tmp_path, {f"{number:04}.py": GOOD * 100 for number in range(50)})
    found = contents.summarize(scan(tmp_path, limits=Limits(files=10)))
    assert (found["files"], found["truncated"], found["left_out"]) == (10, True, {"over_limit": 40})
    by_size = contents.summarize(scan(tmp_path, limits=Limits(total_bytes=10_000)))
    assert by_size["truncated"]
    assert by_size["files"] + by_size["left_out"]["over_limit"] == 50


def test_a_file_that_cannot_be_read_is_counted_and_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.py": GOOD, "b.py": GOOD + "x = 1\n"})
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "b.py":
            raise PermissionError(13, "no")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    found = scan(tmp_path)
    assert found.unmeasured == ("b.py",)
    assert contents.summarize(found)["left_out"] == {"unreadable": 1}
    assert list(found.report.files) == ["a.py"]


def test_names_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"b.py": GOOD})
    try:
        (tmp_path / "a\udcff.py").write_text(GOOD)
    except OSError:  # some systems refuse such names; then there is nothing to see
        return
    found = contents.summarize(scan(tmp_path))
    assert (found["files"], found["left_out"]) == (1, {"odd_name": 1})


def test_a_function_whose_name_cannot_be_shown_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_bytes(b"x = {'a\x00b': function () {}, '\xff\xfe': () => 1}\n")
    names = [one.name for one in scan(tmp_path).report.files["a.js"].functions]
    assert len(names) == 2
    assert all(name.isprintable() for name in names)


def test_a_repository_within_a_repository_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": GOOD, "inner/b.py": GOOD, "inner/.git/HEAD": "ref: refs/heads/x\n"})
    assert len(scan(tmp_path).report.files) == 2
    (tmp_path / ".git").mkdir()
    found = contents.summarize(scan(tmp_path))
    assert (found["files"], found["left_out"]) == (1, {"repository": 1})


def test_a_thousand_nested_functions_and_a_line_of_a_megabyte_do_not_hurt(tmp_path: Path) -> None:
    nested = "".join(f"{'  ' * depth}def f{depth}():\n" for depth in range(95)) + "  " * 95 + "pass\n"
    write(tmp_path, {"a.py": nested, "b.py": "x = [" + "1," * 500_000 + "]\n"})
    found = scan(tmp_path)
    assert len(found.report.files["a.py"].functions) == 95
    assert found.generated == 1
