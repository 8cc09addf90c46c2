"""Threads and worktrees over HTTP: further conversations of a channel, some with files of their own."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, items, slice_page
from manyhands.api.channels import shape
from manyhands.chat.worktree_rules import Deleted, State
from manyhands.errors import ConflictError

router = APIRouter(tags=["channels"])

Force = Annotated[bool, Query(description="Delete it even if that loses work.")]


class NewThread(schemas.Body):
    """The channel that it belongs to, what it is called, and what an agent is to do there at once."""

    channel_id: str
    name: str = Field(min_length=1, max_length=200)
    message: str | None = Field(None, min_length=1)


class NewWorktree(schemas.Body):
    """The channel of a repository and the branch to start from, by default the one that is checked out."""

    channel_id: str
    branch: str | None = Field(None, min_length=1, max_length=250)
    name: str | None = Field(None, min_length=1, max_length=100)
    message: str | None = Field(None, min_length=1)


class Worktree(schemas.Answer):
    """A worktree. `thread` is nothing when its thread is gone."""

    id: str
    thread: str | None
    state: State
    path: str
    repository: str
    branch: str
    base: str
    size: int = Field(description="Bytes of its files, without the repository's own.")
    uncommitted: int
    unmerged: int
    unpushed: int
    would_lose: list[str]
    created_at: str


class FileDiff(schemas.Answer):
    """What differs in one file, as a unified diff. `cut`: there is more of it."""

    path: str
    status: str
    additions: int
    deletions: int
    binary: bool
    diff: str
    cut: bool


class WorktreeDiff(schemas.Answer):
    """Everything that differs from the commit where the worktree left its base. `cut`: there is more."""

    base: str
    branch: str
    commit: str
    files: list[FileDiff]
    cut: bool


class CleanUp(schemas.Body):
    """What goes: merged worktrees, and with `unchanged` those that nothing was done in."""

    unchanged: bool = False


class Cleaned(schemas.Answer):
    """What went and what stayed, and how many bytes are free now."""

    removed: list[Worktree]
    kept: list[Worktree]
    freed: int


@router.post("/threads", status_code=201)
async def create_thread(hub: HubOf, body: NewThread) -> schemas.Channel:
    """A conversation of its own below a channel: the same directory, model and permissions.

    With a message, a run starts in it at once.
    """
    return shape(await hub.threads.create(body.channel_id, body.name, body.message))


@router.delete("/threads/{thread_id}", status_code=204)
async def delete_thread(hub: HubOf, thread_id: str, force: Force = False) -> None:
    """Remove a thread with its worktree; a worktree with work in it keeps both (409 with `would_lose`)."""
    _answer(await hub.threads.delete(thread_id, force))


@router.get("/worktrees")
async def list_worktrees(hub: HubOf, limit: Limit = PAGE, cursor: Cursor = None) -> schemas.Items[Worktree]:
    """All worktrees with size and state, newest first."""
    page, following = slice_page(await hub.threads.worktrees(), limit, cursor)
    return items(page, following, lambda view: view.wire())


@router.post("/worktrees", status_code=201)
async def create_worktree(hub: HubOf, body: NewWorktree) -> schemas.Channel:
    """A thread with a fresh git worktree, on a new branch that starts from the given one."""
    return shape(await hub.threads.create_worktree(body.channel_id, body.branch, body.name, body.message))


@router.post("/worktrees/clean")
async def clean_worktrees(hub: HubOf, body: CleanUp) -> Cleaned:
    """Remove the worktrees whose work is merged; their conversations stay."""
    done = await hub.threads.clean_merged(unchanged=body.unchanged)
    return Cleaned(
        removed=[Worktree(**view.wire()) for view in done.removed],
        kept=[Worktree(**view.wire()) for view in done.kept],
        freed=done.freed,
    )


@router.get("/worktrees/{worktree_id}")
async def get_worktree(hub: HubOf, worktree_id: str) -> Worktree:
    """One worktree, by the id of the thread that it was made for."""
    return Worktree(**(await hub.threads.worktree(worktree_id)).wire())


@router.get("/worktrees/{worktree_id}/diff")
async def get_worktree_diff(hub: HubOf, worktree_id: str) -> WorktreeDiff:
    """The files that differ from its base, new ones included, with their diffs."""
    return WorktreeDiff(**(await hub.threads.diff(worktree_id)).wire())


@router.delete("/worktrees/{worktree_id}", status_code=204)
async def delete_worktree(hub: HubOf, worktree_id: str, force: Force = False) -> None:
    """Remove a worktree with its branch and its thread; one with work in it is kept (409)."""
    _answer(await hub.threads.delete_worktree(worktree_id, force))


def _answer(deleted: Deleted) -> None:
    if deleted.kept:
        raise ConflictError(
            f"It is kept, because this would be lost: {'; '.join(deleted.would_lose)}.",
            hint="Commit and merge it first, or force it (--force, force=true) to lose it.",
            data={"kept": True, "would_lose": list(deleted.would_lose)},
        )
