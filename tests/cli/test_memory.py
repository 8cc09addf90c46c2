"""`manyhands memory`, with a daemon and without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, until

NOTES = "# Boats\n\nAna bought a sailing boat.\n\nThe physician advised against it.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "boats.md").write_text(NOTES)
    return root


def test_one_command_in_a_directory_of_notes_finds_a_thing_by_meaning(cli: CommandLine, notes: Path) -> None:
    ran = cli.ok("memory", "search", "what did the doctor say?", cwd=notes)
    assert "boats.md:" in ran.out
    assert "The physician advised against it." in ran.out
    assert "meaning" in ran.out
    (notes / "boats.md").unlink()
    assert "Nothing was found" in cli.ok("memory", "search", "doctor", "--dir", str(notes)).out
    assert cli("memory", "search", " ").code == 2
    assert cli("memory", "search", "x", "--dir", "a", "--global").code == 2
    assert cli("memory", "search", "x", "--since", "yesterday").code == 2


def test_a_daemon_indexes_shows_and_follows(served: CommandLine, notes: Path) -> None:
    (notes / "bad.md").write_bytes(b"\0")
    ran = served.ok("memory", "index", "--dir", str(notes))
    assert "2 added" in ran.out
    assert "bad.md: It is no text" in ran.err
    found = served.ok("memory", "search", "boat", "--dir", str(notes), "--top-k", "1", "--json").json
    assert found["results"][0]["path"] == "boats.md"
    status = served.ok("memory", "status", cwd=notes)
    assert str(notes) in status.out
    assert "bad.md" in status.err
    until(lambda: _watched(served, notes))
    (notes / "kites.md").write_text("A kite flies.")
    until(lambda: "kites.md" in served.ok("memory", "search", "kite", "--dir", str(notes)).out)
    assert str(notes) in served.ok("memory", "status", "--all").out


def _watched(line: CommandLine, notes: Path) -> bool:
    own = line.ok("memory", "status", "--dir", str(notes), "--json").json["collections"][0]
    return bool(own["watched"])


def test_recall_is_measured_on_ones_own_questions(served: CommandLine, notes: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    lines = [
        {"question": "Who bought a boat?", "evidence": ["Ana bought a sailing boat."]},
        {
            "question": "Where is the treasure?",
            "evidence": ["Under the stone.", "Ana bought a sailing boat."],
        },
    ]
    questions.write_text("\n".join(map(json.dumps, lines)))
    score = served.ok("memory", "bench", str(questions), "--dir", str(notes), "--json").json
    assert (score["questions"], score["evidence"], score["mode"]) == (2, 3, "hybrid")
    assert score["recall"] in (0.5, 0.75)
    shown = served.ok("memory", "bench", str(questions), "--dir", str(notes), "--words", "--misses").out
    assert "mean over 2 questions" in shown
    assert "missed: Where is the treasure?" in shown
    questions.write_text('{"question": "x"}\n')
    bad = served("memory", "bench", str(questions), "--dir", str(notes))
    assert bad.code == 1
    assert "line 1" in bad.err
