"""What a scan leaves for the next one: facts by content, and which content each path had.

On disk it is one file for each directory. It is ours alone, holds nothing that cannot be measured again, and
is put aside when it was written by another version of the engine.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from manyhands.quality.enumerate import Found, Stamp
from manyhands.quality.parsing import FileFacts
from manyhands.quality.report import Report

_PARSED_BY = ("clones", "functions", "imports", "languages", "parsing", "references", "worker", "enumerate")
_FORGET_S = 60 * 86_400.0
_FRESH_NS = 2_000_000_000
"""A file changed this shortly before it was read may change again without showing it."""


@dataclass(frozen=True)
class Kept:
    """Facts by content hash; by path the stamp of a file and its content hash. A report lives in memory."""

    facts: Mapping[str, FileFacts | None] = field(default_factory=dict)
    stamps: Mapping[str, tuple[Stamp, str]] = field(default_factory=dict)
    report: Report | None = None

    def hash_of(self, file: Found) -> str | None:
        """The content hash of a file that has not been touched since it was read."""
        stamp, digest = self.stamps.get(file.path, (None, ""))
        return digest if stamp == file.stamp and digest in self.facts else None


def is_settled(stamp: Stamp, now_ns: int) -> bool:
    """Whether a later change of the file would show in its stamp."""
    return max(stamp[1], stamp[2]) < now_ns - _FRESH_NS


def load(path: Path) -> Kept:
    """What is on disk; nothing when it is not there, is broken or comes from another version."""
    try:
        with path.open("rb") as file:
            if file.readline().strip() != engine_version().encode():
                return Kept()
            facts, stamps = pickle.load(file)  # noqa: S301 (only we write in our home)
        return Kept(facts, stamps)
    except (OSError, EOFError, ValueError, TypeError, AttributeError, ImportError, pickle.PickleError):
        return Kept()


def save(kept: Kept, path: Path) -> None:
    """Replace it as a whole; a disk that is full costs time at the next scan and nothing else."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with open(temporary, "wb", opener=_private) as file:
                file.write(engine_version().encode() + b"\n")
                pickle.dump((dict(kept.facts), dict(kept.stamps)), file, protocol=5)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def forget_old(directory: Path, now: float) -> None:
    """Remove the files of directories that nobody has scanned for long, and what a killed process left."""
    with suppress(OSError):
        for entry in list(os.scandir(directory)):
            with suppress(OSError):
                if entry.is_file() and entry.stat().st_mtime < now - _FORGET_S:
                    os.unlink(entry.path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def place_of(directory: Path, root: Path) -> Path:
    """Where the file of a root is, within the directory of all of them."""
    name = hashlib.blake2b(os.fsencode(os.path.realpath(root)), digest_size=16).hexdigest()
    return directory / f"{name}.facts"


@cache
def engine_version() -> str:
    """A sum over all that facts depend on: our own source and the grammars."""
    from importlib.metadata import PackageNotFoundError, version

    from manyhands.quality.languages import LANGUAGES

    total = hashlib.blake2b(digest_size=16)
    for name in _PARSED_BY:
        total.update((Path(__file__).parent / f"{name}.py").read_bytes())
    for package in sorted({language.grammar for language in LANGUAGES} | {"tree_sitter"}):
        with suppress(PackageNotFoundError):
            total.update(f"{package} {version(package.replace('_', '-'))}".encode())
    return total.hexdigest()
