"""What a run asks a person: an approval of the workflow, or leave to go on with something. Pure."""

from __future__ import annotations

from manyhands.approvals.types import Question
from manyhands.workflows.types import Json, NodeRun, WorkflowRun


def question_of(run: WorkflowRun, record: NodeRun) -> Question:
    """The entry of the inbox for a node that waits."""
    asked = record.detail.get("asked")
    detail: Json = {
        "workflow": run.workflow_name,
        "node_id": record.path,
        "attempt": record.attempt,
        "asked": asked,
    }
    inputs = record.inputs or {}
    if asked == "approval":
        message = str(inputs.get("message", ""))
        title = (
            f"{run.workflow_name}: {message.strip().splitlines()[0] if message.strip() else record.node_id}"
        )
        detail |= {"message": message, "default": inputs.get("default")}
        return Question(
            "workflow", title, detail, run.channel_id, run.id, None, record.detail.get("timeout_s")
        )
    if asked == "interrupted":
        title = f"{run.workflow_name}: {record.path} was cut by a restart. Run it again?"
        message = (
            "It had begun, and nobody knows how far it came. Approve runs it again; reject lets it fail."
        )
    else:
        title = f"{run.workflow_name}: may {record.path} run this script?"
        message = "The run was not started by you. Approve runs the script; reject lets it fail."
    detail |= {"message": message} | {
        key: inputs[key] for key in ("script", "tool", "arguments") if key in inputs
    }
    return Question("workflow", title, detail, run.channel_id, run.id)
