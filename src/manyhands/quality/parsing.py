"""From the bytes of one file to its facts, in one pass over its syntax tree.

The walk keeps a frame for each function that it is in, so that every function is charged with its own code
alone. It owns the walk; what a node costs is said in `functions`, what an import names in `imports`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from manyhands.quality import clones, functions, imports, references
from manyhands.quality import languages as lang
from manyhands.quality.functions import Frame, FunctionFacts
from manyhands.quality.imports import Import
from manyhands.quality.languages import Grammar, Language

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_STRUCTURE = lang.LOOP | lang.CATCH | lang.TERNARY
_FALLBACK = re.compile(rb"(case\s+)?(_|else|default)\s*(:|=>|->)")


class FileFacts(NamedTuple):
    """What one file says about itself, whatever stands around it. `lines` are lines with code."""

    language: str
    lines: int
    syntax_errors: int
    functions: tuple[FunctionFacts, ...]
    imports: tuple[Import, ...]
    package: str
    words: bytes
    """How often each word stands in it, packed by `references`."""


def parse(source: bytes, language: Language) -> FileFacts:
    """Measure the source of one file; syntax errors are counted and the rest is measured all the same."""
    grammar = lang.grammar_of(language)
    walk = _Walk(source, grammar)
    walk.run(grammar.parser.parse(source))
    return walk.facts()


@dataclass(slots=True)
class _Span:
    """A function that the walk has left, with its range of tokens."""

    order: int
    node: Any
    frame: Frame
    name: str
    last_token: int


class _Walk:
    def __init__(self, source: bytes, grammar: Grammar) -> None:
        self.source = source
        self.language = grammar.language
        self.meaning = grammar.meaning
        self.kinds: list[int] = []
        self.starts: list[int] = []
        self.frame = Frame(None, "", "", 0)
        self.frames: list[Frame] = []
        self.scopes: list[str] = []
        self.spans: list[_Span] = []
        self.opened = 0
        self.comments: list[tuple[int, int]] = []
        self.imports: list[Import] = []
        self.errors = 0
        # (depth, what ends there, what to put back)
        self.exits: list[tuple[int, int, Any]] = []

    def run(self, tree: Tree) -> None:  # the loop is flat on purpose: it sees every node of every file
        cursor = tree.walk()
        meaning, exits = self.meaning, self.exits
        add_kind, add_start = self.kinds.append, self.starts.append
        first_child, next_sibling, parent = (
            cursor.goto_first_child,
            cursor.goto_next_sibling,
            cursor.goto_parent,
        )
        broken = tree.root_node.has_error
        depth = 0
        while True:
            node = cursor.node
            kind = node.kind_id  # type: ignore[union-attr]
            what = meaning[kind]
            descend = True
            if what:
                descend = self._enter(node, what, depth)  # type: ignore[arg-type]
            if descend and first_child():
                depth += 1
                continue
            if depth and not what & lang.COMMENT:  # an empty file has a root, and no token
                add_kind(kind)
                add_start(node.start_byte)  # type: ignore[union-attr]
                if broken and node.is_missing:  # type: ignore[union-attr]
                    self.errors += 1
            while True:
                while exits and exits[-1][0] == depth:
                    self._leave(exits.pop())
                if next_sibling():
                    break
                if not parent():
                    return
                depth -= 1

    def _enter(self, node: Node, what: int, depth: int) -> bool:
        """Count a node that matters; the answer is whether to look inside."""
        if what & lang.TEXT:
            return b"{" in self.source[node.start_byte : node.end_byte]
        if what & lang.CALL:
            self.frame.count_call(self.source, node.start_byte)
        elif what & lang.COMMENT:
            self.comments.append((node.start_byte, node.end_byte))
            return False
        elif what & (lang.OPERATOR | lang.ELSE):
            self._word(node, what)
        elif what & (lang.FUNCTION | lang.CLASS):
            self._scope(node, what, depth)
        elif what & (lang.LOGIC | lang.CASE | lang.DECISION | lang.ARM | lang.ELIF):
            self._decision(node, what, depth)
        elif what & lang.IMPORT:
            self.imports.extend(imports.extract(node, self.language))
        elif what & lang.ERROR:
            self.errors += 1
        elif what & lang.JUMP:
            self.frame.cognitive += functions.jumps_to_label(node)
        else:
            self._structure(node, what, depth)
        return True

    def _word(self, node: Node, what: int) -> None:
        if what & lang.ELSE:
            self.frame.cognitive += functions.is_branch_else(node)
        elif node.parent is not None and node.parent.type in self.language.logic:
            self.frame.count_operator(node.type)

    def _decision(self, node: Node, what: int, depth: int) -> None:
        frame = self.frame
        if what & lang.LOGIC:
            if not self._continues(node):
                self.exits.append((depth, lang.LOGIC, frame.operator))
                frame.operator = None
        elif what & lang.ELIF:
            frame.cyclomatic += 1
            frame.cognitive += 1
        elif not what & lang.ARM or _FALLBACK.match(self.source, node.start_byte) is None:
            frame.cyclomatic += 1

    def _continues(self, node: Node) -> bool:
        """Whether a logical expression is an operand of another one, brackets not counted."""
        around = node.parent
        while around is not None and around.type.startswith("parenthesized"):
            around = around.parent
        return around is not None and around.type in self.language.logic

    def _structure(self, node: Node, what: int, depth: int) -> None:
        frame = self.frame
        if what & lang.IF and functions.follows_else(node):
            frame.cyclomatic += 1  # its `else` has paid for the reading of it
            return
        decisions = 0 if what & (lang.SWITCH | lang.ENDLESS) else 1
        self.exits.append((depth, lang.IF, frame.enter_structure(node, decisions=decisions)))

    def _scope(self, node: Node, what: int, depth: int) -> None:
        if what & lang.CLASS:
            named = node.child_by_field_name("name") or node.child_by_field_name("type")
            text = named.text if named is not None else None
            self.scopes.append(text.decode("utf-8", "replace") if text else functions.ANONYMOUS)
            self.exits.append((depth, lang.CLASS, None))
        elif node.child_count and node.children[-1].type != ";":  # declared, not defined
            name = functions.name_of(node)
            self.scopes.append(name)
            self.frames.append(self.frame)
            self.frame = Frame(node, ".".join(self.scopes), name, len(self.kinds))
            self.exits.append((depth, lang.FUNCTION, (self.opened, name)))
            self.opened += 1

    def _leave(self, leaving: tuple[int, int, Any]) -> None:
        _, what, saved = leaving
        if what == lang.IF:
            self.frame.leave_structure(saved)
        elif what == lang.LOGIC:
            self.frame.operator = saved
        else:
            self.scopes.pop()
            if what == lang.FUNCTION:
                order, name = saved
                self.spans.append(_Span(order, self.frame.node, self.frame, name, len(self.kinds)))
                self.frame = self.frames.pop()

    def facts(self) -> FileFacts:
        self.spans.sort(key=lambda span: span.order)
        ranges = [(span.frame.first_token, span.last_token) for span in self.spans]
        lines = clones.count_lines(self.source, self.starts, ranges)
        copies = clones.fingerprints(self.kinds, ranges, lines.whole, self.language)
        rows = zip(self.spans, lines.own, lines.whole, copies, strict=True)
        measured = tuple(self._function(span, own, whole, copy) for span, own, whole, copy in rows)
        return FileFacts(
            language=self.language.name,
            lines=lines.total,
            syntax_errors=self.errors,
            functions=measured,
            imports=tuple(dict.fromkeys([*self.imports, *imports.called(self.source, self.language)])),
            package=imports.package_of(self.source, self.language),
            words=references.words_of(self.source, self.comments),
        )

    def _function(self, span: _Span, own: int, whole: int, copy: clones.Copy) -> FunctionFacts:
        frame, node = span.frame, span.node
        if copy[0] is not None and self.language.name == "python" and functions.only_declares(node):
            copy = clones.NOT_COMPARED
        return FunctionFacts(
            name=frame.title,
            start_line=node.start_point[0] + 1,
            end_line=node.end_point[0] + 1,
            cyclomatic=frame.cyclomatic,
            cognitive=frame.cognitive,
            nesting=frame.deepest,
            parameters=functions.count_parameters(node, self.language),
            lines=own,
            whole_lines=whole,
            kept=references.is_kept(node, span.name, self.source, self.language),
            fingerprint=copy[0],
            shingles=copy[1],
        )
