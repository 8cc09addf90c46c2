"""What `manyhands doctor` looks at. Each check answers with findings: what it saw and what to do about it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from manyhands.cli.client import HttpApi, Json, find_daemon
from manyhands.cli.output import human_size
from manyhands.errors import ManyhandsError
from manyhands.home import Home, read_bootstrap

Verdict = Literal["ok", "note", "warning", "broken"]

LEAST_DISK = 500_000_000
LEAST_FILES = 1024


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    verdict: Verdict
    text: str
    fix: str = ""

    def wire(self) -> Json:
        return asdict(self)


def check_python() -> Iterator[Finding]:
    """The interpreter and the environment it runs in."""
    version = sys.version.split()[0]
    place = "virtual environment" if sys.prefix != sys.base_prefix else "system Python"
    yield Finding("python", "ok", f"{version}, {place} {sys.prefix}")


def check_home(home: Home) -> Iterator[Finding]:
    """That the home is there, ours alone, readable, and has a valid `config.toml`."""
    if not home.path.exists():
        yield Finding("home", "ok", f"{home.path} (made at the first start)")
        return
    from manyhands.system import exposure

    if not os.access(home.path, os.R_OK | os.W_OK | os.X_OK):
        ours = exposure(home.path) != "belongs to another user"
        fix = f"chmod u+rwx {home.path}" if ours else _take_over(home.path)
        yield Finding("home", "broken", f"{home.path} cannot be written", fix)
        return
    found = {path: exposed for path in _private_paths(home) if path.exists() and (exposed := exposure(path))}
    if found:
        text = ", ".join(f"{path} {exposed}" for path, exposed in found.items())
        strange = [path for path, exposed in found.items() if exposed == "belongs to another user"]
        fixes = [_take_over(*strange)] if strange else []
        yield Finding("home", "broken", text, " && ".join([*fixes, f"chmod go= {_listed(found)}"]))
    else:
        yield Finding("home", "ok", f"{home.path}, readable by you alone")
    try:
        read_bootstrap(home)
    except ManyhandsError as error:
        yield Finding("config", "broken", error.message, error.hint or "")


def _private_paths(home: Home) -> list[Path]:
    return [home.path, home.token_file, home.secrets_file, home.secrets_key_file]


def _take_over(*paths: Path) -> str:
    return f"sudo chown $(id -u) {_listed(paths)}"


def _listed(paths: Iterable[Path]) -> str:
    return " ".join(map(str, paths))


def check_daemon(home: Home) -> Iterator[Finding]:
    """Whether it runs, answers, and is the same version as this command."""
    from manyhands import __version__
    from manyhands.system import read_lock

    address = find_daemon(home)
    if address is None:
        holder = read_lock(home.lock_file)
        if holder is None:
            yield Finding(
                "daemon", "ok", "not running; commands do their work themselves (`manyhands up` starts it)"
            )
        else:
            yield Finding(
                "daemon",
                "warning",
                f"process {holder.pid} holds the home without serving",
                "Wait, or end it.",
            )
        return
    try:
        health = HttpApi(address).request("GET", "/health", timeout=5)
        HttpApi(address).request("GET", "/status", timeout=10)
    except ManyhandsError as error:
        yield Finding(
            "daemon", "broken", f"{address.url}: {error.message}", "manyhands down, then manyhands up"
        )
        return
    running = str(health.get("version"))
    if running == __version__:
        yield Finding("daemon", "ok", f"{address.url}, version {running}")
    else:
        text = f"{address.url} runs version {running}, this is {__version__}"
        yield Finding("daemon", "warning", text, "manyhands down, then manyhands up")


def check_database(home: Home) -> Iterator[Finding]:
    """That the file is whole and has the schema that this version needs."""
    try:
        url = read_bootstrap(home).database_url
    except ManyhandsError:
        return  # told by the check of the home
    if not url.startswith("sqlite"):
        yield Finding("database", "ok", "PostgreSQL; its state is the daemon's to tell")
        return
    from manyhands.store.urls import sqlite_path

    path = Path(sqlite_path(url))
    if not path.exists():
        yield Finding("database", "ok", f"{path} (made at the first start)")
        return
    yield from _check_sqlite(path)


def _check_sqlite(path: Path) -> Iterator[Finding]:
    import sqlite3
    from contextlib import closing

    restore = "Bring a backup back: manyhands restore FILE"
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=10)) as database:
            verdict = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
            tables = {
                row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            revision = (
                database.execute("SELECT version_num FROM alembic_version").fetchone()
                if "alembic_version" in tables
                else None
            )
    except sqlite3.Error as error:
        yield Finding("database", "broken", f"{path}: {error}", restore)
        return
    if verdict != "ok":
        yield Finding("database", "broken", f"{path} is damaged: {verdict}", restore)
        return
    yield _check_revision(path, revision[0] if revision else None)


def _check_revision(path: Path, revision: str | None) -> Finding:
    from manyhands.store.schema import head_revision

    size = sum(part.stat().st_size for part in (path, Path(f"{path}-wal")) if part.exists())
    facts = f"{path}, {human_size(size)}, schema {revision or 'none yet'}"
    if revision is None or revision == head_revision():
        return Finding("database", "ok", facts)
    if revision < head_revision():
        return Finding("database", "ok", f"{facts}; brought to {head_revision()} at the next start")
    return Finding("database", "broken", f"{facts}, newer than this version knows", "Use a newer Manyhands.")


def check_disk(home: Home) -> Iterator[Finding]:
    """Room to write."""
    place = next(path for path in (home.path, *home.path.parents) if path.exists())
    free = shutil.disk_usage(place).free
    text = f"{human_size(free)} free at {place}"
    fix = "Make room, or shorten the retention: manyhands settings set retention_calls_days 30"
    yield Finding(
        "disk",
        "ok" if free > LEAST_DISK else "warning" if free else "broken",
        text,
        "" if free > LEAST_DISK else fix,
    )


def check_programs() -> Iterator[Finding]:
    """The programs that most servers are started with."""
    from manyhands.system import child_environment

    path = child_environment()["PATH"]
    for program in ("uvx", "npx", "node"):
        if found := shutil.which(program, path=path):
            yield Finding(program, "ok", found)
        else:
            yield Finding(
                program,
                "warning",
                "not found: servers that need it will not start",
                f"Put {program} on the PATH.",
            )


def check_limits() -> Iterator[Finding]:
    """Files that may be open at once: every server takes a few."""
    if sys.platform == "win32":
        return
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= LEAST_FILES:
        yield Finding("open files", "ok", "no limit" if soft == resource.RLIM_INFINITY else f"up to {soft}")
    else:
        yield Finding(
            "open files",
            "warning",
            f"only {soft} allowed",
            f"ulimit -n {LEAST_FILES * 4} before `manyhands up`",
        )
