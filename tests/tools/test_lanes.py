"""Which calls of a server run side by side."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import pytest
from anyio.abc import TaskGroup

from manyhands.servers.types import Parallel
from manyhands.tools.lanes import Lanes
from manyhands.tools.types import Annotations, ToolDefinition

pytestmark = pytest.mark.anyio


def tool(read_only: bool, server_id: int = 1) -> ToolDefinition:
    return ToolDefinition("t", "t", "", {}, "s", server_id, annotations=Annotations(read_only=read_only))


@dataclass
class Runs:
    """Calls that run until they are let go, and the order in which they began."""

    lanes: Lanes = field(default_factory=Lanes)
    began: list[str] = field(default_factory=list)
    ends: dict[str, anyio.Event] = field(default_factory=dict)

    def start(self, group: TaskGroup, name: str, parallel: Parallel, definition: ToolDefinition) -> None:
        self.ends[name] = anyio.Event()
        group.start_soon(self._run, name, parallel, definition)

    async def _run(self, name: str, parallel: Parallel, definition: ToolDefinition) -> None:
        async with self.lanes.enter(parallel, definition):
            self.began.append(name)
            await self.ends[name].wait()

    async def settled(self) -> list[str]:
        await anyio.wait_all_tasks_blocked()
        return list(self.began)

    def end_all(self) -> None:
        for end in self.ends.values():
            end.set()


@pytest.mark.requirement("L14")
async def test_none_means_one_after_the_other_in_the_order_they_came() -> None:
    runs = Runs()
    async with anyio.create_task_group() as group:
        for name in "abc":
            runs.start(group, name, "none", tool(read_only=True))
        assert await runs.settled() == ["a"]
        runs.ends["a"].set()
        assert await runs.settled() == ["a", "b"]
        runs.end_all()
    assert runs.began == ["a", "b", "c"]


@pytest.mark.requirement("L14")
async def test_read_only_lets_readers_run_together_and_writers_alone() -> None:
    runs = Runs()
    async with anyio.create_task_group() as group:
        runs.start(group, "read 1", "read_only", tool(read_only=True))
        runs.start(group, "read 2", "read_only", tool(read_only=True))
        runs.start(group, "write", "read_only", tool(read_only=False))
        runs.start(group, "read 3", "read_only", tool(read_only=True))
        assert await runs.settled() == ["read 1", "read 2"]
        runs.ends["read 1"].set()
        runs.ends["read 2"].set()
        assert await runs.settled() == ["read 1", "read 2", "write"]
        runs.ends["write"].set()
        assert await runs.settled() == ["read 1", "read 2", "write", "read 3"]
        runs.end_all()


async def test_another_server_is_not_held_up() -> None:
    runs = Runs()
    async with anyio.create_task_group() as group:
        runs.start(group, "a", "none", tool(read_only=False, server_id=1))
        runs.start(group, "b", "none", tool(read_only=False, server_id=2))
        assert await runs.settled() == ["a", "b"]
        runs.end_all()


async def test_a_call_that_is_cancelled_while_it_waits_gives_up_its_place() -> None:
    runs = Runs()
    async with anyio.create_task_group() as group:
        runs.start(group, "reader", "read_only", tool(read_only=True))
        await runs.settled()
        async with anyio.create_task_group() as waiting:
            runs.start(waiting, "writer", "read_only", tool(read_only=False))
            await runs.settled()
            runs.start(group, "reader behind it", "read_only", tool(read_only=True))
            assert await runs.settled() == ["reader"]
            waiting.cancel_scope.cancel()
        assert await runs.settled() == ["reader", "reader behind it"]
        runs.end_all()


async def test_a_call_that_fails_lets_the_next_one_in() -> None:
    lanes = Lanes()
    with pytest.raises(ValueError, match="broken"):
        async with lanes.enter("none", tool(read_only=False)):
            raise ValueError("broken")
    async with lanes.enter("none", tool(read_only=False)):
        pass
