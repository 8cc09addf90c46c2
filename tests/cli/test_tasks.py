"""`manyhands tasks` against a real daemon."""

from __future__ import annotations

import time
from pathlib import Path

from tests.cli.conftest import CommandLine

SOON_S = 60


def test_a_task_goes_through_its_life(served: CommandLine, tmp_path: Path) -> None:
    made = served.ok(
        *("tasks", "add", ".", "0 9 * * mon-fri", "--timezone", "Europe/Berlin"),
        *("--script", "echo from the script", "--name", "morning", "--retries", "1"),
        cwd=tmp_path,
    )
    assert "every Monday to Friday at 09:00 (Europe/Berlin)" in made.out
    (task,) = served.ok("tasks", "list", "--channel", ".", "--json", cwd=tmp_path).json
    assert (task["retries"], len(task["next_times"])) == (1, 5)
    assert "morning" in served.ok("tasks", "list").out
    shown = served.ok("tasks", "show", f"…{task['id'][-8:]}").out
    assert "echo from the script" in shown
    assert "retries       1, first after 60 s" in shown
    assert "every 2 hours" in served.ok("tasks", "edit", "morning", "--schedule", "2h").out
    assert "has not run yet" in served.ok("tasks", "history", "morning").out
    served.ok("tasks", "run", "morning")
    deadline = time.monotonic() + SOON_S
    while served.ok("tasks", "history", "morning", "--json").json[0]["state"] != "completed":
        assert time.monotonic() < deadline
    assert "from the script" in served.ok("tasks", "history", "morning", "--wide").out
    assert "is off" in served.ok("tasks", "disable", "morning").out
    assert "next" in served.ok("tasks", "enable", "morning").out
    assert "copy" in served.ok("tasks", "clone", "morning").out
    served.ok("tasks", "delete", "morning")
    left = served("tasks", "show", "morning")
    assert (left.code, "There is no task" in left.err) == (1, True)


def test_what_could_never_run_is_one_clear_line(served: CommandLine, tmp_path: Path) -> None:
    wrong = served("tasks", "add", ".", "0 0 30 2 *", "--prompt", "x", cwd=tmp_path)
    assert wrong.code == 1
    assert "never comes" in wrong.err
    assert served("tasks", "edit", "nothing").code == 1
    assert "every day at 02:30" in served.ok("tasks", "preview", "30 2 * * *").out


def test_prompts_and_inputs_come_from_files(served: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Look at everything.\n")
    served.ok("tasks", "add", ".", "manual", "--prompt", "@prompt.md", "--template", "look", cwd=tmp_path)
    task = served.ok("tasks", "show", "look", "--json").json
    assert (task["prompt"], task["type"]) == ("Look at everything.\n", "manual")
