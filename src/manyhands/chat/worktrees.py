"""Worktrees: made on new branches, looked into, and removed without losing work.

A worktree is noted before it is made and forgotten after it is gone, so that whatever is cut in between is
found and undone at the next start. Threads and their conversations are the business of `threads.py`.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from manyhands.chat import worktree_store as rows
from manyhands.chat.worktree_holdings import inspect, tip_of
from manyhands.chat.worktree_rules import PREFIX, Holdings, Worktree, numbered, slug_of
from manyhands.clock import Clock
from manyhands.errors import ConflictError, InvalidError, ManyhandsError, NotFoundError
from manyhands.git import LONG_S, Checkout, GitError, is_directory
from manyhands.sandbox import Mount
from manyhands.store.engine import Store

log = logging.getLogger(__name__)

UNDO_S = 60.0
MOST_NAMES = 1000
SHOWN_BRANCHES = 20


@dataclass(frozen=True, slots=True)
class _Repository:
    """What git says of a directory."""

    common_dir: str
    top: str
    prefix: str
    """The directory below the top, with a slash at the end, or nothing."""
    checkout: Checkout


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a branch begins."""

    ref: str
    commit: str


class Worktrees:
    """All worktrees of this home. `root`: the directory that new ones are made in."""

    def __init__(self, store: Store, clock: Clock, root: Callable[[], Path]) -> None:
        self._store = store
        self._clock = clock
        self._root = root
        self._ready: dict[str, Worktree] = {}
        self._naming = anyio.Lock()

    # --- reading

    async def load(self) -> None:
        """Know what there is; undo what a crash has left half made."""
        for tree in await self._store.read(rows.select_worktrees):
            if tree.state == "making":
                log.warning("the worktree %s was not finished; it is taken away", tree.path)
                await self.undo(tree)
            else:
                self._ready[tree.id] = tree

    async def all(self) -> Sequence[Worktree]:
        return await self._store.read(rows.select_worktrees)

    async def find(self, worktree_id: str) -> Worktree | None:
        return await self._store.read(lambda conn: rows.select_worktree(conn, worktree_id))

    async def get(self, worktree_id: str) -> Worktree:
        found = await self.find(worktree_id)
        if found is None:
            raise NotFoundError(
                f"There is no worktree {worktree_id!r}.", hint="`manyhands threads worktrees` shows them."
            )
        return found

    def of_directory(self, directory: str) -> Worktree | None:
        """The worktree that a directory is or lies in."""
        real = os.path.realpath(directory)
        for tree in self._ready.values():
            if real == tree.path or real.startswith(tree.path + os.sep):
                return tree
        return None

    def mounts_of(self, directory: str) -> Sequence[Mount]:
        """What a sandbox needs beside the directory itself, so that git works in it and nothing else does."""
        tree = self.of_directory(directory)
        return git_mounts(tree) if tree else ()

    # --- making

    async def make(
        self, worktree_id: str, directory: str, branch: str | None, name: str | None, *, trusted: bool
    ) -> tuple[Worktree, str]:
        """A worktree on a new branch, and the place in it that stands for `directory`.

        It is not finished until `finished`; `undo` takes it away. Hooks and filters of the repository run
        only where a person trusts the directory.
        """
        repository = await self._repository(directory)
        start = await _start(repository.checkout, branch)
        slug = slug_of(name if name is not None else f"{_short(start.ref)}".replace("/", "-"))
        async with self._naming:
            tree = await self._reserve(worktree_id, repository, start, slug)
        try:
            tree = await self._add(tree, repository, trusted=trusted)
        except BaseException:
            await self.undo(tree)
            raise
        return tree, _inside(tree.path, repository.prefix)

    async def _repository(self, directory: str) -> _Repository:
        known = self.of_directory(directory)
        checkout = checkout_of(known) if known else Checkout(directory)
        if known:
            return _Repository(known.repository, known.path, _prefix(directory, known.path), checkout)
        if not is_directory(directory):
            raise InvalidError(f"There is no directory {directory!r}.", hint="Choose another channel.")
        try:
            found = await checkout.run(
                *(
                    "rev-parse",
                    "--path-format=absolute",
                    "--git-common-dir",
                    "--show-toplevel",
                    "--show-prefix",
                )
            )
        except GitError as error:
            if error.exit_code is None:
                raise
            said = (error.said.splitlines() or [""])[0][:200]
            raise InvalidError(
                f"{directory} is not a git repository with files of its own ({said}).",
                hint="Run `git init` there and commit something, or make a plain thread.",
            ) from error
        common, top, prefix = (*found.lines, "")[:3]
        return _Repository(common, top, prefix, checkout)

    async def _reserve(self, worktree_id: str, repository: _Repository, start: _Start, slug: str) -> Worktree:
        taken = {(tree.repository, tree.branch) for tree in await self.all()}
        shelf = _shelf(self._root(), repository.common_dir)
        prefix = PREFIX
        if await _exists(repository.checkout, f"refs/heads/{PREFIX.rstrip('/')}"):
            prefix = PREFIX.replace("/", "-")  # git has no branch inside of a branch
        for number in range(1, MOST_NAMES):
            called = numbered(slug, number)
            branch, path = f"{prefix}{called}", shelf / called
            if (repository.common_dir, branch) in taken or _is_taken(path):
                continue
            if await _exists(repository.checkout, f"refs/heads/{branch}"):
                continue
            tree = Worktree(
                worktree_id,
                "making",
                repository.common_dir,
                str(path),
                "",
                branch,
                start.ref,
                start.commit,
                self._clock.now(),
            )
            await self._store.write(lambda conn, tree=tree: rows.insert_worktree(conn, tree))  # type: ignore[misc]
            return tree
        raise ConflictError(f"All names like {slug!r} are taken.", hint="Give another name.")

    async def _add(self, tree: Worktree, repository: _Repository, *, trusted: bool) -> Worktree:
        _make_shelf(tree.path)
        git = _in_repository(tree)
        git = replace(git, hooks=True) if trusted else await git.quiet()
        await git.run(
            *(
                "worktree",
                "add",
                "--quiet",
                "--no-track",
                "-b",
                tree.branch,
                "--",
                tree.path,
                tree.start_commit,
            ),
            timeout_s=LONG_S,
        )
        os.chmod(tree.path, 0o700)
        found = await Checkout(tree.path).run("rev-parse", "--absolute-git-dir")
        tree = replace(tree, git_dir=found.text.rstrip("\n"))
        await self._store.write(lambda conn: rows.place_git_dir(conn, tree.id, tree.git_dir))
        return tree

    def finished(self, tree: Worktree) -> None:
        """It is in use; whoever stores its thread marks it in the same transaction."""
        self._ready[tree.id] = replace(tree, state="ready")

    async def undo(self, tree: Worktree) -> None:
        """Take away what was made, but for what somebody has done in it meanwhile."""
        with anyio.move_on_after(UNDO_S, shield=True) as scope:
            with suppress(ManyhandsError):
                await self._take_away(tree, force=True)
            with suppress(ManyhandsError):
                await _delete_branch(tree, tree.start_commit)
            await self._forget(tree)
        if scope.cancelled_caught:
            log.error("the worktree %s could not be taken away in time", tree.path)

    # --- removing

    async def holdings(self, tree: Worktree) -> Holdings:
        """What it holds now."""
        return await inspect(tree, checkout_of(tree))

    async def remove(self, tree: Worktree, *, force: bool) -> Holdings:
        """Remove it with its branch; without `force` only if that loses nothing. What it held is the answer.

        A branch that has moved since it was looked at, or is used elsewhere, stays.
        """
        held = await self.holdings(tree)
        if not force and held.would_lose(tree):
            return held
        tip = None if held.problem else await tip_of(_in_repository(tree), tree)
        with anyio.CancelScope(shield=True):  # each step is bounded, and half of it would be worse
            await self._take_away(tree, force=force)
            if tip is not None:
                with suppress(ManyhandsError):
                    await _delete_branch(tree, tip)
            await self._forget(tree)
        return held

    async def _take_away(self, tree: Worktree, *, force: bool) -> None:
        """The directory, and what git knows of it. Without `force` git itself looks once more."""
        words = ["worktree", "remove", *(["--force", "--force"] if force else []), "--", tree.path]
        try:
            await _in_repository(tree).run(*words, timeout_s=LONG_S)
        except ManyhandsError as error:
            if not force and is_directory(tree.path):
                raise ConflictError(
                    f"Git does not remove {tree.path}: {error.message}",
                    hint="Look into it, or say that it may be lost.",
                ) from error
            await anyio.to_thread.run_sync(_delete_directory, tree.path)
            with suppress(ManyhandsError):  # the repository may be gone, too
                await _in_repository(tree).run(*words, timeout_s=LONG_S)
        _clear_shelf(tree.path)

    async def _forget(self, tree: Worktree) -> None:
        self._ready.pop(tree.id, None)
        await self._store.write(lambda conn: rows.delete_worktree(conn, tree.id))


def checkout_of(tree: Worktree) -> Checkout:
    """Git inside the worktree, whatever has become of the files that point to its repository."""
    return Checkout(tree.path, tree.git_dir, tree.repository, tree.path)


def _in_repository(tree: Worktree) -> Checkout:
    """Git in the repository itself."""
    return Checkout(tree.repository, tree.repository)


def git_mounts(tree: Worktree) -> Sequence[Mount]:
    """The repository can be written, but for what would make git run programs outside of the sandbox."""
    common, own = tree.repository, tree.git_dir
    if not os.path.isdir(common) or not os.path.isdir(own):
        return ()
    guarded = [os.path.join(common, name) for name in ("config", "hooks", "info", "modules", "worktrees")]
    files = [os.path.join(own, name) for name in ("commondir", "gitdir")]
    absent = [os.path.join(place, "config.worktree") for place in (common, own)]
    return [
        Mount(common, common, writable=True),
        *(Mount(path, path) for path in guarded if _is_plain(path)),
        Mount(own, own, writable=True),
        *(Mount(path, path) for path in files if _is_plain(path)),
        *(Mount(path if _is_plain(path) else os.devnull, path) for path in absent),
    ]


def project_guard(directory: str) -> Sequence[Mount]:
    """The same for a repository that is worked in itself: its configuration and hooks can only be read."""
    git_dir = os.path.join(os.path.realpath(directory), ".git")
    if os.path.islink(git_dir) or not os.path.isdir(git_dir):
        return ()
    guarded = (os.path.join(git_dir, name) for name in ("config", "hooks", "modules", "worktrees"))
    return [Mount(path, path) for path in guarded if _is_plain(path)]


def _is_plain(path: str) -> bool:
    """A link put there by whoever works in the sandbox could show it what is hidden."""
    return os.path.exists(path) and not os.path.islink(path)


async def _start(git: Checkout, branch: str | None) -> _Start:
    if branch is None:
        head = await git.run("symbolic-ref", "--quiet", "HEAD", accepts=(0, 1))
        refs = [head.text.strip()] if head.exit_code == 0 else []
    else:
        refs = [f"refs/heads/{branch}", f"refs/remotes/{branch}", f"refs/remotes/origin/{branch}"]
    for ref in refs:
        if commit := await _exists(git, ref):
            return _Start(ref, commit)
    known = await git.run(
        *("for-each-ref", "--format=%(refname:short)", f"--count={SHOWN_BRANCHES}", "refs/heads")
    )
    there = ", ".join(known.lines)
    raise NotFoundError(
        f"There is no branch {branch!r}." if branch else "No branch is checked out, or it has no commit yet.",
        hint=f"Branches: {there}." if there else "Commit something first.",
    )


async def _exists(git: Checkout, ref: str) -> str | None:
    """The commit of exactly this ref."""
    found = await git.run("show-ref", "--verify", "--quiet", "--", ref, accepts=(0, 1, 128))
    if found.exit_code != 0:
        return None
    return (await git.run("show-ref", "--verify", "--hash", "--", ref)).text.strip()


async def _delete_branch(tree: Worktree, tip: str) -> None:
    git = _in_repository(tree)
    ref = f"refs/heads/{tree.branch}"
    used = await git.run("for-each-ref", "--format=%(worktreepath)", ref)
    if not used.text.strip():
        await git.run("update-ref", "-d", ref, tip)


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")


def _prefix(directory: str, top: str) -> str:
    prefix = os.path.relpath(os.path.realpath(directory), top)
    return "" if prefix == "." else prefix


def _inside(path: str, prefix: str) -> str:
    """The same directory below another top, where the branch has it."""
    place = os.path.join(path, prefix).rstrip("/")
    return place if os.path.isdir(place) else path


def _shelf(root: Path, common_dir: str) -> Path:
    """One directory for each repository, told apart where two have the same name."""
    place = Path(common_dir)
    name = place.parent.name if place.name == ".git" else place.name
    plain = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:40]
    called = f"{plain or 'repository'}-{hashlib.sha256(common_dir.encode()).hexdigest()[:8]}"
    return Path(os.path.realpath(root)) / called


def _make_shelf(path: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)


def _clear_shelf(path: str) -> None:
    with suppress(OSError):  # others are on it
        os.rmdir(os.path.dirname(path))


def _is_taken(path: Path) -> bool:
    return os.path.lexists(path)


def _delete_directory(path: str) -> None:
    shutil.rmtree(path, ignore_errors=True)
