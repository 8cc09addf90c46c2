"""The right files are found, each once, and nothing outside of the roots."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from manyhands.home import HOME_MARK
from manyhands.memory.roots import Roots, global_roots, is_within, project_roots, shown_path
from manyhands.memory.walking import Walk


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def found(root: Path, *settings: str) -> list[str]:
    walk = Walk(project_roots(str(root), settings or (".",)))
    files = [file.shown for file in walk.files()]
    assert len(files) == len(set(files))
    named = set(Walk(walk.roots).directories())
    assert all(os.path.dirname(file.path) in named or file.path in named for file in Walk(walk.roots).files())
    for name in files:  # one by one they are found as well
        path = os.path.join(root, name)
        if os.path.realpath(path) == path:
            assert Walk(walk.roots).one(path) is not None, name
    return sorted(files)


def test_texts_are_found_and_nothing_else(tmp_path: Path) -> None:
    make(
        tmp_path,
        "a.md",
        "b.TXT",
        "c.rst",
        "d/e/f.org",
        "d/g.mdx",
        "h.py",
        "i",
        "node_modules/x/y.md",
        ".git/z.md",
    )
    assert found(tmp_path) == ["a.md", "b.TXT", "c.rst", "d/e/f.org", "d/g.mdx"]
    assert found(tmp_path, "d") == ["d/e/f.org", "d/g.mdx"]
    assert found(tmp_path, "a.md", "d/e", "nowhere") == ["a.md", "d/e/f.org"]
    assert found(tmp_path, ".", "!d/", "!*.rst") == ["a.md", "b.TXT"]


def test_ignored_files_are_left_out_at_every_level(tmp_path: Path) -> None:
    make(
        tmp_path, "a.md", "drafts/b.md", "docs/c.md", "docs/d.draft.md", "docs/keep.draft.md", "docs/gen/e.md"
    )
    (tmp_path / ".gitignore").write_text("# none of these\ndrafts/\n*.draft.md\n")
    (tmp_path / "docs/.gitignore").write_text("!keep.draft.md\n/gen\n")
    assert found(tmp_path) == ["a.md", "docs/c.md", "docs/keep.draft.md"]
    walk = Walk(project_roots(str(tmp_path), (".",)))
    assert sorted(walk.directories()) == [str(tmp_path), str(tmp_path / "docs")]
    assert walk.one(str(tmp_path / "drafts/b.md")) is None
    assert walk.one(str(tmp_path / "docs/gen/e.md")) is None


def test_ignore_files_above_the_root_hold_up_to_the_repository(tmp_path: Path) -> None:
    make(tmp_path, "repo/sub/a.md", "repo/sub/b.md")
    (tmp_path / ".gitignore").write_text("a.md\n")
    (tmp_path / "repo/.gitignore").write_text("b.md\n")
    assert found(tmp_path / "repo/sub") == ["a.md", "b.md"]
    (tmp_path / "repo/.git").mkdir()
    assert found(tmp_path / "repo/sub") == ["a.md"]


def test_links_are_followed_once_and_never_out_of_the_roots(tmp_path: Path) -> None:
    project = tmp_path / "project"
    make(tmp_path, "project/a.md", "project/deep/b.md", "outside/secret.md")
    (project / "deep/loop").symlink_to(project)
    (project / "again.md").symlink_to(project / "a.md")
    (project / "out").symlink_to(tmp_path / "outside")
    (project / "secret.md").symlink_to(tmp_path / "outside/secret.md")
    (project / "broken.md").symlink_to(project / "nothing.md")
    (project / "self.md").symlink_to("self.md")
    assert found(project) == ["a.md", "deep/b.md"]
    assert Walk(project_roots(str(project), (".",))).one(str(project / "secret.md")) is None
    outside = str(tmp_path / "outside")
    assert found(project, ".", outside) == [str(tmp_path / "outside/secret.md"), "a.md", "deep/b.md"]


def test_a_home_of_the_hub_belongs_to_no_project(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "hub/results/b.txt", "hub/memory/c.md")
    (tmp_path / "hub" / HOME_MARK).touch()
    assert found(tmp_path) == ["a.md"]
    walk = Walk(global_roots(str(tmp_path / "hub/memory"), ()))
    assert [file.shown for file in walk.files()] == ["c.md"]


def test_what_cannot_be_listed_is_a_problem_and_the_rest_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a.md", "closed/b.md")
    real = os.listdir

    def listdir(path: str) -> list[str]:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    walk = Walk(project_roots(str(tmp_path), (".",)))
    assert [file.shown for file in walk.files()] == ["a.md"]
    assert [(one.path, one.reason) for one in walk.problems] == [
        ("closed", "It cannot be read: Permission denied.")
    ]


def test_a_name_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).write_text("x")
    walk = Walk(project_roots(str(tmp_path), (".",)))
    assert [file.shown for file in walk.files()] == ["a.md"]
    assert ["not UTF-8" in one.reason for one in walk.problems] == [True]


def test_paths_are_shown_from_the_project() -> None:
    assert shown_path("/p/a/b.md", "/p") == "a/b.md"
    assert shown_path("/px/b.md", "/p") == "/px/b.md"
    assert shown_path("/px/b.md", None) == "/px/b.md"
    assert is_within("/p", ["/p"])
    assert is_within("/p/x", ["/"])
    assert not is_within("/px", ["/p"])


def test_no_roots_have_no_files() -> None:
    assert list(Walk(Roots(None)).files()) == []
