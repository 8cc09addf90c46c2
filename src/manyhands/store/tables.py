"""Every table, as SQLAlchemy Core sees it. `migrations/` must add up to this; a test compares them."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from manyhands.store.columns import BigInt, Json, Moment

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Json),
)

events = Table(
    "events",
    metadata,
    Column("seq", BigInt, primary_key=True, autoincrement=False),
    Column("type", String(64), nullable=False),
    Column("channel_id", String(64)),
    Column("data", Json, nullable=False),
    Column("at", Moment, nullable=False, index=True),
)

channels = Table(
    "channels",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("dir_path", Text, index=True),
    Column("platform", String(32), nullable=False, server_default="local"),
    Column("parent_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), index=True),
    Column("branch", Text),
    Column("worktree", Text),
    Column("active", Boolean, nullable=False),
    Column("trusted", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
)

Index(
    "uq_channels_directory",
    channels.c.dir_path,
    channels.c.platform,
    unique=True,
    sqlite_where=channels.c.parent_id.is_(None),
    postgresql_where=channels.c.parent_id.is_(None),
)

servers = Table(
    "servers",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project", Text, nullable=False, server_default=""),
    Column("name", Text, nullable=False),
    Column("safe_name", String(128), nullable=False),
    Column("transport", String(8), nullable=False),
    Column("command", Text),
    Column("args", Json, nullable=False),
    Column("env", Json, nullable=False),
    Column("cwd", Text),
    Column("url", Text),
    Column("headers", Json, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("trust", String(8), nullable=False),
    Column("tool_timeout", Integer, nullable=False),
    Column("connect_timeout", Integer, nullable=False),
    Column("parallel", String(12), nullable=False),
    Column("held", Boolean, nullable=False),
    Column("approved_hash", String(64)),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("project", "safe_name"),
    sqlite_autoincrement=True,
)

catalogues = Table(
    "catalogues",
    metadata,
    Column("server_id", Integer, ForeignKey("servers.id", ondelete="CASCADE"), primary_key=True),
    Column("version", Text),
    Column("protocol", String(32)),
    Column("capabilities", Json, nullable=False),
    Column("instructions", Text),
    Column("prompts", Json, nullable=False),
    Column("resources", Json, nullable=False),
    Column("resource_templates", Json, nullable=False),
    Column("skills", Json, nullable=False),
    Column("repairs", Json, nullable=False),
    Column("wants_roots", Boolean, nullable=False),
    Column("fetched_at", Moment, nullable=False),
)

server_tools = Table(
    "server_tools",
    metadata,
    Column("server_id", Integer, ForeignKey("servers.id", ondelete="CASCADE"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("definition", Json, nullable=False),
    Column("definition_hash", String(64), nullable=False),
)

tool_preferences = Table(
    "tool_preferences",
    metadata,
    Column("server_id", Integer, ForeignKey("servers.id", ondelete="CASCADE"), primary_key=True),
    Column("tool", Text, primary_key=True),
    Column("enabled", Boolean, nullable=False),
    Column("policy", String(8)),
    Column("pinned_hash", String(64)),
    Column("pinned_definition", Json),
)

rules = Table(
    "rules",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("effect", String(8), nullable=False),
    Column("server", Text),
    Column("tool", Text),
    Column("arguments", Json, nullable=False),
    Column("channel_id", String(64)),
    Column("session_id", String(64), index=True),
    Column("note", Text),
    Column("created_at", Moment, nullable=False),
)

approvals = Table(
    "approvals",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("channel_id", String(64)),
    Column("run_id", String(64)),
    Column("call_id", String(64)),
    Column("title", Text, nullable=False),
    Column("detail", Json, nullable=False),
    Column("answer", Json),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("resolved_at", Moment),
)

tool_calls = Table(
    "tool_calls",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("tool", Text, nullable=False),
    Column("server", Text, nullable=False),
    Column("server_id", Integer),
    Column("channel_id", String(64)),
    Column("run_id", String(64)),
    Column("iteration", Integer),
    Column("arguments", Json, nullable=False),
    Column("result", Text),
    Column("content", Json),
    Column("structured_content", Json),
    Column("is_error", Boolean, nullable=False),
    Column("status", String(12), nullable=False),
    Column("code", String(64)),
    Column("error", Text),
    Column("duration_ms", Integer),
    Column("size", BigInt),
    Column("result_file", Text),
    Column("at", Moment, nullable=False),
)
Index("ix_tool_calls_server_id", tool_calls.c.server, tool_calls.c.id)
Index("ix_tool_calls_tool_id", tool_calls.c.tool, tool_calls.c.id)
Index("ix_tool_calls_status_id", tool_calls.c.status, tool_calls.c.id)
Index("ix_tool_calls_run_id_id", tool_calls.c.run_id, tool_calls.c.id)
