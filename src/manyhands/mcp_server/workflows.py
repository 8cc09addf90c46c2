"""The tools of workflows: what can be run, running it, answering and steering runs."""

from __future__ import annotations

from typing import Any

from manyhands.errors import InvalidError, NotFoundError
from manyhands.mcp_server.entries import (
    ADDS,
    CHANGES,
    DESTROYS,
    READS,
    Answer,
    Caller,
    Json,
    ToolEntry,
    choice,
    gives,
    many,
    maybe,
    number,
    place,
    switch,
    takes,
    text,
)
from manyhands.workflows.types import WorkflowRun

SHOWN = 2000
"""Characters of an output that a model is shown."""


# --- what a caller may touch


async def _directory(caller: Caller) -> str | None:
    if caller.principal.channel_id is None:
        return None
    return (await caller.scope.own()).dir_path


async def _run(caller: Caller, run_id: str) -> WorkflowRun:
    """A run of the caller's project; another one does not exist for it."""
    run = await caller.hub.workflows.get(run_id)
    visible = await caller.scope.visible()
    if visible is not None and run.channel_id not in visible:
        raise NotFoundError(
            f"There is no workflow run {run_id!r} here.", hint="list_workflow_runs lists them."
        )
    return run


def _own_word(caller: Caller) -> Any:
    return "owner" if caller.principal.kind == "owner" else "agent"


# --- definitions


async def list_workflows(caller: Caller, arguments: Json) -> Answer:
    found = await caller.hub.workflows.list(await _directory(caller))
    lines = []
    for one in found:
        shown = one.summary()
        inputs = ", ".join(f"{name} ({_kind(schema)})" for name, schema in shown["inputs"].items()) or "none"
        wrong = "" if shown["valid"] else " [has mistakes, cannot run]"
        lines.append(f"{one.name} ({one.scope}){wrong}: {shown['description']} Inputs: {inputs}.")
    said = "\n".join(lines) or "There are no workflows yet. save_workflow makes one."
    fields = ("name", "description", "version", "inputs", "scope", "valid")
    listed = [{name: one.summary()[name] for name in fields} for one in found]
    return Answer(said, {"workflows": listed})


def _kind(schema: Json) -> str:
    needed = "default" not in schema and schema.get("required") is not False
    return f"{schema.get('type', 'any')}, {'required' if needed else 'optional'}"


async def save_workflow(caller: Caller, arguments: Json) -> Answer:
    scope = arguments.get("scope", "global")
    stored = await caller.hub.workflows.save(
        arguments["action"],
        arguments["workflow"],
        scope,
        await _directory(caller),
        by_agent=caller.principal.kind != "owner",
    )
    warned = [str(one) for one in stored.reading.problems]
    said = f"Saved the {scope} workflow {stored.name!r} in {stored.path}."
    if warned:
        said += " Warnings: " + "; ".join(warned)
    return Answer(said, {"name": stored.name, "scope": scope, "path": str(stored.path), "warnings": warned})


async def delete_workflow(caller: Caller, arguments: Json) -> Answer:
    scope = arguments.get("scope", "global")
    stored = await caller.hub.workflows.delete_definition(
        arguments["name"], scope, await _directory(caller), by_agent=caller.principal.kind != "owner"
    )
    return Answer(f"Deleted the {scope} workflow {stored.name!r}.", {"name": stored.name, "scope": scope})


# --- runs


async def run_workflow(caller: Caller, arguments: Json) -> Answer:
    directory = arguments.get("dir_path")
    own = await _directory(caller)
    if directory is not None and caller.principal.kind != "owner" and directory != own:
        raise InvalidError(
            "You may run workflows in your project's directory only.", hint="Leave dir_path out."
        )
    run = await caller.hub.workflows.start(
        arguments["workflow_name"],
        arguments.get("inputs"),
        channel_id=caller.principal.channel_id,
        dir_path=directory,
        authority=_own_word(caller),
    )
    said = f"Started {run.workflow_name} as run {run.id}. get_workflow_run shows how it goes."
    return Answer(said, {"run_id": run.id, "status": run.status.value})


async def get_workflow_run(caller: Caller, arguments: Json) -> Answer:
    await _run(caller, arguments["run_id"])
    shown = await caller.hub.workflows.show(arguments["run_id"])
    run, nodes = shown["run"], [_node(one) for one in shown["nodes"]]
    lines = [f"Run {run['id']} of {run['workflow_name']}: {run['status']}."]
    if run["error"]:
        lines.append(f"Error: {run['error']}")
    lines += [_line(one) for one in nodes]
    if run["status"] == "paused":
        lines.append("It waits for an answer: resume_workflow_run with decision and response.")
    return Answer("\n".join(lines), {"run": _brief(run), "nodes": nodes})


def _node(shown: Json) -> Json:
    fields = ("id", "type", "status", "output", "error", "reason", "decision", "attempts")
    made = {name: shown[name] for name in fields}
    if isinstance(made["output"], str) and len(made["output"]) > SHOWN:
        made["output"] = f"{made['output'][:SHOWN]}… ({len(shown['output']):,} characters in all)"
    message = (shown["inputs"] or {}).get("message") if shown["type"] == "approval" else None
    return made | {"message": message}


def _line(node: Json) -> str:
    more = (
        node["error"] or node["reason"] or node["message"] if node["status"] != "success" else node["output"]
    )
    said = "" if more in (None, "") else f": {str(more)[:300]}"
    decided = ", rejected" if node["decision"] == "reject" else ""
    again = f", {node['attempts']} attempts" if node["attempts"] > 1 else ""
    return f"- {node['id']} ({node['type']}) {node['status']}{decided}{again}{said}"


def _brief(run: Json) -> Json:
    fields = ("id", "workflow_name", "status", "error", "channel_id", "created_at", "ended_at")
    return {name: run[name] for name in fields}


async def list_workflow_runs(caller: Caller, arguments: Json) -> Answer:
    channels: list[str] | None
    if wanted := arguments.get("channel_id"):
        channels = [(await caller.scope.channel(wanted)).id]
    else:
        visible = await caller.scope.visible()
        channels = None if visible is None else sorted(visible)
    page = await caller.hub.workflows.runs(channels, limit=arguments.get("limit", 20))
    lines = [f"{one['id']} {one['workflow_name']} {one['status']} {one['created_at']}" for one in page.items]
    said = "\n".join(lines) or "There are no runs yet. run_workflow starts one."
    return Answer(said, {"runs": [_brief(one) for one in page.items]})


async def cancel_workflow_run(caller: Caller, arguments: Json) -> Answer:
    await _run(caller, arguments["run_id"])
    return _state(await caller.hub.workflows.cancel(arguments["run_id"]))


async def resume_workflow_run(caller: Caller, arguments: Json) -> Answer:
    run = await _run(caller, arguments["run_id"])
    run = await caller.hub.workflows.resume(
        run.id,
        arguments.get("decision", "approve"),
        arguments.get("response"),
        arguments.get("node_id"),
        by_agent=caller.principal.kind != "owner",
    )
    return _state(run)


async def retry_workflow_run(caller: Caller, arguments: Json) -> Answer:
    await _run(caller, arguments["run_id"])
    run = await caller.hub.workflows.retry(
        arguments["run_id"], arguments.get("from_node"), arguments.get("from_failed", True)
    )
    return _state(run)


async def delete_workflow_run(caller: Caller, arguments: Json) -> Answer:
    run = await _run(caller, arguments["run_id"])
    await caller.hub.workflows.delete(run.id)
    return Answer(f"Deleted the run {run.id} of {run.workflow_name}.", {"run_id": run.id})


def _state(run: WorkflowRun) -> Answer:
    error = f" {run.error}" if run.error else ""
    return Answer(
        f"The run {run.id} is {run.status.value}.{error}", {"run_id": run.id, "status": run.status.value}
    )


# --- tables

RUN_ID = text("The id of the run.")
SCOPE = place("global: of the hub. project: in .manyhands/workflows of your channel's directory.")
STATE = gives(run_id=text("The run."), status=text("Its state."))
RUN = gives(
    id=text("Its id."),
    workflow_name=text("The workflow."),
    status=text("running, paused, completed, failed or cancelled."),
    error=maybe(text("Why it failed.")),
    channel_id=maybe(text("Its channel.")),
    created_at=text("When it began."),
    ended_at=maybe(text("When it ended.")),
)
NODE = gives(
    id=text("Its path in the run."),
    type=text("Its type."),
    status=text("pending, running, waiting, success, failed, skipped or cancelled."),
    output={"description": "What it gave."},
    error=maybe(text("Why it failed.")),
    reason=maybe(text("Why it was skipped.")),
    decision=maybe(text("Of an approval: approve or reject.")),
    message=maybe(text("Of an approval: what was asked.")),
    attempts=number("How many attempts there were."),
)
WORKFLOW = {
    "type": ["object", "string"],
    "description": (
        "The whole definition, as an object or as YAML: {name, description, inputs: {NAME: JSON Schema}, "
        "nodes: [{id, type, depends_on, when, …}], timeout}. Types and their fields: prompt (prompt), "
        "bash (script), tool (tool, arguments), approval (message, default, on_reject), loop (body, "
        "condition, max_iterations), foreach (items, body, parallel), workflow (workflow, inputs), "
        "quality (base, rules). Templates are Jinja2: inputs.NAME, nodes.ID.output, run.id, item, iteration."
    ),
}

ENTRIES = (
    ToolEntry(
        "run_workflow",
        "Run a workflow",
        "Start a run of a workflow by its name; it goes on by itself. list_workflows shows names and inputs.",
        takes(
            "workflow_name",
            workflow_name=text("The name of the workflow."),
            inputs={"type": "object", "description": "Its inputs by name."},
            dir_path=text("The directory that it works in; by default your channel's."),
        ),
        STATE,
        run_workflow,
        {**ADDS, "destructiveHint": True, "openWorldHint": True},
    ),
    ToolEntry(
        "get_workflow_run",
        "Show a workflow run",
        "The state of a run, and of each node with its output.",
        takes("run_id", run_id=RUN_ID),
        gives(run=RUN, nodes=many(NODE, "Its nodes.")),
        get_workflow_run,
        READS,
    ),
    ToolEntry(
        "list_workflows",
        "List workflows",
        "All workflows with descriptions and the schemas of their inputs.",
        takes(),
        gives(workflows=many({"type": "object"}, "The workflows.")),
        list_workflows,
        READS,
    ),
    ToolEntry(
        "list_workflow_runs",
        "List workflow runs",
        "Recent runs, newest first.",
        takes(
            channel_id=text("Only runs of this channel."),
            limit={
                "type": "integer",
                "minimum": 1,
                "maximum": 100,
                "default": 20,
                "description": "How many at most.",
            },
        ),
        gives(runs=many(RUN, "The runs.")),
        list_workflow_runs,
        READS,
    ),
    ToolEntry(
        "cancel_workflow_run",
        "Cancel a workflow run",
        "Stop a run with everything that runs for it. A run that has ended stays as it is.",
        takes("run_id", run_id=RUN_ID),
        STATE,
        cancel_workflow_run,
        DESTROYS,
    ),
    ToolEntry(
        "resume_workflow_run",
        "Answer a workflow run",
        "Answer a node that waits for an approval: approve or reject, with a response that later nodes read.",
        takes(
            "run_id",
            run_id=RUN_ID,
            response=text("What is answered; the node's output."),
            decision=choice("What is decided.", "approve", "reject", default="approve"),
            node_id=text("Which node, when several wait."),
        ),
        STATE,
        resume_workflow_run,
        {**ADDS, "destructiveHint": True},
    ),
    ToolEntry(
        "save_workflow",
        "Save a workflow",
        "Add a workflow or update one. Mistakes are refused, each with its place. Comments of a file stay.",
        takes(
            "action workflow",
            action=choice("Whether it is new.", "add", "update"),
            workflow=WORKFLOW,
            scope=SCOPE,
        ),
        gives(
            name=text("Its name."),
            scope=text("Its scope."),
            path=text("Its file."),
            warnings=many({"type": "string"}, "What may not be meant."),
        ),
        save_workflow,
        {**CHANGES, "destructiveHint": True},
    ),
    ToolEntry(
        "delete_workflow",
        "Delete a workflow",
        "Delete a definition by its name. Runs of it go on.",
        takes("name", name=text("The name of the workflow."), scope=SCOPE),
        gives(name=text("Its name."), scope=text("Its scope.")),
        delete_workflow,
        DESTROYS,
    ),
    ToolEntry(
        "delete_workflow_run",
        "Delete a workflow run",
        "Delete a run with its records; one that goes on is cancelled first.",
        takes("run_id", run_id=RUN_ID),
        gives(run_id=text("The run.")),
        delete_workflow_run,
        DESTROYS,
    ),
    ToolEntry(
        "retry_workflow_run",
        "Retry a workflow run",
        "Go on with a run that has ended: from the nodes that failed, from a named node, or from the start. "
        "A completed run starts again from the beginning.",
        takes(
            "run_id",
            run_id=RUN_ID,
            from_node=text("Begin again at this node, with all that come after it."),
            from_failed=switch("Keep what succeeded; false begins from the start.", default=True),
        ),
        STATE,
        retry_workflow_run,
        {**ADDS, "destructiveHint": True},
    ),
)
