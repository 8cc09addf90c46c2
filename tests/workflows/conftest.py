"""A hub whose time stands still and whose model says what the prompt ends with; one for a module's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from manyhands import Hub
from manyhands.models.types import ModelRequest, Reply
from manyhands.testing.clock import FakeClock
from manyhands.testing.scripted import Gate, ScriptedModel
from manyhands.workflows.types import WorkflowRun
from tests.durable.threads import start_engine
from tests.postgres import PostgresServer

SOON_S = 60


@dataclass
class Bench:
    """A hub with workflows."""

    hub: Hub
    clock: FakeClock
    directory: Path
    gate: anyio.Event = field(default_factory=anyio.Event)
    replies: list[Any] = field(default_factory=list)
    """What the model says next; without any it repeats what it is told."""

    async def save(self, text: str) -> str:
        known = {one.name for one in await self.hub.workflows.list()}
        name = next(line for line in text.splitlines() if line.startswith("name: ")).split()[1]
        await self.hub.workflows.save("update" if name in known else "add", text)
        return name

    async def start(self, text: str, inputs: dict[str, Any] | None = None, **more: Any) -> WorkflowRun:
        """Save a definition and begin a run of it."""
        name = await self.save(text)
        return await self.hub.workflows.start(name, inputs, dir_path=str(self.directory), **more)

    async def settled(self, run: WorkflowRun) -> WorkflowRun:
        """The run when it has ended or waits for somebody."""
        with anyio.fail_after(SOON_S):
            return await self.hub.workflows.wait(run.id, until_paused=True)

    async def ended(self, run: WorkflowRun) -> WorkflowRun:
        with anyio.fail_after(SOON_S):
            return await self.hub.workflows.wait(run.id)

    async def run(self, text: str, inputs: dict[str, Any] | None = None, **more: Any) -> WorkflowRun:
        return await self.settled(await self.start(text, inputs, **more))

    async def nodes(self, run: WorkflowRun) -> dict[str, dict[str, Any]]:
        shown = await self.hub.workflows.show(run.id)
        return {node["id"]: node for node in shown["nodes"]}

    async def states(self, run: WorkflowRun) -> dict[str, str]:
        return {name: node["status"] for name, node in (await self.nodes(run)).items()}

    async def until(self, path: str) -> None:
        """Wait for a file that a script makes."""
        with anyio.fail_after(SOON_S):
            while not (self.directory / path).exists():  # noqa: ASYNC110 - a script tells nobody
                await anyio.sleep(0.01)

    async def when(self, look: Callable[[], Awaitable[Any]]) -> Any:
        """Look until there is something to see."""
        with anyio.fail_after(SOON_S):
            while not (seen := await look()):
                await self.hub.store.flush()
        return seen

    def made(self, path: str) -> list[str]:
        file = self.directory / path
        return file.read_text().splitlines() if file.exists() else []


def _reply(bench: list[Bench], request: ModelRequest) -> Any:
    said = next(turn.text for turn in reversed(request.turns) if turn.role == "user")
    words = said.split("\n\n")[0]
    if bench[0].replies:
        return bench[0].replies.pop(0)
    if words.startswith("wait"):
        return [Gate(bench[0].gate), Reply(text="waited")]
    return f"{sum(turn.role == 'user' for turn in request.turns)}: {words}"


@pytest.fixture
def no_task_stays_behind() -> None:
    """The hub outlives a test, and its tasks come and go; when it closes, its task group waits for all."""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
async def open_bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Bench]:
    clock = FakeClock()
    made: list[Bench] = []
    model = ScriptedModel([lambda asked: _reply(made, asked)], repeat=True)
    with ExitStack() as stack:
        url = None
        if request.param == "postgresql":
            server: PostgresServer = request.getfixturevalue("postgres")
            url = stack.enter_context(server.database())
        async with Hub(tmp_path_factory.mktemp("home"), url, clock=clock, model=model) as hub:
            made.append(Bench(hub, clock, Path()))
            await start_engine(hub)
            yield made[0]


@pytest.fixture
async def bench(open_bench: Bench, tmp_path: Path) -> AsyncIterator[Bench]:
    """The module's hub, with a directory of this test's own; its runs are gone at the end."""
    open_bench.directory = tmp_path
    open_bench.gate, open_bench.replies = anyio.Event(), []
    yield open_bench
    open_bench.gate.set()
    for run in (await open_bench.hub.workflows.runs(limit=100)).items:
        await open_bench.hub.workflows.delete(run["id"])
    for one in await open_bench.hub.workflows.list():
        await open_bench.hub.workflows.delete_definition(one.name, one.scope)
