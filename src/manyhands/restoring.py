"""The last step of a restore: files change places, all of them or none, even when it is killed half way.

What is to be moved is written down in the home first; whoever opens the home next and finds that note moves
the rest. What a backup is and whether it is good is known elsewhere.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from manyhands.errors import UnavailableError
from manyhands.home import Home
from manyhands.system import HomeLock, write_private

log = logging.getLogger(__name__)

NOTE = "restoring.json"
Move = tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Renames, each on one disk: first what is there goes aside, then what is new comes in."""

    aside: tuple[Move, ...]
    into: tuple[Move, ...]
    staging: tuple[Path, ...] = ()
    """Directories that are of no use afterwards."""

    def forward(self) -> None:
        """Do what is not done yet."""
        for here, there in self.aside:
            if not os.path.lexists(there):
                there.parent.mkdir(mode=0o700, exist_ok=True)
                here.rename(there)
        for staged, here in self.into:
            if os.path.lexists(staged) or not os.path.lexists(here):
                _remove_if_empty(here)
                staged.replace(here)

    def back(self) -> None:
        """Undo what is done."""
        for staged, here in reversed(self.into):
            if not os.path.lexists(staged) and os.path.lexists(here):
                here.rename(staged)
        for here, there in reversed(self.aside):
            if os.path.lexists(there):
                _remove_if_empty(here)
                there.rename(here)
        for place in {there.parent for _, there in self.aside}:
            _remove_if_empty(place)


def exchange(home: Home, plan: Exchange) -> None:
    """All of it, or after a failure nothing. Whoever calls holds the lock of the home."""
    note = home.path / NOTE
    write_private(note, _written(home, plan))
    try:
        plan.forward()
    except BaseException:
        plan.back()
        note.unlink()
        raise
    note.unlink()


def finish_restore(home: Home) -> None:
    """End what a killed restore has begun; nothing to do in a home without its note."""
    note = home.path / NOTE
    if not note.exists():
        return
    with HomeLock(home.lock_file):
        try:
            plan = _read(home, note.read_text(encoding="utf-8"))
            plan.forward()
        except FileNotFoundError as error:
            if not note.exists():  # another process has just finished it
                return
            raise _stuck(home, note, error) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _stuck(home, note, error) from error
        note.unlink()
    for directory in plan.staging:
        shutil.rmtree(directory, ignore_errors=True)
    places = ", ".join(sorted({str(there.parent) for _, there in plan.aside})) or "nowhere: nothing was"
    log.warning("a restore was interrupted; it is finished now. What was there before is in %s", places)


def _stuck(home: Home, note: Path, error: Exception) -> UnavailableError:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    kept = max(home.path.glob("before-restore-*"), default="no place")  # their names sort by time
    return UnavailableError(
        f"A restore of {home.path} was interrupted and cannot be finished: {why}.",
        hint=f"What was there before is in {kept}: move it back, delete {note}, and restore again.",
    )


def _remove_if_empty(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        with suppress(OSError):
            path.rmdir()


def _written(home: Home, plan: Exchange) -> str:
    """Places in the home are told from there: it may be moved, or mounted elsewhere, meanwhile."""

    def name(path: Path) -> str:
        return str(path.relative_to(home.path) if path.is_relative_to(home.path) else path)

    return json.dumps(
        {
            "aside": [[name(source), name(target)] for source, target in plan.aside],
            "into": [[name(source), name(target)] for source, target in plan.into],
            "staging": [name(path) for path in plan.staging],
        },
        indent=1,
    )


def _read(home: Home, text: str) -> Exchange:
    noted = json.loads(text)
    aside, into = (
        tuple((home.path / source, home.path / target) for source, target in noted[kind])
        for kind in ("aside", "into")
    )
    return Exchange(aside, into, tuple(home.path / name for name in noted["staging"]))
