"""The difference that an edit makes is one that other programs can apply."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from manyhands.tools.native.edit_diff import Change, unified_diff

LINES = ["a", "b", "", "foo", "bar x", "}"]
PIECES = ["", "x", "x\n", "\n", "a\nb\nc", "foo\n\n"]


def places(text: str, old: str) -> list[int]:
    found, position = [], text.find(old)
    while position >= 0:
        found.append(position)
        position = text.find(old, position + len(old))
    return found


def random_change(chance: random.Random) -> Change:
    text = "\n".join(chance.choices(LINES, k=chance.randint(1, 30))) + chance.choice(["x", "x\n"])
    start = chance.randrange(len(text))
    old = text[start : start + chance.randint(1, 8)]
    new = chance.choice([piece for piece in PIECES if piece != old])
    found = places(text, old)
    return Change(text, found if chance.random() < 0.7 else found[:1], len(old), new)


@pytest.mark.parametrize("seed", range(40))
def test_git_applies_it(tmp_path: Path, seed: int) -> None:
    change = random_change(random.Random(seed))
    file = tmp_path / "file"
    file.write_bytes(change.before.encode())
    diff = unified_diff(change, "file", 1_000_000)
    command = ["git", "apply", "-p0", "-"]
    subprocess.run(command, input=f"{diff.text}\n".encode(), cwd=tmp_path, check=True, capture_output=True)
    assert (file.read_text() if file.exists() else "") == change.after


def test_places_far_apart_are_apart_and_numbered_in_both_texts() -> None:
    text = "x\n" + "same\n" * 50 + "x\n"
    diff = unified_diff(Change(text, [0, len(text) - 2], 1, "y\nz"), "f", 1000)
    assert [line for line in diff.text.splitlines() if line.startswith("@@")] == [
        "@@ -1,4 +1,5 @@",
        "@@ -49,4 +50,5 @@",
    ]
    assert (diff.added, diff.removed) == (4, 2)


def test_a_line_end_that_is_missing_is_said() -> None:
    diff = unified_diff(Change("a\nb", [2], 1, "c"), "f", 1000)
    assert diff.text.endswith("-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file")


def test_a_very_long_line_is_cut() -> None:
    diff = unified_diff(Change("x" * 5000 + "\n", [0], 1, "y"), "f", 8000)
    assert "[… this line has 5000 characters]" in diff.text
    assert len(diff.text) < 1300
