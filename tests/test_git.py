"""Git as a command line: bounded, and deaf to what it should not hear."""

from __future__ import annotations

from pathlib import Path

import pytest

from manyhands.errors import InvalidError, UnavailableError
from manyhands.git import Checkout, GitError
from tests.chat.repositories import make_repository

pytestmark = pytest.mark.anyio


async def test_what_git_says_when_it_fails_is_the_error(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not a git repository") as raised:
        await Checkout(str(tmp_path)).run("status")
    assert raised.value.exit_code == 128


async def test_long_output_is_cut(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    repository.commit("long.txt", "x" * 50_000)
    found = await Checkout(str(repository.path)).run("show", "HEAD:long.txt", limit=1000)
    assert (len(found.data), found.cut) == (1000, True)


async def test_its_time_is_bounded(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    slow = Checkout(str(repository.path), config=("-c", "alias.slow=!sleep 600"))
    with pytest.raises(GitError, match="did not end"):
        await slow.run("slow", timeout_s=0.3)


async def test_a_directory_that_is_gone_and_a_git_that_is_not_there_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidError, match="does not exist"):
        await Checkout(str(tmp_path / "gone")).run("status")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("manyhands.system._our_directories", list)
    with pytest.raises(UnavailableError, match="git is not installed"):
        await Checkout(str(tmp_path)).run("status")


async def test_names_with_a_nul_start_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidError):
        await Checkout(str(tmp_path)).run("show-ref", "a\0b")
