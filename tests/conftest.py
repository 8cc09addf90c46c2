"""What every test may use: the kind of event loop, databases of both kinds, the check that nothing leaks."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import hypothesis
import pytest

from manyhands.events import EventBus
from manyhands.store.engine import Store, open_store
from manyhands.store.event_log import StoredEventLog
from manyhands.store.tables import metadata
from tests.leaks import mark_session, no_task_stays_behind, nothing_stays_behind
from tests.postgres import PostgresServer, running_postgres

__all__ = ["no_task_stays_behind", "nothing_stays_behind"]

pytest_plugins = ["pytester"]


def pytest_configure() -> None:
    mark_session()
    # A busy machine is no failure: properties are tested without a clock.
    hypothesis.settings.register_profile(
        "ours", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.load_profile("ours")
    # Nobody's keyring is touched by tests, nor by the processes that they start.
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    # As under `./dev test`: the environment's own node, npx and uvx, not those of the machine.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """No garbage is looked for while thousands of tests are read, nor later in what they are."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


# --- databases


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """The session's PostgreSQL, started by the first test that needs it."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """A new, empty PostgreSQL database."""
    with postgres.database() as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """A SQLite database that is not there yet."""
    return f"sqlite:///{tmp_path / 'manyhands.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """A new, empty database of each kind: what is tested with it holds on both."""
    return str(request.getfixturevalue({"sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]))


def _make_tables(url: str) -> None:
    """In a thread: an event loop that a session's fixture keeps would be in the way of tests that run one."""

    async def make() -> None:
        async with open_store(url):
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, make).result()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all tables and nothing in them: a copy of it is there sooner than a new one."""
    path = tmp_path_factory.mktemp("template") / "manyhands.db"
    _make_tables(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def postgres_made(postgres: PostgresServer) -> Iterator[str]:
    """The URL of a database with all tables, emptied for each test: to make one takes long."""
    with postgres.database() as url:
        _make_tables(url)
        yield url


@pytest.fixture
def made_sqlite_url(sqlite_url: str, sqlite_template: Path) -> str:
    """A SQLite database that has its tables."""
    shutil.copy(sqlite_template, sqlite_url.removeprefix("sqlite:///"))
    return sqlite_url


@pytest.fixture
def made_postgresql_url(postgres: PostgresServer, postgres_made: str) -> str:
    """A PostgreSQL database that has its tables, with nothing in them."""
    postgres.empty(postgres_made, (table.name for table in metadata.sorted_tables))
    return postgres_made


@pytest.fixture(params=["sqlite", "postgresql"])
def made_url(request: pytest.FixtureRequest) -> str:
    """A database of each kind that has its tables."""
    return str(request.getfixturevalue(f"made_{request.param}_url"))


@pytest.fixture
async def store(made_url: str) -> AsyncIterator[Store]:
    """An open store with an up-to-date schema, on each database."""
    async with open_store(made_url) as opened:
        yield opened


@pytest.fixture
async def bus(store: Store) -> EventBus:
    """An event bus that keeps its events in `store`."""
    started = EventBus(StoredEventLog(store))
    await started.start()
    return started
