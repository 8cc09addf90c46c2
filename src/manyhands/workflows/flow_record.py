"""The record of a run while it moves: attempts, bodies, what waits for its turn, what is to be written. Pure.

It keeps and finds. What follows from what is in `flow.py`, bodies of nodes are in `flow_bodies.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from manyhands.errors import InvalidError, NotFoundError
from manyhands.workflows.definition import Reader
from manyhands.workflows.frames import CONTAINERS, Frame
from manyhands.workflows.source import Located
from manyhands.workflows.types import Definition, Node, NodeRun, NodeStatus, WorkflowRun


@dataclass(slots=True)
class Deeds:
    """What follows: rows to write, attempts to start or to stop, questions to ask or to take back."""

    rows: dict[tuple[str, int], NodeRun] = field(default_factory=dict)
    starts: list[NodeRun] = field(default_factory=list)
    stops: list[NodeRun] = field(default_factory=list)
    questions: list[NodeRun] = field(default_factory=list)
    withdrawn: list[NodeRun] = field(default_factory=list)


class FlowRecord:
    """What is known of one run."""

    def __init__(self, run: WorkflowRun, records: Iterable[NodeRun], parallel: int, now: datetime) -> None:
        self.run = run
        self.now = now
        self.deeds = Deeds()
        self.definition = load(run.definition)
        self.parallel = min(parallel, self.definition.parallel or parallel)
        self.current: dict[str, NodeRun] = {}
        self.shown: dict[str, NodeRun] = {}
        self.highest: dict[str, int] = {}
        self.rejections: dict[str, int] = {}
        self.frames: dict[str, Frame] = {}
        self._todo: deque[tuple[Frame, Node]] = deque()
        """Nodes that have to be looked at: pending ones, and those whose body has moved."""
        self._queue: deque[tuple[Frame, Node]] = deque()
        self._queued: set[str] = set()
        self._items: dict[str, list[int]] = {}
        """Of a foreach: how many items were begun, how many go on."""
        self._busy = 0
        for record in sorted(records, key=lambda one: one.attempt):
            self._recall(record)

    def _recall(self, record: NodeRun) -> None:
        self.highest[record.path] = max(self.highest.get(record.path, 0), record.attempt)
        self.shown[record.path] = record
        if record.superseded:
            if record.detail.get("decision") == "reject":
                self.rejections[record.path] = self.rejections.get(record.path, 0) + 1
            return
        self.current[record.path] = record

    def _frame(
        self,
        prefix: str,
        nodes: Sequence[Node],
        inputs: Mapping[str, Any],
        outer: Frame | None = None,
        extra: Mapping[str, Any] | None = None,
        container: str | None = None,
        above: Frame | None = None,
    ) -> Frame:
        run = self.run
        about = {
            "id": run.id,
            "workflow": run.workflow_name,
            "dir": run.dir_path,
            "channel_id": run.channel_id,
        }
        made = Frame(prefix, nodes, inputs, about, outer, extra or {}, container, above)
        made.left = sum(not self._status(made, node).ended for node in nodes)
        self.frames[prefix] = made
        return made

    def _status(self, frame: Frame, node: Node) -> NodeStatus:
        record = self.current.get(frame.path(node.id))
        return NodeStatus.PENDING if record is None else record.status

    def _find(self, path: str) -> tuple[Frame, Node]:
        prefix, _, name = path.rpartition("/")
        frame = self.frames.get(prefix)
        if frame is None or name not in frame.by_id:
            raise NotFoundError(f"There is no node {path!r} in this run.", hint="Look at the run's nodes.")
        return frame, frame.by_id[name]

    def node_of(self, path: str) -> Node:
        """The node of the definition that a path stands for."""
        return self._find(path)[1]

    def _new(self, frame: Frame, node: Node, status: NodeStatus, **more: Any) -> NodeRun:
        path = frame.path(node.id)
        return NodeRun(
            run_id=self.run.id,
            path=path,
            attempt=self.highest.get(path, 0) + 1,
            node_id=node.id,
            type=node.type,
            status=status,
            started_at=self.now,
            **more,
        )

    def _put(self, record: NodeRun) -> None:
        self.current[record.path] = record
        self._write(record)

    def _write(self, record: NodeRun) -> None:
        self.highest[record.path] = max(self.highest.get(record.path, 0), record.attempt)
        self.shown[record.path] = record
        self.deeds.rows[record.path, record.attempt] = record

    def take_deeds(self) -> Deeds:
        """What has to be done, once."""
        deeds, self.deeds = self.deeds, Deeds()
        return deeds

    def deadline(self) -> datetime | None:
        """When the run's time is over, if it began now."""
        span = self.definition.timeout_s
        return None if span is None else self.now + timedelta(seconds=span)

    def _reset(self, frame: Frame, names: set[str]) -> None:
        """These are pending again; their attempts stay on record."""
        self._items.clear()
        self._unqueue(lambda one, node: one is frame and node.id in names)
        for name in names:
            path = frame.path(name)
            self._drop_below(path)
            record = self.current.pop(path, None)
            if record is None:
                continue
            if record.status.ended:
                frame.left += 1
            else:
                record = self._halted(record)
            self._write(replace(record, superseded=True))

    def _drop_below(self, path: str) -> None:
        """Forget the bodies of a node."""
        for prefix in [one for one, frame in self.frames.items() if _is_below(frame.container, path)]:
            del self.frames[prefix]
        for inner in [one for one in self.current if one.startswith(f"{path}/")]:
            record = self.current.pop(inner)
            if not record.status.ended:
                record = self._halted(record)
            self._write(replace(record, superseded=True))
        self._items.clear()
        self._unqueue(lambda frame, node: _is_below(frame.container, path))

    def _unqueue(self, gone: Callable[[Frame, Node], bool]) -> None:
        self._queue = deque(one for one in self._queue if not gone(*one))
        self._queued = {frame.path(node.id) for frame, node in self._queue}

    def _halted(self, record: NodeRun) -> NodeRun:
        """Stop what goes on with an attempt."""
        if record.status is NodeStatus.WAITING:
            self.deeds.withdrawn.append(record)
        elif record.type not in CONTAINERS:
            self.deeds.stops.append(record)
            self._busy -= 1
        return replace(record, status=NodeStatus.CANCELLED, ended_at=self.now)


def load(data: Mapping[str, Any]) -> Definition:
    """A definition that was judged when its run began."""
    found = Located(data=data)
    definition = Reader(found).read()
    if definition is None:
        raise InvalidError("The definition of the run cannot be read.")
    return definition


def _is_below(container: str | None, path: str) -> bool:
    return container is not None and (container == path or container.startswith(f"{path}/"))
