from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from manyhands.durable import leases
from manyhands.store.engine import Store

pytestmark = pytest.mark.anyio

NOW = datetime(2027, 1, 10, 12, tzinfo=UTC)
SOON = NOW + timedelta(seconds=30)


async def test_the_dead_are_those_whose_lease_ran_out_and_earlier_ones_of_the_same_home(store: Store) -> None:
    known = (
        ("me", "home", SOON),
        ("before", "home", SOON),
        ("alive", "other", SOON),
        ("dead", "gone", NOW - timedelta(seconds=1)),
    )
    for executor in known:
        await store.write(
            partial(leases.register, executor_id=executor[0], home=executor[1], until=executor[2])
        )
    dead = await store.read(lambda conn: leases.select_dead(conn, "me", "home", NOW))
    assert sorted(dead) == ["before", "dead"]
    assert await store.read(lambda conn: leases.others_live(conn, "home", NOW))
    await store.write(lambda conn: leases.remove(conn, ["alive"]))
    assert not await store.read(lambda conn: leases.others_live(conn, "home", NOW))


async def test_whoever_was_taken_for_dead_learns_it_when_it_renews(store: Store) -> None:
    await store.write(lambda conn: leases.register(conn, "me", "home", NOW))
    assert await store.write(lambda conn: leases.renew(conn, "me", "home", NOW))
    assert await store.write(lambda conn: leases.claim_dead(conn, "you", "other", SOON)) == ["me"]
    assert not await store.write(lambda conn: leases.renew(conn, "me", "home", SOON))
    assert await store.read(lambda conn: leases.select_dead(conn, "you later", "other", NOW)) == ["me"]
    await store.write(lambda conn: leases.remove(conn, ["me"]))
    assert not await store.write(lambda conn: leases.renew(conn, "me", "home", SOON))
