"""Flows driven by hand: what would be done is done by a function, at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from manyhands.workflows.flow import Flow
from manyhands.workflows.types import NodeRun, NodeStatus, Outcome, RunStatus, WorkflowRun
from manyhands.workflows.validation import read_definition

NOW = datetime(2026, 1, 1, tzinfo=UTC)
Act = Callable[[NodeRun], Outcome]


def good(output: Any = "") -> Outcome:
    return Outcome(NodeStatus.SUCCESS, output)


def bad(error: str = "bad", error_class: str = "error") -> Outcome:
    return Outcome(NodeStatus.FAILED, error=error, error_class=error_class)


def echo(record: NodeRun) -> Outcome:
    """A script gives itself."""
    return good(record.inputs.get("script", ""))


def run_of(
    text: str, inputs: dict[str, Any] | None = None, subs: dict[str, str] | None = None
) -> WorkflowRun:
    reading = read_definition(text)
    assert reading.definition is not None, [str(one) for one in reading.problems]
    below = {name: read_definition(one).data for name, one in (subs or {}).items()}
    return WorkflowRun("run_1", "demo", RunStatus.RUNNING, reading.data, inputs or {}, NOW, below)


class Driven:
    """A flow whose attempts are done by `act`. With `reload` it is made anew from its record at each step."""

    def __init__(self, run: WorkflowRun, act: Act = echo, parallel: int = 8, *, reload: bool = False) -> None:
        self.act = act
        self.reload = reload
        self.parallel = parallel
        self.records: dict[tuple[str, int], NodeRun] = {}
        self.began: list[str] = []
        self.stopped: list[str] = []
        self.withdrawn: list[str] = []
        self.most = 0
        self.going: list[NodeRun] = []
        self.flow = Flow(run, (), parallel, NOW)
        self.flow.begin()
        self.drive()

    def take(self) -> None:
        deeds = self.flow.take_deeds()
        self.records |= deeds.rows
        self.going += deeds.starts
        self.began += [one.path for one in deeds.starts]
        gone = {(one.path, one.attempt) for one in deeds.stops}
        self.going = [one for one in self.going if (one.path, one.attempt) not in gone]
        self.stopped += [one.path for one in deeds.stops]
        self.withdrawn += [one.path for one in deeds.withdrawn]
        self.most = max(self.most, len(self.going))

    def drive(self) -> None:
        self.take()
        while self.going:
            self.step()

    def step(self) -> None:
        record = self.going.pop(0)
        if self.reload:
            self.flow = Flow(self.flow.run, self.records.values(), self.parallel, NOW)
        assert self.flow.finish(record.path, record.attempt, self.act(record))
        self.take()

    def answer(self, path: str, decision: Any = "approve", response: Any = None) -> None:
        if self.reload:
            self.flow = Flow(self.flow.run, self.records.values(), self.parallel, NOW)
        assert self.flow.answer(path, self.flow.current[path].attempt, decision, response)
        self.drive()

    @property
    def status(self) -> str:
        return self.flow.run.status.value

    @property
    def states(self) -> dict[str, str]:
        return {path: one.status.value for path, one in self.flow.current.items()}

    def output(self, path: str) -> Any:
        return self.flow.current[path].output
