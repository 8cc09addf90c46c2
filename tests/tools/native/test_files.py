"""Native tools that change and list files."""

from __future__ import annotations

import os
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.home import Home
from manyhands.tools.native import files
from manyhands.tools.native.files import (
    create_directory,
    delete_file,
    list_directory,
    rename_file,
    write_file,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


def write(root: Path, **arguments: Any) -> str:
    return write_file(str(root), arguments).text


# --- write_file


def test_a_file_is_written_and_replaced(root: Path) -> None:
    assert write(root, path="a.md", content="grüße\r\n") == "Wrote a.md (9 bytes)."
    assert (root / "a.md").read_bytes() == "grüße\r\n".encode()
    assert write(root, path="a.md", content="") == "Replaced a.md (0 bytes)."
    assert os.listdir(root) == ["a.md"]


def test_directories_above_are_made_only_when_asked_for(root: Path) -> None:
    with pytest.raises(ToolFault, match='Set "create_parents"'):
        write(root, path="deep/er/a.md", content="x")
    assert os.listdir(root) == []
    write(root, path="deep/er/a.md", content="x", create_parents=True)
    assert (root / "deep" / "er" / "a.md").read_text() == "x"


def test_permissions_of_a_file_that_is_replaced_stay(root: Path) -> None:
    (root / "run.sh").write_text("old")
    (root / "run.sh").chmod(0o750)
    write(root, path="run.sh", content="new")
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o750


def test_a_link_inside_is_written_through_and_stays_a_link(root: Path) -> None:
    (root / "real.md").write_text("old")
    (root / "link.md").symlink_to("real.md")
    write(root, path="link.md", content="new")
    assert (root / "link.md").is_symlink()
    assert (root / "real.md").read_text() == "new"


def test_nothing_is_written_through_a_link_that_leads_out(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "target")
    with pytest.raises(ToolRefusal):
        write(root, path="out", content="x")
    assert not (root.parent / "target").exists()


def test_a_directory_is_not_replaced(root: Path) -> None:
    (root / "docs").mkdir()
    with pytest.raises(ToolFault, match="not a regular file"):
        write(root, path="docs", content="x")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolFault, match="disk is full"):
        write(root, path="a.md", content="new")
    assert os.listdir(root) == ["a.md"]
    assert (root / "a.md").read_text() == "old"


def test_a_name_may_be_as_long_as_the_system_allows(root: Path) -> None:
    name = "漢" * 81 + "."
    assert len(name.encode()) == 244
    write(root, path=name, content="x")
    assert os.listdir(root) == [name]


def test_half_a_surrogate_pair_is_no_text(root: Path) -> None:
    with pytest.raises(ToolFault, match="surrogate"):
        write(root, path="a.md", content="\ud800")


# --- rename_file


def rename(root: Path, **arguments: Any) -> str:
    return rename_file(str(root), arguments).text


def test_files_and_directories_are_renamed(root: Path) -> None:
    (root / "a").mkdir()
    (root / "a" / "x.md").write_text("x")
    assert rename(root, path="a/x.md", new_path="y.md") == "Renamed a/x.md to y.md."
    assert rename(root, path="a", new_path="b") == "Renamed a to b."
    assert sorted(os.listdir(root)) == ["b", "y.md"]


def test_an_existing_file_is_replaced_only_when_asked_for(root: Path) -> None:
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    with pytest.raises(ToolFault, match='Set "overwrite"'):
        rename(root, path="a", new_path="b")
    rename(root, path="a", new_path="b", overwrite=True)
    assert (root / "b").read_text() == "a"


def test_a_link_is_renamed_itself(root: Path) -> None:
    (root / "link").symlink_to("/nowhere")
    rename(root, path="link", new_path="other")
    assert (root / "other").is_symlink()


@pytest.mark.parametrize(
    ("path", "new_path", "words"),
    [
        ("missing", "b", "There is no 'missing'"),
        ("a", "missing/b", "There is no 'missing/b'"),
        ("d", "d/e", "inside of"),
        ("a", "../b", "outside"),
        ("../a", "b", "outside"),
        (".", "b", "inside of|directory itself"),
    ],
)
def test_renames_that_cannot_be(root: Path, path: str, new_path: str, words: str) -> None:
    (root / "a").write_text("a")
    (root / "d").mkdir()
    with pytest.raises(ToolFault, match=words):
        rename(root, path=path, new_path=new_path)
    assert sorted(os.listdir(root)) == ["a", "d"]


def test_a_directory_with_the_home_of_a_hub_in_it_stays_where_it_is(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Home(root / "mid" / "deep" / "hub").create()
    (root / "link").symlink_to("mid")
    with pytest.raises(ToolRefusal, match="home of a hub is in 'mid'"):
        rename(root, path="mid", new_path="moved")
    assert rename(root, path="link", new_path="other") == "Renamed link to other."
    (root / "many" / "parts").mkdir(parents=True)
    monkeypatch.setattr(files, "LOOKED_AT", 1)
    with pytest.raises(ToolRefusal, match="too many directories"):
        rename(root, path="many", new_path="moved")
    assert sorted(os.listdir(root)) == ["many", "mid", "other"]


def test_a_second_name_of_the_same_file_is_said_to_be_one(root: Path) -> None:
    (root / "a").write_text("a")
    (root / "b").hardlink_to(root / "a")
    with pytest.raises(ToolFault, match="two names of the same file"):
        rename(root, path="a", new_path="b", overwrite=True)
    assert rename(root, path="a", new_path="c") == "Renamed a to c."


# --- delete_file


def delete(root: Path, path: str) -> str:
    return delete_file(str(root), {"path": path}).text


def test_files_links_and_empty_directories_are_deleted(root: Path) -> None:
    (root / "a").write_text("a")
    (root / "target").write_text("t")
    (root / "link").symlink_to("target")
    (root / "empty").mkdir()
    assert delete(root, "a") == "Deleted a."
    assert delete(root, "link") == "Deleted link."
    assert delete(root, "empty") == "Deleted the empty directory empty."
    assert os.listdir(root) == ["target"]


@pytest.mark.parametrize(
    ("path", "words"), [("full", "not empty"), ("none", "There is no"), (".", "itself"), ("..", "outside")]
)
def test_what_is_not_deleted(root: Path, path: str, words: str) -> None:
    (root / "full").mkdir()
    (root / "full" / "a").write_text("a")
    with pytest.raises(ToolFault, match=words):
        delete(root, path)
    assert (root / "full" / "a").exists()


# --- create_directory and list_directory


def test_directories_are_made_with_those_above_them(root: Path) -> None:
    assert create_directory(str(root), {"path": "a/b/c"}).text == "a/b/c was created."
    assert create_directory(str(root), {"path": "a/b/c"}).text == "a/b/c exists already."
    (root / "file").write_text("")
    with pytest.raises(ToolFault, match="not a directory"):
        create_directory(str(root), {"path": "file/x"})
    with pytest.raises(ToolRefusal):
        create_directory(str(root), {"path": "../x"})


def test_a_directory_is_listed_sorted_with_kinds_and_sizes(root: Path) -> None:
    (root / "b.md").write_text("12345")
    (root / ".hidden").write_text("")
    (root / "a").mkdir()
    (root / "link").symlink_to("b.md")
    result = list_directory(str(root), {})
    assert result.text == ".hidden  0\na/\nb.md  5\nlink  (link)"
    assert result.structured["total"] == 4
    assert [entry["type"] for entry in result.structured["entries"]] == ["file", "directory", "file", "link"]


def test_a_long_directory_comes_in_pages(root: Path) -> None:
    for number in range(30):
        (root / f"{number:02}").write_text("")
    first = list_directory(str(root), {"limit": 20}).text
    assert first.endswith('19  0\n[20 of 30 entries; go on with "offset": 20]')
    assert list_directory(str(root), {"limit": 20, "offset": 20}).text.splitlines()[-1] == "29  0"
    assert list_directory(str(root), {"offset": 40}).text == "(no more entries)"


def test_empty_missing_and_wrong_directories(root: Path) -> None:
    assert list_directory(str(root), {"path": "."}).text == "(empty)"
    with pytest.raises(ToolFault, match="There is no"):
        list_directory(str(root), {"path": "none"})
    (root / "file").write_text("")
    with pytest.raises(ToolFault, match="not a directory"):
        list_directory(str(root), {"path": "file"})


def test_a_name_that_is_not_valid_utf_8_can_be_listed(root: Path) -> None:
    with open(os.path.join(os.fsencode(root), b"\xff.txt"), "wb"):
        pass
    assert list_directory(str(root), {}).text == "�.txt  0"


@pytest.mark.parametrize("seconds", [-1e11, 1e12, 1e20])
def test_a_time_that_no_calendar_holds_is_left_out(
    root: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Not every file system keeps such a time, so that it is put in place of the real one."""
    (root / "a").write_text("")

    class Calendar:
        @staticmethod
        def fromtimestamp(_: float, zone: tzinfo) -> datetime:
            return datetime.fromtimestamp(seconds, zone)

    monkeypatch.setattr(files, "datetime", Calendar)
    (entry,) = list_directory(str(root), {}).structured["entries"]
    assert (entry["name"], entry["size"], entry["modified"]) == ("a", 0, None)
