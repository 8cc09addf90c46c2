"""What a run would do, as far as that is known before: the order, what is put in, what is skipped. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manyhands.workflows import rules, templates
from manyhands.workflows.frames import rendered
from manyhands.workflows.types import Definition, Json, Node, NodeStatus
from manyhands.workflows.validation import order_of, template_sources

_KNOWN = frozenset({"inputs", "run"})


def dry_run(definition: Definition, inputs: Mapping[str, Any], run: Mapping[str, Any]) -> list[Json]:
    """Each node in order: its wave, what it would get, whether it would be skipped and why."""
    values = {"inputs": templates.Names("input", inputs), "run": templates.Names("name in run", run)}
    return _body(definition.nodes, values, "")


def _body(nodes: Sequence[Node], values: Mapping[str, Any], prefix: str) -> list[Json]:
    shown: list[Json] = []
    waves: dict[str, int] = {}
    statuses: dict[str, NodeStatus] = {}
    for node in order_of(nodes) or nodes:
        waves[node.id] = 1 + max((waves.get(name, 0) for name in node.depends_on), default=0)
        entry = _entry(node, values, statuses)
        statuses[node.id] = NodeStatus.SKIPPED if entry["skipped"] else NodeStatus.SUCCESS
        entry |= {"id": f"{prefix}{node.id}", "wave": waves[node.id]}
        if node.body and not entry["skipped"]:
            entry["body"] = _body(node.body, values, f"{prefix}{node.id}/*/")
        shown.append(entry)
    return shown


def _entry(node: Node, values: Mapping[str, Any], statuses: Mapping[str, NodeStatus]) -> Json:
    entry: Json = {
        "type": node.type,
        "depends_on": list(node.depends_on),
        "trigger_rule": node.trigger_rule,
        "when": node.when,
        "skipped": False,
        "reason": None,
        "inputs": None,
        "unknown": [],
    }
    decided = rules.decide(node, {name: statuses[name] for name in node.depends_on})
    if decided.verdict == "skip":
        return entry | {"skipped": True, "reason": decided.reason}
    if node.when is not None:
        if _later(node.when, expression=True):
            entry["reason"] = "when is known at run time"
        elif not templates.holds(node.when, values):
            return entry | {"skipped": True, "reason": f"when is false: {node.when}"}
    return entry | _inputs(node, values)


def _inputs(node: Node, values: Mapping[str, Any]) -> Json:
    """What can be rendered now; the rest as it is written."""
    open_ones = sorted(
        {
            path.removeprefix(f"{node.place}.").split(".")[0].split("[")[0]
            for path, kind, source in template_sources(node)
            if not path.endswith(".when") and _later(source, expression=kind == "expression")
        }
    )
    known = {name: value for name, value in node.values.items() if name not in open_ones}
    from dataclasses import replace

    try:
        made = rendered(replace(node, values=known), values)
    except templates.TemplateFault as fault:
        return {"inputs": dict(node.values), "error": fault.message, "unknown": open_ones}
    return {"inputs": made | {name: node.values[name] for name in open_ones}, "unknown": open_ones}


def _later(source: str, *, expression: bool) -> bool:
    """Whether it names something that only a run knows."""
    return any(
        one.parts[0] in templates.NAMES - _KNOWN
        for one in templates.references(source, expression=expression)
    )
