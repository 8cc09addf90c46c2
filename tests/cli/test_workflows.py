"""`manyhands workflows` against a real daemon."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import CommandLine

TEXT = """\
name: greet
description: Says hello.
inputs: {who: {type: string}}
nodes:
  - {id: say, type: bash, script: "echo hello {{ inputs.who }}"}
  - {id: gate, type: approval, message: "Enough?", depends_on: [say]}
  - id: end
    type: bash
    script: echo {{ nodes.gate.output }}; exit {{ 0 if nodes.gate.output else 3 }}
    depends_on: [gate]
"""


def test_a_workflow_is_judged_saved_run_answered_and_retried(served: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "greet.yaml"
    file.write_text(TEXT.replace("[say]", "[nope]"))
    bad = served("workflows", "validate", str(file), cwd=tmp_path)
    assert bad.code == 1
    assert f"{file}:6:" in bad.err
    file.write_text(TEXT)
    dry = served.ok("workflows", "validate", str(file), "--input", "who=a b", cwd=tmp_path).out
    assert "script: echo hello 'a b'" in dry
    served.ok("workflows", "save", str(file), cwd=tmp_path)
    assert "is kept in" in served.ok("workflows", "save", str(file), cwd=tmp_path).out
    assert "Says hello." in served.ok("workflows", "list", cwd=tmp_path).out
    asked = served.ok("workflows", "run", "greet", "--input", "who=you", cwd=tmp_path)
    assert "gate asks: Enough?" in asked.out
    (run,) = served.ok("workflows", "runs", "greet", "--json").json
    ended = served("workflows", "approve", run["id"])
    assert (ended.code, "The script ended with code 3" in ended.out) == (1, True)
    again = served.ok("workflows", "retry", run["id"], "--from", "gate")
    assert "gate waiting" in again.out
    assert "completed" in served.ok("workflows", "approve", run["id"], "yes", "--node", "gate").out
    assert "end success (attempt 2): yes" in served.ok("workflows", "show", run["id"]).out
    served.ok("workflows", "retry", run["id"], "--from", "gate")
    assert "gate success, rejected (attempt 3): no" in served.ok("workflows", "reject", run["id"], "no").out
    assert "is completed" in served.ok("workflows", "cancel", run["id"]).out
    assert served.ok("workflows", "show", "greet", cwd=tmp_path).out == TEXT
    (run,) = served.ok("workflows", "runs", "--json").json
    assert run["nodes"] == {"success": 2, "skipped": 1}, (
        "an attempt that failed earlier is no node of its own"
    )
    ending = f"…{run['id'][-8:]}"
    assert "is deleted" in served.ok("workflows", "delete", ending).out
    assert "No recent run has an id" in served("workflows", "show", ending).err
    served.ok("workflows", "delete", "greet", cwd=tmp_path)
    assert served("workflows", "run", "greet", cwd=tmp_path).code == 1


def test_examples_are_there_to_be_copied(served: CommandLine, tmp_path: Path) -> None:
    assert "fan-out" in served.ok("workflows", "examples").out
    text = served.ok("workflows", "examples", "fan-out").out
    assert "is kept" in served.ok("workflows", "save", "-", stdin=text, cwd=tmp_path).out
