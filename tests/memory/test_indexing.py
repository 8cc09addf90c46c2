"""A file is in the index as a whole or not at all, whatever ends the process."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest
from sqlalchemy import func, select

from manyhands import Hub
from manyhands.memory.types import Query
from manyhands.store.tables import memory_chunks, memory_collections, memory_files, memory_vectors

pytestmark = pytest.mark.anyio

KILLED = """
import os, signal, sys, anyio
import manyhands.memory.keeping
from manyhands import Hub

manyhands.memory.keeping.PROGRESS_S = 0.0

async def main() -> None:
    async with Hub(sys.argv[1], resume=False) as hub:
        def look(event) -> None:
            if event.type == "memory.progress" and event.data["done"] > event.data["total"] / 2:
                os.kill(os.getpid(), signal.SIGKILL)
        hub.bus.observe(look)
        await hub.memory.index(await hub.memory.scope(dir_path=sys.argv[2]))

anyio.run(main)
"""


async def test_a_process_that_is_killed_leaves_whole_files_and_the_next_goes_on(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(300):
        text = "\n\n".join(f"Passage {part} of note {number}." for part in range(10))
        (notes / f"{number}.md").write_text(text)
    home = tmp_path / "home"
    command = [sys.executable, "-c", KILLED, str(home), str(notes)]
    ran = await anyio.run_process(command, check=False)
    assert ran.returncode == -9, ran.stderr.decode()
    async with Hub(home, resume=False) as hub:
        left = await hub.store.read(
            lambda conn: conn.execute(select(memory_collections.c.files, memory_collections.c.chunks)).all()
        )
        files = await hub.store.read(
            lambda conn: conn.execute(
                select(memory_files.c.id, memory_files.c.chunks, func.count(memory_chunks.c.number))
                .join(memory_chunks, memory_chunks.c.file_id == memory_files.c.id)
                .group_by(memory_files.c.id)
            ).all()
        )
        assert all(row[1] == row[2] == 10 for row in files)
        assert sum(row.files for row in left) == len(files)
        assert sum(row.chunks for row in left) == 10 * len(files)
        assert 0 < len(files) <= 300
        vectors = await hub.store.read(
            lambda conn: conn.execute(select(memory_vectors.c.data)).scalars().all()
        )
        assert all(len(data) == 10 * 256 * 4 for data in vectors)
        scope = await hub.memory.scope(dir_path=str(notes))
        report = await hub.memory.index(scope)
        assert report.added == 300 - len(files)
        assert report.embedded == 3000 - 10 * len(vectors)
        found = await hub.memory.search(scope, Query("note 123 passage 7", top_k=1))
        assert (found.mode, found.files, found.chunks) == ("hybrid", 300, 3000)
