from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from manyhands.clock import SystemClock
from manyhands.durable import engine as durable_engine
from manyhands.durable import leases
from manyhands.durable.engine import DurableEngine, durable_url
from manyhands.durable.types import Activation, Function, Order
from manyhands.errors import InvalidError, NotFoundError, UnavailableError
from manyhands.home import Home
from manyhands.ids import new_id
from manyhands.store.engine import Store, open_store
from manyhands.store.urls import is_sqlite

pytestmark = pytest.mark.anyio

SOON_S = 60
Open = Callable[..., AbstractAsyncContextManager[DurableEngine]]


async def echo(activation: Activation) -> Any:
    return {"id": activation.id, "heard": activation.payload}


@asynccontextmanager
async def engine_on(
    store: Store, url: str, home: Path, resume: bool, functions: dict[str, Function]
) -> AsyncIterator[DurableEngine]:
    whose = "" if is_sqlite(url) else "here"
    engine = DurableEngine(durable_url(Home(home), url), store, SystemClock(), home=whose, resume=resume)
    for kind, function in {"echo": echo, **functions}.items():
        engine.register(kind, function)
    async with anyio.create_task_group() as group:
        await group.start(engine.run)
        with anyio.fail_after(SOON_S):
            yield engine
        await engine.close()
        group.cancel_scope.cancel()


@pytest.fixture
def open_engine(store: Store, made_url: str, tmp_path: Path) -> Open:
    """An engine on each database; several of a test share their records."""
    return lambda resume=True, **functions: engine_on(store, made_url, tmp_path, resume, functions)


@pytest.fixture
async def open_file(made_sqlite_url: str, tmp_path: Path) -> AsyncIterator[Open]:
    """The same on SQLite alone, for what no database could do otherwise."""
    async with open_store(made_sqlite_url) as store:
        yield lambda resume=True, **functions: engine_on(store, made_sqlite_url, tmp_path, resume, functions)


@pytest.fixture
def a() -> str:
    """An id that no other test uses: on PostgreSQL they share a database."""
    return new_id("a")


async def test_work_is_done_once_for_an_id_and_its_answer_is_kept(open_engine: Open, a: str) -> None:
    async with open_engine() as engine:
        assert await engine.start("echo", a, {"deep": [1, None, "ü"]}) is True
        assert await engine.start("echo", a, "other") is False
        work = await engine.wait(a)
        assert (work.state, work.value) == ("finished", {"id": a, "heard": {"deep": [1, None, "ü"]}})
        assert await engine.start("echo", a) is False
        assert await engine.find("two") is None
    async with open_engine() as engine:
        again = await engine.wait(a)
        assert again == work
        await engine.forget([a])
        assert await engine.find(a) is None


async def test_what_goes_wrong_is_the_outcome(open_file: Open) -> None:
    async def refuse(activation: Activation) -> None:
        raise InvalidError("This is wrong.", hint="Correct it.")

    async def break_down(activation: Activation) -> None:
        raise ZeroDivisionError("broken")

    async def give_a_thing(activation: Activation) -> object:
        return object()

    async with open_file(refuse=refuse, break_down=break_down, give_a_thing=give_a_thing) as engine:
        await engine.start("refuse", "a")
        await engine.start("break_down", "b")
        await engine.start("give_a_thing", "c")
        refused, broken = await engine.wait("a"), await engine.wait("b")
        no_json = (await engine.wait("c")).failure
        with pytest.raises(NotFoundError, match="unknown"):
            await engine.start("unknown", "d")
    assert (refused.state, broken.state) == ("failed", "failed")
    assert refused.failure is not None
    assert (refused.failure.code, refused.failure.message) == ("invalid", "This is wrong. Correct it.")
    assert broken.failure is not None
    assert broken.failure.message == "ZeroDivisionError: broken"
    assert no_json is not None
    assert "not JSON serializable" in no_json.message


async def test_cancelled_work_ends_at_once_and_stays_cancelled(open_file: Open) -> None:
    began, cleaned = anyio.Event(), anyio.Event()

    async def wait(activation: Activation) -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            cleaned.set()

    async with open_file(wait=wait) as engine:
        await engine.start("wait", "a")
        await began.wait()
        assert engine.is_going("a")
        await engine.cancel(["a"])
        await engine.stopped("a")
        await cleaned.wait()
        assert (await engine.wait("a")).state == "cancelled"
        assert not engine.is_going("a")
        assert await engine.start("wait", "a") is False


async def test_closing_leaves_work_open_and_the_next_engine_goes_on_without_repeating_steps(
    open_engine: Open,
    a: str,
) -> None:
    steps: list[str] = []
    reached, ends = anyio.Event(), False

    async def work(activation: Activation) -> list[Any]:
        async def first() -> str:
            steps.append("first")
            return "one"

        async def second() -> str:
            steps.append("second")
            reached.set()
            if not ends:
                await anyio.sleep_forever()
            return "two"

        return [await activation.step("first", first), await activation.step("second", second)]

    async with open_engine(work=work) as engine:
        await engine.start("work", a)
        await reached.wait()
    ends = True
    async with open_engine(work=work) as engine:
        done = await engine.wait(a)
    assert (done.state, done.value) == ("finished", ["one", "two"])
    assert steps == ["first", "second", "second"]


async def test_work_starts_other_work_in_any_order(open_file: Open) -> None:
    async def parent(activation: Activation) -> int:
        async with anyio.create_task_group() as group:
            for number in range(5):
                group.start_soon(engine.start, "echo", f"{activation.id}/{number}", number)
        return sum([(await engine.wait(f"{activation.id}/{number}")).value["heard"] for number in range(5)])

    async with open_file(parent=parent) as engine:
        await engine.start("parent", "p")
        assert (await engine.wait("p")).value == 10
        assert sorted(work.id for work in await engine.below("p/")) == [f"p/{number}" for number in range(5)]


async def test_what_follows_begins_with_the_end_of_the_work_before_it(open_engine: Open, a: str) -> None:
    reached, ends = anyio.Event(), False

    async def first(activation: Activation) -> None:
        activation.follow_with([Order("echo", f"{activation.id}/next", "go on")])
        reached.set()
        if not ends:
            await anyio.sleep_forever()

    async with open_engine(first=first) as engine:
        await engine.start("first", a)
        await reached.wait()
        assert await engine.find(f"{a}/next") is None
    ends = True
    async with open_engine(first=first) as engine:  # one is recovered, one begins here
        await engine.start("first", f"{a}/other")
        for one in (a, f"{a}/other"):
            assert (await engine.wait(one)).state == "finished"
            assert (await engine.wait(f"{one}/next")).value["heard"] == "go on"


async def test_of_several_that_begin_at_once_those_that_were_there_are_left_out(
    open_engine: Open, a: str
) -> None:
    heard: list[str] = []

    async def hear(activation: Activation) -> None:
        heard.append(activation.payload)

    async with open_engine(hear=hear) as engine:
        assert await engine.start_all([Order("hear", a, "first"), Order("hear", a, "second")]) == {a}
        assert await engine.start_all([Order("hear", a), Order("hear", f"{a}/b", "third")]) == {f"{a}/b"}
        assert await engine.start_all([]) == set()
        await engine.wait(a)
        await engine.wait(f"{a}/b")
    assert heard == ["first", "third"]


async def test_a_hub_that_stays_for_a_moment_leaves_old_work_alone(
    open_engine: Open, a: str, store: Store
) -> None:
    began = anyio.Event()
    count = 0

    async def wait(activation: Activation) -> str:
        nonlocal count
        count += 1
        began.set()
        if count == 1:
            await anyio.sleep_forever()
        return "done"

    async with open_engine(wait=wait) as engine:
        await engine.start("wait", a)
        await began.wait()
    async with open_engine(resume=False, wait=wait) as engine:
        await engine.start("echo", "own")
        assert (await engine.wait("own")).state == "finished"
        assert (await engine.find_all([a]))[a].state == "running"
        assert count == 1
    async with open_engine(wait=wait) as engine:
        assert (await engine.wait(a)).value == "done"
        assert await store.read(leases.any_registered)


async def test_an_engine_that_was_taken_for_dead_begins_anew_and_ends_what_nobody_has(
    open_file: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable_engine, "AGAIN_S", 0.01)
    begun = [anyio.Event(), anyio.Event()]
    activations = iter(begun)

    async def work(activation: Activation) -> str:
        this = next(activations)
        this.set()
        if this is begun[0]:
            await anyio.sleep_forever()
        return "done"

    async with open_file(work=work) as engine:
        engine.lease_s = 0.3
        await engine.start("work", "a")
        await begun[0].wait()
        before = engine.executor_id
        await engine._store.write(lambda conn: leases.remove(conn, [before]))
        await begun[1].wait()
        assert (await engine.wait("a")).value == "done"
        assert engine.executor_id != before


async def test_a_second_engine_in_a_process_is_refused_and_the_first_goes_on(open_file: Open) -> None:
    async with open_file() as first:
        await first.start("echo", "a")
        async with open_file() as second:
            with pytest.raises(UnavailableError, match="Another hub of this program"):
                await second.start("echo", "b")
        assert (await first.wait("a")).state == "finished"
    async with open_file() as third:
        assert (await third.find("a")) is not None


async def test_what_is_old_is_forgotten(open_file: Open) -> None:
    async with open_file() as engine:
        await engine.start("echo", "a")
        await engine.wait("a")
        assert await engine.prune(SystemClock().now()) == 1
        assert await engine.find("a") is None


async def test_the_loop_can_use_threads_after_the_engine_has_ended(open_file: Open) -> None:
    async with open_file() as engine:
        await engine.start("echo", "a")
        await engine.wait("a")
    assert await asyncio.to_thread(lambda: 5) == 5


async def test_an_engine_that_nobody_uses_is_never_started(open_file: Open, tmp_path: Path) -> None:
    async with open_file():
        await anyio.lowlevel.checkpoint()
    assert not (tmp_path / "durable.db").exists()
