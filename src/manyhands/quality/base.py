"""An earlier state of a directory, as files: what a ref of its repository holds, written out for a while."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from manyhands.errors import InvalidError, NotFoundError
from manyhands.git import LONG_S, Checkout, GitError, is_directory

_CLEAN_S = 60.0
_ABANDONED_S = 86_400.0
_USUAL = ("origin/HEAD", "main", "master", "origin/main", "origin/master")


@dataclass(frozen=True, slots=True)
class Base:
    """What is compared with. `ref` as it was named, `commit` the one that is meant."""

    ref: str
    commit: str
    directory: str


@asynccontextmanager
async def checked_out(directory: str, ref: str | None, room: Path) -> AsyncIterator[Base]:
    """The files of a base, below `room`, until the block ends.

    With a ref that has gone on since, the base is where this work left it.
    """
    if not is_directory(directory):
        raise NotFoundError(f"There is no directory {directory}.", hint="Name one that exists.")
    checkout = await Checkout(directory).quiet()
    prefix = await _prefix(checkout, directory)
    name, commit = await find_base(checkout, ref)
    place = await anyio.to_thread.run_sync(_make_place, room)
    try:
        await _write_out(checkout, f"{commit}:{prefix}" if prefix else f"{commit}^{{tree}}", place)
        yield Base(name, commit, str(place / "tree"))
    finally:
        with anyio.move_on_after(_CLEAN_S, shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(place, ignore_errors=True))


def _make_place(room: Path) -> Path:
    room.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in room.glob("base-*"):  # by a process that was killed
        if left.stat().st_mtime < time.time() - _ABANDONED_S:
            shutil.rmtree(left, ignore_errors=True)
    place = Path(tempfile.mkdtemp(prefix="base-", dir=room))
    (place / "tree").mkdir()
    return place


async def _prefix(checkout: Checkout, directory: str) -> str:
    """Where the directory is within its repository."""
    try:
        return (await checkout.run("rev-parse", "--show-prefix")).text.strip("\n").rstrip("/")
    except GitError as error:
        raise InvalidError(
            f"{directory} is not in a git repository, so there is nothing to compare with.",
            hint="Run `git init` and commit, or scan without a base.",
        ) from error


async def find_base(checkout: Checkout, ref: str | None) -> tuple[str, str]:
    """The commit to compare with, and the name it goes by."""
    if ref is not None:
        tip = await _commit(checkout, ref)
        if tip is None:
            raise NotFoundError(
                f"There is no commit {ref!r} in this repository.", hint="Name a branch, a tag or a commit."
            )
        return ref, await _fork_point(checkout, tip)
    head = await _commit(checkout, "HEAD")
    if head is None:
        raise InvalidError("The repository has no commit yet.", hint="Commit something first.")
    for name in _USUAL:
        tip = await _commit(checkout, name)
        if tip is not None:
            return name, await _fork_point(checkout, tip)
    return "HEAD", head


async def _commit(checkout: Checkout, ref: str) -> str | None:
    found = await checkout.run(
        *("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"), accepts=(0, 1, 128)
    )
    return found.text.strip() if found.exit_code == 0 else None


async def _fork_point(checkout: Checkout, tip: str) -> str:
    """Where HEAD left that line of work; the tip itself when they have nothing in common."""
    found = await checkout.run("merge-base", tip, "HEAD", accepts=(0, 1, 128))
    return found.text.strip() if found.exit_code == 0 else tip


async def _write_out(checkout: Checkout, tree: str, place: Path) -> None:
    """Through an index of its own, so that the person's is not touched."""
    kind = await checkout.run("cat-file", "-t", tree, accepts=(0, 1, 128))
    if kind.text.strip() != "tree":  # the directory was not there yet: everything in it is new
        return
    top = (await checkout.run("rev-parse", "--show-toplevel")).text.strip("\n")
    aside = replace(checkout, directory=top, index=str(place / "index"))
    await aside.run("read-tree", tree, timeout_s=LONG_S)
    await aside.run(*("checkout-index", "--all", "--force", f"--prefix={place / 'tree'}/"), timeout_s=LONG_S)
