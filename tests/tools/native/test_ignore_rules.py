"""Ignore files mean here what they mean to git, and globs what they mean to ripgrep."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from manyhands.tools.native.ignore_rules import glob_regex, is_ignored, parse_ignore_file
from manyhands.tools.native.search_worker import Walk

NAMES = ["a", "b", "foo", "bar", "build", "x.py", "y.log", "z z", "a[b", "#c"]
PATTERNS = """*.log|foo|/foo|foo/|build/|!foo|!*.log|a/*|/a/*|!a/b|**/bar|a/**|a/**/b|**/foo/**|*|!*/|!x.py|/*
[ab]|[!a]|[^a]|[a-c]|x.?y|foo\\ |z z|z z  |#c|\\#c||  |z*|**|b/**/x.py|!/a/|a[[]b|a\\[b|[[:alpha:]]|***|a/***
?|foo/*/bar|!foo/bar/|/**/b|b**|a/b/ |[z-a]|[a|foo\\""".replace("\n", "|").split("|")


def plant(root: Path, chance: random.Random) -> None:
    """A repository with some directories, files and ignore files."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    directories = [root]
    for _ in range(chance.randint(1, 7)):
        directory = chance.choice(directories) / chance.choice(NAMES[:6])
        if not directory.exists():
            directory.mkdir()
            directories.append(directory)
    for _ in range(14):
        file = chance.choice(directories) / chance.choice(NAMES)
        if not file.exists():
            file.write_text("x")
    for directory in chance.sample(directories, min(len(directories), 2)):
        lines = chance.choices(PATTERNS, k=chance.randint(1, 5))
        (directory / ".gitignore").write_bytes(chance.choice(["\n", "\r\n"]).join(lines).encode())


@pytest.mark.parametrize("seed", range(40))
def test_the_same_files_are_left_as_with_git(tmp_path: Path, seed: int) -> None:
    plant(tmp_path, random.Random(seed))
    command = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    theirs = {path for path in listed.split("\0") if path and not path.endswith(".gitignore")}
    assert {path for path, _, _ in Walk(str(tmp_path), [], None)} == theirs


def test_the_file_that_counts_most_decides() -> None:
    outer, inner = parse_ignore_file("*.log\n"), parse_ignore_file("!keep.log\n", "logs/")
    assert is_ignored([inner, outer], "logs/other.log", "other.log", False)
    assert not is_ignored([inner, outer], "logs/keep.log", "keep.log", False)


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/deep/down/a.py", True),
        ("/src/*.py", "src/a.py", True),
        ("src/", "src/deep/a.py", True),
        ("*.{ts,tsx}", "web/app.tsx", True),
        ("*.{ts,tsx}", "web/app.js", False),
        ("{src,tests}/**", "tests/a/b.py", True),
        ("{a,b{c,d}}.txt", "bd.txt", True),
        ("*.{py", "x.{py", True),
        ("[!_]*.py", "_a.py", False),
        ("?.py", "a.py", True),
    ],
)
def test_globs_mean_what_people_write(glob: str, path: str, matches: bool) -> None:
    assert bool(glob_regex(glob).fullmatch(path)) is matches
