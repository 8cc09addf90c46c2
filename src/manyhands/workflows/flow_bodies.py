"""Nodes that have a body: opening it, going on with it, what comes of it. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from manyhands.workflows import templates
from manyhands.workflows.flow_record import FlowRecord, load
from manyhands.workflows.frames import CONTAINERS, Frame, items_of
from manyhands.workflows.types import Definition, Json, Node, NodeRun, NodeStatus, Outcome
from manyhands.workflows.validation import check_inputs

ITERATIONS = 10
ITEMS_AT_ONCE = 4


class FlowBodies(FlowRecord, ABC):
    """A run whose nodes may have bodies."""

    @abstractmethod
    def _settle_all(self, frame: Frame) -> None:
        """Begin what can begin in a frame."""

    @abstractmethod
    def _conclude(self, frame: Frame, node: Node, record: NodeRun, outcome: Outcome) -> None:
        """A node has come to its end."""

    def _open(self, frame: Frame, node: Node, record: NodeRun) -> None:
        """Begin the work on a node that has a body."""
        try:
            if node.type == "foreach":
                record = replace(record, detail={"items": len(items_of(record.inputs))})
                self._put(record)
            elif node.type == "workflow":
                self._settle_all(self._open_frame(frame, node, record, record.path))
            self._todo.append((frame, node))
        except templates.TemplateFault as fault:
            failed = Outcome(NodeStatus.FAILED, error=fault.message, error_class="template")
            self._conclude(frame, node, record, failed)

    def _open_frame(self, frame: Frame, node: Node, record: NodeRun, prefix: str) -> Frame:
        """The body of a node, or one iteration of it, by its path."""
        if node.type == "workflow":
            definition = self._sub(str(node.values["workflow"]))
            inputs, wrong = check_inputs(definition.inputs, (record.inputs or {}).get("inputs") or {})
            if wrong:
                raise templates.TemplateFault(" ".join(wrong))
            return self._frame(prefix, definition.nodes, inputs, container=record.path, above=frame)
        number = int(prefix.rpartition("/")[2])
        extra: Json = dict(frame.extra)
        if node.type == "loop":
            extra |= {"iteration": number, "previous": self._previous(node, record.path, number)}
        else:
            extra |= {"item": record.inputs["items"][number], "index": number}
        return self._frame(prefix, node.body, frame.inputs, frame, extra, record.path, frame)

    def _previous(self, node: Node, path: str, number: int) -> Any:
        """What the iteration before gave, by node; nothing in the first."""
        before = {one.id: self.shown.get(f"{path}/{number - 1}/{one.id}") for one in node.body}
        outputs = {name: one.output for name, one in before.items() if one is not None}
        return outputs if number > 1 else None

    def _sub(self, name: str) -> Definition:
        data = self.run.subs.get(name)
        if data is None:
            raise templates.TemplateFault(f"There is no workflow {name!r}.")
        return load(data)

    def _continue(self, frame: Frame, node: Node, record: NodeRun) -> None:
        """Go on with a node whose body may have moved."""
        match node.type:
            case "loop":
                self._continue_loop(frame, node, record)
            case "foreach":
                self._continue_foreach(frame, node, record)
            case _:
                inner = self.frames[record.path]
                if inner.left == 0:
                    self._conclude(frame, node, record, self._outcome_of(inner))

    def _continue_loop(self, frame: Frame, node: Node, record: NodeRun) -> None:
        done = int(record.detail.get("iterations", 0))
        inner = self.frames.get(f"{record.path}/{done}") if done else None
        if inner is not None and inner.left:
            return
        outcome = self._outcome_of(inner) if inner else None
        if outcome is not None and outcome.status is not NodeStatus.SUCCESS:
            self._conclude(frame, node, record, outcome)
            return
        if inner is not None and (ended := self._loop_ends(node, inner, done, outcome)):
            self._conclude(frame, node, record, ended)
            return
        if self.run.ending is not None:
            self._conclude(frame, node, record, Outcome(NodeStatus.CANCELLED, error="The run was stopped."))
            return
        record = replace(record, detail={**record.detail, "iterations": done + 1})
        self._put(record)
        self._settle_all(self._open_frame(frame, node, record, f"{record.path}/{done + 1}"))

    def _loop_ends(self, node: Node, inner: Frame, done: int, outcome: Outcome | None) -> Outcome | None:
        assert outcome is not None
        condition = node.values.get("condition")
        if condition is not None:
            try:
                if templates.holds(_condition(condition), inner.values(self.shown)):
                    return outcome
            except templates.TemplateFault as fault:
                said = f"condition: {fault.message}"
                return Outcome(NodeStatus.FAILED, error=said, error_class="template")
        if done < int(node.values.get("max_iterations", ITERATIONS)):
            return None
        if condition is None or node.values.get("on_limit") == "continue":
            return outcome
        said = f"The condition did not hold after {done} iterations: {condition}."
        return Outcome(NodeStatus.FAILED, output=outcome.output, error=said, error_class="error")

    def _continue_foreach(self, frame: Frame, node: Node, record: NodeRun) -> None:
        count = len(record.inputs["items"])
        most = int(node.values.get("parallel", ITEMS_AT_ONCE))
        begun = self._items.get(record.path) or self._count_items(record.path, count)
        while begun[0] < count and begun[1] < most and self.run.ending is None:
            self._settle_all(self._open_frame(frame, node, record, f"{record.path}/{begun[0]}"))
            begun[0], begun[1] = begun[0] + 1, begun[1] + 1
        if begun[1] == 0:
            opened = [self.frames[f"{record.path}/{number}"] for number in range(begun[0])]
            self._conclude(frame, node, record, self._outcome_of_items(opened, count))

    def _count_items(self, path: str, count: int) -> list[int]:
        opened = [self.frames[one] for n in range(count) if (one := f"{path}/{n}") in self.frames]
        self._items[path] = [len(opened), sum(one.left > 0 for one in opened)]
        return self._items[path]

    def _outcome_of_items(self, opened: Sequence[Frame], count: int) -> Outcome:
        outcomes = [self._outcome_of(one) for one in opened]
        bad = [one for one in outcomes if one.status is not NodeStatus.SUCCESS]
        outputs = [one.output for one in outcomes]
        if not bad and len(opened) == count:
            return Outcome(NodeStatus.SUCCESS, outputs)
        if self.run.ending is not None:
            return Outcome(NodeStatus.CANCELLED, outputs, "The run was stopped.")
        return Outcome(
            NodeStatus.FAILED, outputs, f"{len(bad)} of {count} items failed: {bad[0].error}", "error"
        )

    def _outcome_of(self, frame: Frame) -> Outcome:
        """What a body gives when all its nodes have ended."""
        records = {node.id: self.current[frame.path(node.id)] for node in frame.nodes}
        for status in (NodeStatus.FAILED, NodeStatus.CANCELLED):
            if bad := [one for one in records.values() if one.status is status]:
                said = f"{bad[0].node_id}: {bad[0].error or bad[0].reason or status.value}"
                return Outcome(status, error=said, error_class=bad[0].error_class)
        given = {
            one.id: records[one.id].output
            for one in frame.sinks()
            if records[one.id].status is NodeStatus.SUCCESS
        }
        if len(frame.sinks()) == 1:
            return Outcome(NodeStatus.SUCCESS, next(iter(given.values()), None))
        return Outcome(NodeStatus.SUCCESS, given)

    def _reopen(self, frame: Frame) -> None:
        """The bodies that were being worked on when the record was written."""
        for node in frame.nodes:
            record = self.current.get(frame.path(node.id))
            if record is None:
                continue
            if node.type not in CONTAINERS:
                self._busy += record.status is NodeStatus.RUNNING
                continue
            for prefix in self._prefixes(node, record):
                self._reopen(self._open_frame(frame, node, record, prefix))

    def _prefixes(self, node: Node, record: NodeRun) -> list[str]:
        if node.type == "workflow":
            return [record.path] if any(one.startswith(f"{record.path}/") for one in self.current) else []
        if node.type == "loop":
            return [f"{record.path}/{n + 1}" for n in range(int(record.detail.get("iterations", 0)))]
        begun = {
            one[len(record.path) + 1 :].split("/")[0]
            for one in self.current
            if one.startswith(f"{record.path}/")
        }
        return [f"{record.path}/{n}" for n in sorted(int(one) for one in begun)]


def _condition(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
