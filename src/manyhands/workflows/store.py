"""The SQL of workflow runs, of what they are pinned to, and of their nodes' attempts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from manyhands.store.direct import Insert, Update
from manyhands.store.tables import workflow_nodes, workflow_pins, workflow_runs
from manyhands.workflows.types import NodeRun, NodeStatus, RunStatus, WorkflowRun

_PINNED = ("definition", "subs", "inputs")
_RUN = tuple(name for name in WorkflowRun.__slots__ if name not in _PINNED)
_NODE = tuple(NodeRun.__slots__)
_CHANGED = ("status", "ending", "retries", "error", "deadline", "ended_at", "version")
_ADD = Insert(workflow_nodes, ("id", *_NODE))
_FIXED = ("run_id", "path", "attempt")
_CHANGE = Update(workflow_nodes, tuple(name for name in _NODE if name not in _FIXED), "id")
_CHANGE_RUN = Update(workflow_runs, _CHANGED, "id")
_MOVE_RUN = (
    update(workflow_runs)
    .where(workflow_runs.c.id == bindparam("the_id"), workflow_runs.c.version == bindparam("the_version"))
    .values({name: bindparam(name) for name in _CHANGED})
)


class Stale(Exception):
    """Another process has moved the run on since it was read."""


def insert_run(conn: Connection, run: WorkflowRun) -> bool:
    """Add it; whether it was not there before."""
    if conn.execute(select(workflow_runs.c.id).where(workflow_runs.c.id == run.id)).first():
        return False
    conn.execute(insert(workflow_runs).values({name: getattr(run, name) for name in _RUN}))
    pins = {name: getattr(run, name) for name in _PINNED}
    conn.execute(insert(workflow_pins).values({"run_id": run.id, **pins}))
    return True


def save(conn: Connection, run: WorkflowRun, new: Iterable[NodeRun], changed: Iterable[NodeRun]) -> None:
    """Write a step of a run, if it is still as it was read: `run.version` is what it becomes."""
    values = {name: getattr(run, name) for name in _CHANGED} | {"status": run.status.value}
    if conn.dialect.name == "postgresql":
        _save_at_once(conn, run, values, [*new, *changed])
        return
    # One process has the file, and moves a run in one place at a time.
    if _CHANGE_RUN.run(conn, run.id, values) != 1:
        raise Stale
    for node in new:
        _ADD.run(conn, {"id": node.key, **_node_row(node)})
    for node in changed:
        _CHANGE.run(conn, node.key, _node_row(node))


def _save_at_once(
    conn: Connection, run: WorkflowRun, values: dict[str, Any], nodes: Sequence[NodeRun]
) -> None:
    """Two statements, for each is a way to the server: one for the run, one for whatever nodes there are."""
    here = {"the_id": run.id, "the_version": run.version - 1}
    if conn.execute(_MOVE_RUN, values | here).rowcount != 1:
        raise Stale
    if nodes:
        conn.execute(_put_nodes(), [{"id": node.key, **_node_row(node)} for node in nodes])


@cache
def _put_nodes() -> Any:
    from sqlalchemy.dialects.postgresql import insert

    put = insert(workflow_nodes)
    fresh = {name: put.excluded[name] for name in _NODE if name not in _FIXED}
    return put.on_conflict_do_update(index_elements=["id"], set_=fresh)


def select_run(conn: Connection, run_id: str) -> WorkflowRun | None:
    both = select(workflow_runs, *(workflow_pins.c[name] for name in _PINNED)).join(workflow_pins)
    row = conn.execute(both.where(workflow_runs.c.id == run_id)).first()
    return None if row is None else _run(row)


def select_runs(
    conn: Connection,
    channel_ids: Sequence[str] | None,
    workflow: str | None,
    status: str | None,
    limit: int,
    before: str | None,
) -> Sequence[WorkflowRun]:
    """Newest first, without what they are pinned to."""
    order = (workflow_runs.c.created_at.desc(), workflow_runs.c.id.desc())
    query = select(workflow_runs, workflow_pins.c.inputs).join(workflow_pins).order_by(*order).limit(limit)
    if channel_ids is not None:
        query = query.where(workflow_runs.c.channel_id.in_(channel_ids))
    if workflow is not None:
        query = query.where(workflow_runs.c.workflow_name == workflow)
    if status is not None:
        query = query.where(workflow_runs.c.status == status)
    if before is not None:
        at = select(workflow_runs.c.created_at).where(workflow_runs.c.id == before).scalar_subquery()
        earlier = workflow_runs.c.created_at < at
        same = (workflow_runs.c.created_at == at) & (workflow_runs.c.id < before)
        query = query.where(earlier | same)
    return [_run(row) for row in conn.execute(query)]


def select_open(conn: Connection) -> Sequence[str]:
    """The runs that have not ended."""
    open_ones = workflow_runs.c.status.in_((RunStatus.RUNNING.value, RunStatus.PAUSED.value))
    query = select(workflow_runs.c.id).where(open_ones).order_by(workflow_runs.c.created_at)
    return list(conn.execute(query).scalars())


def select_deadlines(conn: Connection) -> Sequence[tuple[str, Any]]:
    """Runs that have not ended and when their time is over."""
    query = select(workflow_runs.c.id, workflow_runs.c.deadline).where(
        workflow_runs.c.status.in_((RunStatus.RUNNING.value, RunStatus.PAUSED.value)),
        workflow_runs.c.deadline.is_not(None),
    )
    return [(row.id, row.deadline) for row in conn.execute(query)]


def select_nodes(conn: Connection, run_id: str) -> Sequence[NodeRun]:
    query = select(workflow_nodes).where(workflow_nodes.c.run_id == run_id)
    found = [_node(row) for row in conn.execute(query)]
    return sorted(found, key=lambda one: (one.started_at is None, one.started_at, one.path, one.attempt))


def count_by_status(conn: Connection, run_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """How many nodes of each run stand how: by the last attempt at each, unless it was sent back."""
    found: dict[str, dict[str, int]] = {}
    nodes = workflow_nodes.c
    age = func.row_number().over(partition_by=(nodes.run_id, nodes.path), order_by=nodes.attempt.desc())
    attempts = (
        select(nodes.run_id, nodes.status, nodes.superseded, age.label("age"))
        .where(nodes.run_id.in_(run_ids))
        .subquery()
    )
    last = attempts.c
    query = (
        select(last.run_id, last.status, func.count())
        .where(last.age == 1, last.superseded.is_(False))
        .group_by(last.run_id, last.status)
    )
    for run_id, status, count in conn.execute(query):
        found.setdefault(run_id, {})[status] = count
    return found


def delete_run(conn: Connection, run_id: str) -> bool:
    for table in (workflow_nodes, workflow_pins):
        conn.execute(delete(table).where(table.c.run_id == run_id))
    return conn.execute(delete(workflow_runs).where(workflow_runs.c.id == run_id)).rowcount == 1


def _node_row(node: NodeRun) -> dict[str, Any]:
    return {name: getattr(node, name) for name in _NODE} | {
        "status": node.status.value,
        "detail": dict(node.detail),
    }


def _run(row: Row[Any]) -> WorkflowRun:
    values = {name: row._mapping[name] for name in WorkflowRun.__slots__ if name in row._mapping}
    return WorkflowRun(**{"definition": {}, "inputs": {}, **values, "status": RunStatus(row.status)})


def _node(row: Row[Any]) -> NodeRun:
    values = {name: row._mapping[name] for name in _NODE}
    return NodeRun(**{**values, "status": NodeStatus(row.status)})
