"""What worktrees are called, what state they are in, and what removing one would lose. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from manyhands.clock import rfc3339
from manyhands.errors import InvalidError

PREFIX = "manyhands/"
LONGEST_NAME = 100
SHOWN = 10

State = Literal["making", "missing", "unchanged", "uncommitted", "unmerged", "merged", "unknown"]
"""`unchanged`: nothing was done in it yet. `unknown`: git could not say; it counts as work."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A worktree of ours. Its id is that of the thread it was made for, which may be gone."""

    id: str
    state: Literal["making", "ready"]
    repository: str
    """The repository's own directory: `.git` of its first working tree."""
    path: str
    git_dir: str
    """Where git keeps this worktree's own files, inside of the repository."""
    branch: str
    base: str
    """The ref that it started from and is to be merged into."""
    start_commit: str
    created_at: datetime

    @property
    def base_name(self) -> str:
        return self.base.removeprefix("refs/heads/").removeprefix("refs/remotes/")


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a worktree holds that is nowhere else, or not where it is meant to go."""

    uncommitted: Sequence[str] = ()
    """Changed and new files, as `XY path`."""
    unmerged: Sequence[str] = ()
    """Commits that its base does not have, as `hash subject`."""
    unpushed: int = 0
    """How many of them no remote has."""
    stashes: Sequence[str] = ()
    operation: str | None = None
    """A merge, rebase or the like that is under way."""
    submodules: Sequence[str] = ()
    """Repositories inside, which may hold work of their own."""
    moved: bool = False
    """Whether its branch has gone anywhere since it was made."""
    missing: bool = False
    problem: str | None = None

    @property
    def state(self) -> State:
        if self.problem:
            return "unknown"
        if self.uncommitted or self.operation or self.submodules or self.stashes:
            return "uncommitted"
        if self.unmerged:
            return "unmerged"
        if self.missing:
            return "missing"
        return "merged" if self.moved else "unchanged"

    def would_lose(self, worktree: Worktree) -> list[str]:
        """One sentence for each kind of work."""
        lost = []
        if self.problem:
            lost.append(f"Git could not say what is in {worktree.path}: {self.problem}")
        if self.uncommitted:
            lost.append(f"{_count(self.uncommitted, 'uncommitted file')}: {_some(self.uncommitted)}")
        if self.operation:
            lost.append(f"A {self.operation} is under way in it.")
        if self.unmerged:
            lost.append(self._unmerged(worktree))
        if self.stashes:
            lost.append(f"{_count(self.stashes, 'stash', 'es')} of {worktree.branch}: {_some(self.stashes)}")
        if self.submodules:
            lost.append(f"Repositories inside it, with work of their own: {_some(self.submodules)}")
        return lost

    def _unmerged(self, worktree: Worktree) -> str:
        commits = _count(self.unmerged, "commit")
        pushed = f", {self.unpushed} of them on no remote" if self.unpushed else ", all of them on a remote"
        missing = f"{commits} of {worktree.branch} that {worktree.base_name} does not have"
        return f"{missing}{pushed}: {_some(self.unmerged)}"


@dataclass(frozen=True, slots=True)
class WorktreeView:
    """A worktree as it is now."""

    worktree: Worktree
    holdings: Holdings
    size: int
    """Bytes of its files; the repository's own are not counted."""
    thread: str | None
    """The name of its thread; nothing when that is gone."""

    @property
    def state(self) -> State:
        return "making" if self.worktree.state == "making" else self.holdings.state

    def wire(self) -> dict[str, Any]:
        tree, held = self.worktree, self.holdings
        return {
            "id": tree.id,
            "thread": self.thread,
            "state": self.state,
            "path": tree.path,
            "repository": tree.repository,
            "branch": tree.branch,
            "base": tree.base_name,
            "size": self.size,
            "uncommitted": len(held.uncommitted),
            "unmerged": len(held.unmerged),
            "unpushed": held.unpushed,
            "would_lose": held.would_lose(tree),
            "created_at": rfc3339(tree.created_at),
        }


@dataclass(frozen=True, slots=True)
class Deleted:
    """What became of a thread. `kept`: nothing was touched, because this would have been lost."""

    kept: bool
    would_lose: Sequence[str] = ()


def slug_of(name: str) -> str:
    """A name as a part of a path and of a branch's name. What could leave its directory is refused."""
    if not name.strip() or len(name) > LONGEST_NAME:
        raise InvalidError(
            f"A worktree's name has 1 to {LONGEST_NAME} characters.", hint="Give a shorter one."
        )
    if re.search(r"[/\\\x00-\x1f\x7f]|\.\.", name):
        raise InvalidError(
            f"The name {name!r} holds a path or a control character.", hint="Use letters, digits and dashes."
        )
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50].strip("-")
    return "x" if slug == "" else slug.removesuffix(".lock")


def numbered(slug: str, number: int) -> str:
    """The same name for the second one, the third one, …"""
    return slug if number == 1 else f"{slug}-{number}"


def _count(things: Sequence[object], word: str, plural: str = "s") -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else plural}"


def _some(things: Sequence[str]) -> str:
    more = f" and {len(things) - SHOWN} more" if len(things) > SHOWN else ""
    return ", ".join(things[:SHOWN]) + more
