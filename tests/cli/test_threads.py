"""`manyhands threads` and `manyhands channels runner` against a real daemon."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.chat.repositories import Repository, make_repository
from tests.cli.conftest import CommandLine


def test_threads_are_made_listed_and_deleted(served: CommandLine, tmp_path: Path) -> None:
    served.ok("threads", "create", ".", "review", cwd=tmp_path)
    (thread,) = served.ok("threads", "list", ".", "--json", cwd=tmp_path).json
    assert thread["name"] == "review"
    assert "review" in served.ok("threads", "list").out
    served.ok("threads", "delete", "review")
    assert "No threads yet" in served.ok("threads", "list").out


def test_a_worktree_is_made_compared_kept_merged_and_cleaned_up(served: CommandLine, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "project")
    made = served.ok("threads", "worktree", ".", "--branch", "main", "--name", "fix", cwd=repository.path)
    assert "manyhands/fix" in made.out
    (tree,) = served.ok("threads", "worktrees", "--json").json
    inside = Repository(Path(tree["path"]))
    inside.commit("new.txt", "escape \x1b[2J\n")
    diff = served.ok("threads", "diff", "fix").out
    assert "added new.txt +1 -0" in diff
    assert "\x1b[2J" not in diff
    kept = served("threads", "delete", "fix")
    assert kept.code == 1
    assert "would be lost" in kept.err
    assert "unmerged" in served.ok("threads", "worktrees").out
    repository("merge", "--quiet", "--ff-only", "manyhands/fix")
    assert "1 removed, 0 kept" in served.ok("threads", "clean").out
    assert not inside.path.exists()


def test_a_command_works_in_a_channel_and_the_loop_again(served: CommandLine, tmp_path: Path) -> None:
    script = "import sys; print('I heard', sys.stdin.read())"
    channel = ("channels", "runner", str(tmp_path))
    served.ok(*channel, "--", sys.executable, "-c", script)
    assert "I heard hello" in served.ok("run", "hello", "--dir", str(tmp_path)).out
    assert "built-in loop" in served.ok(*channel, "--loop").out
    assert served(*channel).code == 2
    assert served(*channel, "--env", "novalue", "--", "x").code == 2
