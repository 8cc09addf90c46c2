"""Homes whose database has its tables already: to make them anew takes longer than most tests."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from manyhands.home import Home
from manyhands.store.engine import open_store

_made: list[bytes] = []


async def ready_home(path: Path) -> Home:
    """A new home with an empty database, as one that was started once has it."""
    if not _made:
        with TemporaryDirectory() as place:
            file = Path(place) / "manyhands.db"
            async with open_store(f"sqlite:///{file}"):
                pass
            _made.append(file.read_bytes())
    home = Home(path)
    home.create()
    if not home.database_file.exists():
        home.database_file.write_bytes(_made[0])
    return home
