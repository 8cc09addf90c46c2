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
    _create_meta()
    _create_models()
    _create_rules()
    _create_servers()
    _create_settings()
    _create_tool_calls()
    _create_worktrees()
    _create_agent_messages()
    _create_agents()
    _create_catalogues()
    _create_channel_origins()
    _create_messages()
    _create_reads()
    _create_runs()
    _create_server_tools()
    _create_tokens()
    _create_tool_preferences()


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
