"""The fields that a definition and its nodes may have: which, of what kind, and what they mean.

Pure tables. Reading them is `definition.py`, judging the whole is `validation.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "text",
    "template",
    "script",
    "expression",
    "value",
    "span",
    "number",
    "switch",
    "schema",
    "node",
    "names",
    "retry",
    "body",
    "mapping",
    "reject",
    "any",
]


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `choices`: the words that it may be."""

    kind: Kind
    about: str
    required: bool = False
    choices: tuple[str, ...] = ()


WORKFLOW: Mapping[str, Field] = {
    "name": Field("text", "What it is called: letters, digits, - and _.", required=True),
    "description": Field("text", "What it is for, in a sentence or two."),
    "version": Field("any", "Yours; shown and kept with every run."),
    "inputs": Field("mapping", "A JSON Schema for each input; one without a default must be given."),
    "nodes": Field("body", "The steps.", required=True),
    "timeout": Field("span", "How long a run may take; waiting for people counts."),
    "parallel": Field("number", "How many nodes run side by side."),
}

NODE: Mapping[str, Field] = {
    "id": Field("text", "Lower-case letters, digits and _; unique in the workflow.", required=True),
    "type": Field("text", "What kind of step it is.", required=True),
    "description": Field("text", "What it is for."),
    "depends_on": Field("names", "The nodes that must have ended before it."),
    "when": Field("expression", "Skipped unless this holds."),
    "trigger_rule": Field(
        "text",
        "How the nodes before it must have ended.",
        choices=("all_success", "all_done", "one_success", "none_failed"),
    ),
    "retry": Field("retry", "How often it is tried again, and when."),
    "timeout": Field("span", "How long one attempt may take."),
    "output": Field("schema", "A JSON Schema that its output must fit; a text is read as JSON first."),
    "always_run": Field("switch", "Runs whatever happened before, also when the run was cancelled."),
    "on_interrupt": Field(
        "text", "What happens to an attempt that a crash cut.", choices=("rerun", "ask", "fail")
    ),
}

TYPES: Mapping[str, Mapping[str, Field]] = {
    "prompt": {
        "prompt": Field("template", "What the agent is to do.", required=True),
        "model": Field("template", "The model; otherwise the channel's or the default."),
        "tools": Field("value", "Patterns of tools that need no approval in this run."),
        "session": Field("node", "An earlier prompt node whose conversation goes on."),
        "max_iterations": Field("number", "How often the model may be asked."),
    },
    "bash": {
        "script": Field("script", "The script; every value put into it is one word.", required=True),
        "env": Field("value", "Further environment variables."),
        "cwd": Field("template", "Where it runs; otherwise the run's directory."),
    },
    "tool": {
        "tool": Field(
            "template", "The whole name of the tool, such as mcp__time__get_current_time.", required=True
        ),
        "arguments": Field("value", "Its arguments."),
    },
    "approval": {
        "message": Field("template", "What the person is asked.", required=True),
        "default": Field("text", "The answer when nobody gave one in time.", choices=("approve", "reject")),
        "on_reject": Field("reject", "The earlier node that the work goes back to."),
    },
    "loop": {
        "body": Field("body", "The nodes of one iteration.", required=True),
        "condition": Field("expression", "Ends the loop when it holds after an iteration."),
        "max_iterations": Field("number", "How many iterations there may be (10)."),
        "on_limit": Field("text", "What reaching the limit means.", choices=("fail", "continue")),
    },
    "foreach": {
        "items": Field("value", "The list, usually one expression.", required=True),
        "body": Field("body", "The nodes for each item.", required=True),
        "parallel": Field("number", "How many items are worked on side by side (4)."),
    },
    "workflow": {
        "workflow": Field("text", "The name of the other workflow.", required=True),
        "inputs": Field("value", "Its inputs."),
    },
    "quality": {
        "base": Field("template", "The commit or branch to compare with.", required=True),
        "rules": Field("value", "What must not get worse."),
    },
}
