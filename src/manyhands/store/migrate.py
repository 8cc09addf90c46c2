"""Give a new database its tables, and bring an older one to the newest revision with Alembic."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, Connection, make_url, text

from manyhands.errors import ConflictError
from manyhands.store.schema import current_revision, head_revision
from manyhands.store.urls import is_sqlite, psycopg_url, sqlite_path

MIGRATIONS = Path(__file__).parent / "migrations"
ADVISORY_LOCK = 822_200_001
VERSION_TABLE = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
    " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def create(conn: Connection) -> None:
    """The tables as they are now, at once: the migrations are for databases that have older ones."""
    from manyhands.store.partial_indexes import metadata

    if conn.dialect.name == "postgresql":  # another daemon may be at it
        conn.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
    if current_revision(conn) is not None:
        return
    metadata.create_all(conn)
    conn.execute(text(VERSION_TABLE))
    conn.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": head_revision()})


def upgrade(url: str, revision: str | None) -> None:
    """Run every migration that is still to come. `revision` is what the database has now."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["url"] = _sync_url(url)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise ConflictError(
            f"The database was made by a newer version (schema {revision}).",
            hint="Install that version, or restore a backup made before the upgrade.",
        )
    command.upgrade(config, "head")


def _sync_url(url: str) -> URL:
    return URL.create("sqlite", database=sqlite_path(url)) if is_sqlite(url) else make_url(psycopg_url(url))
