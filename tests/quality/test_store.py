"""Snapshots in both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from manyhands.chat.service import ChannelService
from manyhands.clock import SystemClock
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.quality import store as rows
from manyhands.quality.packing import PIECE, pack, unpack, write
from manyhands.quality.types import Snapshot
from manyhands.store.engine import Store

pytestmark = pytest.mark.anyio

ROWS = [{"path": f"{number}.py", "odd": "\udcff" if number == 3 else "é"} for number in range(PIECE + 20)]


async def test_snapshots_are_kept_by_branch_with_the_lists_of_the_newest(store: Store, bus: EventBus) -> None:
    channels = ChannelService(store, bus, SystemClock())
    channel, _ = await channels.find_or_create(name="work")
    made = []
    for branch in ("main", "main", "other"):
        now = datetime.now(UTC)
        summary = {"quality_signal": 5, "metrics": {}}
        snapshot = Snapshot(new_id("scan"), channel.id, branch, "c0ffee", "/work", 5, summary, now)
        made.append(replace(snapshot, scanned_at=now.replace(microsecond=0)))
        pieces = list(pack("functions", [write(row) for row in ROWS]))
        await store.write(partial(rows.add_snapshot, snapshot=made[-1], pieces=pieces, most=10))
    first, second, other = made
    assert await store.read(lambda conn: rows.newest(conn, channel.id, "main")) == second
    assert await store.read(lambda conn: rows.newest(conn, channel.id)) == other
    history = await store.read(lambda conn: rows.history(conn, channel.id, None, 9))
    assert [one.id for one in history] == [other.id, second.id, first.id]
    counts = [
        await store.read(partial(rows.count_rows, snapshot_id=one.id, part="functions")) for one in made
    ]
    assert counts == [0, len(ROWS), len(ROWS)]
    piece = await store.read(lambda conn: rows.pieces_between(conn, second.id, "functions", PIECE, PIECE + 5))
    assert [(one.start, one.count) for one in piece] == [(PIECE, 20)]
    whole = await store.read(lambda conn: rows.pieces_between(conn, second.id, "functions", 0, 9999))
    assert unpack(whole) == ROWS
    await channels.delete(channel.id)
    assert await store.read(lambda conn: rows.newest(conn, channel.id)) is None
    assert await store.read(lambda conn: rows.count_rows(conn, second.id, "functions")) == 0
