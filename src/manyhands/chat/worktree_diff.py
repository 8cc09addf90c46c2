"""What differs between a worktree, new files included, and where it left its base; bounded."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import anyio.to_thread

from manyhands.chat.worktree_rules import Worktree
from manyhands.errors import InvalidError, ManyhandsError
from manyhands.git import Checkout

MOST_FILES = 500
MOST_OF_FILE = 100_000
MOST = 4_000_000

_WORDS: dict[str, Literal["added", "deleted", "changed"]] = {"A": "added", "D": "deleted"}
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--submodule=short")
_SCOPE = ("--ignore-submodules=dirty", "--src-prefix=a/", "--dst-prefix=b/")


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file. `cut`: the diff is longer than what is shown."""

    path: str
    status: Literal["added", "deleted", "changed"]
    additions: int
    deletions: int
    binary: bool
    diff: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class WorktreeDiff:
    """All files that differ; `cut`: there are more."""

    base: str
    branch: str
    commit: str
    """Where the two parted."""
    files: Sequence[FileDiff]
    cut: bool

    def wire(self) -> dict[str, Any]:
        return {
            "base": self.base,
            "branch": self.branch,
            "commit": self.commit,
            "files": [asdict(file) for file in self.files],
            "cut": self.cut,
        }


async def diff_of(tree: Worktree, checkout: Checkout) -> WorktreeDiff:
    """From the commit where it left its base to its files as they are."""
    if not await anyio.to_thread.run_sync(os.path.isdir, tree.path):
        raise InvalidError(
            f"The worktree {tree.path} is not there any more.", hint="Remove it from the list."
        )
    git = await checkout.quiet()
    parted = await _parted(git, tree)
    directory = await anyio.to_thread.run_sync(_copy_of_index, tree)
    try:
        # New files are shown through an index of our own: the worktree's stays as it is.
        git = replace(git, index=os.path.join(directory, "index"))
        await git.run("add", "--intent-to-add", "--ignore-errors", "--", ".", accepts=(0, 1))
        return await _read(git, tree, parted)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


async def _parted(git: Checkout, tree: Worktree) -> str:
    with suppress(ManyhandsError):
        found = await git.run("merge-base", tree.base, "HEAD")
        return found.text.strip()
    return tree.start_commit


def _copy_of_index(tree: Worktree) -> str:
    directory = tempfile.mkdtemp(prefix="manyhands-diff-")
    with suppress(OSError):
        shutil.copyfile(os.path.join(tree.git_dir, "index"), os.path.join(directory, "index"))
    return directory


async def _read(git: Checkout, tree: Worktree, commit: str) -> WorktreeDiff:
    words = ("diff", *_PLAIN, *_SCOPE)
    names = (await git.run(*words, "-z", "--name-status", commit, "--")).items
    counts = (await git.run(*words, "-z", "--numstat", commit, "--")).items
    patch = await git.run(*words, "--patch", commit, "--", limit=MOST)
    listed = list(zip(names[::2], names[1::2], strict=False))
    files = _files(listed, counts, _chunks(patch.text))
    cut = patch.cut or len(listed) > MOST_FILES
    return WorktreeDiff(tree.base_name, tree.branch, commit, files, cut)


def _chunks(patch: str) -> list[str]:
    """One for each file; a line of a file never begins like a header."""
    starts = [found.start() for found in re.finditer(r"^diff --git ", patch, re.MULTILINE)]
    return [patch[start:end] for start, end in zip(starts, [*starts[1:], len(patch)], strict=True)]


def _files(listed: Sequence[tuple[str, str]], counts: Sequence[str], chunks: list[str]) -> list[FileDiff]:
    numbers = {path: (added, gone) for added, gone, path in (count.split("\t", 2) for count in counts)}
    rest = iter(chunks)
    files = []
    for status, path in listed[:MOST_FILES]:
        parts = {"T": 2, "U": 0}.get(status[:1], 1)  # another kind of file is one gone and one new
        diff = "".join(next(rest, "") for _ in range(parts))
        added, gone = numbers.get(path, ("0", "0"))
        files.append(
            FileDiff(
                path,
                _WORDS.get(status[:1], "changed"),
                int(added) if added.isdigit() else 0,
                int(gone) if gone.isdigit() else 0,
                added == "-",
                diff[:MOST_OF_FILE],
                len(diff) > MOST_OF_FILE,
            )
        )
    return files
