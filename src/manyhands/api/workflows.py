"""Workflows over HTTP: definitions, and the runs of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, items, slice_page
from manyhands.hub import Hub
from manyhands.workflows.types import Decision, NodeStatus, RunStatus, Scope

router = APIRouter(prefix="/workflows", tags=["workflows"])

ChannelId = Annotated[str | None, Query(description="A channel, for the workflows of its project.")]
DirPath = Annotated[str | None, Query(description="A project's directory, for its workflows.")]


class WorkflowProblem(schemas.Answer):
    """A mistake in a definition and where it is; a warning does not keep it from being saved."""

    message: str
    path: str
    line: int | None = None
    column: int | None = None
    severity: str


class WorkflowSummary(schemas.Answer):
    """A definition in a list."""

    name: str
    description: str
    version: str | None = None
    inputs: dict[str, Any]
    scope: Scope
    path: str
    valid: bool = Field(description="Whether it can be run.")
    nodes: int = Field(description="How many nodes it has, with those of bodies.")
    problems: list[WorkflowProblem]


class WorkflowShown(WorkflowSummary):
    """A definition with its text, and what was understood of it."""

    text: str
    workflow: dict[str, Any] | None = None


class _Placed(schemas.Body):
    channel_id: str | None = Field(None, description="A channel, for the workflows of its project.")
    dir_path: str | None = Field(None, description="A project's directory, for its workflows.")


class WorkflowToSave(_Placed):
    """A definition, as an object or as the text of a YAML or JSON file."""

    action: str = Field("add", pattern="^(add|update)$")
    workflow: dict[str, Any] | str
    scope: Scope = "global"


class WorkflowToCheck(_Placed):
    """A definition to judge; with `inputs` also what a run would do."""

    workflow: dict[str, Any] | str
    inputs: dict[str, Any] | None = None


class Verdict(schemas.Answer):
    """What is wrong with a definition. `dry_run`: the nodes in order, what they get, what is skipped."""

    ok: bool
    problems: list[WorkflowProblem]
    workflow: dict[str, Any] | None = None
    lines: dict[str, int] = Field(
        default_factory=dict, description="The line of each node, by its path: `nodes[2].body[0]`."
    )
    dry_run: dict[str, Any] | None = None


class NewWorkflowRun(_Placed):
    """Which workflow, and what it is given."""

    workflow_name: str
    inputs: dict[str, Any] = Field(default_factory=dict)


class WorkflowRunShown(schemas.Answer):
    """A run. `nodes` in a list: how many of them stand how."""

    id: str
    workflow_name: str
    status: RunStatus
    inputs: dict[str, Any]
    channel_id: str | None = None
    dir_path: str | None = None
    authority: str
    attended: bool
    ending: str | None = Field(None, description="Set while it is being stopped.")
    retries: int
    error: str | None = None
    deadline: str | None = None
    created_at: str
    ended_at: str | None = None


class WorkflowRunListed(WorkflowRunShown):
    """A run in a list."""

    nodes: dict[str, int]


class StartedWorkflowRun(schemas.Answer):
    """A run that has begun."""

    run_id: str
    run: WorkflowRunShown


class NodeAttempt(schemas.Answer):
    """One attempt at a node."""

    attempt: int
    status: NodeStatus
    superseded: bool = Field(description="The work was sent back; it counts no more.")
    inputs: Any = None
    output: Any = None
    error: str | None = None
    error_class: str | None = None
    reason: str | None = None
    decision: Decision | None = None
    log: str | None = None
    detail: dict[str, Any] = Field(default_factory=dict)
    started_at: str | None = None
    ended_at: str | None = None


class WorkflowNodeShown(schemas.Answer):
    """A node of a run as it stands. `parent` and `iteration`: of one in the body of another."""

    id: str = Field(description="Its path: the ids down to it, with iterations between.")
    node_id: str
    parent: str | None = None
    iteration: int | None = None
    type: str
    status: NodeStatus
    attempt: int
    attempts: int = Field(description="How many attempts there were.")
    inputs: Any = None
    output: Any = None
    error: str | None = None
    error_class: str | None = None
    reason: str | None = Field(None, description="Why it was skipped or stopped.")
    decision: Decision | None = None
    log: str | None = None
    iterations: int | None = Field(None, description="Of a loop or foreach: how many there are.")
    detail: dict[str, Any] | None = None
    started_at: str | None = None
    ended_at: str | None = None
    history: list[NodeAttempt]


class WholeWorkflowRun(schemas.Answer):
    """A run with its nodes and the definition that it is pinned to. `subs`: those that it runs in turn."""

    run: WorkflowRunShown
    nodes: list[WorkflowNodeShown]
    workflow: dict[str, Any]
    subs: dict[str, dict[str, Any]] = Field(default_factory=dict)


class WorkflowAnswer(schemas.Body):
    """What a person says to a node that waits. `node_id`: which one, when several wait."""

    decision: Decision = "approve"
    response: Any = None
    node_id: str | None = None


class WorkflowRetry(schemas.Body):
    """Where to go on: at a node, where it failed, or from the start."""

    from_node: str | None = None
    from_failed: bool = True


async def _directory(hub: Hub, channel_id: str | None, dir_path: str | None) -> str | None:
    channel = await hub.channel(channel_id)
    return dir_path or (channel.dir_path if channel else None)


# --- runs first: their path would be taken for a workflow's name


@router.get("/runs")
async def list_workflow_runs(
    hub: HubOf,
    channel_id: Annotated[str | None, Query()] = None,
    workflow_name: Annotated[str | None, Query()] = None,
    status: Annotated[RunStatus | None, Query()] = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[WorkflowRunListed]:
    """All runs, newest first."""
    channels = None if channel_id is None else [channel_id]
    page = await hub.workflows.runs(channels, workflow_name, status, limit, cursor)
    return items(page.items, page.next_cursor, lambda one: one)


@router.post("/runs", status_code=201)
async def start_workflow_run(hub: HubOf, body: NewWorkflowRun) -> StartedWorkflowRun:
    """Begin a run, pinned to the definition as it is now."""
    run = await hub.workflows.start(
        body.workflow_name, body.inputs, channel_id=body.channel_id, dir_path=body.dir_path
    )
    return StartedWorkflowRun(run_id=run.id, run=WorkflowRunShown(**run.wire()))


@router.get("/runs/{run_id}")
async def get_workflow_run(hub: HubOf, run_id: str) -> WholeWorkflowRun:
    """A run with all its nodes."""
    return WholeWorkflowRun(**await hub.workflows.show(run_id))


@router.delete("/runs/{run_id}", status_code=204)
async def delete_workflow_run(hub: HubOf, run_id: str) -> None:
    """Remove a run; one that goes on is cancelled first."""
    await hub.workflows.delete(run_id)


@router.post("/runs/{run_id}/cancel")
async def cancel_workflow_run(hub: HubOf, run_id: str) -> WorkflowRunShown:
    """Stop a run with everything that it started."""
    return WorkflowRunShown(**(await hub.workflows.cancel(run_id)).wire())


@router.post("/runs/{run_id}/resume")
async def resume_workflow_run(hub: HubOf, run_id: str, body: WorkflowAnswer) -> WorkflowRunShown:
    """Answer what a run waits for."""
    run = await hub.workflows.resume(run_id, body.decision, body.response, body.node_id)
    return WorkflowRunShown(**run.wire())


@router.post("/runs/{run_id}/retry")
async def retry_workflow_run(hub: HubOf, run_id: str, body: WorkflowRetry) -> WorkflowRunShown:
    """Go on with a run that has ended."""
    run = await hub.workflows.retry(run_id, body.from_node, body.from_failed)
    return WorkflowRunShown(**run.wire())


# --- definitions


@router.get("")
async def list_workflows(
    hub: HubOf,
    channel_id: ChannelId = None,
    dir_path: DirPath = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[WorkflowSummary]:
    """All definitions; one of the project hides a global one of its name."""
    found = await hub.workflows.list(await _directory(hub, channel_id, dir_path))
    page, following = slice_page(found, limit, cursor)
    return items(page, following, lambda one: one.summary())


@router.post("", status_code=201)
async def save_workflow(hub: HubOf, body: WorkflowToSave, response: Response) -> WorkflowShown:
    """Keep a definition. Mistakes are refused, each with its place (422 with `problems`)."""
    directory = await _directory(hub, body.channel_id, body.dir_path)
    stored = await hub.workflows.save(body.action, body.workflow, body.scope, directory)
    if body.action == "update":
        response.status_code = 200
    return WorkflowShown(**stored.wire())


@router.post("/validate")
async def validate_workflow(hub: HubOf, body: WorkflowToCheck) -> Verdict:
    """Judge a definition without keeping it."""
    directory = await _directory(hub, body.channel_id, body.dir_path)
    reading = await hub.workflows.validate(body.workflow, directory)
    dry = None
    if reading.definition is not None and body.inputs is not None:
        dry = await hub.workflows.dry_run(body.workflow, body.inputs, directory)
    return Verdict(
        ok=reading.definition is not None,
        problems=[WorkflowProblem(**one.wire()) for one in reading.problems],
        workflow=reading.data if isinstance(reading.data, dict) else None,
        lines=dict(reading.lines),
        dry_run=dry,
    )


@router.get("/examples")
async def list_examples(hub: HubOf) -> schemas.Items[WorkflowShown]:
    """Definitions that ship with the hub, with their texts: save one to run it."""
    return items(await hub.workflows.examples(), None, lambda one: one.wire())


@router.get("/{name}")
async def get_workflow(
    hub: HubOf, name: str, scope: Scope | None = None, channel_id: ChannelId = None, dir_path: DirPath = None
) -> WorkflowShown:
    """A definition: its text, what was understood of it, what is wrong with it."""
    found = await hub.workflows.find(name, await _directory(hub, channel_id, dir_path), scope)
    reading = await hub.workflows.validate(found.reading.text, await _directory(hub, channel_id, dir_path))
    problems = [WorkflowProblem(**one.wire()) for one in reading.problems]
    return WorkflowShown(**(found.wire() | {"problems": problems, "valid": reading.definition is not None}))


@router.delete("/{name}", status_code=204)
async def delete_workflow(
    hub: HubOf, name: str, scope: Scope | None = None, channel_id: ChannelId = None, dir_path: DirPath = None
) -> None:
    """Remove a definition; runs of it go on."""
    await hub.workflows.delete_definition(name, scope, await _directory(hub, channel_id, dir_path))
