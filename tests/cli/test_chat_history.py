"""What was said before, in its file."""

from __future__ import annotations

from pathlib import Path

from manyhands.cli.chat_history import LENGTH, History


def test_it_is_kept_at_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "history"
    one, two = History(file), History(file)
    one.add("a\nb")
    two.add("ünd")
    two.add("ünd")
    assert file.stat().st_mode & 0o777 == 0o600
    again = History(file)
    assert [again.step(-1, ""), again.step(-1, ""), again.step(-1, "")] == ["ünd", "a\nb", None]


def test_a_file_that_grew_long_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text("".join(f'"{number}"\n' for number in range(2 * LENGTH + 1)))
    assert History(file).step(-1, "") == str(2 * LENGTH)
    assert len(file.read_text().splitlines()) == LENGTH


def test_what_cannot_be_read_or_written_is_no_failure(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text('no json\n"but this"\n')
    assert History(file).step(-1, "") == "but this"
    file.write_bytes(b"\xff\xfe")
    assert History(file).step(-1, "") is None
    History(tmp_path / "nowhere" / "history").add("kept for this chat")
