"""Looks into worktrees: what one holds that is nowhere else, how large it is, what differs from its base."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from manyhands.chat.worktree_rules import Holdings, Worktree
from manyhands.errors import ManyhandsError
from manyhands.git import Checkout, Output, is_directory

MOST_COMMITS = 1000
MOST_ENTRIES = 2_000_000
SIZE_S = 20.0
_OPERATIONS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisection",
}


async def inspect(tree: Worktree, checkout: Checkout) -> Holdings:
    """What it holds. What git cannot say counts as something."""
    if not is_directory(tree.repository):
        return Holdings(problem=f"the repository {tree.repository} is gone")
    try:
        if not is_directory(tree.path):
            return await _branch_only(tree)
        return await _look(tree, await checkout.quiet())
    except ManyhandsError as error:
        return Holdings(problem=error.message)


async def _branch_only(tree: Worktree) -> Holdings:
    git = Checkout(tree.repository, tree.repository)
    tip = await tip_of(git, tree)
    if tip is None:
        return Holdings(missing=True)
    unmerged, unpushed = await _commits(git, tree, [tip])
    moved = tip != tree.start_commit
    return Holdings(
        unmerged=unmerged,
        unpushed=unpushed,
        stashes=await _stashes(git, tree.branch),
        moved=moved,
        missing=True,
    )


async def _look(tree: Worktree, git: Checkout) -> Holdings:
    status = await git.run(
        *("status", "--porcelain=v1", "-z", "--untracked-files=all"),
        *("--ignore-submodules=dirty", "--no-renames"),
    )
    head = (await git.run("rev-parse", "--verify", "HEAD^{commit}")).text.strip()
    tip = await tip_of(git, tree)
    tips = sorted({one for one in (head, tip) if one is not None})
    unmerged, unpushed = await _commits(git, tree, tips)
    return Holdings(
        uncommitted=status.items,
        unmerged=unmerged,
        unpushed=unpushed,
        stashes=await _stashes(git, tree.branch),
        operation=_operation(tree.git_dir),
        submodules=_submodules(tree.git_dir),
        moved=tips != [tree.start_commit],
    )


async def tip_of(git: Checkout, tree: Worktree) -> str | None:
    """Where its branch is now; nothing when it is gone."""
    found = await git.run("for-each-ref", "--format=%(objectname)", f"refs/heads/{tree.branch}")
    return found.text.strip() or None


async def _commits(git: Checkout, tree: Worktree, tips: Sequence[str]) -> tuple[list[str], int]:
    """Commits that the base does not have, not even under another hash; how many of them no remote has."""
    base = await git.run("for-each-ref", "--format=%(objectname)", tree.base)
    commit = base.text.strip()
    found: dict[str, str] = {}
    for tip in tips:
        span = [f"{commit}...{tip}", "--cherry-pick", "--right-only"] if commit else [tip, *_others(tree)]
        log = await git.run(
            *(
                "log",
                "-z",
                "--format=%H %s",
                f"--max-count={MOST_COMMITS}",
                "--no-show-signature",
                *span,
                "--",
            )
        )
        found |= {commit_id: about for commit_id, _, about in (item.partition(" ") for item in log.items)}
    if not found:
        return [], 0
    elsewhere = await git.run("rev-list", *tips, "--not", "--remotes", *([commit] if commit else []), "--")
    unpushed = len(set(elsewhere.lines) & found.keys())
    return [f"{commit_id[:10]} {about}".strip() for commit_id, about in found.items()], unpushed


def _others(tree: Worktree) -> list[str]:
    """Where the base is gone: what no other branch has."""
    return ["--not", f"--exclude={tree.branch}", "--branches", "--remotes"]


async def _stashes(git: Checkout, branch: str) -> list[str]:
    there = await git.run("for-each-ref", "--format=%(refname)", "refs/stash")
    if not there.text.strip():
        return []
    listed: Output = await git.run("log", "-g", "-z", "--format=%gs", "refs/stash", "--")
    marks = (f"WIP on {branch}:", f"On {branch}:")
    return [item for item in listed.items if item.startswith(marks)]


def _operation(git_dir: str) -> str | None:
    for name, what in _OPERATIONS.items():
        if os.path.lexists(os.path.join(git_dir, name)):
            return what
    return None


def _submodules(git_dir: str) -> list[str]:
    """Submodules that were checked out in it keep their repositories with it."""
    try:
        return sorted(os.listdir(os.path.join(git_dir, "modules")))
    except OSError:
        return []


def size_of(path: str) -> int:
    """Bytes of the files below a directory, links not followed; as much as can be counted in time."""
    total, entries, deadline = 0, 0, time.monotonic() + SIZE_S
    for directory, _, names in os.walk(path):
        for name in names:
            entries += 1
            try:
                total += os.lstat(os.path.join(directory, name)).st_size
            except OSError:
                continue
        if entries > MOST_ENTRIES or time.monotonic() > deadline:
            break
    return total
