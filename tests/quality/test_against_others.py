"""Our numbers beside those of `lizard`, `radon` and `complexipy`, on packages that are installed here.

Where a function holds nothing that the tools count differently on purpose (docs/quality.md lists it), the
numbers are equal, function by function.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import complexipy
import lizard  # type: ignore[import-untyped]
import pytest
from radon.complexity import cc_visit  # type: ignore[import-untyped]

from manyhands.quality.functions import FunctionFacts
from manyhands.quality.languages import BY_NAME
from manyhands.quality.parsing import parse

PACKAGES = ("anyio", "click", "starlette")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Key = tuple[int, str]


@dataclass(frozen=True)
class File:
    """A file with our facts of its functions, and what each function holds."""

    path: Path
    text: str
    ours: dict[Key, FunctionFacts]
    holds: dict[Key, set[str]]

    def within(self, name: str, first: int, last: int) -> Key | None:
        """The function of that name that begins between two lines; decorators may stand before it."""
        return min((key for key in self.holds if key[1] == name and first <= key[0] <= last), default=None)


@cache
def files() -> tuple[File, ...]:
    found: list[File] = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        found.extend(read(path) for path in sorted(Path(spec.origin).parent.rglob("*.py")))
    return tuple(found)


def read(path: Path) -> File:
    source = path.read_bytes()
    facts = parse(source, BY_NAME["python"])
    ours = {(one.start_line, one.name.rpartition(".")[2]): one for one in facts.functions}
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, DEFINITIONS))
    return File(path, source.decode(), ours, {(node.lineno, node.name): traits(node) for node in nodes})


def own(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*DEFINITIONS, ast.Lambda, ast.ClassDef)):
            yield from own(child)


def traits(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """What of a function's own code is counted differently by somebody."""
    return {found for node in own(function) for found in _traits(node, function.name)}


def _traits(node: ast.AST, name: str) -> Iterator[str]:
    kinds: tuple[tuple[Any, str], ...] = (
        ((*DEFINITIONS, ast.ClassDef, ast.Lambda), "nested"),
        (ast.Assert, "assert"),
        (COMPREHENSIONS, "comprehension"),
        (ast.Match, "match"),
        (ast.BoolOp, "bool"),
        (ast.IfExp, "ternary"),
    )
    yield from (word for kind, word in kinds if isinstance(node, kind))
    if isinstance(node, ast.Try) and node.finalbody:
        yield "finally"
    if isinstance(node, (ast.Try, *LOOPS)) and node.orelse:
        yield "else"
    if isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if called == name:
            yield "recursion"


def compared(pairs: Iterator[tuple[File, Key, int, int]], aside: set[str]) -> tuple[int, list[Any]]:
    """How many functions were compared, and those that differ although nothing in them explains it."""
    count, differing = 0, []
    for file, key, ours, theirs in pairs:
        if not file.holds[key] & aside:
            count += 1
            if ours != theirs:
                differing.append((str(file.path), key, ours, theirs))
    return count, differing


def test_every_function_that_python_itself_sees_is_seen() -> None:
    missing = [(str(file.path), key) for file in files() for key in file.holds if key not in file.ours]
    assert missing == []


def test_cyclomatic_complexity_is_that_of_radon() -> None:
    def pairs() -> Iterator[tuple[File, Key, int, int]]:
        for file in files():
            for block in blocks(cc_visit(file.text)):
                key = file.within(block.name, block.lineno, block.endline)
                if key is not None:
                    yield file, key, file.ours[key].cyclomatic, block.complexity

    count, differing = compared(pairs(), {"nested", "assert", "else", "match"})
    assert differing == []
    assert count > 1500


def blocks(found: Any) -> Iterator[Any]:
    for block in found:
        if block.letter == "C":
            yield from blocks([*block.methods, *block.inner_classes])
        else:
            yield block


def test_cyclomatic_complexity_is_that_of_lizard() -> None:
    def pairs() -> Iterator[tuple[File, Key, int, int]]:
        for file in files():
            whole = lizard.analyze_file.analyze_source_code(str(file.path), file.text)
            for one in whole.function_list:
                key = (one.start_line, one.name.rpartition(".")[2])
                if key in file.holds:
                    yield file, key, file.ours[key].cyclomatic, one.cyclomatic_complexity

    count, differing = compared(pairs(), {"nested", "finally", "match"})
    # Where lizard loses the end of a function, it says 1 or takes in what follows.
    assert len(differing) <= count / 500, differing
    assert count > 1500


def test_cognitive_complexity_is_that_of_complexipy() -> None:
    def pairs() -> Iterator[tuple[File, Key, int, int]]:
        for file in files():
            for one in complexipy.code_complexity(file.text).functions:
                name = one.name.replace("::", ".").rpartition(".")[2]
                key = file.within(name, one.line_start, one.line_end)
                if key is not None:
                    yield file, key, file.ours[key].cognitive, one.complexity

    aside = {"nested", "comprehension", "else", "match", "recursion", "bool", "ternary"}
    count, differing = compared(pairs(), aside)
    assert differing == []
    assert count > 1000


def test_the_same_source_gives_the_same_numbers_whoever_asks() -> None:
    file = files()[0]
    again = read(file.path)
    assert again.ours == file.ours


@pytest.mark.parametrize("kind", ["assert", "else", "nested", "recursion"])
def test_what_is_counted_differently_does_occur(kind: str) -> None:
    assert any(kind in holds for file in files() for holds in file.holds.values())
