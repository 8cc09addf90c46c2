"""Bring a database to the newest revision with Alembic."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url

from manyhands.errors import ConflictError
from manyhands.store.urls import is_sqlite, psycopg_url, sqlite_path

MIGRATIONS = Path(__file__).parent / "migrations"


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
