"""A body while it is worked on: which nodes it has, what they may name, what is put into them.

The whole workflow is one, an iteration of a loop, an item of a foreach, a workflow below. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from manyhands.workflows import templates
from manyhands.workflows.types import Json, Node, NodeRun, NodeStatus

CONTAINERS = frozenset({"loop", "foreach", "workflow"})
MOST_ITEMS = 10_000


@dataclass
class Frame:
    """One body. `outer` is the body that its node stands in, when its templates may look there."""

    prefix: str
    nodes: Sequence[Node]
    inputs: Mapping[str, Any]
    run: Mapping[str, Any]
    outer: Frame | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    container: str | None = None
    """The path of the node that this is the body of."""
    above: Frame | None = None
    """The body in which that node stands."""
    left: int = 0
    """How many of its nodes have not ended."""

    def __post_init__(self) -> None:
        self.left = len(self.nodes)

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def dependents(self) -> Mapping[str, Sequence[Node]]:
        found: dict[str, list[Node]] = {node.id: [] for node in self.nodes}
        for node in self.nodes:
            for name in dict.fromkeys(node.depends_on):
                found[name].append(node)
        return found

    def path(self, node_id: str) -> str:
        return f"{self.prefix}/{node_id}" if self.prefix else node_id

    def below(self, node_id: str) -> set[str]:
        """A node and all that come after it."""
        found, todo = {node_id}, [node_id]
        while todo:
            for node in self.dependents[todo.pop()]:
                if node.id not in found:
                    found.add(node.id)
                    todo.append(node.id)
        return found

    def sinks(self) -> list[Node]:
        """The nodes that nothing comes after: what they give is what the body gives."""
        return [node for node in self.nodes if not self.dependents[node.id]]

    def values(self, shown: Mapping[str, NodeRun]) -> Json:
        """All names that templates have here."""
        nodes = _Nodes(self, shown)
        return {
            "inputs": templates.Names("input", self.inputs),
            "nodes": nodes,
            "run": templates.Names("name in run", self.run),
            **self.extra,
        }


class _Nodes(templates.Names):
    """The nodes that templates of a body see, looked up when they are named."""

    def __init__(self, frame: Frame, shown: Mapping[str, NodeRun]) -> None:
        super().__init__("result of a node", {})
        self._frame = frame
        self._shown = shown

    def _find(self, name: object) -> NodeRun | None:
        frame: Frame | None = self._frame
        while frame is not None and isinstance(name, str):
            if name in frame.by_id:
                return self._shown.get(frame.path(name))
            frame = frame.outer
        return None

    def __getitem__(self, name: str) -> Any:
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return view(found)

    def __contains__(self, name: object) -> bool:
        return self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._frame.by_id if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def view(node: NodeRun) -> Json:
    """A node as templates see it. What did not come about is not there."""
    shown: Json = {"status": node.status.value}
    if node.status is NodeStatus.SUCCESS:
        shown["output"] = templates.Text(node.output) if isinstance(node.output, str) else node.output
    if node.error is not None:
        shown["error"] = node.error
    for name in ("decision", "iterations"):
        if name in node.detail:
            shown[name] = node.detail[name]
    return shown


def rendered(node: Node, values: Mapping[str, Any]) -> Json:
    """What a node is given, with its templates rendered. Raises `TemplateFault`."""
    made: Json = {}
    for name, value in node.values.items():
        if name in ("condition", "on_reject", "session", "on_limit"):
            continue
        if name == "script":
            made[name] = templates.render_script(str(value), values)
        elif name in ("prompt", "message", "model", "cwd", "base") and isinstance(value, str):
            made[name] = templates.render_text(value, values)
        elif name == "tool":
            made[name] = templates.render_text(str(value), values)
        else:
            made[name] = templates.render(value, values)
    return made


def items_of(inputs: Json) -> list[Any]:
    """The list of a foreach. Raises `TemplateFault` when it is none."""
    items = inputs.get("items")
    if isinstance(items, Mapping):
        items = [{"key": key, "value": value} for key, value in items.items()]
    if not isinstance(items, list):
        kind = type(items).__name__
        raise templates.TemplateFault(
            f"items gives a {kind}, not a list; of a text, .json or .splitlines() is one."
        )
    if len(items) > MOST_ITEMS:
        raise templates.TemplateFault(f"items has {len(items):,} items; at most {MOST_ITEMS:,} work.")
    return items
