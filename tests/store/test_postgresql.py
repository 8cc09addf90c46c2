"""PostgreSQL: reached or not, and said so."""

from __future__ import annotations

import psycopg
import pytest

from manyhands.errors import UnavailableError
from manyhands.store.engine import open_store

pytestmark = pytest.mark.anyio


async def test_a_server_that_does_not_answer_is_said_so(postgres_url: str) -> None:
    nowhere = postgres_url.replace("?host=", "?host=/nowhere")
    with pytest.raises(UnavailableError, match=r"PostgreSQL does not answer.*Check the database URL"):
        async with open_store(nowhere):
            pass


async def test_a_connection_that_the_server_dropped_is_replaced(postgres_url: str) -> None:
    async with open_store(postgres_url) as store:
        with psycopg.connect(postgres_url, autocommit=True) as administrator:
            administrator.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert await store.read(lambda conn: conn.exec_driver_sql("SELECT 1").scalar()) == 1
        assert await store.write(lambda conn: conn.exec_driver_sql("SELECT 2").scalar()) == 2


async def test_a_connection_lost_in_the_middle_is_unavailable_not_a_driver_error(postgres_url: str) -> None:
    async with open_store(postgres_url) as store:
        with pytest.raises(UnavailableError, match="PostgreSQL does not answer"):
            await store.write(
                lambda conn: conn.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")
            )
        assert await store.read(lambda conn: conn.exec_driver_sql("SELECT 1").scalar()) == 1
