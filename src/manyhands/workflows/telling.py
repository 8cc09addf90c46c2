"""What listeners are told of runs and nodes, and how a run is shown. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from manyhands.workflows.types import Json, Node, NodeRun, NodeStatus, RunStatus, WorkflowRun

TOLD = 2000
"""Characters of an output that an event carries."""


News = Literal["started", "paused", "finished"]


def node_news(record: NodeRun, *, is_new: bool) -> News | None:
    """What to tell of a row that was written, if it is something that others should hear of."""
    if record.superseded and record.status is not NodeStatus.CANCELLED:
        return None
    if record.status.ended:
        return "finished"
    return "started" if is_new or record.status is NodeStatus.WAITING else None


def node_data(run: WorkflowRun, record: NodeRun) -> Json:
    data = record.wire()
    for name in ("inputs", "log", "detail", "superseded", "not_before"):
        del data[name]
    if isinstance(record.output, str) and len(record.output) > TOLD:
        data |= {"output": record.output[:TOLD], "cut": True}
    elif isinstance(record.output, dict | list) and len(str(record.output)) > TOLD:
        data |= {"output": None, "cut": True}
    return {"run_id": run.id, "workflow_name": run.workflow_name, **data}


def run_news(before: WorkflowRun, run: WorkflowRun) -> News | None:
    """What to tell of a run whose state may have changed."""
    if before.status is run.status and before.ended_at == run.ended_at:
        return None
    if run.ended:
        return "finished"
    if run.status is RunStatus.PAUSED:
        return "paused"
    return "started" if before.ended else None


def show_nodes(nodes: Sequence[Node], records: Sequence[NodeRun]) -> list[Json]:
    """Every node of a run as it stands, pending ones too, with its attempts. `records`: as they began."""
    by_path: dict[str, list[NodeRun]] = {}
    for record in sorted(records, key=lambda one: one.attempt):
        by_path.setdefault(record.path, []).append(record)
    shown = [_pending(node) for node in nodes if node.id not in by_path]
    for path, attempts in by_path.items():
        if "/" not in path or not attempts[-1].superseded:
            shown.append(_node(path, attempts))
    # Those of the definition in its order, those in their bodies as they began.
    known = dict.fromkeys([*(node.id for node in nodes), *(one.path for one in records)])
    order = {path: number for number, path in enumerate(known)}
    return sorted(shown, key=lambda one: _place(one["id"], order))


def _place(path: str, order: Mapping[str, int]) -> tuple[int, ...]:
    parts = path.split("/")
    return tuple(
        int(part) if part.isdigit() else order.get("/".join(parts[: number + 1]), 0)
        for number, part in enumerate(parts)
    )


def _pending(node: Node) -> Json:
    return {
        "id": node.id,
        "node_id": node.id,
        "path": node.id,
        "parent": None,
        "iteration": None,
        "type": node.type,
        "status": NodeStatus.PENDING.value,
        "attempt": 0,
        "attempts": 0,
        "history": [],
        **dict.fromkeys(_EMPTY),
    }


_EMPTY = (
    "inputs",
    "output",
    "error",
    "error_class",
    "reason",
    "decision",
    "log",
    "detail",
    "started_at",
    "ended_at",
)


def _node(path: str, attempts: Sequence[NodeRun]) -> Json:
    last = attempts[-1]
    parent, iteration = _above(path)
    shown = last.wire() | {"parent": parent, "iteration": iteration, "attempts": len(attempts)}
    if last.superseded:  # sent back, and not begun again yet
        shown |= {
            "status": NodeStatus.PENDING.value,
            **dict.fromkeys(("output", "error", "reason", "decision")),
        }
    shown["iterations"] = last.detail.get("iterations", last.detail.get("items"))
    return shown | {"history": [one.wire() for one in attempts]}


def _above(path: str) -> tuple[str | None, int | None]:
    """The node that a node stands in the body of, and the iteration or item."""
    parts = path.split("/")[:-1]
    if not parts:
        return None, None
    if parts[-1].isdigit():
        return "/".join(parts[:-1]), int(parts[-1])
    return "/".join(parts), None
