"""Decisions about a node: whether it may run, whether it is tried again, what an answer means. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from manyhands.strange_schema import SchemaFault, StrangeSchema
from manyhands.workflows.types import Node, NodeStatus, OnInterrupt, Retry

Verdict = Literal["wait", "run", "skip"]
_BAD = (NodeStatus.FAILED, NodeStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class Decided:
    """Whether a node runs now; why, when it is skipped."""

    verdict: Verdict
    reason: str | None = None


RUN, WAIT = Decided("run"), Decided("wait")


def decide(node: Node, before: Mapping[str, NodeStatus], refused: Sequence[str] = ()) -> Decided:
    """What the nodes before it mean for a node. `refused`: approvals that said no, which it does not read."""
    ended = all(status.ended for status in before.values())
    if node.always_run:
        return RUN if ended else WAIT
    rule = node.trigger_rule
    if rule == "one_success":
        if any(status is NodeStatus.SUCCESS for name, status in before.items() if name not in refused):
            return RUN
        return (
            Decided("skip", "none of the nodes before it succeeded") if ended and before else _first(before)
        )
    if rule == "all_done":
        return RUN if ended else WAIT
    if bad := [name for name, status in before.items() if status in _BAD]:
        return Decided("skip", f"{bad[0]} {before[bad[0]].value}") if ended else WAIT
    if not ended:
        return WAIT
    if refused:
        return Decided("skip", f"{refused[0]} was rejected")
    skipped = [name for name, status in before.items() if status is NodeStatus.SKIPPED]
    if skipped and rule == "all_success":
        return Decided("skip", f"{skipped[0]} was skipped")
    return RUN


def _first(before: Mapping[str, NodeStatus]) -> Decided:
    return WAIT if before else RUN


def tries_again(retry: Retry, tries: int, error_class: str | None) -> bool:
    """Whether another attempt follows one that failed."""
    if tries >= retry.attempts or error_class in ("template", "rejected"):
        return False
    return not retry.on or (error_class or "error") in retry.on


def delay_before(retry: Retry, tries: int) -> float:
    """Seconds before the attempt that comes after so many."""
    return float(min(retry.max_delay_s, retry.delay_s * retry.backoff ** (tries - 1)))


def on_interrupt(node: Node, *, only_reads: bool) -> OnInterrupt:
    """What becomes of an attempt that a crash cut, if the node does not say."""
    if node.on_interrupt is not None:
        return node.on_interrupt
    if node.type in ("prompt", "quality") or (node.type == "tool" and only_reads):
        return "rerun"
    return "ask"


def given_output(node: Node, value: Any) -> tuple[Any, str | None]:
    """The output as its schema wants it, and why it does not fit. A text is read as JSON first."""
    if node.output is None:
        return value, None
    if isinstance(value, str) and node.output.get("type") != "string":
        try:
            value = _as_json(value)
        except ValueError:
            return value, f"The output is no JSON: {value[:200]!r}."
    try:
        error = next(StrangeSchema(node.output).misfits(value), None)
    except SchemaFault as fault:
        return value, f"The schema of the output cannot be used: {fault}."
    if error is None:
        return value, None
    where = "/".join(str(part) for part in error.absolute_path)
    return (
        value,
        f"The output does not fit its schema{f' at {where}' if where else ''}: {error.message[:300]}.",
    )


def _as_json(text: str) -> Any:
    """Models like to put JSON between fences."""
    import json

    stripped = text.strip()
    if stripped.startswith("```"):
        stripped = stripped.split("\n", 1)[-1].rsplit("```", 1)[0]
    return json.loads(stripped)
