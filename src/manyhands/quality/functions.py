"""What is counted for one function: cyclomatic and cognitive complexity, nesting, parameters, lines.

Cyclomatic complexity is McCabe's: one plus every decision, each logical operator being one. Cognitive
complexity is that of the SonarSource paper: a structure costs one plus its nesting, `else` and `else if` cost
one, a run of like logical operators costs one, a jump to a label one, calling itself one. A function nested
in another starts afresh: each is charged with its own code only. It owns the counting, not the walk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from manyhands.quality.languages import ELSE_OWNERS, LABELS, Language

if TYPE_CHECKING:
    from tree_sitter import Node

ANONYMOUS = "<anonymous>"
# Choosing a value that is not null is a decision, but not one that makes code harder to follow.
_NULL_CHOICES = frozenset({"??", "?:"})
_NAMING_FIELDS = ("name", "left", "key", "property", "pattern", "declarator")
_LONGEST_NAME = 120


class FunctionFacts(NamedTuple):
    """One function as measured. `lines` are those on which a token of its own code begins.

    A tuple, like all facts: they cross from process to process by the ten thousand.
    """

    name: str
    start_line: int
    end_line: int
    cyclomatic: int
    cognitive: int
    nesting: int
    parameters: int
    lines: int
    whole_lines: int
    """Likewise, with the functions that are nested in it."""
    kept: bool
    """Not to be called unused: an entry point, a test, exported, or reached in ways that no name shows."""
    fingerprint: int | None = None
    shingles: bytes = b""
    """Hashes of its shingles, each once, sorted: what verifies a copy. Empty when too short to be one."""


class Frame:
    """The running count of the function that the walk is in."""

    __slots__ = (
        "cognitive",
        "cyclomatic",
        "deepest",
        "first_token",
        "level",
        "node",
        "operator",
        "own_calls",
        "recursive",
        "structures",
        "title",
    )

    def __init__(self, node: Node | None, title: str, name: str, first_token: int) -> None:
        self.node = node
        self.title = title
        self.first_token = first_token
        self.cyclomatic = 1
        self.cognitive = 0
        self.level = 0
        self.deepest = 0
        self.operator: str | None = None
        self.recursive = False
        self.structures: list[Node] = []
        called = f"{name}(".encode()
        self.own_calls = (called, b"self." + called, b"this." + called, b"cls." + called)

    def enter_structure(self, node: Node, *, decisions: int = 1) -> int:
        """Count a structure that nests; the answer is the level to return to when it ends."""
        before = self.level
        level = before - 1 if self._in_header(node) else before
        self.cyclomatic += decisions
        self.cognitive += 1 + level
        self.level = level + 1
        self.deepest = max(self.deepest, self.level)
        self.structures.append(node)
        return before

    def leave_structure(self, level: int) -> None:
        self.level = level
        self.structures.pop()

    def _in_header(self, node: Node) -> bool:
        """Whether it stands in the condition of the structure around it, which is not nested in that one."""
        if not self.structures:
            return False
        around = self.structures[-1]
        body = around.child_by_field_name("consequence") or around.child_by_field_name("body")
        return body is not None and node.start_byte < body.start_byte

    def count_operator(self, operator: str) -> None:
        self.cyclomatic += 1
        if operator not in _NULL_CHOICES and operator != self.operator:
            self.cognitive += 1
            self.operator = operator

    def count_call(self, source: bytes, start: int) -> None:
        if not self.recursive and source.startswith(self.own_calls, start):
            self.recursive = True
            self.cognitive += 1


def follows_else(node: Node) -> bool:
    """Whether an `if` is the second word of `else if`."""
    before = node.prev_sibling
    if before is None or before.type != "else":
        return False
    # In Ruby an `if` in an `else` has an end of its own: it is nested.
    return node.parent is None or node.parent.type != "else"


def is_branch_else(node: Node) -> bool:
    """Whether the word `else` opens a branch of its own, and not the default of a choice among values."""
    owner = node.parent
    if owner is None or owner.type not in ELSE_OWNERS:
        return False
    return owner.type != "else" or owner.parent is None or not owner.parent.type.startswith("case")


def jumps_to_label(node: Node) -> bool:
    return node.type == "goto_statement" or any(
        child.type in LABELS and (child.type != "identifier" or not node.type.endswith("_expression"))
        for child in node.named_children
    )


def only_declares(node: Node) -> bool:
    """Whether a function of Python has no body but `...`, as overloads have: it can be no copy."""
    body = node.child_by_field_name("body")
    if body is None or body.type != "block":
        return False
    inside = (child.named_children[0] if child.named_child_count else child for child in body.named_children)
    return all(child.type in ("ellipsis", "string", "pass_statement", "comment") for child in inside)


def name_of(node: Node) -> str:
    """The name that a function is declared with or bound to."""
    named = node.child_by_field_name("name") or _declared(node)
    if named is None and node.parent is not None:
        named = _bound(node, node.parent)
    if named is None or named.text is None:
        return ANONYMOUS
    text = named.text.decode("utf-8", "replace")
    return text if len(text) <= _LONGEST_NAME and text.isprintable() else ANONYMOUS


def _declared(node: Node) -> Node | None:
    """C hides the name in declarators: a pointer to a function of parameters with a name."""
    if node.type != "function_definition":
        return None
    found = node.child_by_field_name("declarator")
    while found is not None and (inner := found.child_by_field_name("declarator")) is not None:
        found = inner
    return found


def _bound(node: Node, parent: Node) -> Node | None:
    for field in _NAMING_FIELDS:
        named = parent.child_by_field_name(field)
        if named is not None and named != node:
            return named
    return None


def count_parameters(node: Node, language: Language) -> int:
    """Parameters as declared, without the receiver."""
    listed = _parameter_list(node)
    if listed is None:  # an arrow function may have one without brackets
        return 0 if node.child_by_field_name("parameter") is None else 1
    if listed.named_child_count == 0:
        return 1 if listed.type in ("identifier", "implicit_parameter") else 0
    declared = [child for child in listed.named_children if child.type not in language.not_parameters]
    if listed.type == "function_value_parameters":  # Kotlin keeps default values beside the parameters
        declared = [child for child in declared if child.type == "parameter"]
    if declared and _is_receiver(declared[0], language):
        declared.pop(0)
    return sum(
        max(1, len(child.children_by_field_name("name"))) if child.type == "parameter_declaration" else 1
        for child in declared
    )


def _is_receiver(first: Node, language: Language) -> bool:
    text = (first.text or b"").decode("utf-8", "replace")
    name = text.partition(":")[0].strip()  # it may say its type
    return name in language.receivers or text == "void"


def _parameter_list(node: Node) -> Node | None:
    listed = node.child_by_field_name("parameters")
    if listed is not None:
        return listed
    declarator = node.child_by_field_name("declarator")
    while listed is None and declarator is not None:
        listed = declarator.child_by_field_name("parameters")
        declarator = declarator.child_by_field_name("declarator")
    if listed is not None:
        return listed
    kinds = ("function_value_parameters", "lambda_parameters")
    return next((child for child in node.named_children if child.type in kinds), None)
