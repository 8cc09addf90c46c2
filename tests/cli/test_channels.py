"""`manyhands channels` against a real daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chat.repositories import make_repository
from tests.cli.conftest import CommandLine


def test_a_directory_has_one_channel(served: CommandLine, tmp_path: Path) -> None:
    first = served.ok("channels", "create", "--dir", ".", "--json", cwd=tmp_path).json
    again = served.ok("channels", "create", "--dir", str(tmp_path), "--json").json
    assert first["id"] == again["id"]
    assert first["dir_path"] == str(tmp_path.resolve())


def test_channels_are_listed_and_found(served: CommandLine) -> None:
    served.ok("channels", "create", "shopping")
    served.ok("channels", "create", "garden")
    assert "garden" in served.ok("channels", "list").out
    (found,) = served.ok("channels", "list", "shopp", "--json").json
    assert found["name"] == "shopping"


def test_trust_is_given_and_taken_by_directory(served: CommandLine, tmp_path: Path) -> None:
    ran = served.ok("channels", "trust", ".", cwd=tmp_path)
    assert "servers of its .mcp.json may start" in ran.out
    assert served.ok("channels", "trust", ".", "--revoke", "--json", cwd=tmp_path).json["trusted"] is False


def test_trust_is_taken_back_where_only_a_thread_has_the_directory(
    served: CommandLine, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "project")
    served.ok("threads", "worktree", ".", "--branch", "main", "--name", "fix", cwd=repository.path)
    (tree,) = served.ok("threads", "worktrees", "--json").json
    assert served.ok("channels", "trust", tree["id"], "--json").json["trusted"] is True
    revoked = served.ok("channels", "trust", tree["path"], "--revoke", "--json").json
    assert (revoked["id"], revoked["trusted"]) == (tree["id"], False)
    served.ok("threads", "delete", "fix")


@pytest.mark.requirement("L29")
def test_trusting_a_file_that_cannot_be_read_says_why(served: CommandLine, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcp_servers": {"time": {"command": "uvx"}}}')
    ran = served.ok("channels", "trust", ".", cwd=tmp_path)
    assert f"{tmp_path / '.mcp.json'}: the top key is 'mcp_servers'" in ran.err


def test_deleting_leaves_files_alone(served: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("x")
    channel = served.ok("channels", "create", "--dir", str(tmp_path), "--json").json
    served.ok("channels", "delete", channel["id"])
    assert (tmp_path / "kept.txt").exists()
    ran = served("channels", "delete", channel["id"])
    assert ran.code == 1
    assert "manyhands channels list" in ran.err


def test_a_channel_gets_a_model_and_a_prompt_and_loses_them(served: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("Answer in French.\n")
    words = ("channels", "edit", ".", "--model", "demo", "--prompt-file", "rules.md", "--json")
    changed = served.ok(*words, cwd=tmp_path).json
    assert (changed["model"], changed["system_prompt"]) == ("demo", "Answer in French.\n")
    served.ok("channels", "edit", changed["id"], "--model", "", "--prompt", "", "--name", "french")
    (left,) = served.ok("channels", "list", "french", "--json").json
    assert (left["model"], left["system_prompt"]) == (None, None)
    ran = served("channels", "edit", changed["id"])
    assert ran.code == 2
    assert "Say what to change" in ran.err
