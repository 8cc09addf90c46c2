"""Alembic's entry: run the migrations on one connection, in one transaction."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from sqlalchemy import create_engine, pool, text

from manyhands.store import columns
from manyhands.store.migrate import ADVISORY_LOCK
from manyhands.store.partial_indexes import metadata


def render(kind: str, item: Any, autogen: Any) -> str | Literal[False]:
    """Write our column types by their names."""
    if kind == "type" and type(item).__module__ == columns.__name__:
        return f"columns.{type(item).__name__}()"
    return False


def run() -> None:
    url = context.config.attributes.get("url") or context.config.get_main_option("sqlalchemy.url")
    assert url is not None
    engine = create_engine(url, poolclass=pool.NullPool)
    with engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_lock({ADVISORY_LOCK})"))
            connection.commit()
        context.configure(
            connection=connection, target_metadata=metadata, render_as_batch=True, render_item=render
        )
        with context.begin_transaction():
            context.run_migrations()
    engine.dispose()


run()
