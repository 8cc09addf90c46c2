"""Which branch a directory is on."""

from __future__ import annotations

from pathlib import Path

from manyhands.quality.branches import current_branch
from tests.chat.repositories import make_repository


def test_a_branch_is_read_in_every_kind_of_checkout(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "project")
    (repository.path / "deep/down").mkdir(parents=True)
    assert current_branch(repository.path / "deep/down") == "main"
    repository("worktree", "add", "--quiet", "-b", "feature/x", str(tmp_path / "tree"))
    assert current_branch(tmp_path / "tree") == "feature/x"
    repository("checkout", "--quiet", "--detach")
    assert current_branch(repository.path) == "HEAD"


def test_without_a_repository_or_with_a_broken_one_there_is_no_branch(tmp_path: Path) -> None:
    assert current_branch(tmp_path) == ""
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert current_branch(tmp_path) == ""
