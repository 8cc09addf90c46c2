"""Which branch a directory is on, read from the files of Git: cheap enough for every look at a snapshot."""

from __future__ import annotations

from pathlib import Path

DETACHED = "HEAD"
NO_REPOSITORY = ""
_LONGEST = 4096


def current_branch(directory: str | Path) -> str:
    """The branch that is checked out, `HEAD` when it is none, nothing where there is no repository."""
    place = Path(directory).absolute()
    for folder in (place, *place.parents):
        git = folder / ".git"
        if git.exists():
            return _branch_of(git)
    return NO_REPOSITORY


def _branch_of(git: Path) -> str:
    if git.is_file():  # a worktree or a submodule: its file says where its directory is
        pointed = _read(git).removeprefix("gitdir:").strip()
        git = git.parent / pointed
    head = _read(git / "HEAD").strip()
    if head.startswith("ref:"):
        return head.removeprefix("ref:").strip().removeprefix("refs/heads/")
    return DETACHED if head else NO_REPOSITORY


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return ""
