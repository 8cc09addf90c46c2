"""`search_files` finds what a person would, and never takes for ever."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.home import Home
from manyhands.tools.native.search_files import DEFINITION, SearchFiles
from manyhands.tools.types import ToolResult
from tests.tools.desk import ChangingSettings
from tests.tools.native.calling import Call, call

pytestmark = pytest.mark.anyio

SLOW = r"(a|aa)+$"
SLOW_TEXT = "a" * 60 + "!"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project. `needle` is in every file."""
    root = tmp_path / "project"
    files = {
        "main.py": "import os\nneedle = 1\n",
        "src/app.ts": "const needle = 2\n",
        "src/deep/util.py": "# a needle\n# Needle\n",
        "src/deep/.gitignore": "*.gen\n",
        "src/deep/x.gen": "needle\n",
        "src/keep.log": "needle\n",
        "debug.log": "needle\n",
        "build/out.txt": "needle\n",
        ".env": "needle\n",
        ".github/ci.yml": "needle\n",
        ".gitignore": "*.log\n!keep.log\n/build/\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "image.bin").write_bytes(b"needle\0")
    return root


async def search(root: Path, pattern: str, **more: Any) -> ToolResult:
    return await call(SearchFiles(ChangingSettings()), root, pattern=pattern, **more)


def paths(result: ToolResult) -> list[str]:
    return [line.split(":")[0] for line in result.text.splitlines() if ":" in line and line[0] != "["]


def test_it_only_reads() -> None:
    assert DEFINITION.annotations.read_only


async def test_matches_come_as_path_line_and_text_in_order(tree: Path) -> None:
    result = await search(tree, "needle")
    assert result.text == (
        "main.py:2: needle = 1\nsrc/app.ts:1: const needle = 2\nsrc/deep/util.py:1: # a needle\n"
        "src/keep.log:1: needle"
    )
    assert result.structured == {"matches": 4, "files": 4, "searched": 4, "complete": True}


async def test_hidden_ignored_and_binary_files_are_left_out_unless_they_are_named(tree: Path) -> None:
    assert paths(await search(tree, "needle", path="build")) == ["build/out.txt"]
    assert paths(await search(tree, "needle", path=".github")) == [".github/ci.yml"]
    assert paths(await search(tree, "needle", path="debug.log")) == ["debug.log"]
    assert paths(await search(tree, "needle", glob="*.log")) == ["debug.log", "src/keep.log"]
    assert paths(await search(tree, "needle", glob=".env")) == [".env"]
    assert paths(await search(tree, "needle", path="image.bin")) == []


async def test_a_glob_says_which_files(tree: Path) -> None:
    assert paths(await search(tree, "needle", glob="*.py")) == ["main.py", "src/deep/util.py"]
    assert paths(await search(tree, "needle", glob="src/**/*.{ts,py}")) == ["src/app.ts", "src/deep/util.py"]
    assert paths(await search(tree, "needle", glob="deep/*.py", path="src")) == ["src/deep/util.py"]
    assert paths(await search(tree, "needle", glob="!src")) == ["main.py"]
    assert paths(await search(tree, "needle", glob="**/*")) == paths(await search(tree, "needle"))


@pytest.mark.parametrize("glob", [None, "hub/token", "**/token", "*", "!main.py"])
async def test_the_home_of_a_hub_is_not_searched_whatever_is_named(tree: Path, glob: str | None) -> None:
    home = Home(tree / "src/hub")
    token = home.token()
    for path in (".", "src"):
        result = await search(tree, re.escape(token), path=path, glob=glob)
        assert (token in result.text, result.structured["matches"]) == (False, 0)
    (home.worktrees / "one").mkdir(parents=True)
    (home.worktrees / "one" / "a.py").write_text("needle\n")
    assert paths(await search(home.worktrees / "one", "needle")) == ["a.py"]


def make_repository(directory: Path) -> None:
    subprocess.run(["git", "init", "-q", str(directory)], check=True)


async def test_ignore_files_above_the_directory_count_too(tree: Path) -> None:
    make_repository(tree)
    (tree / "src" / "other.log").write_text("needle\n")
    (tree / ".git" / "info" / "exclude").write_text("app.ts\n")
    assert paths(await search(tree / "src", "needle")) == ["deep/util.py", "keep.log"]
    assert paths(await search(tree, "needle", path="src")) == ["src/deep/util.py", "src/keep.log"]


async def test_a_repository_inside_of_another_has_its_own_rules(tree: Path) -> None:
    make_repository(tree / "src")
    (tree / "src" / "other.log").write_text("needle\n")
    assert "src/other.log" in paths(await search(tree, "needle"))


async def test_links_are_not_followed(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("needle\n")
    (tree / "link").symlink_to(outside)
    (tree / "file.txt").symlink_to(outside / "secret.txt")
    assert not {"link/secret.txt", "file.txt"} & set(paths(await search(tree, "needle")))
    with pytest.raises(ToolRefusal, match="outside"):
        await search(tree, "needle", path="link")


async def test_case_can_be_ignored(tree: Path) -> None:
    assert "# Needle" not in (await search(tree, "needle")).text
    assert "src/deep/util.py:2: # Needle" in (await search(tree, "needle", ignore_case=True)).text


async def test_context_shows_the_lines_around(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\nseven\n")
    result = await search(tmp_path, "two|six", context=1)
    assert result.text.splitlines() == [
        "--",
        "a.txt-1- one",
        "a.txt:2: two",
        "a.txt-3- three",
        "--",
        "a.txt-5- five",
        "a.txt:6: six",
        "a.txt-7- seven",
    ]


async def test_more_than_the_limit_is_cut_and_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("needle\n" * 5)
    (tmp_path / "b.txt").write_text("needle\n" * 5)
    exact = await search(tmp_path, "needle", limit=10)
    assert "cut" not in exact.text
    cut = await search(tmp_path, "needle", limit=5)
    assert paths(cut) == ["a.txt"] * 5
    assert "[cut after 5 matching lines; there are more" in cut.text
    assert cut.structured["complete"] is False


async def test_more_than_fits_is_cut_and_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(("needle" + "." * 100 + "\n") * 500)
    settings = ChangingSettings()
    settings.change(result_limit_chars=2000)
    result = await call(SearchFiles(settings), tmp_path, pattern="needle", limit=500)
    assert len(result.text) <= 2000
    assert "to bound the size" in result.text


async def test_nothing_found_says_where_it_was_looked_for(tree: Path) -> None:
    assert (await search(tree, "gold")).text == "No line matches in '.' (4 files searched)."
    assert "Hidden files" in (await search(tree, "gold", glob="*.rs")).text


async def test_a_pattern_that_takes_for_ever_is_ended_and_the_rest_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("aaa\n")
    (tmp_path / "b.txt").write_text(SLOW_TEXT)
    result = await call(SearchFiles(ChangingSettings(), time_limit_s=0.5), tmp_path, pattern=SLOW)
    assert "a.txt:1: aaa" in result.text
    assert "[the search was ended after 0.5 s at b.txt and is not complete" in result.text


def workers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "search_worker" in _command_of(child)]


def _command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):  # it has just ended
        return ""


async def test_a_search_that_is_cancelled_ends_at_once(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text(SLOW_TEXT)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(SearchFiles(ChangingSettings()), {"pattern": SLOW}, Call(tmp_path))
        while not workers():  # noqa: ASYNC110 - another process gives no event here
            await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    assert workers() == []


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("foo(", "not a regular expression: missing"),
        ("*", "nothing to repeat"),
        ("a\\nb", "line break"),
        ("a\nb", "line break"),
        ("[[:alpha:]]", "POSIX"),
    ],
)
async def test_a_bad_pattern_says_what_is_wrong_with_it(tree: Path, pattern: str, message: str) -> None:
    with pytest.raises(ToolFault, match=message):
        await search(tree, pattern)


async def test_an_escaped_backslash_before_an_n_is_no_line_break(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("C:\\new\n")
    assert (await search(tmp_path, r"C:\\new")).text == "a.txt:1: C:\\new"


async def test_a_path_that_is_not_there_is_named(tree: Path) -> None:
    with pytest.raises(ToolFault, match="There is no 'gone'"):
        await search(tree, "needle", path="gone")
    with pytest.raises(ToolRefusal, match="outside"):
        await search(tree, "needle", path="..")


async def test_odd_names_and_deep_directories_are_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"odd\xff.txt")).write_text("needle\n")
    deep = tmp_path
    for _ in range(300):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "x.txt").write_text("needle\n")
    found = (await search(tmp_path, "needle")).text.splitlines()
    assert found[0].endswith("/d/x.txt:1: needle")
    assert found[1] == "odd�.txt:1: needle"


async def test_what_cannot_be_read_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("needle\n")
    with (tmp_path / "large.txt").open("wb") as large:
        large.truncate(200_000_000)  # takes no room: it has a hole
    assert "[1 files or directories could not be read or are too large]" in (await search(tmp_path, "x")).text
