"""Every table, as SQLAlchemy Core sees it. `migrations/` must add up to this; a test compares them.

Indexes that name a dialect are in `partial_indexes`.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
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
    Column("system_prompt", Text),
    Column("model", Text),
    Column("runner", Json),
    Column("cost_raised", Float),
)

# No foreign key: a worktree outlives its thread, and then must still be found and removed.
worktrees = Table(
    "worktrees",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("state", String(8), nullable=False),
    Column("repository", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("git_dir", Text, nullable=False),
    Column("branch", Text, nullable=False),
    Column("base", Text, nullable=False),
    Column("start_commit", String(64), nullable=False),
    Column("created_at", Moment, nullable=False),
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
    Column("channel_push", String(64)),
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
    Column("project", Text),
    Column("channel_id", String(64)),
    Column("session_id", Text, index=True),
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
# The others hold some rows only (`partial_indexes`). SQLite takes such an index for a statement that has its
# condition word by word, so whoever wants it says one of these.
call_ended = tool_calls.c.status != literal_column("'pending'")
call_without_success = tool_calls.c.status != literal_column("'success'")

runs = Table(
    "runs",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("channel_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), nullable=False),
    Column("status", String(16), nullable=False, index=True),
    Column("options", Json, nullable=False),
    Column("author_id", Text, nullable=False),
    Column("model", Text),
    Column("iterations", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("usage", Json, nullable=False),
    Column("cost", Float),
    Column("cost_raised", Float),
    Column("error", Text),
    Column("created_at", Moment, nullable=False),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    Column("first_seq", BigInt, nullable=False),
    Column("holder", Text),
)
Index("ix_runs_channel_id_id", runs.c.channel_id, runs.c.id)

messages = Table(
    "messages",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("channel_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), nullable=False),
    Column("run_id", String(64)),
    Column("iteration", Integer),
    Column("role", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("content", Text, nullable=False),
    Column("author_id", Text, nullable=False),
    Column("speaker", String(12), nullable=False, server_default="person"),
    Column("mentions", Json),
    Column("tool_calls", Json, nullable=False),
    Column("tool_call_id", Text),
    Column("is_error", Boolean, nullable=False),
    Column("attachments", Json, nullable=False),
    Column("thinking", Json, nullable=False),
    Column("usage", Json),
    Column("model", Text),
    Column("finish_reason", String(32)),
    Column("covers", String(64)),
    Column("at", Moment, nullable=False),
)
Index("ix_messages_channel_id_id", messages.c.channel_id, messages.c.id)
Index("ix_messages_run_id_id", messages.c.run_id, messages.c.id)

reads = Table(
    "reads",
    metadata,
    Column("person_id", Text, primary_key=True),
    Column(
        "channel_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), primary_key=True, index=True
    ),
    Column("message_id", String(64), nullable=False),
    Column("at", Moment, nullable=False),
)

models = Table(
    "models",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("provider", String(32), nullable=False),
    Column("model", Text, nullable=False),
    Column("base_url", Text),
    Column("api_key", Text),
    Column("tool_call", Boolean, nullable=False),
    Column("context", Integer, nullable=False),
    Column("modalities", Json, nullable=False),
    Column("price", Json),
    Column("fallbacks", Json, nullable=False),
    Column("default", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column(
        "channel_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), nullable=False, index=True
    ),
    Column("project", Text),
    Column("agent_id", Text),
    Column("author_id", Text),
    Column("flags", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
)

# A channel that an agent made from another one, without a directory, belongs to that one's project.
channel_origins = Table(
    "channel_origins",
    metadata,
    Column("channel_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), primary_key=True),
    Column(
        "origin_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), nullable=False, index=True
    ),
)

agents = Table(
    "agents",
    metadata,
    Column("channel_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(200), primary_key=True),
    Column("name", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("work_summary", Text, nullable=False),
    Column("registered_at", Moment, nullable=False),
    Column("last_seen", Moment, nullable=False),
)

# No foreign key to agents: a message outlives whoever sent it, and waits for one that comes back.
agent_messages = Table(
    "agent_messages",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("seq", BigInt, nullable=False, index=True),
    Column("channel_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), nullable=False),
    Column("from_agent", Text, nullable=False),
    Column("to_agent_id", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("state", String(12), nullable=False, index=True),
    Column("at", Moment, nullable=False),
    Column("delivered_at", Moment),
    Column("ended_at", Moment),
)
Index(
    "ix_agent_messages_receiver",
    agent_messages.c.channel_id,
    agent_messages.c.to_agent_id,
    agent_messages.c.seq,
)
Index(
    "ix_agent_messages_sender", agent_messages.c.channel_id, agent_messages.c.from_agent, agent_messages.c.seq
)

# Whoever does durable work on this database. A row stays until somebody has taken over what it left.
executors = Table(
    "executors",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("home", Text, nullable=False),
    Column("until", Moment, nullable=False),
)

# --- memory: made from files and messages, and can be made again from them

DERIVED = {"derived": True}

memory_collections = Table(
    "memory_collections",
    metadata,
    Column("id", Text, primary_key=True),
    Column("revision", BigInt, nullable=False),
    Column("files", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("used_at", Moment, nullable=False),
    Column("indexed_at", Moment),
    info=DERIVED,
)

# A file that changed is a new row: whoever still holds the old number finds nothing, never other text.
memory_files = Table(
    "memory_files",
    metadata,
    Column("id", BigInt, primary_key=True, autoincrement=True),
    Column("collection", Text, ForeignKey("memory_collections.id", ondelete="CASCADE"), nullable=False),
    Column("path", Text, nullable=False),
    Column("shown", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("size", BigInt, nullable=False),
    Column("mark", Text, nullable=False),
    Column("modified_at", Moment, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("problem", Text),
    Column("words", LargeBinary),
    UniqueConstraint("collection", "path"),
    info=DERIVED,
    sqlite_autoincrement=True,
)

memory_chunks = Table(
    "memory_chunks",
    metadata,
    Column("file_id", BigInt, ForeignKey("memory_files.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("text", Text, nullable=False),
    Column("line_start", Integer, nullable=False),
    Column("line_end", Integer, nullable=False),
    Column("headings", Json, nullable=False),
    Column("section", Integer, nullable=False),
    Column("gap", Text, nullable=False),
    info=DERIVED,
)

memory_vectors = Table(
    "memory_vectors",
    metadata,
    Column("file_id", BigInt, ForeignKey("memory_files.id", ondelete="CASCADE"), primary_key=True),
    Column("model", String(300), primary_key=True),
    Column("dimensions", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    info=DERIVED,
)

# What is kept of every scan, for the trend.
quality_snapshots = Table(
    "quality_snapshots",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("channel_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), nullable=False),
    Column("branch", Text, nullable=False),
    Column("commit_id", String(64)),
    Column("directory", Text, nullable=False),
    Column("signal", Integer, nullable=False),
    Column("summary", Json, nullable=False),
    Column("scanned_at", Moment, nullable=False),
)
Index(
    "ix_quality_snapshots_channel_branch",
    quality_snapshots.c.channel_id,
    quality_snapshots.c.branch,
    quality_snapshots.c.id,
)

# The newest scan of each branch, whole: lists cut into pieces, each packed.
quality_parts = Table(
    "quality_parts",
    metadata,
    Column(
        "snapshot_id", String(64), ForeignKey("quality_snapshots.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("part", String(16), primary_key=True),
    Column("start", Integer, primary_key=True, autoincrement=False),
    Column("count", Integer, nullable=False),
    Column("data", Text, nullable=False),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("channel_id", String(64), ForeignKey("channels.id", ondelete="CASCADE"), nullable=False),
    Column("name", Text, nullable=False),
    Column("type", String(8), nullable=False),
    Column("schedule", Text),
    Column("timezone", String(64), nullable=False),
    Column("does", String(8), nullable=False),
    Column("author_id", Text, nullable=False),
    Column("template_name", String(200)),
    Column("prompt", Text),
    Column("workflow_name", Text),
    Column("workflow_inputs", Json, nullable=False),
    Column("script", Text),
    Column("model", Text),
    Column("allow", Json, nullable=False),
    Column("worktree", Boolean, nullable=False),
    Column("budget", Float),
    Column("conversation", String(4), nullable=False),
    Column("thread_id", String(64)),
    Column("overlap", String(8), nullable=False),
    Column("missed", String(8), nullable=False),
    Column("missed_window_s", Integer, nullable=False),
    Column("jitter_s", Integer, nullable=False),
    Column("retries", Integer, nullable=False),
    Column("retry_delay_s", Integer, nullable=False),
    Column("max_failures", Integer, nullable=False),
    Column("timeout_s", Integer, nullable=False),
    Column("max_iterations", Integer),
    Column("auto_delete_sec", Integer, nullable=False),
    Column("keep_reports", Boolean, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("stopped_because", Text),
    Column("anchor", Moment, nullable=False),
    Column("due_at", Moment),
    Column("next_run_at", Moment, index=True),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("channel_id", "template_name"),
)

task_runs = Table(
    "task_runs",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("task_id", String(64), ForeignKey("tasks.id", ondelete="CASCADE"), nullable=False),
    Column("due_at", Moment, nullable=False),
    Column("state", String(12), nullable=False),
    Column("trigger", String(12), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("retry_at", Moment),
    Column("thread_id", String(64)),
    Column("run_id", String(64)),
    Column("workflow_run_id", String(128)),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    Column("cost", Float),
    Column("text", Text, nullable=False),
    Column("error", Text),
    Column("note", Text),
    Column("denied", Json, nullable=False),
    Column("delete_at", Moment, index=True),
)
Index("ix_task_runs_task_id_created_at", task_runs.c.task_id, task_runs.c.created_at)
Index("ix_task_runs_state", task_runs.c.state)

workflow_runs = Table(
    "workflow_runs",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("workflow_name", String(64), nullable=False),
    Column("status", String(12), nullable=False, index=True),
    Column("channel_id", String(64), index=True),
    Column("dir_path", Text),
    Column("authority", String(12), nullable=False),
    Column("attended", Boolean, nullable=False),
    Column("ending", String(12)),
    Column("retries", Integer, nullable=False),
    Column("error", Text),
    Column("deadline", Moment),
    Column("created_at", Moment, nullable=False, index=True),
    Column("ended_at", Moment),
    Column("version", Integer, nullable=False),
)

# What a run is pinned to. Apart from the run, whose row is written with every step.
workflow_pins = Table(
    "workflow_pins",
    metadata,
    Column("run_id", String(128), ForeignKey("workflow_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("definition", Json, nullable=False),
    Column("subs", Json, nullable=False),
    Column("inputs", Json, nullable=False),
)

# The id is the run, the node's path and the attempt: the same as with the durable engine.
workflow_nodes = Table(
    "workflow_nodes",
    metadata,
    Column("id", Text, primary_key=True),
    Column(
        "run_id", String(128), ForeignKey("workflow_runs.id", ondelete="CASCADE"), nullable=False, index=True
    ),
    Column("path", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("node_id", String(64), nullable=False),
    Column("type", String(16), nullable=False),
    Column("status", String(12), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("superseded", Boolean, nullable=False),
    Column("inputs", Json),
    Column("output", Json),
    Column("error", Text),
    Column("error_class", String(16)),
    Column("reason", Text),
    Column("detail", Json, nullable=False),
    Column("not_before", Moment),
    Column("started_at", Moment),
    Column("ended_at", Moment),
)
