"""Worktree threads on real repositories: made whole or not at all, and never removed with work in them."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from manyhands import Hub
from manyhands.chat import worktree_store
from manyhands.chat.types import Channel
from manyhands.chat.worktree_rules import Worktree
from manyhands.chat.worktrees import git_mounts
from manyhands.errors import InvalidError, ManyhandsError, NotFoundError
from manyhands.sandbox import Bubblewrap, sandbox_for
from tests.chat.hubs import channel_of, hub_with
from tests.chat.repositories import Repository, make_repository

pytestmark = pytest.mark.anyio


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "project")


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with hub_with(tmp_path, "done", repeat=True) as (hub, _):
        yield hub


async def worktree(hub: Hub, repository: Repository, name: str = "fix") -> tuple[Channel, Repository]:
    parent = await channel_of(hub, repository.path)
    thread = await hub.threads.create_worktree(parent, "main", name)
    assert thread.worktree is not None
    return thread, Repository(Path(thread.worktree))


async def state(hub: Hub, thread: Channel) -> str:
    return (await hub.threads.worktree(thread.id)).state


# --- making


async def test_a_worktree_thread_has_a_fresh_working_tree_on_a_new_branch(
    hub: Hub, repository: Repository
) -> None:
    thread, tree = await worktree(hub, repository, "Fix the login!")
    assert thread.branch == "manyhands/fix-the-login"
    assert tree("rev-parse", "--abbrev-ref", "HEAD") == thread.branch
    assert (tree.path / "readme.txt").read_text() == "hello\n"
    assert thread.dir_path == thread.worktree
    assert tree.path.is_relative_to(hub.home.worktrees)
    assert stat.S_IMODE(tree.path.stat().st_mode) == 0o700
    assert repository("rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert repository("status", "--porcelain") == ""


async def test_a_second_one_of_the_same_name_is_told_apart(hub: Hub, repository: Repository) -> None:
    first, _ = await worktree(hub, repository)
    second, _ = await worktree(hub, repository)
    assert (first.branch, second.branch) == ("manyhands/fix", "manyhands/fix-2")
    assert first.worktree != second.worktree


async def test_it_stands_where_its_channel_stands_in_the_repository(hub: Hub, repository: Repository) -> None:
    repository.commit("packages/one/file.txt", "x")
    thread, tree = await worktree(hub, Repository(repository.path / "packages" / "one"))
    assert thread.dir_path == str(tree.path / "packages" / "one")


async def test_without_a_branch_it_starts_from_the_one_that_is_checked_out(
    hub: Hub, repository: Repository
) -> None:
    repository("switch", "--quiet", "-c", "feature/x")
    repository.commit("new.txt", "x")
    thread = await hub.threads.create_worktree(await channel_of(hub, repository.path), None)
    assert (thread.name, thread.branch) == ("worktree", "manyhands/feature-x")
    assert (Path(thread.worktree or "") / "new.txt").exists()
    assert (await hub.threads.worktree(thread.id)).worktree.base_name == "feature/x"


async def test_a_branch_in_the_way_of_our_names_is_avoided(hub: Hub, repository: Repository) -> None:
    repository("branch", "manyhands")
    thread, _ = await worktree(hub, repository)
    assert thread.branch == "manyhands-fix"


async def test_a_branch_that_is_not_there_is_refused_with_those_that_are(
    hub: Hub, repository: Repository
) -> None:
    parent = await channel_of(hub, repository.path)
    for branch in ("nothing", "--upload-pack=x", "main~0", "main:readme.txt", "-", "main^{/x}", "a\nb", "@"):
        with pytest.raises(ManyhandsError, match=r"Branches: main|visible"):
            await hub.threads.create_worktree(parent, branch, "fix")
    await assert_nothing_was_made(hub, repository)


async def test_a_name_that_could_leave_its_directory_is_refused(hub: Hub, repository: Repository) -> None:
    parent = await channel_of(hub, repository.path)
    for name in ("../x", "a/b", "..", "a\\b", "x\0y", "a\nb", " ", "x" * 300):
        with pytest.raises(InvalidError):
            await hub.threads.create_worktree(parent, "main", name)
    await assert_nothing_was_made(hub, repository)


async def assert_nothing_was_made(hub: Hub, repository: Repository) -> None:
    assert await hub.threads.worktrees() == []
    assert repository.branches() - {"manyhands"} == {"main"}
    assert repository("worktree", "list").count("\n") == 0
    assert [one for one in (await hub.channels.list()).items if one.parent_id] == []
    assert [path for path in hub.home.worktrees.rglob("*") if path.is_file()] == []


async def test_a_directory_without_a_repository_is_refused(hub: Hub, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(InvalidError, match="git init"):
        await hub.threads.create_worktree(await channel_of(hub, plain), "main", "fix")
    free = await hub.channels.create("free")
    with pytest.raises(InvalidError, match="no directory"):
        await hub.threads.create_worktree(free.id, "main", "fix")


async def test_a_repository_without_a_commit_is_refused(hub: Hub, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    Repository(empty)("init", "--quiet", "--initial-branch=main")
    with pytest.raises(NotFoundError, match="Commit something"):
        await hub.threads.create_worktree(await channel_of(hub, empty), None, "fix")


async def test_when_git_fails_in_the_middle_nothing_is_left(hub: Hub, repository: Repository) -> None:
    """A filter that fails makes the check-out fail after the branch and the directory are there."""
    repository.commit(".gitattributes", "*.txt filter=bad\n")
    repository("config", "filter.bad.smudge", "false")
    repository("config", "filter.bad.required", "true")
    parent = await channel_of(hub, repository.path)
    await hub.channels.trust(parent, True)  # else the filter would not run
    with pytest.raises(ManyhandsError, match="smudge"):
        await hub.threads.create_worktree(parent, "main", "fix")
    await assert_nothing_was_made(hub, repository)


async def test_when_the_thread_cannot_be_stored_nothing_is_left(
    hub: Hub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = await channel_of(hub, repository.path)

    def full(*arguments: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(worktree_store, "mark_ready", full)
    with pytest.raises(OSError, match="full"):
        await hub.threads.create_worktree(parent, "main", "fix")
    await assert_nothing_was_made(hub, repository)


async def test_what_a_crash_left_half_made_is_taken_away_at_the_next_start(
    tmp_path: Path, repository: Repository
) -> None:
    async with hub_with(tmp_path) as (hub, _):
        thread, tree = await worktree(hub, repository)
        await hub.store.write(lambda conn: conn.exec_driver_sql("update worktrees set state = 'making'"))
        await hub.channels.delete(thread.id)
    async with hub_with(tmp_path) as (hub, _):
        assert not tree.path.exists()
        await assert_nothing_was_made(hub, repository)


async def test_hooks_of_a_repository_run_only_where_a_person_trusts_it(
    hub: Hub, repository: Repository, tmp_path: Path
) -> None:
    hook = repository.path / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/hooked\n")
    hook.chmod(0o755)
    repository.commit(".gitattributes", "*.txt filter=spy\n")
    repository("config", "filter.spy.smudge", f"tee {tmp_path}/filtered")
    parent = await channel_of(hub, repository.path)
    await hub.threads.create_worktree(parent, "main", "one")
    assert not (tmp_path / "hooked").exists()
    assert not (tmp_path / "filtered").exists()
    await hub.channels.trust(parent, True)
    await hub.threads.create_worktree(parent, "main", "two")
    assert (tmp_path / "hooked").exists()


async def test_variables_of_git_in_the_environment_lead_nowhere(
    hub: Hub, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    thread, tree = await worktree(hub, repository)
    assert (tree.path / "readme.txt").exists()
    assert await state(hub, thread) == "unchanged"


async def test_a_setting_says_where_worktrees_are_made(
    hub: Hub, repository: Repository, tmp_path: Path
) -> None:
    await hub.settings.patch({"worktree_directory": str(tmp_path / "trees")})
    _, tree = await worktree(hub, repository)
    assert tree.path.is_relative_to(tmp_path / "trees")


async def test_runs_of_the_thread_work_inside_it_with_the_tools_for_files(
    hub: Hub, repository: Repository
) -> None:
    thread, tree = await worktree(hub, repository)
    record = await hub.call_tool("write_file", {"path": "a.txt", "content": "x"}, channel_id=thread.id)
    assert not record.is_error, record.result
    assert (tree.path / "a.txt").read_text() == "x"
    refused = await hub.call_tool("read_file", {"path": "../../../token"}, channel_id=thread.id)
    assert refused.is_error


# --- what would be lost


@pytest.mark.requirement("L35")
async def test_a_worktree_with_an_untracked_file_is_kept_and_says_so(
    hub: Hub, repository: Repository
) -> None:
    thread, tree = await worktree(hub, repository)
    (tree.path / "draft.txt").write_text("thoughts")
    deleted = await hub.threads.delete(thread.id)
    assert deleted.kept
    assert "draft.txt" in deleted.would_lose[0]
    assert (tree.path / "draft.txt").read_text() == "thoughts"
    assert (await hub.channels.get(thread.id)).worktree == str(tree.path)
    assert await state(hub, thread) == "uncommitted"


@pytest.mark.requirement("L35")
async def test_a_worktree_with_unmerged_commits_is_kept_and_names_them(
    hub: Hub, repository: Repository
) -> None:
    thread, tree = await worktree(hub, repository)
    commit = tree.commit("work.txt", "x", "a week of work")
    deleted = await hub.threads.delete(thread.id)
    assert deleted.kept
    assert "a week of work" in deleted.would_lose[0]
    assert "1 of them on no remote" in deleted.would_lose[0]
    assert repository("rev-parse", thread.branch or "") == commit
    assert await state(hub, thread) == "unmerged"


async def test_a_changed_file_a_staged_one_and_a_deleted_one_are_work(
    hub: Hub, repository: Repository
) -> None:
    repository.commit("two.txt", "2")
    thread, tree = await worktree(hub, repository)
    (tree.path / "readme.txt").write_text("changed")
    (tree.path / "two.txt").unlink()
    (tree.path / "three.txt").write_text("3")
    tree("add", "three.txt")
    (lost,) = (await hub.threads.delete(thread.id)).would_lose
    assert all(name in lost for name in ("readme.txt", "two.txt", "three.txt"))


async def test_a_stash_of_its_branch_is_work(hub: Hub, repository: Repository) -> None:
    thread, tree = await worktree(hub, repository)
    (tree.path / "readme.txt").write_text("changed")
    tree("stash")
    deleted = await hub.threads.delete(thread.id)
    assert deleted.kept
    assert "stash" in deleted.would_lose[0]


async def test_a_commit_on_no_branch_is_work(hub: Hub, repository: Repository) -> None:
    thread, tree = await worktree(hub, repository)
    tree("switch", "--quiet", "--detach")
    tree.commit("loose.txt", "x", "loose end")
    assert "loose end" in (await hub.threads.delete(thread.id)).would_lose[0]


async def test_a_merge_that_is_under_way_is_work(hub: Hub, repository: Repository) -> None:
    thread, tree = await worktree(hub, repository)
    git_dir = Path(tree("rev-parse", "--absolute-git-dir"))
    (git_dir / "MERGE_HEAD").write_text(tree("rev-parse", "HEAD") + "\n")
    assert "merge" in " ".join((await hub.threads.delete(thread.id)).would_lose)


async def test_work_that_is_on_a_remote_and_not_merged_is_kept_too(
    hub: Hub, repository: Repository, tmp_path: Path
) -> None:
    repository("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    repository("remote", "add", "origin", str(tmp_path / "remote.git"))
    thread, tree = await worktree(hub, repository)
    tree.commit("work.txt", "x")
    tree("push", "--quiet", "origin", "HEAD")
    (lost,) = (await hub.threads.delete(thread.id)).would_lose
    assert "all of them on a remote" in lost


async def test_force_removes_it_with_its_branch_and_says_what_was_lost(
    hub: Hub, repository: Repository
) -> None:
    thread, tree = await worktree(hub, repository)
    tree.commit("work.txt", "x", "gone soon")
    (tree.path / "draft.txt").write_text("x")
    deleted = await hub.threads.delete(thread.id, force=True)
    assert not deleted.kept
    assert "gone soon" in " ".join(deleted.would_lose)
    assert not tree.path.exists()
    assert repository.branches() == {"main"}
    with pytest.raises(NotFoundError):
        await hub.channels.get(thread.id)
    await assert_nothing_was_made(hub, repository)


@pytest.mark.parametrize("how", [["--ff-only"], ["--no-ff", "-m", "merged"]])
async def test_merged_work_is_removed_without_force(hub: Hub, repository: Repository, how: list[str]) -> None:
    thread, tree = await worktree(hub, repository)
    tree.commit("work.txt", "x")
    repository("merge", "--quiet", *how, thread.branch or "")
    assert await state(hub, thread) == "merged"
    assert not (await hub.threads.delete(thread.id)).kept
    assert not tree.path.exists()
    assert repository.branches() == {"main"}


async def test_work_that_was_rebased_into_its_base_is_merged(hub: Hub, repository: Repository) -> None:
    thread, tree = await worktree(hub, repository)
    commit = tree.commit("work.txt", "x")
    repository.commit("other.txt", "y")
    repository("cherry-pick", commit)
    assert await state(hub, thread) == "merged"


async def test_where_its_base_is_gone_other_branches_count(hub: Hub, repository: Repository) -> None:
    repository("branch", "topic")
    parent = await channel_of(hub, repository.path)
    thread = await hub.threads.create_worktree(parent, "topic", "fix")
    tree = Repository(Path(thread.worktree or ""))
    tree.commit("work.txt", "x")
    repository("branch", "-D", "topic")
    assert await state(hub, thread) == "unmerged"
    repository("merge", "--quiet", "--ff-only", thread.branch or "")
    assert await state(hub, thread) == "merged"


async def test_a_worktree_that_somebody_deleted_by_hand_can_still_be_removed(
    hub: Hub, repository: Repository
) -> None:
    thread, tree = await worktree(hub, repository)
    shutil.rmtree(tree.path)
    assert await state(hub, thread) == "missing"
    assert not (await hub.threads.delete(thread.id)).kept
    await assert_nothing_was_made(hub, repository)


async def test_a_repository_that_is_gone_counts_as_work_until_it_is_forced(
    hub: Hub, repository: Repository
) -> None:
    thread, tree = await worktree(hub, repository)
    repository.path.rename(repository.path.with_name("moved"))
    deleted = await hub.threads.delete(thread.id)
    assert deleted.kept
    assert "is gone" in deleted.would_lose[0]
    assert not (await hub.threads.delete(thread.id, force=True)).kept
    assert not tree.path.exists()


async def test_what_was_rewritten_in_a_worktree_makes_git_run_nothing(
    hub: Hub, repository: Repository, tmp_path: Path
) -> None:
    """Whoever works in it can make its `.git` point to a repository with programs in its configuration."""
    thread, tree = await worktree(hub, repository)
    fake = make_repository(tmp_path / "fake")
    for name in ("core.fsmonitor", "diff.external", "core.pager", "filter.x.clean"):
        fake("config", name, f"touch {tmp_path}/ran; true")
    (tree.path / ".gitattributes").write_text("* filter=x\n")
    (tree.path / ".git").write_text(f"gitdir: {fake.path}/.git\n")
    await hub.threads.worktrees()
    await hub.threads.diff(thread.id)
    assert (await hub.threads.delete(thread.id)).kept
    assert not (await hub.threads.delete(thread.id, force=True)).kept
    assert not (tmp_path / "ran").exists()
    await assert_nothing_was_made(hub, repository)


# --- the list, the clean-up


@pytest.mark.requirement("L35")
async def test_worktrees_are_listed_with_size_and_state_and_merged_ones_are_cleaned_up(
    hub: Hub, repository: Repository
) -> None:
    merged, merged_tree = await worktree(hub, repository, "merged")
    merged_tree.commit("work.txt", "x" * 5000)
    repository("merge", "--quiet", "--ff-only", merged.branch or "")
    open_thread, open_tree = await worktree(hub, repository, "open")
    open_tree.commit("more.txt", "y")
    fresh, fresh_tree = await worktree(hub, repository, "fresh")
    views = {view.worktree.id: view for view in await hub.threads.worktrees()}
    assert {key: view.state for key, view in views.items()} == {
        merged.id: "merged",
        open_thread.id: "unmerged",
        fresh.id: "unchanged",
    }
    assert views[merged.id].size > 5000
    cleaned = await hub.threads.clean_merged()
    assert [view.worktree.id for view in cleaned.removed] == [merged.id]
    assert cleaned.freed > 5000
    assert not merged_tree.path.exists()
    assert open_tree.path.exists()
    assert fresh_tree.path.exists()
    kept = await hub.channels.get(merged.id)
    assert (kept.dir_path, kept.worktree, kept.active) == (str(repository.path), None, False)
    assert [one.worktree.id for one in (await hub.threads.clean_merged(unchanged=True)).removed] == [fresh.id]


async def test_a_worktree_whose_channel_was_deleted_is_still_listed_and_removed(
    hub: Hub, repository: Repository
) -> None:
    thread, tree = await worktree(hub, repository)
    assert thread.parent_id is not None
    await hub.threads.delete_channel(thread.parent_id)
    (view,) = await hub.threads.worktrees()
    assert (view.thread, view.worktree.path) == (None, str(tree.path))
    (tree.path / "draft.txt").write_text("x")
    assert (await hub.threads.delete_worktree(thread.id)).kept
    assert not (await hub.threads.delete_worktree(thread.id, force=True)).kept
    await assert_nothing_was_made(hub, repository)


# --- differences


async def test_the_difference_to_its_base_shows_every_kind_of_change(
    hub: Hub, repository: Repository
) -> None:
    repository.commit("old.txt", "old\n")
    thread, tree = await worktree(hub, repository)
    tree.commit("committed.txt", "one\n")
    (tree.path / "readme.txt").write_text("hello\nworld\n")
    (tree.path / "old.txt").unlink()
    (tree.path / "new file.txt").write_text("new\n")
    (tree.path / "picture.bin").write_bytes(bytes(range(256)))
    repository.commit("later.txt", "not ours\n")
    diff = await hub.threads.diff(thread.id)
    files = {file.path: file for file in diff.files}
    assert {path: file.status for path, file in files.items()} == {
        "committed.txt": "added",
        "new file.txt": "added",
        "old.txt": "deleted",
        "picture.bin": "added",
        "readme.txt": "changed",
    }
    assert "+world" in files["readme.txt"].diff
    assert (files["readme.txt"].additions, files["readme.txt"].deletions) == (1, 0)
    assert "+new" in files["new file.txt"].diff
    assert files["picture.bin"].binary
    assert not diff.cut
    assert tree("status", "--porcelain", "--", "new file.txt").startswith("??")
    assert json.dumps(diff.wire())


async def test_a_long_difference_is_cut_and_says_so(hub: Hub, repository: Repository) -> None:
    thread, tree = await worktree(hub, repository)
    (tree.path / "long.txt").write_text("line of text\n" * 20_000)
    (file,) = (await hub.threads.diff(thread.id)).files
    assert file.cut
    assert len(file.diff) == 100_000


# --- the sandbox


async def test_in_a_sandbox_git_works_and_its_configuration_cannot_be_changed(
    hub: Hub, repository: Repository
) -> None:
    thread, tree = await worktree(hub, repository)
    kept = (await hub.threads.worktree(thread.id)).worktree
    bubblewrap = Bubblewrap()
    sandbox = sandbox_for(str(tree.path), hidden=[str(hub.home.path)], mounts=git_mounts(kept))
    assert await bubblewrap.problem(sandbox) is None
    script = """
        export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        echo x > inside.txt && git add inside.txt && git commit --quiet -m inside || exit 1
        git config core.fsmonitor evil && exit 2
        echo evil > "$(git rev-parse --git-common-dir)/hooks/post-checkout" && exit 3
        git config --worktree core.fsmonitor evil && exit 4
        echo /nowhere > "$(git rev-parse --git-dir)/commondir" && exit 5
        exit 0
    """
    argv = bubblewrap.wrap(["sh", "-c", script], sandbox)
    with anyio.fail_after(60):
        ran = await anyio.run_process(argv, check=False)
    assert ran.returncode == 0, ran.stderr
    assert tree("log", "-1", "--format=%s") == "inside"


async def test_run_command_can_commit_in_a_worktree(hub: Hub, repository: Repository) -> None:
    thread, tree = await worktree(hub, repository)
    await hub.settings.patch({"command_sandbox": "required"})
    who = "-c user.name=a -c user.email=a@b"
    command = f"echo x > new.txt && git add new.txt && git {who} commit -qm by-tool"
    record = await hub.call_tool("run_command", {"command": command}, channel_id=thread.id)
    assert not record.is_error, record.result
    assert tree("log", "-1", "--format=%s") == "by-tool"


def test_a_link_put_into_a_repository_opens_nothing(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    git = tmp_path / ".git"
    own = git / "worktrees" / "x"
    own.mkdir(parents=True)
    os.symlink(tmp_path, git / "modules")
    tree = Worktree("x", "ready", str(git), "/x", str(own), "b", "main", "0", datetime.now(UTC))
    assert not any(mount.target.endswith("modules") for mount in git_mounts(tree))
