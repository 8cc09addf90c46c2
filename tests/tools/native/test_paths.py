"""Nothing leads out of the channel's directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.home import Home
from manyhands.testing.tools import QuietInvocation
from manyhands.tools.native.paths import Place, explained, find_place, root_of
from manyhands.tools.types import CallContext


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a secret beside it."""
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    (project / "docs" / "a.md").write_text("inside")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("outside")
    (tmp_path / "project-two").mkdir()
    return project


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("docs/a.md", "docs/a.md"),
        ("./docs//a.md", "docs/a.md"),
        ("docs/../docs/a.md", "docs/a.md"),
        (".", "."),
        ("docs/..", "."),
        ("new/file.txt", "new/file.txt"),
        ("~/x", "~/x"),
        ("$HOME/x", "$HOME/x"),
        ("..hidden", "..hidden"),
    ],
)
def test_paths_that_stay_inside(root: Path, path: str, shown: str) -> None:
    assert find_place(str(root), path).shown == shown


def test_an_absolute_path_may_be_used_where_it_leads_inside(root: Path) -> None:
    assert find_place(str(root), str(root / "docs" / "a.md")).shown == "docs/a.md"


@pytest.mark.parametrize(
    "path",
    ["..", "../secret/key", "docs/../../secret/key", "/etc/passwd", "/", "../project-two", "docs/../.."],
)
def test_paths_that_lead_out_are_refused(root: Path, path: str) -> None:
    with pytest.raises(ToolRefusal, match="outside"):
        find_place(str(root), path)


@pytest.mark.parametrize("follow", [True, False])
def test_links_that_lead_out_are_refused(root: Path, follow: bool) -> None:
    (root / "out").symlink_to(root.parent / "secret")
    (root / "dangling").symlink_to("/nowhere/at/all")
    (root / "chain").symlink_to("out")
    for path in ("out/key", "chain/key", "docs/../out/key"):
        with pytest.raises(ToolRefusal, match="outside"):
            find_place(str(root), path, follow=follow)
    with pytest.raises(ToolRefusal, match="outside"):
        find_place(str(root), "dangling")


def test_a_link_inside_is_followed_and_without_following_it_means_itself(root: Path) -> None:
    (root / "link").symlink_to("docs/a.md")
    assert find_place(str(root), "link").shown == "docs/a.md"
    assert find_place(str(root), "link", follow=False).shown == "link"


def test_a_root_that_is_a_link_itself_is_a_root(root: Path) -> None:
    (root.parent / "alias").symlink_to(root)
    invocation = QuietInvocation(CallContext(directory=str(root.parent / "alias")))
    assert find_place(root_of(invocation), "docs/a.md").path == str(root / "docs" / "a.md")


@pytest.mark.parametrize(("path", "error"), [("", ToolFault), ("a\0b", ToolRefusal), ("a\ud800", ToolFault)])
def test_paths_that_no_file_can_have(root: Path, path: str, error: type[ToolFault]) -> None:
    with pytest.raises(error):
        find_place(str(root), path)


def test_a_link_that_is_put_in_the_way_after_the_check_does_not_lead_out(root: Path) -> None:
    place = find_place(str(root), "docs/a.md")
    (root / "docs").rename(root / "docs-old")
    (root / "docs").symlink_to(root.parent / "secret")
    (root.parent / "secret" / "a.md").write_text("outside")
    with pytest.raises(ToolFault), explained("docs/a.md"), place.entry() as (name, parent):
        os.open(name, os.O_RDONLY, dir_fd=parent)


def test_no_directory_and_one_that_is_gone_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(ToolFault, match="has no directory"):
        root_of(QuietInvocation())
    with pytest.raises(ToolFault, match="does not exist"):
        root_of(QuietInvocation(CallContext(directory=str(tmp_path / "gone"))))


def test_the_root_itself_is_no_entry(root: Path) -> None:
    with pytest.raises(ToolRefusal), Place(str(root), ()).entry():
        pass


@pytest.mark.parametrize(
    ("number", "words"),
    [(28, "disk is full"), (13, "may not be used"), (36, "too long"), (5, "Input/output")],
)
def test_errors_of_the_system_are_explained(number: int, words: str) -> None:
    with pytest.raises(ToolFault, match=words), explained("a.md"):
        raise OSError(number, os.strerror(number))


@pytest.mark.parametrize("path", [".hub", ".hub/token", "docs/../.hub/logs/x", "link/token"])
def test_the_home_of_a_hub_is_out_of_reach_even_inside_the_directory(root: Path, path: str) -> None:
    home = Home(root / ".hub")
    home.token()
    (root / "link").symlink_to(home.path)
    with pytest.raises(ToolRefusal, match="home of a hub"):
        find_place(str(root), path)
    with pytest.raises(ToolRefusal, match="home of a hub"):
        find_place(str(home.path), "token")
    assert find_place(str(root), "docs/a.md").shown == "docs/a.md"
