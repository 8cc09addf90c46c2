"""Backup and restore: everything of a home in one `.tar.gz`, checked entry by entry.

A backup of SQLite holds the database file, one of PostgreSQL its tables as JSON lines; either is restored to
either. The owner's token and the key of the encrypted secrets stay out unless they are asked for: with them
the archive opens everything, without them it gives no secret away. What is in the OS keyring stays there.

Blocking: call it from a worker thread. It needs no running hub, and making a backup disturbs none.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from manyhands import __version__
from manyhands.clock import rfc3339
from manyhands.errors import ConflictError, InvalidError, UnavailableError
from manyhands.home import Home, read_bootstrap
from manyhands.restoring import Exchange, Move, exchange, finish_restore
from manyhands.store import transfer
from manyhands.store.schema import head_revision
from manyhands.store.urls import is_sqlite, sqlite_path
from manyhands.system import HomeLock

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "manyhands.db"
TABLES = "tables"
_DIRECTORIES = ("results", "attachments", "playgrounds", "workflows", "memory")
_FILES = ("config.toml", "secrets.enc", "chat_history")
_STAGING = ".restore-"
_DAMAGE = (
    tarfile.TarError,
    EOFError,
    zlib.error,
    gzip.BadGzipFile,
    ValueError,
    OverflowError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
)
"""What reading an archive raises that is none of ours, or no longer."""
_COMPRESSION = 4
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What was written."""

    path: Path
    bytes: int
    entries: int
    database: str
    keys: bool


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What was brought back. `replaced`: where what was there before has gone."""

    entries: int
    database: str
    made_at: str
    replaced: Path | None = None
    notes: tuple[str, ...] = ()


def make_backup(home: Home, database_url: str, path: Path, *, keys: bool = False) -> BackupReport:
    """Write a backup to `path`, which must not be there yet."""
    if path.exists():
        raise _there_already(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
        partial = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                entries = _write_archive(file, home, database_url, keys=keys)
                file.flush()
                os.fsync(file.fileno())
            _publish(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UnavailableError(
            f"The backup could not be written to {path}: {error.strerror or error}.",
            hint="Check the directory and the space on its disk.",
        ) from error
    kind = "sqlite" if is_sqlite(database_url) else "postgresql"
    return BackupReport(path, path.stat().st_size, entries, kind, keys)


def _publish(partial: Path, path: Path) -> None:
    """Under its name as a whole, and never over a file that has come meanwhile."""
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        raise _there_already(path) from None
    except OSError:  # a disk without hard links
        if path.exists():
            raise _there_already(path) from None
        partial.rename(path)


def _there_already(path: Path) -> ConflictError:
    return ConflictError(f"{path} is there already.", hint="Choose another name; nothing is overwritten.")


def _write_archive(file: IO[bytes], home: Home, database_url: str, *, keys: bool) -> int:
    with (
        tempfile.TemporaryDirectory(prefix=".backup-", dir=home.path) as staging,
        tarfile.open(fileobj=file, mode="w:gz", compresslevel=_COMPRESSION) as archive,
    ):
        writer = _Writer(archive)
        if is_sqlite(database_url) and home.durable_file.is_file():
            # Before the database: what is missing here is begun again, what is missing there is lost.
            transfer.copy_sqlite(home.durable_file, Path(staging) / home.durable_file.name)
        _stage_database(database_url, Path(staging))
        writer.add_tree(Path(staging), Path(staging))
        for source in _files_of(home, keys=keys):
            writer.add(source, source.relative_to(home.path).as_posix())
        for name in _DIRECTORIES:
            writer.add_tree(home.path / name, home.path)
        writer.finish({"database": "sqlite" if is_sqlite(database_url) else "postgresql", "keys": keys})
        return len(writer.entries)


def _stage_database(database_url: str, staging: Path) -> None:
    if is_sqlite(database_url):
        transfer.copy_sqlite(Path(sqlite_path(database_url)), staging / DATABASE)
    else:
        (staging / TABLES).mkdir()
        transfer.dump_tables(database_url, staging / TABLES)


def _files_of(home: Home, *, keys: bool) -> list[Path]:
    wanted = [home.path / name for name in _FILES]
    if keys:
        wanted += [home.token_file, home.secrets_key_file]
    return [path for path in wanted if path.is_file()]


class _Writer:
    """Adds files to an archive and remembers their sums."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self.entries: dict[str, dict[str, Any]] = {}

    def add_tree(self, directory: Path, base: Path) -> None:
        if directory.is_dir():
            for path in sorted(directory.rglob("*")):
                if path.is_file() and not path.is_symlink() and path.suffix != ".partial":
                    self.add(path, path.relative_to(base).as_posix())

    def add(self, path: Path, name: str) -> None:
        """Copy one file; one that is deleted meanwhile is left out."""
        try:
            source = path.open("rb")
        except FileNotFoundError:
            return
        with source:
            info = tarfile.TarInfo(name)
            facts = os.fstat(source.fileno())
            info.size, info.mtime, info.mode = facts.st_size, int(facts.st_mtime), 0o600
            reader = _Summing(source, facts.st_size)
            self._archive.addfile(info, reader)
        self.entries[name] = {"bytes": facts.st_size, "sha256": reader.sum.hexdigest()}

    def finish(self, facts: Mapping[str, Any]) -> None:
        """The manifest goes last, when all sums are known."""
        manifest = {
            "format": FORMAT,
            "version": __version__,
            "schema": head_revision(),
            "made_at": rfc3339(datetime.now(UTC)),
            **facts,
            "entries": self.entries,
        }
        content = json.dumps(manifest, indent=1).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(content), 0o600
        self._archive.addfile(info, io.BytesIO(content))


class _Summing(io.RawIOBase):
    """A file of fixed length that is summed up while it is read."""

    def __init__(self, source: IO[bytes], length: int) -> None:
        self._source = source
        self._left = length
        self.sum = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        chunk = self._source.read(wanted)
        self._left -= len(chunk)
        self.sum.update(chunk)
        return chunk


# --- restore


def restore_backup(
    home: Home,
    archive: Path,
    *,
    database_url: str | None = None,
    replace: bool = False,
    alone: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> RestoreReport:
    """Bring a backup back into a home that no hub uses.

    What is there already is refused, or with `replace` moved aside into `before-restore-…` beside it. The
    database may be of the other kind than the backup's. `alone` is entered once the backup is known to be
    good and to have room: it ends whatever uses the home for the time being.
    """
    home.create()
    finish_restore(home)
    url = database_url or read_bootstrap(home).database_url
    beside = Path(sqlite_path(url)).parent if is_sqlite(url) else home.path
    try:
        beside.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix=_STAGING, dir=home.path) as files,
            tempfile.TemporaryDirectory(prefix=_STAGING, dir=beside) as database,
        ):
            staged = _Staged(home, url, Path(files), Path(database), _unpack(archive, Path(files)))
            _check_schema(staged.manifest, url)
            staged.check_room(replace=replace)
            staged.ready_database()
            with alone(), HomeLock(home.lock_file):
                return staged.put_in_place(replace=replace)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise UnavailableError(
            f"The backup could not be restored: {error.strerror or error}.",
            hint=f"Nothing was changed. {'Make space on' if full else 'Check'} the disk and try again.",
        ) from error


def _unpack(archive: Path, staging: Path) -> dict[str, Any]:
    """Everything into `staging`, and nowhere else; sums must agree."""
    sums: dict[str, dict[str, Any]] = {}
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                if member.isfile() and (source := tar.extractfile(member)) is not None:
                    sums[member.name] = _extract(source, staging, member.name)
    except _DAMAGE as error:
        raise _damaged(archive, str(error)) from error
    try:
        manifest: dict[str, Any] = json.loads((staging / MANIFEST).read_bytes())
        listed = dict(manifest["entries"])
        schema, kind = str(manifest["schema"]), manifest["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(archive, "it has no manifest") from error
    if kind != FORMAT or schema > head_revision():
        raise ConflictError(
            f"{archive} was made by version {manifest.get('version')}.",
            hint="Install that version or a later one.",
        )
    sums.pop(MANIFEST)
    if wrong := sorted(name for name in listed.keys() | sums.keys() if listed.get(name) != sums.get(name)):
        raise _damaged(archive, f"{wrong[0]} is not what was saved")
    if not (staging / DATABASE).is_file() and not (staging / TABLES).is_dir():
        raise _damaged(archive, "it holds no database")
    (staging / MANIFEST).unlink()
    return manifest


def _extract(source: IO[bytes], staging: Path, name: str) -> dict[str, Any]:
    parts = PurePosixPath(name).parts
    if not parts or any(part in ("/", "..", "") or "\\" in part or ":" in part for part in parts):
        raise tarfile.TarError(f"{name!r} is no place in a home")
    target = staging.joinpath(*parts)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    total, size = hashlib.sha256(), 0
    with os.fdopen(descriptor, "wb") as file:
        while chunk := source.read(_CHUNK):
            file.write(chunk)
            total.update(chunk)
            size += len(chunk)
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": size, "sha256": total.hexdigest()}


@dataclass(frozen=True, slots=True)
class _Staged:
    """A backup that was unpacked and found good; `database` is a directory beside where the database goes."""

    home: Home
    url: str
    files: Path
    database: Path
    manifest: Mapping[str, Any]

    def ready_database(self) -> None:
        """As a file, or as rows, whichever is wanted."""
        tables, saved = self.files / TABLES, self.files / DATABASE
        if is_sqlite(self.url):
            ready = self.database / Path(sqlite_path(self.url)).name
            if tables.is_dir():
                transfer.load_tables(tables, f"sqlite:///{ready}")
            else:
                transfer.check_sqlite(saved)
                shutil.move(saved, ready)
        elif not tables.is_dir():
            transfer.check_sqlite(saved)
            tables.mkdir()
            transfer.dump_tables(f"sqlite:///{saved}", tables)

    def check_room(self, *, replace: bool) -> None:
        """Refuse what is in the way, unless it is to go."""
        if not is_sqlite(self.url) and transfer.has_rows(self.url):
            raise ConflictError(
                "The PostgreSQL database is not empty.", hint="Give an empty one with --database."
            )
        if not replace and (occupied := self._occupied()):
            raise ConflictError(
                f"{occupied[0]} is there already.",
                hint="Use --replace to move what is there aside, or another home.",
            )

    def put_in_place(self, *, replace: bool) -> RestoreReport:
        """Once nobody uses the home."""
        self.check_room(replace=replace)
        name = f"before-restore-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
        aside = tuple((path, path.parent / name / path.name) for path in self._occupied())
        if not is_sqlite(self.url):
            transfer.load_tables(self.files / TABLES, self.url)
        exchange(self.home, Exchange(aside, tuple(self._into()), (self.files, self.database)))
        places = list(dict.fromkeys(there.parent for _, there in reversed(aside)))
        return RestoreReport(
            entries=len(self.manifest["entries"]),
            database="sqlite" if is_sqlite(self.url) else "postgresql",
            made_at=str(self.manifest["made_at"]),
            replaced=places[0] if places else None,
            notes=(
                *(f"The database that was there before is in {place}." for place in places[1:]),
                *_notes(self.home, self.manifest),
            ),
        )

    def _into(self) -> Iterator[Move]:
        if is_sqlite(self.url):
            target = Path(sqlite_path(self.url))
            yield self.database / target.name, target
        for path in sorted(self.files.iterdir()):
            if path.name not in (DATABASE, TABLES):
                yield path, self.home.path / path.name

    def _occupied(self) -> list[Path]:
        """What has to make room, with what SQLite and the hub keep beside their files."""
        files = [Path(sqlite_path(self.url)), self.home.durable_file] if is_sqlite(self.url) else []
        beside = [Path(f"{file}{suffix}") for file in files for suffix in ("", "-wal", "-shm", "-begun")]
        wanted = dict.fromkeys((*beside, *(target for _, target in self._into())))
        return [path for path in wanted if _holds_something(path)]


def _check_schema(manifest: Mapping[str, Any], url: str) -> None:
    """A SQLite file is migrated when it is opened; rows fit only the tables they were taken from."""
    moves_rows = manifest["database"] != "sqlite" or not is_sqlite(url)
    if moves_rows and manifest["schema"] != head_revision():
        raise ConflictError(
            f"The backup was made by version {manifest['version']} with other tables.",
            hint="Restore it with that version first, then upgrade.",
        )


def _holds_something(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else os.path.lexists(path)


def _notes(home: Home, manifest: Mapping[str, Any]) -> tuple[str, ...]:
    has_secrets = home.secrets_file.name in manifest["entries"]
    if has_secrets and not home.secrets_key_file.exists() and "MANYHANDS_SECRETS_KEY" not in os.environ:
        key, kept = home.secrets_key_file, home.secrets_file
        instead = f"or move {kept} away, save the secrets again and sign in again"
        return (f"The secrets came without their key: put the old {key} back, {instead}.",)
    return ()


def _damaged(archive: Path, why: str) -> InvalidError:
    return InvalidError(
        f"{archive} is damaged or no backup: {why}.", hint="Nothing was changed. Try another backup."
    )
