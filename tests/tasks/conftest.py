"""A hub whose time stands still and whose model does as the prompt says, one for all tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from manyhands import Hub
from manyhands.events import Event
from manyhands.models.types import ModelError, ModelRequest
from manyhands.tasks.types import TaskRun, TaskView
from manyhands.testing.clock import FakeClock
from manyhands.testing.scripted import Gate, ScriptedModel, calls
from tests.durable.threads import start_engine

SOON_S = 60


@dataclass
class Desk:
    """The hub, its clock, and what its model waits for."""

    hub: Hub
    clock: FakeClock
    model: ScriptedModel
    directory: Path
    gates: dict[str, anyio.Event] = field(default_factory=dict)
    channel_id: str = ""

    async def add(self, **values: Any) -> TaskView:
        """A task of this test's channel, by default an hourly one."""
        given = {"schedule": "0 * * * *", **values}
        if not {"prompt", "script", "workflow_name"} & set(given):
            given["prompt"] = "say fine"
        return (await self.hub.tasks.create(self.channel_id, given))[0]

    async def runs(self, view: TaskView) -> list[TaskRun]:
        return list((await self.hub.tasks.runs(view.task.id)).items)

    def open_gate(self, name: str) -> None:
        self.gates.setdefault(name, anyio.Event()).set()

    async def until(self, work: Callable[[], Any], type: str, count: int = 1, **wanted: Any) -> list[Event]:
        """Do something and wait until so many events of a type with these data have come."""
        found: list[Event] = []
        with anyio.fail_after(SOON_S):
            async with self.hub.bus.subscribe() as events:
                result = work()
                if result is not None:
                    await result
                async for event in events:
                    if event.type == type and wanted.items() <= event.data.items():
                        found.append(event)
                        if len(found) == count:
                            return found
        raise AssertionError("the stream of events ended")

    async def finish(self, work: Callable[[], Any], view: TaskView, count: int = 1) -> list[TaskRun]:
        """Do something and wait until so many runs of a task have ended; its history then."""
        await self.until(work, "task.run_finished", count, task_id=view.task.id)
        return await self.runs(view)

    def hours(self, hours: float) -> Callable[[], None]:
        """Move to the next full hour, and beyond it when more than one is wanted."""
        return lambda: self.clock.advance(3600 - self.clock.monotonic() % 3600 + (hours - 1) * 3600)


def _reply(desk: Desk, request: ModelRequest) -> Any:
    said = next(turn.text for turn in reversed(request.turns) if turn.role == "user")
    words = said.rpartition("]\n")[2].split("\n\n")[0]
    verb, _, rest = words.partition(" ")
    match verb:
        case "fail":
            return ModelError(f"The model is down: {rest}.")
        case "wait":
            gate = desk.gates.setdefault(rest, anyio.Event())
            return [Gate(gate), *_text("went on")]
        case "use":
            if any(turn.role == "tool" for turn in request.turns):
                return "done without it"
            return calls((rest, {"path": "made.txt", "content": "x"}))
    return rest


def _text(text: str) -> list[Any]:
    from manyhands.models.types import Reply

    return [Reply(text=text)]


@pytest.fixture(scope="module")
async def open_desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    clock = FakeClock()
    made: list[Desk] = []
    model = ScriptedModel([lambda request: _reply(made[0], request)], repeat=True)
    home = tmp_path_factory.mktemp("home")
    async with Hub(home, clock=clock, model=model) as hub:
        made.append(Desk(hub, clock, model, tmp_path_factory.mktemp("project")))
        await start_engine(hub)
        yield made[0]


@pytest.fixture
async def desk(open_desk: Desk, tmp_path: Path) -> AsyncIterator[Desk]:
    """The module's hub with a channel of this test's own; its tasks are gone at the end."""
    directory = tmp_path / "project"
    directory.mkdir()
    channel, _ = await open_desk.hub.channels.find_or_create(dir_path=str(directory))
    open_desk.channel_id, open_desk.directory = channel.id, directory
    yield open_desk
    for gate in open_desk.gates.values():
        gate.set()
    for view in (await open_desk.hub.tasks.list()).items:
        await open_desk.hub.tasks.delete(view.task.id)
