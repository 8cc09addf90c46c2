"""Whether a definition holds together: its graph, its ids, its templates, what its parts need. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manyhands.strange_schema import SchemaFault, StrangeSchema
from manyhands.workflows import shell, templates
from manyhands.workflows.definition import Reader
from manyhands.workflows.fields import TYPES
from manyhands.workflows.source import Located, read_text
from manyhands.workflows.types import Definition, Json, Node, Reading

RUN_NAMES = frozenset({"id", "workflow", "dir", "channel_id"})
NODE_NAMES = frozenset({"output", "status", "decision", "error", "iterations"})
Known = Callable[[str], Mapping[str, Mapping[str, Any]] | None]
"""The inputs of another workflow by its name; nothing when there is no such workflow."""
_NODE = re.compile(r"nodes\[\d+\](\.body(\[\d+\])?)*")


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the templates of a body may name."""

    nodes: frozenset[str]
    upstream: Mapping[str, frozenset[str]]
    extra: frozenset[str]


def read_definition(given: str | Mapping[str, Any], known: Known | None = None) -> Reading:
    """Read and judge a definition, from its text or from data."""
    found = read_text(given) if isinstance(given, str) else Located(data=given)
    definition = Reader(found).read()
    if definition is not None:
        _Judge(definition, found, known).judge()
    good = not any(one.severity == "error" for one in found.problems)
    text = given if isinstance(given, str) else ""
    return Reading(text, found.data, definition if good else None, _in_order(found), _lines(found))


def _lines(found: Located) -> dict[str, int]:
    return {path: line for path, (line, _) in found.places.items() if _NODE.fullmatch(path)}


def _in_order(found: Located) -> list[Any]:
    return sorted(found.problems, key=lambda one: (one.severity == "warning", one.line or 0))


def all_nodes(nodes: Sequence[Node]) -> Iterator[Node]:
    """Every node with those of bodies, outer ones first."""
    for node in nodes:
        yield node
        yield from all_nodes(node.body)


def template_sources(node: Node) -> Iterator[tuple[str, str, str]]:
    """(path, kind, source) of everything in a node that is rendered."""
    if node.when is not None:
        yield f"{node.place}.when", "expression", node.when
    for name, value in node.values.items():
        kind = TYPES[node.type][name].kind
        if kind == "expression":
            yield f"{node.place}.{name}", kind, str(value)
        elif kind in ("template", "script", "value"):
            for path, source in _texts(value, f"{node.place}.{name}"):
                yield path, kind, source


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(part, f"{path}.{key}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, f"{path}[{number}]")


def looks_at_decision(node: Node, gate: str) -> bool:
    """Whether a node has its own way with what an approval said."""
    for _, kind, source in template_sources(node):
        for one in templates.references(source, expression=kind == "expression"):
            if one.parts[:3] == ("nodes", gate, "decision"):
                return True
    return False


class _Judge:
    def __init__(self, definition: Definition, found: Located, known: Known | None) -> None:
        self.definition = definition
        self.found = found
        self.known = known
        self.places: dict[str, str] = {}
        self.senders = {node.id for node in all_nodes(definition.nodes) if "on_reject" in node.values}
        """Approvals that send work back: earlier nodes read what they said."""

    def wrong(self, message: str, path: str, severity: str = "error", below: int = 0) -> None:
        self.found.problems.append(self.found.problem(message, path, severity, below))

    def judge(self) -> None:
        for node in all_nodes(self.definition.nodes):
            if node.id in self.places:
                said = f"The id {node.id!r} is there twice; the other is at {self.places[node.id]}."
                self.wrong(said, f"{node.place}.id")
            self.places.setdefault(node.id, node.place)
        self._body(self.definition.nodes, _Scope(frozenset(), {}, frozenset()))

    def _body(self, nodes: Sequence[Node], outer: _Scope) -> None:
        own = {node.id: node for node in nodes}
        for node in nodes:
            self._dependencies(node, own)
        upstream = _upstream(own)
        if upstream is None:
            self._tell_cycle(own)
            upstream = {node.id: frozenset(own) for node in nodes}
        all_up = {name: outer.nodes | above for name, above in upstream.items()}
        scope = _Scope(outer.nodes | frozenset(own), all_up, outer.extra)
        for node in nodes:
            self._templates(node, scope)
            self._by_type(node, own, upstream[node.id])
            if node.body:
                extra = {"iteration", "previous"} if node.type == "loop" else {"item", "index"}
                inner = _Scope(outer.nodes | frozenset(own), {}, outer.extra | extra)
                self._body(node.body, inner)
                if node.type == "loop" and "condition" in node.values:
                    inside = frozenset(one.id for one in node.body)
                    self._check(
                        f"{node.place}.condition",
                        "expression",
                        str(node.values["condition"]),
                        scope.nodes | inside,
                        None,
                        outer.extra | extra,
                    )

    def _dependencies(self, node: Node, own: Mapping[str, Node]) -> None:
        for number, name in enumerate(node.depends_on):
            path = f"{node.place}.depends_on[{number}]"
            if name == node.id:
                self.wrong(f"{node.id!r} depends on itself.", path)
            elif name not in own:
                where = " in the same body" if name in self.places else ""
                self.wrong(f"{node.id!r} depends on {name!r}, and there is no such node{where}.", path)

    def _tell_cycle(self, own: Mapping[str, Node]) -> None:
        circle = _cycle(own)
        if circle:
            shown = " -> ".join([*circle, circle[0]])
            self.wrong(f"These nodes wait for each other: {shown}.", f"{own[circle[0]].place}.depends_on")

    # --- templates

    def _templates(self, node: Node, scope: _Scope) -> None:
        for path, kind, source in template_sources(node):
            if node.type == "loop" and path == f"{node.place}.condition":
                continue  # it sees the body, and is judged with it
            self._check(path, kind, source, scope.nodes, scope.upstream[node.id], scope.extra)
            if kind == "script":
                self._script(path, source)

    def _check(
        self,
        path: str,
        kind: str,
        source: str,
        nodes: frozenset[str],
        upstream: frozenset[str] | None,
        extra: frozenset[str],
    ) -> None:
        try:
            found = templates.references(source, expression=kind == "expression")
        except templates.TemplateFault as fault:
            self.wrong(fault.message, path, below=_offset(source, fault.line or 1, kind))
            return
        for one in found:
            below = _offset(source, one.line, kind)
            if said := self._unknown(one.parts, nodes, extra):
                self.wrong(said, path, below=below)
            elif upstream is not None and one.parts[0] == "nodes" and len(one.parts) > 1:
                name = one.parts[1]
                if name in self.senders:
                    continue
                if _is_field(path, self.places[name]):
                    self.wrong(f"nodes.{name} is this node itself, which has not ended.", path, below=below)
                elif name not in upstream:
                    said = f"nodes.{name} need not have ended by then: add {name!r} to depends_on."
                    self.wrong(said, path, "warning", below=below)

    def _unknown(self, parts: tuple[str, ...], nodes: frozenset[str], extra: frozenset[str]) -> str | None:
        head, rest = parts[0], parts[1:]
        if head in ("item", "index") and head not in extra:
            return f"{head!r} is there only in the body of a foreach."
        if head in ("iteration", "previous") and head not in extra:
            return f"{head!r} is there only in a loop."
        if head not in templates.NAMES and head not in templates.builtins():
            return f"There is no name {head!r}; templates know {', '.join(sorted(templates.NAMES))}."
        if head == "inputs" and rest and rest[0] not in self.definition.inputs:
            return f"There is no input {rest[0]!r}; declare it under inputs."
        if head == "nodes" and rest and rest[0] not in nodes:
            return f"There is no node {rest[0]!r} here."
        if head == "nodes" and len(rest) > 1 and rest[1] not in NODE_NAMES:
            return f"A node has {', '.join(sorted(NODE_NAMES))}, but no {rest[1]!r}."
        if head == "run" and rest and rest[0] not in RUN_NAMES:
            return f"run has {', '.join(sorted(RUN_NAMES))}, but no {rest[0]!r}."
        return None

    def _script(self, path: str, source: str) -> None:
        if not templates.is_template(source):
            return
        for place, line in templates.script_places(source):
            if place in ("heredoc", "backtick", "ansi"):
                said = f"An expression cannot stand {shell.UNSAFE[place]}."
                self.wrong(said, path, below=_offset(source, line, "script"))
            elif place in ("single", "double"):
                said = "An expression is a shell word of its own; the quotes round it are not needed."
                self.wrong(said, path, "warning", below=_offset(source, line, "script"))

    # --- types

    def _by_type(self, node: Node, own: Mapping[str, Node], upstream: frozenset[str]) -> None:
        match node.type:
            case "approval":
                self._approval(node, upstream)
            case "prompt" if "session" in node.values:
                self._session(node, own, upstream)
            case "workflow":
                self._sub(node)
            case "loop" if "condition" not in node.values and "max_iterations" not in node.values:
                self.wrong("A loop needs a condition, or max_iterations.", node.place)
            case "quality":
                pass
            case _:
                return

    def _approval(self, node: Node, upstream: frozenset[str]) -> None:
        back = reject_to(node)
        if back is not None and back[0] not in upstream:
            self.wrong(f"on_reject names {back[0]!r}, which is no node before it.", f"{node.place}.on_reject")
        if "default" in node.values and node.timeout_s is None:
            said = "default is used when the time is over, and there is no timeout."
            self.wrong(said, f"{node.place}.default", "warning")

    def _session(self, node: Node, own: Mapping[str, Node], upstream: frozenset[str]) -> None:
        name = str(node.values["session"])
        if name not in upstream or own[name].type != "prompt":
            self.wrong(f"session names {name!r}, which is no prompt node before it.", f"{node.place}.session")

    def _sub(self, node: Node) -> None:
        name = str(node.values.get("workflow"))
        if name == self.definition.name:
            self.wrong("A workflow cannot run itself.", f"{node.place}.workflow")
            return
        if self.known is None:
            return
        inputs = self.known(name)
        if inputs is None:
            self.wrong(f"There is no workflow {name!r}.", f"{node.place}.workflow")
            return
        given = node.values.get("inputs") or {}
        if isinstance(given, Mapping):
            for needed in required_inputs(inputs):
                if needed not in given:
                    self.wrong(f"The workflow {name!r} needs the input {needed!r}.", f"{node.place}.inputs")
            for one in given:
                if one not in inputs:
                    self.wrong(f"The workflow {name!r} has no input {one!r}.", f"{node.place}.inputs.{one}")


def _is_field(path: str, place: str) -> bool:
    """Whether a path is that of a field of a node itself, and not of one in its body."""
    return path.startswith(f"{place}.") and not path.startswith(f"{place}.body")


def _offset(source: str, line: int, kind: str) -> int:
    """How far below its key a line of a text stands: a text of several lines begins under it."""
    if kind == "expression":
        return 0
    return line if "\n" in source.rstrip() or source.endswith("\n") else line - 1


def reject_to(node: Node) -> tuple[str, int] | None:
    """The node that a rejection sends the work back to, and how often it may."""
    value = node.values.get("on_reject")
    if isinstance(value, str):
        return value, 10
    if isinstance(value, Mapping) and isinstance(value.get("to"), str):
        most = value.get("max", 10)
        return value["to"], most if isinstance(most, int) else 10
    return None if value is None else ("", 0)


def required_inputs(inputs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The inputs that must be given."""
    return [
        name
        for name, schema in inputs.items()
        if "default" not in schema and schema.get("required") is not False
    ]


def _upstream(own: Mapping[str, Node]) -> dict[str, frozenset[str]] | None:
    """All nodes before each one; nothing when there is a cycle."""
    order = order_of(list(own.values()))
    if order is None:
        return None
    found: dict[str, frozenset[str]] = {}
    for node in order:
        above: set[str] = set()
        for name in node.depends_on:
            if name in found:
                above |= found[name] | {name}
        found[node.id] = frozenset(above)
    return found


def order_of(nodes: Sequence[Node]) -> list[Node] | None:
    """Nodes so that each comes after those it depends on; nothing when there is a cycle."""
    own = {node.id: node for node in nodes}
    waits = {node.id: {name for name in node.depends_on if name in own} for node in nodes}
    after: dict[str, list[str]] = {name: [] for name in own}
    for node in nodes:
        for name in waits[node.id]:
            after[name].append(node.id)
    ready = [node.id for node in nodes if not waits[node.id]]
    order: list[Node] = []
    for name in ready:
        order.append(own[name])
        for later in after[name]:
            waits[later].discard(name)
            if not waits[later]:
                ready.append(later)
    return order if len(order) == len(own) else None


def _cycle(own: Mapping[str, Node]) -> list[str]:
    """One circle of nodes."""
    done: set[str] = set()
    for start in own:
        trail: dict[str, int] = {}
        at: str | None = start
        while at is not None and at not in done:
            if at in trail:
                return list(trail)[trail[at] :]
            trail[at] = len(trail)
            at = next((n for n in own[at].depends_on if n in own and n not in done), None)
            if at is None:
                done.add(list(trail)[-1])
                trail, at = {}, start if start not in done else None
    return []


def _misfits(schema: Mapping[str, Any], value: Any) -> list[str]:
    try:
        return [error.message for error in StrangeSchema(schema).misfits(value)]
    except SchemaFault as fault:
        return [f"its schema cannot be used: {fault}"]


def check_inputs(inputs: Mapping[str, Mapping[str, Any]], given: Mapping[str, Any]) -> tuple[Json, list[str]]:
    """The inputs of a run with defaults put in, and what is wrong with them."""
    from manyhands.workflows.definition import value_schema

    wrong = [f"There is no input {name!r}." for name in given if name not in inputs]
    made: Json = {}
    for name, schema in inputs.items():
        if name in given:
            made[name] = given[name]
            wrong += [
                f"The input {name!r}: {text[:300]}." for text in _misfits(value_schema(schema), given[name])
            ]
        elif "default" in schema:
            made[name] = schema["default"]
        elif schema.get("required") is False:
            made[name] = None
        else:
            wrong.append(f"The input {name!r} is missing.")
    return made, wrong
