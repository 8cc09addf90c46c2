"""What is left on disk for the next scan."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from manyhands.quality import kept
from manyhands.quality.scan import scan
from tests.quality.projects import SHOP, write


def settle(root: Path) -> None:
    """Make every file look as if it had been left alone for a while; its entry cannot be made older."""
    for path in root.rglob("*.py"):
        os.utime(path, (1_000_000_000, 1_000_000_000))


def test_facts_come_back_from_disk_as_they_were(tmp_path: Path) -> None:
    found = scan(write(tmp_path / "project", SHOP))
    place = kept.place_of(tmp_path / "facts", tmp_path / "project")
    kept.save(found.kept, place)
    loaded = kept.load(place)
    assert loaded.facts == found.kept.facts
    assert place.stat().st_mode & 0o077 == 0
    again = scan(tmp_path / "project", kept=loaded)
    assert (again.measured, again.report) == (0, found.report)


@pytest.mark.parametrize("content", [b"", b"another version\nabc", None])
def test_what_is_broken_or_from_another_version_is_put_aside(tmp_path: Path, content: bytes | None) -> None:
    place = tmp_path / "x.facts"
    place.write_bytes(kept.engine_version().encode() + b"\n\x80garbage" if content is None else content)
    assert kept.load(place).facts == {}
    assert kept.load(tmp_path / "missing").facts == {}


def test_a_disk_that_refuses_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept.save(kept.Kept(), tmp_path / "file" / "below")
    assert kept.load(tmp_path / "file" / "below").facts == {}


def test_an_untouched_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path / "project", SHOP)
    settle(root)
    monkeypatch.setattr(kept, "_FRESH_NS", -(10**18))  # as if the first scan came long after the last change
    first = scan(root)
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    again = scan(root, kept=first.kept)
    assert (again.measured, again.report) == (0, first.report)


def test_a_file_changed_a_moment_ago_is_read_again_although_its_stamp_is_the_same() -> None:
    assert not kept.is_settled((1, 10**18, 10**18, 1), 10**18 + 1)
    assert kept.is_settled((1, 10**18, 10**18, 1), 10**18 + 3 * 10**9)
    assert not kept.is_settled((1, 10**17, 10**18, 1), 10**18 + 1)
