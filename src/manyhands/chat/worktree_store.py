"""The SQL of worktrees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from manyhands.chat.worktree_rules import Worktree
from manyhands.store.tables import worktrees


def insert_worktree(conn: Connection, worktree: Worktree) -> None:
    conn.execute(insert(worktrees), {name: getattr(worktree, name) for name in Worktree.__slots__})


def select_worktree(conn: Connection, worktree_id: str) -> Worktree | None:
    row = conn.execute(select(worktrees).where(worktrees.c.id == worktree_id)).first()
    return None if row is None else _to_worktree(row)


def select_worktrees(conn: Connection) -> Sequence[Worktree]:
    """Newest first."""
    return [_to_worktree(row) for row in conn.execute(select(worktrees).order_by(worktrees.c.id.desc()))]


def mark_ready(conn: Connection, worktree_id: str) -> None:
    conn.execute(update(worktrees).where(worktrees.c.id == worktree_id).values(state="ready"))


def place_git_dir(conn: Connection, worktree_id: str, git_dir: str) -> None:
    conn.execute(update(worktrees).where(worktrees.c.id == worktree_id).values(git_dir=git_dir))


def delete_worktree(conn: Connection, worktree_id: str) -> None:
    conn.execute(delete(worktrees).where(worktrees.c.id == worktree_id))


def _to_worktree(row: Row[Any]) -> Worktree:
    return Worktree(**{name: getattr(row, name) for name in Worktree.__slots__})
