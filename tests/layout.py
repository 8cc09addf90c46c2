"""The house rules as functions from a package's source to complaints; `test_layout.py` applies them to ours.

It reads source with `ast` and imports nothing of the package.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = "manyhands"

LEAVES = frozenset(
    {
        "errors",
        "ids",
        "imports",
        "clock",
        "command_process",
        "containers",
        "embedding",
        "english",
        "home",
        "settings",
        "events",
        "system",
        "git",
        "guardian",
        "secrets",
        "sandbox",
        "logs",
        "paging",
        "json_pointer",
        "restoring",
        "regex_cost",
        "strange_schema",
    }
)
COMPOSITION = frozenset({"hub", "hub_parts", "hub_services", "daemon", "upkeep", "backup", "__main__"})
DOMAINS = frozenset(
    {
        "access",
        "servers",
        "tools",
        "models",
        "chat",
        "tasks",
        "workflows",
        "agents",
        "memory",
        "quality",
        "playgrounds",
        "approvals",
    }
)
FOUNDATIONS = frozenset({"store", "durable"})
WAYS_IN = frozenset({"api", "mcp_server", "cli"})
ROOMS = DOMAINS | FOUNDATIONS | WAYS_IN | {"bridge", "testing"}
TOP_LEVEL = LEAVES | COMPOSITION | ROOMS | {""}

# What takes long to import; a command line must not wait for it.
HEAVY = frozenset(
    {
        "alembic",
        "cryptography",
        "dbos",
        "fastapi",
        "httpx2",
        "jsonschema",
        "keyring",
        "mcp",
        "mcp_types",
        "numpy",
        "psutil",
        "psycopg",
        "pydantic",
        "pydantic_ai",
        "rich",
        "sqlalchemy",
        "starlette",
        "tokenizers",
        "tree_sitter",
        "uvicorn",
        "watchfiles",
        "websockets",
        "wordllama",
    }
)
QUICK_ROOMS = LEAVES | {"cli", "bridge", ""}
QUICK_EXCEPT = {"settings": {"pydantic"}}  # settings are a border: pydantic is what they are made of

FRAMEWORKS = {
    "fastapi": frozenset({"api", "mcp_server"}),
    "starlette": frozenset({"api", "mcp_server"}),
    "click": frozenset({"cli"}),
}

VAGUE = re.compile(r"(^|_)(utils?|helpers?|common|managers?|misc|stuff)(_|$)")
MAX_FILE = 600
MAX_FUNCTION = 60


@dataclass(frozen=True)
class Import:
    """One imported module or name, as a dotted path."""

    target: str
    line: int
    late: bool
    typing_only: bool

    @property
    def root(self) -> str:
        return self.target.partition(".")[0]


@dataclass(frozen=True)
class Module:
    """One source file of a package."""

    name: str
    path: Path
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source, str(self.path))

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The dotted name below the package: (room, module, …)."""
        return tuple(self.name.split(".")[1:])

    @property
    def room(self) -> str:
        return self.parts[0] if self.parts else ""

    @property
    def furniture(self) -> str:
        """What it is within its domain: types, rules, store, service or something of its own."""
        return self.parts[1] if len(self.parts) > 1 else ""

    @cached_property
    def imports(self) -> list[Import]:
        return list(_imports(self.tree, late=False, typing_only=False))

    def at(self, line: int, complaint: str) -> str:
        return f"{self.path}:{line}: {complaint}"


def read_package(root: Path) -> list[Module]:
    """Every module below the directory of a package."""
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = [PACKAGE, *path.relative_to(root).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        found.append(Module(".".join(parts), path, path.read_text(encoding="utf-8")))
    return found


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """What is directly below it and may hold statements: those, and the branches of `try` and `match`."""
    below = (ast.stmt, ast.excepthandler, ast.match_case)
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, below))


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for child in _statements(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        yield from _functions(child)


def _imports(node: ast.AST, *, late: bool, typing_only: bool) -> Iterator[Import]:
    for child in _statements(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, late, typing_only)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                yield Import(f"{child.module}.{alias.name}", child.lineno, late, typing_only)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.body:
                yield from _imports(ast.Module([statement], []), late=late, typing_only=True)
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imports(child, late=late or inside, typing_only=typing_only)


def own_imports(module: Module, names: set[str]) -> Iterator[tuple[str, Import]]:
    """The modules of this package that it imports, with the import that does it."""
    seen = set()
    for found in module.imports:
        if found.root == PACKAGE:
            target = found.target
            while target not in names and "." in target:
                target = target.rpartition(".")[0]
            if (target, found.line) not in seen:
                seen.add((target, found.line))
                yield target, found


# --- rules


def rooms(modules: list[Module]) -> list[str]:
    """Every module stands in a room or is one of the modules that the house has at its top."""
    return [
        module.at(1, f"{module.room!r} is neither a room nor a top-level module of the house")
        for module in modules
        if module.room not in TOP_LEVEL
    ]


def directions(modules: list[Module]) -> list[str]:
    """Imports go downwards: ways in, service, then rules, store and types, then leaves."""
    by_name = {module.name: module for module in modules}
    complaints = []
    for module in modules:
        if not module.room:  # the package's own names, resolved on first use
            continue
        for name, found in own_imports(module, set(by_name)):
            target = by_name.get(name)
            if target and (reason := _refusal(module, target, found)):
                complaints.append(module.at(found.line, f"{module.name} imports {name}: {reason}"))
    return complaints


def _refusal(module: Module, target: Module, found: Import) -> str | None:
    if target.room == "daemon" and not (module.room == "cli" and found.late):
        return "the daemon is the composition root; only the command that starts it may, inside a function"
    if target.room == "testing" and module.room != "testing":
        return "test doubles are for tests"
    if module.room in LEAVES and target.room not in LEAVES | {""}:
        return "a leaf imports leaves only"
    if module.room == "bridge" and target.room != "bridge":
        return "the bridge is standard library only"
    if module.room == "store" and target.room not in LEAVES | {"store", ""}:
        return "the store knows no domain"
    if module.room in DOMAINS | FOUNDATIONS and target.room in WAYS_IN | COMPOSITION:
        return "a domain knows no way in and no composition"
    if module.room.startswith("hub") and target.room in WAYS_IN:
        return "the hub has no ways in"
    if module.room in DOMAINS and target.room in DOMAINS:
        return _refusal_between_domains(module, target)
    return None


def _refusal_between_domains(module: Module, target: Module) -> str | None:
    if module.room != target.room:
        if target.furniture not in ("service", "types", ""):
            return "another domain is used through its service or types"
        if module.furniture in ("types", "rules") and target.furniture == "service":
            return f"{module.furniture} stand below services"
        return None
    if module.furniture != "service" and target.furniture == "service":
        return "the service stands at the top of its domain"
    if module.furniture == "types" and target.furniture not in ("types", ""):
        return "types stand at the bottom of their domain"
    if module.furniture == "rules" and target.furniture == "store":
        return "rules decide without I/O"
    if module.furniture == "store" and target.furniture == "rules":
        return "a store keeps, it does not decide"
    return None


def pure_rules(modules: list[Module]) -> list[str]:
    """Rules are decisions: nothing in them awaits or reaches out."""
    outside = {"anyio", "asyncio", "socket", "subprocess", "sqlite3", "sqlalchemy", "httpx2", "mcp"}
    complaints = []
    for module in modules:
        if module.room in DOMAINS and module.furniture == "rules":
            complaints += [
                module.at(found.line, f"rules import {found.root}")
                for found in module.imports
                if found.root in outside and not found.typing_only
            ]
            complaints += [
                module.at(node.lineno, f"rules await in {node.name}")
                for node in ast.walk(module.tree)
                if isinstance(node, ast.AsyncFunctionDef)
            ]
    return complaints


def cycles(modules: list[Module]) -> list[str]:
    """No module imports itself through others, late imports counted."""
    names = {module.name for module in modules}
    graph = {
        module.name: {
            target
            for target, found in own_imports(module, names)
            if not found.typing_only and target in names and target != module.name
        }
        for module in modules
        if module.room  # the package's own names, resolved on first use
    }
    found: set[tuple[str, ...]] = set()
    finished: set[str] = set()

    def visit(name: str, trail: list[str]) -> None:
        if name in trail:
            circle = trail[trail.index(name) :]
            start = circle.index(min(circle))
            found.add((*circle[start:], *circle[:start]))
        elif name not in finished:
            for target in sorted(graph.get(name, ())):
                visit(target, [*trail, name])
            finished.add(name)

    for name in sorted(graph):
        visit(name, [])
    return [f"import cycle: {' -> '.join((*circle, circle[0]))}" for circle in sorted(found)]


def frameworks(modules: list[Module]) -> list[str]:
    """What serves HTTP or parses a command line is known to the ways in alone."""
    return [
        module.at(found.line, f"{found.root} belongs into {', '.join(sorted(FRAMEWORKS[found.root]))}")
        for module in modules
        for found in module.imports
        if found.root in FRAMEWORKS and module.room not in FRAMEWORKS[found.root]
    ]


def heavy_imports(modules: list[Module]) -> list[str]:
    """Leaves, the command line and the bridge import what is heavy where they use it, not on top."""
    return [
        module.at(found.line, f"{found.root} is heavy: import it in the function that needs it")
        for module in modules
        if module.room in QUICK_ROOMS
        for found in module.imports
        if found.root in HEAVY - QUICK_EXCEPT.get(module.room, set())
        if not found.late and not found.typing_only
    ]


def bridge(modules: list[Module]) -> list[str]:
    """The bridge runs on the standard library alone."""
    return [
        module.at(found.line, f"the bridge imports {found.root}")
        for module in modules
        if module.room == "bridge"
        for found in module.imports
        if found.root not in sys.stdlib_module_names and found.root != PACKAGE
    ]


def names(modules: list[Module]) -> list[str]:
    """A module is named for the thing that it is about."""
    return [
        module.at(1, f"{part!r} says nothing: name it for what it holds")
        for module in modules
        for part in module.parts[-1:]
        if VAGUE.search(part)
    ]


def docstrings(modules: list[Module]) -> list[str]:
    """Every module that holds something says what it owns."""
    return [
        module.at(1, "no module docstring: say what it owns and what it does not")
        for module in modules
        if module.source.strip() and not ast.get_docstring(module.tree)
    ]


def init_files(modules: list[Module]) -> list[str]:
    """`__init__.py` holds names: imports, constants, and the look-up of names that come late."""
    complaints = []
    for module in modules:
        if module.path.name == "__init__.py":
            complaints += [
                module.at(statement.lineno, "__init__.py holds names only")
                for statement in module.tree.body
                if not _is_a_name(statement)
            ]
    return complaints


def _is_a_name(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return "TYPE_CHECKING" in ast.unparse(statement.test)
    if isinstance(statement, ast.FunctionDef):
        return statement.name in ("__getattr__", "__dir__")
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return not any(isinstance(node, ast.Call) for node in ast.walk(statement))
    return isinstance(statement, ast.Import | ast.ImportFrom)


def sizes(modules: list[Module]) -> list[str]:
    """Files and functions that fit into a head."""
    complaints = []
    for module in modules:
        lines = module.source.count("\n")
        if lines > MAX_FILE and "migrations" not in module.parts:  # those are written once, table by table
            complaints.append(module.at(1, f"{lines} lines, and {MAX_FILE} are the most: split it"))
        for node in _functions(module.tree):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION:
                complaint = f"{node.name} has {length} lines, and {MAX_FUNCTION} are the most"
                complaints.append(module.at(node.lineno, complaint))
    return complaints


RULES = (
    rooms,
    directions,
    pure_rules,
    cycles,
    frameworks,
    heavy_imports,
    bridge,
    names,
    docstrings,
    init_files,
    sizes,
)
