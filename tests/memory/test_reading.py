"""Whatever a file holds, reading it ends with a text or with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.memory.reading import decode, read_text
from manyhands.memory.walking import current_mark

MOST = 10_000


def write(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def test_a_text_is_read_with_its_mark_and_digest(tmp_path: Path) -> None:
    path = write(tmp_path / "a.md", "Grüße\n".encode())
    found = read_text(path, MOST)
    assert found is not None
    assert (found.text, found.problem, found.size) == ("Grüße\n", None, 8)
    assert found.mark == current_mark(path)
    assert len(found.digest) == 64


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_an_encoding_is_known_by_its_first_bytes(encoding: str) -> None:
    assert decode("Grüße".encode(encoding)) == ("Grüße", None)


def test_an_older_encoding_is_read_and_reported() -> None:
    text, note = decode("Größe und Bäume".encode("cp1252"))
    assert text == "Größe und Bäume"
    assert note is not None
    assert "Windows-1252" in note


def test_damaged_text_keeps_what_is_whole_and_is_reported() -> None:
    text, note = decode("Grüße, schöne Bäume, ".encode() + b"\xff end")
    assert text == "Grüße, schöne Bäume, \ufffd end"
    assert note is not None
    assert "1 places" in note


@pytest.mark.parametrize("content", [b"\x7fELF\0\0\0", bytes(range(128, 160)) + bytes(range(1, 9)) * 40])
def test_what_is_no_text_says_so(content: bytes) -> None:
    text, note = decode(content)
    assert text is None
    assert note is not None


@given(st.binary(max_size=300))
def test_any_bytes_are_a_text_that_a_database_takes_or_a_reason(content: bytes) -> None:
    text, note = decode(content)
    assert text is not None or note
    if text is not None:
        assert "\0" not in text
        text.encode()


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.md"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    found = read_text(str(path), 20_000_000)
    assert found is not None
    assert found.text is None
    assert "200,000,000 bytes" in (found.problem or "")


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    found = read_text(str(tmp_path / "pipe.md"), MOST)
    assert found is not None
    assert found.problem == "It is no ordinary file."
    assert read_text(str(tmp_path / "gone.md"), MOST) is None
    (tmp_path / "link.md").symlink_to(tmp_path / "gone.md")
    linked = read_text(str(tmp_path / "link.md"), MOST)
    assert linked is None or linked.text is None


def test_a_file_that_changes_once_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.md", b"first")
    changes = iter([b"second"])
    real = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        if content := next(changes, None):
            Path(path).write_bytes(content)
        return found

    monkeypatch.setattr(os, "fstat", fstat)
    found = read_text(path, MOST)
    assert found is not None
    assert (found.text, found.problem) == ("second", None)


def test_a_file_that_never_holds_still_is_taken_as_it_was_and_read_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.md", b"x")
    real, sizes = os.fstat, iter(range(2, 1000))

    def fstat(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        Path(path).write_bytes(b"x" * next(sizes))
        return found

    monkeypatch.setattr(os, "fstat", fstat)
    found = read_text(path, MOST)
    assert found is not None
    assert found.text
    assert "changed while it was read" in (found.problem or "")
    assert found.mark == "", "no state of the file looks like this one, so it is read again"
