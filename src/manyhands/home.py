"""The home directory: where everything of one installation lives, and how a client finds its daemon.

Standard library only: the command line imports this before anything else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyhands.errors import InvalidError

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8222
HOME_MARK = ".manyhands-home"
"""A file in every home: tools that work with files keep out of a directory that holds it."""
HOME_WORKTREES = "worktrees"
"""The one directory of a home that tools may work in."""
_BOOTSTRAP_KEYS = {"host", "port", "hosts", "database", "log_level"}


@dataclass(frozen=True)
class Home:
    """The paths of one home."""

    path: Path

    @property
    def config_file(self) -> Path:
        return self.path / "config.toml"

    @property
    def database_file(self) -> Path:
        return self.path / "manyhands.db"

    @property
    def durable_file(self) -> Path:
        return self.path / "durable.db"

    @property
    def token_file(self) -> Path:
        return self.path / "token"

    @property
    def lock_file(self) -> Path:
        return self.path / "lock"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def detached_output(self) -> Path:
        """What a daemon without a terminal writes."""
        return self.logs / "daemon.out"

    @property
    def results(self) -> Path:
        return self.path / "results"

    @property
    def attachments(self) -> Path:
        return self.path / "attachments"

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def playgrounds(self) -> Path:
        return self.path / "playgrounds"

    @property
    def quality(self) -> Path:
        return self.path / "quality"

    @property
    def memory(self) -> Path:
        return self.path / "memory"

    @property
    def workflows(self) -> Path:
        return self.path / "workflows"

    @property
    def worktrees(self) -> Path:
        return self.path / HOME_WORKTREES

    @property
    def secrets_file(self) -> Path:
        return self.path / "secrets.enc"

    @property
    def secrets_key_file(self) -> Path:
        return self.path / "secrets.key"

    def create(self) -> None:
        """Make the directories, readable by their owner alone."""
        for directory in (self.path, self.logs, self.results, self.run):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.path / HOME_MARK).touch(mode=0o600)

    def token(self) -> str:
        """The owner's token; made when there is none."""
        try:
            token = self.token_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            token = ""
        return token or self._new_token()

    def _new_token(self) -> str:
        import secrets

        self.create()
        token = secrets.token_urlsafe(32)
        descriptor = os.open(self.token_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(token + "\n")
        return token


@dataclass(frozen=True)
class Bootstrap:
    """What must be known before the database is open."""

    host: str
    port: int
    database_url: str
    log_level: str
    hosts: tuple[str, ...] = ()
    """Names besides loopback under which browsers and programs may reach the daemon."""


def find_home(explicit: str | os.PathLike[str] | None = None, env: Mapping[str, str] = os.environ) -> Home:
    """The home that was asked for, else `MANYHANDS_HOME`, else `~/.manyhands`."""
    chosen = explicit or env.get("MANYHANDS_HOME") or "~/.manyhands"
    return Home(Path(chosen).expanduser().absolute())


def read_bootstrap(home: Home, env: Mapping[str, str] = os.environ) -> Bootstrap:
    """Read `config.toml`; the environment wins over it."""
    values = _read_config(home.config_file)
    port = values.get("port", DEFAULT_PORT)
    if not isinstance(port, int) or not 0 <= port <= 65535:
        raise InvalidError(f"{home.config_file}: port is {port!r}.", hint="Give a number from 0 to 65535.")
    database = (
        env.get("MANYHANDS_DATABASE_URL") or values.get("database") or f"sqlite:///{home.database_file}"
    )
    return Bootstrap(
        host=str(values.get("host", DEFAULT_HOST)),
        port=port,
        database_url=str(database),
        log_level=str(values.get("log_level", "info")),
        hosts=_names(home.config_file, values.get("hosts", [])),
    )


def _names(path: Path, names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidError(f"{path}: hosts is {names!r}.", hint='Give a list such as ["hub.example"].')
    return tuple(names)


def _read_config(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidError(
            f"{path} is not valid TOML: {error}.", hint="Correct it or move it away."
        ) from error
    if unknown := sorted(set(values) - _BOOTSTRAP_KEYS):
        known = ", ".join(sorted(_BOOTSTRAP_KEYS))
        raise InvalidError(f"{path}: unknown key {unknown[0]!r}.", hint=f"Known keys: {known}.")
    return values
