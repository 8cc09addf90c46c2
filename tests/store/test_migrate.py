"""The schema is the sum of its migrations, on both databases, and Alembic stays out of the way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect, text

from manyhands.errors import ConflictError
from manyhands.store.engine import open_store
from manyhands.store.migrate import MIGRATIONS, upgrade
from manyhands.store.partial_indexes import metadata
from manyhands.store.schema import head_revision

pytestmark = pytest.mark.anyio

OPEN = """
import sys, anyio
from manyhands.store.engine import open_store

async def main() -> None:
    async with open_store(sys.argv[1]):
        assert "alembic" not in sys.modules

anyio.run(main)
"""


@contextmanager
def engine_of(url: str) -> Iterator[Engine]:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    yield engine
    engine.dispose()


def describe(engine: Engine) -> dict[str, Any]:
    """Everything that the database knows of our tables, without what depends on the order of making."""
    seen = inspect(engine)
    return {
        table: {
            "columns": [
                (column["name"], str(column["type"]), column["nullable"], column["default"])
                for column in seen.get_columns(table)
            ],
            "primary key": seen.get_pk_constraint(table)["constrained_columns"],
            "foreign keys": sorted(map(str, seen.get_foreign_keys(table))),
            "indexes": sorted(
                str((index["name"], index["column_names"], index["unique"], _condition(index)))
                for index in seen.get_indexes(table)
            ),
            "unique": sorted(
                str((unique["name"], unique["column_names"])) for unique in seen.get_unique_constraints(table)
            ),
        }
        for table in seen.get_table_names()
        if table != "alembic_version"
    }


def _condition(index: Any) -> str:
    """Which rows a partial index holds."""
    options = index.get("dialect_options", {})
    return " ".join(str(value) for key, value in options.items() if key.endswith("_where"))


def test_the_tables_equal_the_sum_of_the_migrations(store_url: str) -> None:
    upgrade(store_url, None)
    with engine_of(store_url) as engine:
        migrated = describe(engine)
        metadata.drop_all(engine)
        metadata.create_all(engine)
        assert migrated == describe(engine)


def test_the_revision_that_the_program_needs_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [head_revision()]


async def test_a_database_of_the_first_version_keeps_its_rows(store_url: str) -> None:
    with engine_of(store_url) as engine:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["url"] = engine.url
        command.upgrade(config, "0001")
        with engine.begin() as conn:
            conn.execute(text("INSERT INTO meta (key, value) VALUES ('kept', '1')"))
        async with open_store(store_url):
            pass
        with engine.connect() as conn:
            assert conn.execute(text("SELECT value FROM meta WHERE key = 'kept'")).scalar() is not None
            assert conn.execute(text("SELECT version_num FROM alembic_version")).scalar() == head_revision()


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(store_url: str) -> None:
    async with open_store(store_url):
        pass
    with engine_of(store_url) as engine:
        with engine.begin() as conn:
            conn.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(ConflictError, match=r"newer version.*restore a backup"):
            async with open_store(store_url):
                pass
        assert "servers" in inspect(engine).get_table_names()


def test_alembic_is_imported_neither_for_a_new_database_nor_for_one_that_is_up_to_date(
    sqlite_url: str,
) -> None:
    for _ in range(2):
        subprocess.run([sys.executable, "-c", OPEN, sqlite_url], check=True)


async def test_a_new_database_is_at_the_newest_revision_however_many_open_it_at_once(store_url: str) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(_opened, store_url)
    with engine_of(store_url) as engine, engine.connect() as conn:
        assert list(conn.execute(text("SELECT version_num FROM alembic_version")).scalars()) == [
            head_revision()
        ]
        upgrade(store_url, head_revision())
        assert set(metadata.tables) < set(inspect(conn).get_table_names())


async def _opened(url: str) -> None:
    async with open_store(url):
        pass
