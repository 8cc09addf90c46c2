"""The first tables"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from manyhands.store import columns

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_approvals()
    _create_channels()
    _create_events()
    _create_executors()
    _create_memory_collections()
    _create_meta()
    _create_models()
    _create_rules()
    _create_servers()
    _create_settings()
    _create_tool_calls()
    _create_workflow_runs()
    _create_worktrees()
    _create_agent_messages()
    _create_agents()
    _create_catalogues()
    _create_channel_origins()
    _create_memory_files()
    _create_messages()
    _create_quality_snapshots()
    _create_reads()
    _create_runs()
    _create_server_tools()
    _create_tasks()
    _create_tokens()
    _create_tool_preferences()
    _create_workflow_nodes()
    _create_workflow_pins()
    _create_memory_chunks()
    _create_memory_vectors()
    _create_quality_parts()
    _create_task_runs()


def _create_approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=True),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("call_id", sa.String(length=64), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("detail", columns.Json(), nullable=False),
        sa.Column("answer", columns.Json(), nullable=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("expires_at", columns.Moment(), nullable=True),
        sa.Column("resolved_at", columns.Moment(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approvals")),
    )
    with op.batch_alter_table("approvals", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_approvals_state"), ["state"], unique=False)


def _create_channels() -> None:
    op.create_table(
        "channels",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("dir_path", sa.Text(), nullable=True),
        sa.Column("platform", sa.String(length=32), server_default="local", nullable=False),
        sa.Column("parent_id", sa.String(length=64), nullable=True),
        sa.Column("branch", sa.Text(), nullable=True),
        sa.Column("worktree", sa.Text(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("trusted", sa.Boolean(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("system_prompt", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("runner", columns.Json(), nullable=True),
        sa.Column("cost_raised", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["channels.id"], name=op.f("fk_channels_parent_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_channels")),
    )
    with op.batch_alter_table("channels", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_channels_dir_path"), ["dir_path"], unique=False)
        batch_op.create_index(batch_op.f("ix_channels_parent_id"), ["parent_id"], unique=False)
        batch_op.create_index(
            "uq_channels_directory",
            ["dir_path", "platform"],
            unique=True,
            sqlite_where=sa.text("parent_id IS NULL"),
            postgresql_where=sa.text("parent_id IS NULL"),
        )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("seq", columns.BigInt(), autoincrement=False, nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=True),
        sa.Column("data", columns.Json(), nullable=False),
        sa.Column("at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_events")),
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_events_at"), ["at"], unique=False)


def _create_executors() -> None:
    op.create_table(
        "executors",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("home", sa.Text(), nullable=False),
        sa.Column("until", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_executors")),
    )


def _create_memory_collections() -> None:
    op.create_table(
        "memory_collections",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("revision", columns.BigInt(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("used_at", columns.Moment(), nullable=False),
        sa.Column("indexed_at", columns.Moment(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_collections")),
        info={"derived": True},
    )


def _create_meta() -> None:
    op.create_table(
        "meta",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
    )


def _create_models() -> None:
    op.create_table(
        "models",
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=True),
        sa.Column("api_key", sa.Text(), nullable=True),
        sa.Column("tool_call", sa.Boolean(), nullable=False),
        sa.Column("context", sa.Integer(), nullable=False),
        sa.Column("modalities", columns.Json(), nullable=False),
        sa.Column("price", columns.Json(), nullable=True),
        sa.Column("fallbacks", columns.Json(), nullable=False),
        sa.Column("default", sa.Boolean(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_models")),
        sa.UniqueConstraint("name", name=op.f("uq_models_name")),
    )


def _create_rules() -> None:
    op.create_table(
        "rules",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("effect", sa.String(length=8), nullable=False),
        sa.Column("server", sa.Text(), nullable=True),
        sa.Column("tool", sa.Text(), nullable=True),
        sa.Column("arguments", columns.Json(), nullable=False),
        sa.Column("project", sa.Text(), nullable=True),
        sa.Column("channel_id", sa.String(length=64), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rules")),
    )
    with op.batch_alter_table("rules", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rules_session_id"), ["session_id"], unique=False)


def _create_servers() -> None:
    op.create_table(
        "servers",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project", sa.Text(), server_default="", nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("safe_name", sa.String(length=128), nullable=False),
        sa.Column("transport", sa.String(length=8), nullable=False),
        sa.Column("command", sa.Text(), nullable=True),
        sa.Column("args", columns.Json(), nullable=False),
        sa.Column("env", columns.Json(), nullable=False),
        sa.Column("cwd", sa.Text(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("headers", columns.Json(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("trust", sa.String(length=8), nullable=False),
        sa.Column("tool_timeout", sa.Integer(), nullable=False),
        sa.Column("connect_timeout", sa.Integer(), nullable=False),
        sa.Column("parallel", sa.String(length=12), nullable=False),
        sa.Column("channel_push", sa.String(length=64), nullable=True),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("approved_hash", sa.String(length=64), nullable=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_servers")),
        sa.UniqueConstraint("project", "safe_name", name=op.f("uq_servers_project_safe_name")),
        sqlite_autoincrement=True,
    )


def _create_settings() -> None:
    op.create_table(
        "settings",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", columns.Json(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_settings")),
    )


def _create_tool_calls() -> None:
    op.create_table(
        "tool_calls",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("server_id", sa.Integer(), nullable=True),
        sa.Column("channel_id", sa.String(length=64), nullable=True),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("iteration", sa.Integer(), nullable=True),
        sa.Column("arguments", columns.Json(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("content", columns.Json(), nullable=True),
        sa.Column("structured_content", columns.Json(), nullable=True),
        sa.Column("is_error", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("code", sa.String(length=64), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("duration_ms", sa.Integer(), nullable=True),
        sa.Column("size", columns.BigInt(), nullable=True),
        sa.Column("result_file", sa.Text(), nullable=True),
        sa.Column("at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tool_calls")),
    )
    with op.batch_alter_table("tool_calls", schema=None) as batch_op:
        batch_op.create_index(
            "ix_tool_calls_at_measured", ["at", "server", "status", "duration_ms"], unique=False
        )
        batch_op.create_index("ix_tool_calls_channel_id_id", ["channel_id", "id"], unique=False)
        batch_op.create_index("ix_tool_calls_run_id_id", ["run_id", "id"], unique=False)
        batch_op.create_index("ix_tool_calls_server_id", ["server", "id"], unique=False)
        batch_op.create_index("ix_tool_calls_status_id", ["status", "id"], unique=False)
        batch_op.create_index("ix_tool_calls_tool_id", ["tool", "id"], unique=False)


def _create_workflow_runs() -> None:
    op.create_table(
        "workflow_runs",
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("workflow_name", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=True),
        sa.Column("dir_path", sa.Text(), nullable=True),
        sa.Column("authority", sa.String(length=12), nullable=False),
        sa.Column("attended", sa.Boolean(), nullable=False),
        sa.Column("ending", sa.String(length=12), nullable=True),
        sa.Column("retries", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("deadline", columns.Moment(), nullable=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("ended_at", columns.Moment(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workflow_runs")),
    )
    with op.batch_alter_table("workflow_runs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_workflow_runs_channel_id"), ["channel_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_workflow_runs_created_at"), ["created_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_workflow_runs_status"), ["status"], unique=False)


def _create_worktrees() -> None:
    op.create_table(
        "worktrees",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("git_dir", sa.Text(), nullable=False),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("start_commit", sa.String(length=64), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worktrees")),
    )


def _create_agent_messages() -> None:
    op.create_table(
        "agent_messages",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("seq", columns.BigInt(), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=False),
        sa.Column("from_agent", sa.Text(), nullable=False),
        sa.Column("to_agent_id", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("at", columns.Moment(), nullable=False),
        sa.Column("delivered_at", columns.Moment(), nullable=True),
        sa.Column("ended_at", columns.Moment(), nullable=True),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_agent_messages_channel_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_messages")),
    )
    with op.batch_alter_table("agent_messages", schema=None) as batch_op:
        batch_op.create_index(
            "ix_agent_messages_receiver", ["channel_id", "to_agent_id", "seq"], unique=False
        )
        batch_op.create_index("ix_agent_messages_sender", ["channel_id", "from_agent", "seq"], unique=False)
        batch_op.create_index(batch_op.f("ix_agent_messages_seq"), ["seq"], unique=False)
        batch_op.create_index(batch_op.f("ix_agent_messages_state"), ["state"], unique=False)


def _create_agents() -> None:
    op.create_table(
        "agents",
        sa.Column("channel_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("work_summary", sa.Text(), nullable=False),
        sa.Column("registered_at", columns.Moment(), nullable=False),
        sa.Column("last_seen", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_agents_channel_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("channel_id", "id", name=op.f("pk_agents")),
    )


def _create_catalogues() -> None:
    op.create_table(
        "catalogues",
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column("protocol", sa.String(length=32), nullable=True),
        sa.Column("capabilities", columns.Json(), nullable=False),
        sa.Column("instructions", sa.Text(), nullable=True),
        sa.Column("prompts", columns.Json(), nullable=False),
        sa.Column("resources", columns.Json(), nullable=False),
        sa.Column("resource_templates", columns.Json(), nullable=False),
        sa.Column("skills", columns.Json(), nullable=False),
        sa.Column("repairs", columns.Json(), nullable=False),
        sa.Column("wants_roots", sa.Boolean(), nullable=False),
        sa.Column("fetched_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"], ["servers.id"], name=op.f("fk_catalogues_server_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("server_id", name=op.f("pk_catalogues")),
    )


def _create_channel_origins() -> None:
    op.create_table(
        "channel_origins",
        sa.Column("channel_id", sa.String(length=64), nullable=False),
        sa.Column("origin_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_channel_origins_channel_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["origin_id"], ["channels.id"], name=op.f("fk_channel_origins_origin_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("channel_id", name=op.f("pk_channel_origins")),
    )
    with op.batch_alter_table("channel_origins", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_channel_origins_origin_id"), ["origin_id"], unique=False)


def _create_memory_files() -> None:
    op.create_table(
        "memory_files",
        sa.Column("id", columns.BigInt(), autoincrement=True, nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("size", columns.BigInt(), nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("modified_at", columns.Moment(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("words", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection"],
            ["memory_collections.id"],
            name=op.f("fk_memory_files_collection"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_files")),
        sa.UniqueConstraint("collection", "path", name=op.f("uq_memory_files_collection_path")),
        info={"derived": True},
        sqlite_autoincrement=True,
    )


def _create_messages() -> None:
    op.create_table(
        "messages",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("iteration", sa.Integer(), nullable=True),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("speaker", sa.String(length=12), server_default="person", nullable=False),
        sa.Column("mentions", columns.Json(), nullable=True),
        sa.Column("tool_calls", columns.Json(), nullable=False),
        sa.Column("tool_call_id", sa.Text(), nullable=True),
        sa.Column("is_error", sa.Boolean(), nullable=False),
        sa.Column("attachments", columns.Json(), nullable=False),
        sa.Column("thinking", columns.Json(), nullable=False),
        sa.Column("usage", columns.Json(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("finish_reason", sa.String(length=32), nullable=True),
        sa.Column("covers", sa.String(length=64), nullable=True),
        sa.Column("at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_messages_channel_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
    )
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.create_index("ix_messages_channel_id_id", ["channel_id", "id"], unique=False)
        batch_op.create_index("ix_messages_run_id_id", ["run_id", "id"], unique=False)


def _create_quality_snapshots() -> None:
    op.create_table(
        "quality_snapshots",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=False),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("commit_id", sa.String(length=64), nullable=True),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("signal", sa.Integer(), nullable=False),
        sa.Column("summary", columns.Json(), nullable=False),
        sa.Column("scanned_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_quality_snapshots_channel_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quality_snapshots")),
    )
    with op.batch_alter_table("quality_snapshots", schema=None) as batch_op:
        batch_op.create_index(
            "ix_quality_snapshots_channel_branch", ["channel_id", "branch", "id"], unique=False
        )


def _create_reads() -> None:
    op.create_table(
        "reads",
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=False),
        sa.Column("message_id", sa.String(length=64), nullable=False),
        sa.Column("at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_reads_channel_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("person_id", "channel_id", name=op.f("pk_reads")),
    )
    with op.batch_alter_table("reads", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reads_channel_id"), ["channel_id"], unique=False)


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("options", columns.Json(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("iterations", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("usage", columns.Json(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("cost_raised", sa.Float(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("started_at", columns.Moment(), nullable=True),
        sa.Column("ended_at", columns.Moment(), nullable=True),
        sa.Column("first_seq", columns.BigInt(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_runs_channel_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index("ix_runs_channel_id_id", ["channel_id", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_runs_status"), ["status"], unique=False)


def _create_server_tools() -> None:
    op.create_table(
        "server_tools",
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("definition", columns.Json(), nullable=False),
        sa.Column("definition_hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"], ["servers.id"], name=op.f("fk_server_tools_server_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("server_id", "name", name=op.f("pk_server_tools")),
    )


def _create_tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type", sa.String(length=8), nullable=False),
        sa.Column("schedule", sa.Text(), nullable=True),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("does", sa.String(length=8), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("template_name", sa.String(length=200), nullable=True),
        sa.Column("prompt", sa.Text(), nullable=True),
        sa.Column("workflow_name", sa.Text(), nullable=True),
        sa.Column("workflow_inputs", columns.Json(), nullable=False),
        sa.Column("script", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("allow", columns.Json(), nullable=False),
        sa.Column("worktree", sa.Boolean(), nullable=False),
        sa.Column("budget", sa.Float(), nullable=True),
        sa.Column("conversation", sa.String(length=4), nullable=False),
        sa.Column("thread_id", sa.String(length=64), nullable=True),
        sa.Column("overlap", sa.String(length=8), nullable=False),
        sa.Column("missed", sa.String(length=8), nullable=False),
        sa.Column("missed_window_s", sa.Integer(), nullable=False),
        sa.Column("jitter_s", sa.Integer(), nullable=False),
        sa.Column("retries", sa.Integer(), nullable=False),
        sa.Column("retry_delay_s", sa.Integer(), nullable=False),
        sa.Column("max_failures", sa.Integer(), nullable=False),
        sa.Column("timeout_s", sa.Integer(), nullable=False),
        sa.Column("max_iterations", sa.Integer(), nullable=True),
        sa.Column("auto_delete_sec", sa.Integer(), nullable=False),
        sa.Column("keep_reports", sa.Boolean(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("stopped_because", sa.Text(), nullable=True),
        sa.Column("anchor", columns.Moment(), nullable=False),
        sa.Column("due_at", columns.Moment(), nullable=True),
        sa.Column("next_run_at", columns.Moment(), nullable=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_tasks_channel_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint("channel_id", "template_name", name=op.f("uq_tasks_channel_id_template_name")),
    )
    with op.batch_alter_table("tasks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tasks_next_run_at"), ["next_run_at"], unique=False)


def _create_tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("channel_id", sa.String(length=64), nullable=False),
        sa.Column("project", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("author_id", sa.Text(), nullable=True),
        sa.Column("flags", columns.Json(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("expires_at", columns.Moment(), nullable=True),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["channels.id"], name=op.f("fk_tokens_channel_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_tokens_hash")),
    )
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tokens_channel_id"), ["channel_id"], unique=False)


def _create_tool_preferences() -> None:
    op.create_table(
        "tool_preferences",
        sa.Column("server_id", sa.Integer(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("policy", sa.String(length=8), nullable=True),
        sa.Column("pinned_hash", sa.String(length=64), nullable=True),
        sa.Column("pinned_definition", columns.Json(), nullable=True),
        sa.ForeignKeyConstraint(
            ["server_id"], ["servers.id"], name=op.f("fk_tool_preferences_server_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("server_id", "tool", name=op.f("pk_tool_preferences")),
    )


def _create_workflow_nodes() -> None:
    op.create_table(
        "workflow_nodes",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.String(length=128), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("node_id", sa.String(length=64), nullable=False),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("superseded", sa.Boolean(), nullable=False),
        sa.Column("inputs", columns.Json(), nullable=True),
        sa.Column("output", columns.Json(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("error_class", sa.String(length=16), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("detail", columns.Json(), nullable=False),
        sa.Column("not_before", columns.Moment(), nullable=True),
        sa.Column("started_at", columns.Moment(), nullable=True),
        sa.Column("ended_at", columns.Moment(), nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"], ["workflow_runs.id"], name=op.f("fk_workflow_nodes_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workflow_nodes")),
    )
    with op.batch_alter_table("workflow_nodes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_workflow_nodes_run_id"), ["run_id"], unique=False)


def _create_workflow_pins() -> None:
    op.create_table(
        "workflow_pins",
        sa.Column("run_id", sa.String(length=128), nullable=False),
        sa.Column("definition", columns.Json(), nullable=False),
        sa.Column("subs", columns.Json(), nullable=False),
        sa.Column("inputs", columns.Json(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["workflow_runs.id"], name=op.f("fk_workflow_pins_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_workflow_pins")),
    )


def _create_memory_chunks() -> None:
    op.create_table(
        "memory_chunks",
        sa.Column("file_id", columns.BigInt(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("line_start", sa.Integer(), nullable=False),
        sa.Column("line_end", sa.Integer(), nullable=False),
        sa.Column("headings", columns.Json(), nullable=False),
        sa.Column("section", sa.Integer(), nullable=False),
        sa.Column("gap", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["file_id"], ["memory_files.id"], name=op.f("fk_memory_chunks_file_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("file_id", "number", name=op.f("pk_memory_chunks")),
        info={"derived": True},
    )


def _create_memory_vectors() -> None:
    op.create_table(
        "memory_vectors",
        sa.Column("file_id", columns.BigInt(), nullable=False),
        sa.Column("model", sa.String(length=300), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["file_id"], ["memory_files.id"], name=op.f("fk_memory_vectors_file_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("file_id", "model", name=op.f("pk_memory_vectors")),
        info={"derived": True},
    )


def _create_quality_parts() -> None:
    op.create_table(
        "quality_parts",
        sa.Column("snapshot_id", sa.String(length=64), nullable=False),
        sa.Column("part", sa.String(length=16), nullable=False),
        sa.Column("start", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["snapshot_id"],
            ["quality_snapshots.id"],
            name=op.f("fk_quality_parts_snapshot_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("snapshot_id", "part", "start", name=op.f("pk_quality_parts")),
    )


def _create_task_runs() -> None:
    op.create_table(
        "task_runs",
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("task_id", sa.String(length=64), nullable=False),
        sa.Column("due_at", columns.Moment(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("trigger", sa.String(length=12), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("retry_at", columns.Moment(), nullable=True),
        sa.Column("thread_id", sa.String(length=64), nullable=True),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("workflow_run_id", sa.String(length=128), nullable=True),
        sa.Column("started_at", columns.Moment(), nullable=True),
        sa.Column("ended_at", columns.Moment(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("denied", columns.Json(), nullable=False),
        sa.Column("delete_at", columns.Moment(), nullable=True),
        sa.ForeignKeyConstraint(
            ["task_id"], ["tasks.id"], name=op.f("fk_task_runs_task_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_runs")),
    )
    with op.batch_alter_table("task_runs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_task_runs_delete_at"), ["delete_at"], unique=False)
        batch_op.create_index("ix_task_runs_state", ["state"], unique=False)
        batch_op.create_index("ix_task_runs_task_id_created_at", ["task_id", "created_at"], unique=False)
