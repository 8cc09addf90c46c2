"""Channels: where a conversation lives, and the directory that its tools may touch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation, usually of one project directory. `trusted`: its `.mcp.json` may start servers."""

    id: str
    name: str
    dir_path: str | None
    platform: str
    parent_id: str | None
    branch: str | None
    worktree: str | None
    active: bool
    trusted: bool
    created_at: datetime
